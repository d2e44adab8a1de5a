//! One fake for each port, and a session wired from them, for the tests of this crate and others. Time is tokio's, so a
//! test with a paused clock never sleeps.

mod driver;
mod events;
mod model;
mod phone;
mod pictures;
mod session;
mod source;

pub use driver::{FakeDriver, Mishap, TestPage, button, field, label};
pub use events::TestEvents;
pub use model::{FakeModel, calls};
pub use pictures::TestPictures;
pub use session::{TestSession, TestWiring, scope};
pub use source::FakeSource;

use serde_json::{Map, Value};

/// The arguments of a call, from `json!({…})`.
pub fn args(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null => Map::new(),
        other => panic!("arguments are a mapping, not {other}"),
    }
}
