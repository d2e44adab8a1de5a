//! A small client for D-Bus, the protocol that accessibility is spoken over: method calls, many at a time, each with a limit.

mod connection;
mod message;
mod read;
mod value;

pub use connection::{DBusCall, DBusConnection, DBusError};
pub use message::{DBusArguments, DBusMessage, MessageKind, next_length};
pub use value::DBusValue;

#[cfg(test)]
mod tests;
