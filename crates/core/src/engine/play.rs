//! Plays recorded effects in place of their tool: calls go through `dispatch`, memory changes become outcomes.

use std::sync::Arc;

use serde_json::{Map, json};
use trailblaze_protocol::event::CallOrigin;
use trailblaze_protocol::outcome::Outcome;

use crate::engine::cx::Cx;
use crate::engine::dispatch::{Arguments, Call, dispatch};
use crate::engine::fault::Stop;
use crate::engine::tool::{Body, Contributor, Tool};
use crate::names;
use crate::record::effects::{Effect, MEMORY};
use crate::schema::Schema;

impl Tool {
    /// A tool that plays the recorded effects of another one. It accepts any arguments.
    pub(crate) fn playing(name: &str, effects: Arc<[Effect]>, file: &str) -> Tool {
        let contributor = Contributor::new(file, names::ToolOrigin::Yaml);
        Tool::new(name, "", Schema::new(json!({"type": "object"})), contributor, Body::Effects(effects))
    }
}

pub(crate) async fn play(cx: &Cx, tool: &Tool, effects: &[Effect]) -> Result<Outcome, Stop> {
    for (index, effect) in effects.iter().enumerate() {
        let call = match effect {
            Effect::Memory(changes) if index + 1 == effects.len() => {
                return Ok(Outcome { memory: changes.clone(), ..Outcome::default() });
            }
            // Later effects may use the value, so it is applied now, as a call that is recorded as such.
            Effect::Memory(_) => {
                let tool = Tool::playing(MEMORY, Arc::from([effect.clone()]), &tool.contributor.label);
                let args = Arguments::Json(Map::new());
                Call { stand_in: Some(Arc::new(tool)), ..Call::new(MEMORY, args, CallOrigin::Callback) }
            }
            Effect::Call { tool, args } => Call::new(tool, Arguments::Json(args.clone()), CallOrigin::Expansion),
        };
        let name = call.tool.clone();
        let answer = dispatch(cx, call).await?;
        if answer.is_error() {
            let text = format!("its effect `{name}` failed: {}", answer.text);
            return Ok(Outcome { variant: answer.variant, text, structured: answer.structured, ..Outcome::default() });
        }
    }
    Ok(Outcome::default())
}
