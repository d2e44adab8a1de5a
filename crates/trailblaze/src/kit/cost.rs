//! Estimates what a tool costs the model that it is offered to, in tokens.

use serde::Serialize;
use trailblaze_core::callers::agent::offer::for_model;
use trailblaze_core::engine::tool::Tool;

/// Tokenizers differ, and some are not public; this many characters of English and JSON are about one token.
const CHARACTERS_PER_TOKEN: usize = 4;

/// How tokens are counted, for display.
pub const METHOD: &str = "one token for 4 characters of name, description and schema, as models are sent them; an estimate, for models differ";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ToolCost {
    pub tools: usize,
    pub characters: usize,
    pub tokens: usize,
}

/// The cost of one tool, as a model is offered it.
pub fn of(tool: &Tool) -> ToolCost {
    let characters = serde_json::to_string(&for_model(tool)).map_or(0, |text| text.chars().count());
    ToolCost { tools: 1, characters, tokens: characters.div_ceil(CHARACTERS_PER_TOKEN) }
}

impl std::iter::Sum for ToolCost {
    fn sum<I: Iterator<Item = ToolCost>>(costs: I) -> ToolCost {
        costs.fold(ToolCost::default(), |sum, cost| ToolCost {
            tools: sum.tools + cost.tools,
            characters: sum.characters + cost.characters,
            tokens: sum.tokens + cost.tokens,
        })
    }
}
