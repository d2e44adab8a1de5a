//! A small toolset: one argument each, given by name.

use serde_json::json;
use trailblaze_tools::{Output, ToolContext, ToolResult, toolset};

pub struct Buttons;

#[toolset(groups = ["buttons"])]
impl Buttons {
    /// Tap a button by its text.
    #[tool(name = "buttons_tap")]
    async fn tap(
        &self,
        cx: &ToolContext,
        /// The text on the button
        text: &str,
    ) -> ToolResult<()> {
        cx.tap().text(text).await?;
        Ok(())
    }

    /// Tap several buttons, one after the other. A recording contains the taps instead of this call.
    #[tool(name = "buttons_tapAll", delegating)]
    async fn tap_all(
        &self,
        /// The texts on the buttons
        texts: &[String],
    ) -> ToolResult {
        Ok(texts.iter().fold(Output::default(), |taps, text| taps.delegate("tap", json!({"text": text}))))
    }
}
