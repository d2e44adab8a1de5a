//! All texts that a page displays, and where: also what is no element of its own or not meant for assistive technology. The protocol
//! does not tell, so a script of ours measures them, in a world that the page cannot change.

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use trailblaze_core::driver::DisplayedText;
use trailblaze_protocol::geometry::Rect;

use super::super::backend::{BackendError, PageLayout};
use super::{BidiSession, WORLD, tabs, values};

/// All elements that may have a shadow root that scripts cannot reach.
const HOSTS: &str = "[...(function* find(root) { \
    for (const e of root.querySelectorAll('*')) { \
        if (e.shadowRoot) yield* find(e.shadowRoot); \
        else if (e.localName.includes('-') || \
            /^(article|aside|blockquote|body|div|footer|h[1-6]|header|main|nav|p|section|span)$/.test(e.localName)) yield e; \
    } })(document)]";
/// How many roots within roots are looked for.
const NESTED: usize = 4;

#[async_trait]
impl PageLayout for BidiSession {
    async fn displayed_texts(&self, tab: &str) -> Result<Vec<DisplayedText>, BackendError> {
        let mut found = Vec::new();
        self.texts_of(tab, (0.0, 0.0), 0, &mut found).await?;
        Ok(found)
    }
}

impl BidiSession {
    /// Adds the texts of a document that is shown at this corner, and those of its frames.
    fn texts_of<'a>(
        &'a self,
        frame: &'a str,
        corner: (f64, f64),
        depth: usize,
        found: &'a mut Vec<DisplayedText>,
    ) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move {
            let closed = self.closed_roots(frame).await?;
            let params = json!({
                "functionDeclaration": include_str!("texts.js"), "target": {"context": frame, "sandbox": WORLD},
                "arguments": closed, "awaitPromise": false, "serializationOptions": {"maxDomDepth": 0},
            });
            let answer = self.call("script.callFunction", params).await?;
            if answer.get("exceptionDetails").is_some() {
                return values::value_of(&answer).map(drop);
            }
            let texts = answer.pointer("/result/value/0/value").and_then(Value::as_str).unwrap_or("[]");
            found.extend(read(texts, corner)?);
            let frames = answer.pointer("/result/value/1/value").and_then(Value::as_array);
            for inner in frames.into_iter().flatten() {
                let context = inner.pointer("/value/0/value/context").and_then(Value::as_str);
                let at = |index: usize| {
                    let number = inner.pointer(&format!("/value/{index}/value"));
                    number.and_then(Value::as_f64).unwrap_or_default()
                };
                let (Some(context), true) = (context, depth < tabs::DEPTH) else { continue };
                let corner = (corner.0 + at(1), corner.1 + at(2));
                match self.texts_of(context, corner, depth + 1, found).await {
                    // A frame that has just been removed shows nothing.
                    Err(BackendError::Refused(_)) if !self.known.lock().frames.contains_key(context) => {}
                    told => told?,
                }
            }
            Ok(())
        })
    }

    /// Elements with a closed shadow root, each followed by its root, as arguments of a call.
    async fn closed_roots(&self, frame: &str) -> Result<Vec<Value>, BackendError> {
        let target = json!({"context": frame, "sandbox": WORLD});
        let options = json!({"serializationOptions": {"maxDomDepth": 0, "includeShadowTree": "all"}});
        let answer = self.evaluate_at(&target, HOSTS, options.clone()).await?;
        let mut pairs: Vec<Value> = Vec::new();
        let mut new = closed_in(&answer);
        // A closed root may have other ones in it.
        for _ in 0..NESTED {
            if new.is_empty() {
                break;
            }
            let roots: Vec<Value> = new.iter().skip(1).step_by(2).cloned().collect();
            pairs.append(&mut new);
            let inner = HOSTS.replace(
                "(document)",
                "({ querySelectorAll: () => roots.flatMap((root) => [...root.querySelectorAll('*')]) })",
            );
            let mut params = json!({
                "functionDeclaration": format!("(...roots) => {inner}"), "target": target, "arguments": roots,
                "awaitPromise": false,
            });
            params["serializationOptions"] = options["serializationOptions"].clone();
            new = closed_in(&self.call("script.callFunction", params).await?);
        }
        Ok(pairs)
    }
}

/// The elements of an answer that have a closed root, each followed by its root.
fn closed_in(answer: &Value) -> Vec<Value> {
    let nodes = answer.pointer("/result/value").and_then(Value::as_array);
    let pair = |node: &Value| {
        let root = node.pointer("/value/shadowRoot")?;
        let is_closed = root.pointer("/value/mode").and_then(Value::as_str) == Some("closed");
        let (host, root) = (node.get("sharedId")?, root.get("sharedId")?);
        is_closed.then(|| [json!({"sharedId": host}), json!({"sharedId": root})])
    };
    nodes.into_iter().flatten().filter_map(pair).flatten().collect()
}

/// Texts as the script writes them: each with the boxes of its lines.
fn read(texts: &str, (x, y): (f64, f64)) -> Result<Vec<DisplayedText>, BackendError> {
    let texts: Vec<(String, Vec<[f64; 4]>)> = serde_json::from_str(texts)
        .map_err(|error| BackendError::Refused(format!("the page returned an invalid answer: {error}")))?;
    let place = |[left, top, right, bottom]: [f64; 4]| Rect {
        left: (left + x).floor() as i32,
        top: (top + y).floor() as i32,
        right: (right + x).ceil() as i32,
        bottom: (bottom + y).ceil() as i32,
    };
    let text =
        |(text, boxes): (String, Vec<[f64; 4]>)| DisplayedText { text, boxes: boxes.into_iter().map(place).collect() };
    Ok(texts.into_iter().map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_where_their_frames_show_them() {
        let texts = read(r#"[["hunter2", [[0, 0, 60, 19], [0, 19, 10, 38]]]]"#, (13.5, 18.0)).unwrap();
        let expected =
            [Rect { left: 13, top: 18, right: 74, bottom: 37 }, Rect { left: 13, top: 37, right: 24, bottom: 56 }];
        assert_eq!(texts, [DisplayedText { text: "hunter2".to_string(), boxes: expected.to_vec() }]);
        assert!(read("no", (0.0, 0.0)).is_err());
    }

    #[test]
    fn only_closed_roots_are_passed_on() {
        let node = |id: &str, mode: Value| json!({"type": "node", "sharedId": id, "value": {"shadowRoot": mode}});
        let root = |mode: &str| json!({"type": "node", "sharedId": "root", "value": {"mode": mode}});
        let answer = json!({"result": {"type": "array", "value": [
            node("a", Value::Null), node("b", root("open")), node("c", root("closed")),
        ]}});
        assert_eq!(closed_in(&answer), [json!({"sharedId": "c"}), json!({"sharedId": "root"})]);
    }
}
