//! The app file: what a simulated app shows and how it responds.

mod check;
mod colour;
mod effect;
mod element;
mod file;
mod uses;
mod value;

pub use colour::Colour;
pub use effect::{AppEffect, Conditions, Does, Effects};
pub use element::{Element, Look, Role, Swipes};
pub use file::{AppScreen, Item, SimApp, demo_app, launcher};
pub use value::{Value, Values};
