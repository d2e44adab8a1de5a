//! A typed client of Trailblaze: a tool, a test or another program uses a device through methods such as `tap` and
//! `assert_visible`.
//!
//! ```no_run
//! # async fn tool(meta: &serde_json::Value) -> Result<(), trailblaze_client::Error> {
//! use trailblaze_client::Client;
//!
//! let client = Client::from_meta(meta)?;
//! client.launch_app().package_id("com.example.wallet").await?;
//! client.tap().text("PIN").await?;
//! client.input_text("1234").await?;
//! if client.is_visible().text("Not now").await? {
//!     client.tap().text("Not now").await?;
//! }
//! client.wait_until_visible("Go online", 10_000).await?;
//! # Ok(())
//! # }
//! ```
//!
//! What a command requires is an argument of its method; everything else is set by name. A call is made when it is awaited. Actions
//! and assertions that fail are errors; queries return what they found. [`calls`] lists all methods.
//!
//! Connections go straight to the address, never through a proxy, and are kept open between calls. Every call has a deadline: 630
//! seconds, of which Trailblaze itself uses at most 600, unless [`Client::with_timeout`] or `deadline` of a call sets another.

mod address;
mod base64_bytes;
mod call;
mod client;
mod connection;
mod daemon;
mod error;
mod followed;
#[rustfmt::skip]
mod generated;
mod json;
mod screen;
mod stream;
mod transport;

pub use client::Client;
pub use error::{Code, Error};
pub use followed::{CallListener, ClientCall};
pub use generated::calls::{DesktopCommands, MaestroCommands, PlaywrightCommands};
pub use generated::{calls, types};
pub use stream::Messages;
pub use transport::{Response, Transport};
pub use types::{Direction, LaunchMode};
