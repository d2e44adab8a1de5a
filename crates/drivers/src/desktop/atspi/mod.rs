//! Accessibility on Linux: what programs say about their windows over AT-SPI.

mod bus;
mod gtk4;
mod items;
mod roles;
mod states;
mod walk;

pub use bus::{AccessibleRef, AtspiBus, AtspiError};
pub use roles::RoleKind;
pub use states::AtspiStates;
pub use walk::{AccessibleApp, AccessibleNode, Asking, Coordinates, TreeWalk};
