//! Estimates what a tool costs the model that it is offered to, in tokens.

use serde::Serialize;
use serde_json::json;
use trailblaze_core::engine::tool::Tool;

/// Tokenizers differ, and some are not public; this many characters of English and JSON are about one token.
const CHARACTERS_PER_TOKEN: usize = 4;

/// How tokens are counted, for display.
pub const METHOD: &str =
    "one token for 4 characters of name, description and schema, as compact JSON; an estimate, for models differ";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cost {
    pub tools: usize,
    pub characters: usize,
    pub tokens: usize,
}

/// The cost of one tool.
pub fn of(tool: &Tool) -> Cost {
    let offered = json!({"name": tool.name, "description": tool.description, "inputSchema": tool.schema.json()});
    let characters = offered.to_string().chars().count();
    Cost { tools: 1, characters, tokens: characters.div_ceil(CHARACTERS_PER_TOKEN) }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::default(), |sum, cost| Cost {
            tools: sum.tools + cost.tools,
            characters: sum.characters + cost.characters,
            tokens: sum.tokens + cost.tokens,
        })
    }
}
