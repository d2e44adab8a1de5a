//! The studio: who gets in, what a page sees of a session and a run, and what pointing does.

mod browsing;
mod entering;
mod keyboard;
pub mod opening;
pub mod page;
mod pointing;
mod running;
mod trouble;
mod working;
