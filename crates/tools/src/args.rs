//! All arguments of a tool as one struct.

/// All arguments of a tool, as one struct.
///
/// ```
/// use trailblaze_tools::{Args, ToolContext, ToolResult, toolset};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Login {
///     /// Who signs in
///     email: String,
///     /// How often to try
///     #[serde(default = "three")]
///     attempts: u32,
/// }
///
/// fn three() -> u32 {
///     3
/// }
///
/// struct Acme;
///
/// #[toolset]
/// impl Acme {
///     /// Sign in to the app.
///     #[tool(name = "acme_login")]
///     async fn login(&self, cx: &ToolContext, Args(login): Args<Login>) -> ToolResult<()> {
///         cx.input_text(login.email).await?;
///         Ok(())
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Args<T>(pub T);
