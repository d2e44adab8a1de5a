//! Files: writing them whole, keeping them private, naming them.

pub mod private;
