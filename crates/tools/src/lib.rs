//! Tools for Trailblaze in Rust.
//!
//! A toolset is a struct whose functions are tools:
//!
//! ```
//! use trailblaze_tools::{ToolContext, ToolResult, toolset};
//!
//! pub struct Acme {
//!     pub package: &'static str,
//! }
//!
//! #[toolset(platforms = [Android, Ios])]
//! impl Acme {
//!     /// Sign in to the app.
//!     #[tool(name = "acme_login", groups = ["auth"])]
//!     async fn login(
//!         &self,
//!         cx: &ToolContext,
//!         /// Who signs in
//!         email: &str,
//!         /// The PIN, if the account has one
//!         pin: Option<&str>,
//!     ) -> ToolResult {
//!         self.setup(cx).await?;
//!         cx.tap().text("Email").await?;
//!         cx.input_text(email).await?;
//!         if let Some(pin) = pin {
//!             cx.input_text(pin).await?;
//!         }
//!         cx.tap().text("Sign in").await?;
//!         Ok("signed in".into())
//!     }
//!
//!     /// Clear the app's data and launch it.
//!     #[tool(name = "acme_setup", for_model = false, recordable = false)]
//!     async fn setup(&self, cx: &ToolContext) -> ToolResult<()> {
//!         cx.clear_app_data(self.package).await?;
//!         cx.launch_app().package_id(self.package).await?;
//!         Ok(())
//!     }
//! }
//!
//! assert_eq!(Acme::LOGIN, "acme_login");
//! ```
//!
//! The same toolset is compiled into Trailblaze, with `trailblaze::app().toolset(Acme { … }).main()`, or is an MCP server, with the
//! feature `server` and `trailblaze_tools::server("acme").toolset(Acme { … }).main()`.
//!
//! # The attribute
//!
//! `#[tool]` makes an async function of the `impl` block a tool. Its doc comment is the description that people and models read.
//! Its name is that of the function, or `name = "…"`; the toolset has a constant for it.
//!
//! | flag | meaning | default |
//! |---|---|---|
//! | `platforms = [Android, Ios, Web, Desktop]` | the platforms that it supports | all |
//! | `drivers = ["android-host"]` | the drivers that it supports | all |
//! | `groups = ["auth"]` | its groups | none |
//! | `toolset = "checkout"` | the toolset that it joins | none |
//! | `recordable` | whether its calls are recorded | true |
//! | `for_model` | whether models are offered it | true |
//! | `delegating` | it returns calls and does not act itself | false |
//! | `host_only` | not available if the agent runs on the device | false |
//!
//! `#[toolset(…)]` sets the same flags for all tools of the block; `name` is then the name of the toolset in listings. It also declares
//! groups: with `group(name = "auth", description = "Signing in")`, models are offered tools of the group unless a session asks for
//! other groups, or with `enabled = false` only in sessions that ask for it.
//!
//! # Parameters
//!
//! `&ToolContext` is the [context](ToolContext) of the call. All other parameters are arguments of the tool, described by their doc
//! comments: texts (`&str`, `String`), numbers, `bool`, `Option<…>`, `Vec<…>`, and every type that implements
//! [`serde::Deserialize`] and [`schemars::JsonSchema`]. `#[arg(name = "maxAttempts", default = 3)]` renames an argument and makes it
//! optional. If there are many, they are fields of one struct, as [`Args`] describes.

mod args;
mod context;
mod error;
mod output;
mod place;
#[doc(hidden)]
pub mod private;
mod schema;
mod strict_json;
#[cfg(feature = "server")]
mod server;
pub mod testing;
mod toolset;

pub use args::Args;
pub use context::{Device, Host, Memory, ToolContext};
pub use error::{ToolError, ToolResult};
pub use output::{IntoOutput, Json, Output};
pub use schemars;
pub use serde;
#[cfg(feature = "server")]
pub use server::{Server, ServerError, server};
pub use toolset::{Answer, Group, Tool, Toolset};
pub use trailblaze_client as client;
pub use trailblaze_protocol::driver::Platform;
pub use trailblaze_protocol::event::Level;
/// JSON, written as in `serde_json::json!`, which would write NaN and infinite numbers as null. This panics, and the message of the failed
/// call names the line of the value.
pub use trailblaze_tools_macros::json;
pub use trailblaze_tools_macros::toolset;
