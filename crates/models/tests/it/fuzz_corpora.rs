//! The fuzz targets of models as ordinary tests: every file of their corpora, also cut off, and with each value exchanged.

#[path = "../../../../fuzz/src/models.rs"]
mod models;

use std::path::Path;

use serde_json::{Value, json};

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    entries.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file")).collect()
}

#[test]
fn answers_of_providers_hold_whatever_is_in_them() {
    for answer in corpus("model_answer") {
        models::model_answer(&answer);
        let whole: Value = serde_json::from_slice(&answer).expect("JSON");
        for pointer in pointers(&whole) {
            for other in
                [json!(null), json!(-1), json!(u64::MAX), json!("\u{0}é"), json!([]), json!([{}]), json!({"a": 1})]
            {
                let mut changed = whole.clone();
                *changed.pointer_mut(&pointer).expect("it is there") = other;
                models::model_answer(changed.to_string().as_bytes());
            }
        }
    }
}

#[test]
fn files_of_replies_hold_wherever_they_end() {
    for file in corpus("replies_read") {
        (0..=file.len()).for_each(|end| models::replies_read(&file[..end]));
        models::replies_read(&file[file.len() / 2..]);
    }
}

/// The places of all values.
fn pointers(value: &Value) -> Vec<String> {
    let within = |key: String, inner: &Value| -> Vec<String> {
        pointers(inner)
            .into_iter()
            .map(|rest| format!("/{}{rest}", key.replace('~', "~0").replace('/', "~1")))
            .collect()
    };
    let inner: Vec<String> = match value {
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(index, item)| within(index.to_string(), item)).collect()
        }
        Value::Object(map) => map.iter().flat_map(|(key, value)| within(key.clone(), value)).collect(),
        _ => Vec::new(),
    };
    std::iter::once(String::new()).chain(inner).collect()
}
