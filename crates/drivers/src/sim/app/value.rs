//! Values of an app's state: always text, however they are written.

use serde_json::{Value as Json, json};
use trailblaze_core::yaml::{Decode, Entries, Problems, YamlNode};

/// One value. `true` and `12` are accepted without quotes, and the schema allows them.
#[derive(Debug, Clone, PartialEq)]
pub struct Value(pub String);

/// Values by name.
pub type Values = Entries<Value>;

impl Decode for Value {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        String::decode(node, problems).map(Value)
    }

    fn schema() -> Json {
        json!({"type": ["string", "number", "boolean"]})
    }
}
