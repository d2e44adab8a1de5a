//! The client against a server that answers what a test tells it to.

mod connections;
mod environment;
mod errors;
mod fake;
mod shapes;
mod streams;
