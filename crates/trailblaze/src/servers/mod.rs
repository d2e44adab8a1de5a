//! Which tool servers a session has, and how each is reached.

pub mod callback;
pub mod process;
pub(crate) mod entries;
pub(crate) mod on_demand;
pub mod tool_servers;
pub mod transport;
pub(crate) mod cache;
pub mod cassettes;
pub(crate) mod imports;
pub mod kept;
pub mod server_sources;
pub mod digest;
