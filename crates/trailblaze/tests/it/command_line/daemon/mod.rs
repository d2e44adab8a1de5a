//! Sessions that stay open between commands, and the process that keeps them.

mod clients;
mod footprint;
mod killing;
mod programs;
mod sessions;
