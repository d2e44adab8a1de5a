//! Reloads tools. Calls in flight keep the registry that they started with.

use serde_json::json;
use trailblaze_protocol::event::ToolKind;
use trailblaze_protocol::outcome::Outcome;

use super::row::Row;
use crate::engine::changes::Changes;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::session::Reloaded;
use crate::engine::source::ReloadError;

pub const ROWS: &[Row] = &[Row::new(
    "reloadTools",
    ToolKind::Meta,
    "Reload the tools from the tool files and tool servers. Use after adding or changing a tool.",
    &[],
    |cx, _| Box::pin(reload(cx)),
)];

async fn reload(cx: &Cx) -> Result<Outcome, Stop> {
    let before = cx.session.registry();
    // What is wrong with the files is reported by the reload.
    if let Err(ReloadError::Source(changed)) = cx.session.refresh(true).await {
        return Err(Stop::failed(changed.to_string()));
    }
    let reloaded = match cx.session.reload().await {
        Ok(reloaded) => reloaded,
        Err(ReloadError::Source(dead)) => return Err(dead.into()),
        Err(wrong) => return Err(Stop::failed(wrong.to_string())),
    };
    // The refresh may have loaded some of them already.
    let (old, new) = (before.tools().map(AsRef::as_ref), cx.session.registry());
    let reloaded = Reloaded { changes: Changes::between(old, new.tools().map(AsRef::as_ref)), ..reloaded };
    let text = reloaded.to_string();
    let Reloaded { changes: Changes { added, removed, changed }, total } = reloaded;
    let changed: Vec<String> = changed.into_iter().map(|changed| changed.tool).collect();
    Ok(Outcome::value(text, json!({"added": added, "removed": removed, "changed": changed, "total": total})))
}
