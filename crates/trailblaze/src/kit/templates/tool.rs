//! A tool that looks at the screen: it calls a command of Trailblaze, and remembers the result.

use trailblaze_tools::{ToolContext, ToolResult, toolset};

pub struct CLASS_OF_TOOL;

#[toolset]
impl CLASS_OF_TOOL {
    /// Count the elements that have a text, and remember the number as `count`.
    #[tool(name = "NAME_OF_TOOL")]
    async fn count(
        &self,
        cx: &ToolContext,
        /// The whole text of an element
        text: &str,
    ) -> ToolResult {
        let count = cx.get_element_count().text(text).await?;
        cx.memory().set("count", count);
        Ok(format!("{count} on the screen").into())
    }
}

/// Without a device: a fake one answers.
#[cfg(test)]
mod tests {
    use trailblaze_tools::json;
    use trailblaze_tools::testing::FakeDevice;

    use super::*;

    #[tokio::test]
    async fn matching_elements_are_counted_and_remembered() {
        let device = FakeDevice::answering(|_, _| Ok(json!({"value": 2})));
        let cx = device.context();
        CLASS_OF_TOOL.count(&cx, "Pay").await.unwrap();
        assert_eq!(cx.memory().get("count"), Some(json!(2)));
        assert_eq!(device.calls(), [r#"GetElementCount {"text":"Pay"}"#]);
    }
}
