//! Tool servers as teams write them, with the official libraries, under the usual runtimes.

mod calling;
mod context;
mod over_http;
mod protocols;
mod python;
mod registering;
mod sampling;
mod several_devices;
mod starting;
