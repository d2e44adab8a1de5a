//! A team's own build of Trailblaze, whose tools try what tools can do. With the argument `serve-tools` it is an MCP server for the
//! same tools. TEAM_TOOLSETS says which toolsets are in it, as names separated by commas.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_tools::client::Error;
use trailblaze_tools::{Json, Level, Output, ToolContext, ToolError, ToolResult, toolset};

fn main() -> ExitCode {
    let wanted = std::env::var("TEAM_TOOLSETS").unwrap_or_default();
    let wanted = |name: &str| wanted.split(',').any(|wanted| wanted == name);
    if std::env::args().nth(1).as_deref() == Some("serve-tools") {
        let mut server = trailblaze_tools::server("team").version("1.2.3");
        if wanted("team") {
            server = server.toolset(Team);
        }
        if wanted("rival") {
            server = server.toolset(Rival);
        }
        return server.main();
    }
    let mut app = trailblaze::app();
    if wanted("team") {
        app = app.toolset(Team);
    }
    if wanted("rival") {
        app = app.toolset(Rival);
    }
    if wanted("reserved") {
        app = app.toolset(Reserved);
    }
    if wanted("taken") {
        app = app.toolset(Taken);
    }
    app.main()
}

struct Team;

#[toolset(group(name = "rare", description = "What is rarely needed", enabled = false))]
impl Team {
    /// Call a method of the typed API and return what it returns.
    #[tool(name = "team_request")]
    async fn request(&self, cx: &ToolContext, method: &str, params: &str) -> ToolResult<Json<Value>> {
        let params = serde_json::from_str(params)?;
        Ok(Json(match cx.request(method, params).await {
            Ok(fields) => json!({"fields": fields}),
            Err(Error::Api { code, message }) => json!({"code": code.as_str(), "message": message}),
            Err(error) => return Err(error.into()),
        }))
    }

    /// Add to the counter, through another tool of this toolset and through commands.
    #[tool(name = "team_count", groups = ["counting"], toolset = "counting")]
    async fn count(
        &self,
        cx: &ToolContext,
        /// How often
        #[arg(default = 1)]
        times: u32,
    ) -> ToolResult {
        self.launch(cx).await?;
        for time in 1..=times {
            cx.progress(format!("{time} of {times}"));
            cx.tap().id("add").await?;
        }
        let text = cx.get_element_text("count").await?.unwrap_or_default();
        cx.memory().set("counted", text.clone());
        cx.log_at(Level::Warning, format!("counted {text} on {}", cx.device().id));
        Ok(Output::from(json!({"text": text})).with_text(format!("it says {text}")))
    }

    /// Launch the counter.
    #[tool(name = "team_launch", for_model = false, recordable = false, platforms = [Android, Ios])]
    async fn launch(&self, cx: &ToolContext) -> ToolResult<()> {
        cx.launch_app().package_id("com.example.counter").await?;
        Ok(())
    }

    /// Add to the counter by delegates.
    #[tool(name = "team_delegate", delegating)]
    async fn delegate(&self) -> ToolResult {
        Ok(Output::default().delegate("tap", json!({"id": "add"})).delegate("tap", json!({"text": "Add one"})))
    }

    /// Fail in the way that is asked for.
    #[tool(name = "team_fail")]
    async fn fail(&self, cx: &ToolContext, how: &str) -> ToolResult<()> {
        match how {
            "failed" => Err(ToolError::failed("it failed")),
            "fatal" => Err(ToolError::fatal("it is over")),
            "assertion" => Ok(cx.assert_visible().text("Nowhere").timeout_ms(0).await.map(drop)?),
            "action" => Ok(cx.tap().text("Nowhere").timeout_ms(0).await.map(drop)?),
            "unsupported" => Ok(cx
                .commands()
                .request("PlaywrightCommands/Navigate", serde_json::from_str(r#"{"url": "https://a.example"}"#)?)
                .await
                .map(drop)?),
            "tool" => cx.call("team_fail", json!({"how": "fatal"})).await.map(drop),
            "parse" => Ok("x".parse::<u8>().map(drop)?),
            "panic" => panic!("no way"),
            "spawned" => {
                // Waits for the task, but never looks at how it ended.
                let task = tokio::spawn(async { panic!("in a task") });
                while !task.is_finished() {
                    tokio::task::yield_now().await;
                }
                Ok(())
            }
            "task" => {
                // The same with a command that fails.
                let client = cx.commands().clone();
                let task = tokio::spawn(async move { client.tap().text("Nowhere").timeout_ms(0).await });
                while !task.is_finished() {
                    tokio::task::yield_now().await;
                }
                Ok(())
            }
            "sleep" => {
                let _dropped = Dropped;
                cx.log("asleep");
                tokio::time::sleep(Duration::from_secs(600)).await;
                Ok(())
            }
            "itself" => cx.call("team_fail", json!({"how": "itself"})).await.map(drop),
            "flood" => {
                (0..2_000).for_each(|number| cx.log(number.to_string()));
                Err(ToolError::failed("it said a lot"))
            }
            other => Err(ToolError::failed(format!("unknown way: {other}"))),
        }
    }

    /// Say who is remembered, and remember someone else.
    #[tool(name = "team_remember")]
    async fn remember(&self, cx: &ToolContext, user: &str) -> ToolResult<String> {
        let before = cx.memory().text("user").unwrap_or_else(|| "nobody".to_string());
        cx.memory().set("user", user);
        cx.memory().remove("counted");
        Ok(before)
    }

    /// Only on the host.
    #[tool(name = "team_host", host_only, groups = ["rare"])]
    async fn host(&self) -> ToolResult<()> {
        Ok(())
    }
}

/// Says so in the log when a call ends.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = writeln!(std::io::stderr(), "the tool was dropped");
    }
}

struct Rival;

#[toolset]
impl Rival {
    /// Count differently.
    #[tool(name = "team_count")]
    async fn count(&self) -> ToolResult<()> {
        Ok(())
    }
}

struct Reserved;

#[toolset]
impl Reserved {
    /// Has the name of someone else.
    #[tool(name = "android_count")]
    async fn count(&self) -> ToolResult<()> {
        Ok(())
    }
}

struct Taken;

#[toolset]
impl Taken {
    /// Has the name of a built-in tool.
    #[tool(name = "tap")]
    async fn tap(&self) -> ToolResult<()> {
        Ok(())
    }
}
