//! What an action means that was aimed at a screen: the calls to make on the present one. It is refused if what it was aimed at is
//! gone, so that a click never hits something else.

use serde_json::{Map, Value, json};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::fault::Stop;
use trailblaze_core::query::{Stable, alternatives, descriptions};
use trailblaze_core::screen::{Node, Screen, Shape};
use trailblaze_core::tools::tap_on;
use trailblaze_core::trail::{CallParts, parts_of};
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::event::StepKind;
use trailblaze_protocol::geometry::{Point, Rect};
use trailblaze_protocol::outcome::Delegate;

use super::{KnownScreen, Viewer, element, inspect};

/// How far an element may have moved on a device that does not tell its elements apart, in pixels.
const NUDGE: i32 = 8;

/// What a person did with the picture of a screen.
#[derive(Debug, Clone, PartialEq)]
pub struct TouchRequest {
    /// The screen that the person saw.
    pub generation: i32,
    /// The place of an element in its list.
    pub element: Option<i32>,
    pub point: Point,
    /// The end of a swipe.
    pub to: Point,
    /// Such as `tap`.
    pub action: String,
    /// The text to type, the key to press, or the direction.
    pub text: String,
    /// Which description of the element to use, from 0.
    pub description: Option<usize>,
    /// Which assertion about the element to make, from 0.
    pub assertion: Option<usize>,
}

/// The step that an action becomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Aimed {
    pub kind: StepKind,
    pub text: String,
    pub calls: Vec<Delegate>,
}

/// Why an action is not carried out.
#[derive(Debug)]
pub enum Mistaken {
    /// What it was aimed at is gone.
    Stale(String),
    /// It makes no sense.
    Invalid(String),
    /// The screen could not be looked at.
    Stop(Stop),
}

impl Viewer {
    /// What an action means now.
    pub async fn aim(&self, cx: &Cx, aim: &TouchRequest) -> Result<Aimed, Mistaken> {
        let gone = || Mistaken::Stale("the screen that this was aimed at is gone; nothing was done".to_string());
        let seen = self.sight(aim.generation).ok_or_else(gone)?;
        let now = self.look(cx).await.map_err(Mistaken::Stop)?;
        let device = self.session.device.description();
        let secrets = &*self.session.secrets;
        let place =
            AimedPlace { seen: &seen, now: &now, knows_elements: device.knows_elements, shape: device.shape, secrets };
        match aim.element {
            Some(index) => {
                let node = seen.node(index);
                let node = node.ok_or_else(|| Mistaken::Invalid(format!("the screen has no element {index}")))?;
                let missing = || Mistaken::Stale(format!("{} is no longer there; nothing was done", node.summary()));
                let found = place.again(node).ok_or_else(missing)?;
                place.on_element(aim, node, found)
            }
            None => place.on_screen(aim),
        }
    }
}

/// The screen that was seen, and the present one.
struct AimedPlace<'a> {
    seen: &'a KnownScreen,
    now: &'a KnownScreen,
    knows_elements: bool,
    shape: Shape,
    secrets: &'a Secrets,
}

/// Why nothing is typed into a password field.
fn told(name: &str) -> String {
    format!(
        "{name} is a password field, and what is typed is recorded; start the studio with `--secret NAME`, and type {{{{NAME}}}} here"
    )
}

impl<'a> AimedPlace<'a> {
    /// The element on the present screen.
    fn again(&self, node: &Node) -> Option<&'a Node> {
        let is_near = |a: Option<Rect>, b: Option<Rect>| match (a, b) {
            (Some(a), Some(b)) => {
                let pairs = [(a.left, b.left), (a.top, b.top), (a.right, b.right), (a.bottom, b.bottom)];
                pairs.iter().all(|(a, b)| (a - b).abs() <= NUDGE)
            }
            (a, b) => a == b,
        };
        let is_it = |other: &&Node| {
            let is_alike = other.document == node.document
                && other.class() == node.class()
                && other.developer_id() == node.developer_id()
                && element::name(other) == element::name(node);
            let is_same = if self.knows_elements { other.id == node.id } else { is_near(other.bounds, node.bounds) };
            is_alike && is_same
        };
        self.now.screen.root.walk().find(is_it)
    }

    fn on_element(&self, aim: &TouchRequest, seen: &Node, node: &Node) -> Result<Aimed, Mistaken> {
        let screen = &self.now.screen;
        let stable = match aim.description {
            None => descriptions(screen, node).swap_remove(0).0,
            Some(nth) => {
                let chosen = descriptions(&self.seen.screen, seen).into_iter().nth(nth).map(|(stable, _)| stable);
                let chosen =
                    chosen.ok_or_else(|| Mistaken::Invalid(format!("the element has no description {nth}")))?;
                if !descriptions(screen, node).iter().any(|(stable, _)| *stable == chosen) {
                    let text = "the element is no longer found by this description; nothing was done";
                    return Err(Mistaken::Stale(text.to_string()));
                }
                chosen
            }
        };
        let name = called(node);
        let step = |text: String, calls: Vec<Delegate>| Ok(Aimed { kind: StepKind::Step, text, calls });
        match aim.action.as_str() {
            "tap" => step(format!("Tap {name}"), vec![tap_on(&stable)]),
            "longPress" => {
                let mut tap = tap_on(&stable);
                tap.args.insert("longPress".into(), true.into());
                step(format!("Long-press {name}"), vec![tap])
            }
            "doubleTap" => {
                let args = json!({"nodeSelector": self.web_selector(node)?, "clickCount": 2});
                step(format!("Double-click {name}"), vec![call("web_click", args)])
            }
            "hover" => {
                let args = json!({"nodeSelector": self.web_selector(node)?});
                step(format!("Move the pointer over {name}"), vec![call("web_hover", args)])
            }
            "type" | "fill" if self.would_tell(node, &aim.text) => Err(Mistaken::Invalid(told(&name))),
            "type" | "fill" => step(format!("Type \"{}\" into {name}", aim.text), self.fill(node, &stable, &aim.text)),
            "choose" => {
                let args = json!({"nodeSelector": self.web_selector(node)?, "values": [aim.text]});
                step(format!("Choose \"{}\" in {name}", aim.text), vec![call("web_selectOption", args)])
            }
            "scroll" => self.scroll(&aim.text),
            "swipe" => match self.dropped_on(node, aim.to) {
                Some(target) => {
                    let args =
                        json!({"nodeSelector": self.web_selector(node)?, "toNodeSelector": self.web_selector(target)?});
                    step(format!("Drag {name} onto {}", called(target)), vec![call("web_drag", args)])
                }
                None => self.swipe(aim),
            },
            "assert" => {
                let nth = aim.assertion.unwrap_or(0);
                let proposal = inspect::assertions(screen, node, &stable).into_iter().nth(nth);
                let proposal = proposal.ok_or_else(|| {
                    Mistaken::Invalid("nothing can be asserted about this element in a lasting way".to_string())
                })?;
                let calls = delegate_of(&proposal.call).into_iter().collect();
                Ok(Aimed { kind: StepKind::Verify, text: proposal.text, calls })
            }
            other => Err(unknown(other)),
        }
    }

    fn on_screen(&self, aim: &TouchRequest) -> Result<Aimed, Mistaken> {
        let step = |text: String, calls: Vec<Delegate>| Ok(Aimed { kind: StepKind::Step, text, calls });
        match aim.action.as_str() {
            "tap" | "longPress" | "swipe" if self.seen.generation != self.now.generation => {
                Err(Mistaken::Stale("the screen changed; nothing was done".to_string()))
            }
            "tap" => {
                let Point { x, y } = aim.point;
                step(format!("Tap the point {x}, {y}"), vec![call("tapOnPoint", json!({"x": x, "y": y}))])
            }
            "longPress" => {
                let Point { x, y } = aim.point;
                let args = json!({"x": x, "y": y, "longPress": true});
                step(format!("Long-press the point {x}, {y}"), vec![call("tapOnPoint", args)])
            }
            "swipe" => self.swipe(aim),
            "scroll" => self.scroll(&aim.text),
            "type" => {
                let field = self.same_focus()?;
                if let Some(field) = field.filter(|field| self.would_tell(field, &aim.text)) {
                    return Err(Mistaken::Invalid(told(&called(field))));
                }
                let into = field.map(|field| format!(" into {}", called(field))).unwrap_or_default();
                step(format!("Type \"{}\"{into}", aim.text), vec![call("inputText", json!({"text": aim.text}))])
            }
            "pressKey" => {
                self.same_focus()?;
                let text = format!("Press {}", aim.text);
                match self.shape {
                    Shape::Web => step(text, vec![call("web_pressKey", json!({"key": aim.text}))]),
                    _ => step(text, vec![call("pressKey", json!({"keyCode": aim.text.to_uppercase()}))]),
                }
            }
            "back" if self.shape == Shape::Web => {
                step("Go back".to_string(), vec![call("web_navigate", json!({"action": "BACK"}))])
            }
            "back" => step("Go back".to_string(), vec![call("pressBack", json!({}))]),
            "home" => step("Go to the home screen".to_string(), vec![call("pressHome", json!({}))]),
            other => Err(unknown(other)),
        }
    }

    /// Whether typing a text would record a password. The name of a secret, and the value of one, which is replaced by its name, may be
    /// recorded.
    fn would_tell(&self, field: &Node, text: &str) -> bool {
        let is_name = text.starts_with("{{") && text.ends_with("}}");
        field.is_password() && !is_name && self.secrets.redact(text) == text
    }

    /// The focused field, which must be the one that had the focus when the person typed.
    fn same_focus(&self) -> Result<Option<&'a Node>, Mistaken> {
        let focus =
            |screen: &'a Screen| screen.root.walk().filter(|node| node.is_focused() && node.is_editable()).last();
        let now = focus(&self.now.screen);
        // Focus may arrive after the picture; it must not have moved from one field to another.
        match focus(&self.seen.screen) {
            Some(seen) => match self.again(seen).filter(|again| now.is_some_and(|now| now.id == again.id)) {
                Some(field) => Ok(Some(field)),
                None => Err(Mistaken::Stale("another field has the focus; nothing was typed".to_string())),
            },
            None if self.seen.screen.app == self.now.screen.app => Ok(now),
            None => Err(Mistaken::Stale("the screen changed; nothing was typed".to_string())),
        }
    }

    /// Where a drag in a browser ends, if it is one: from one thing with a name to another. Anything else moves the page.
    fn dropped_on(&self, from: &Node, to: Point) -> Option<&'a Node> {
        let screen = &self.now.screen;
        let is_thing =
            |node: &Node| self.shape == Shape::Web && element::name(node).is_some() && node.children.len() < 20;
        let is_under = |node: &&Node| {
            screen
                .visible_part(node)
                .is_some_and(|part| (part.left..part.right).contains(&to.x) && (part.top..part.bottom).contains(&to.y))
        };
        let target = screen.root.walk().filter(is_under).last()?;
        let holds = |outer: &Node, inner: &Node| outer.walk().any(|node| node.id == inner.id);
        let is_drag = is_thing(from) && is_thing(target) && !holds(from, target) && !holds(target, from);
        (is_drag && self.web_selector(target).is_ok()).then_some(target)
    }

    fn swipe(&self, aim: &TouchRequest) -> Result<Aimed, Mistaken> {
        let (across, down) = (aim.to.x - aim.point.x, aim.to.y - aim.point.y);
        let direction = match (across.abs() > down.abs(), across > 0, down > 0) {
            (true, true, _) => "RIGHT",
            (true, false, _) => "LEFT",
            (false, _, true) => "DOWN",
            (false, _, false) => "UP",
        };
        let text = format!("Swipe {}", direction.to_lowercase());
        Ok(Aimed { kind: StepKind::Step, text, calls: vec![call("swipe", json!({"direction": direction}))] })
    }

    fn scroll(&self, direction: &str) -> Result<Aimed, Mistaken> {
        let direction = if direction.is_empty() { "DOWN".to_string() } else { direction.to_uppercase() };
        if !["UP", "DOWN", "LEFT", "RIGHT"].contains(&direction.as_str()) {
            return Err(Mistaken::Invalid(format!("`{direction}` is not a direction")));
        }
        let tool = if self.shape == Shape::Web { "web_scroll" } else { "scroll" };
        let text = format!("Scroll {}", direction.to_lowercase());
        Ok(Aimed { kind: StepKind::Step, text, calls: vec![call(tool, json!({"direction": direction}))] })
    }

    /// Replaces the text of a field.
    fn fill(&self, node: &Node, stable: &Stable, text: &str) -> Vec<Delegate> {
        match self.web_selector(node) {
            Ok(selector) => {
                vec![call("web_type", json!({"nodeSelector": selector, "text": text, "clearFirst": true}))]
            }
            Err(_) => {
                let has_text = node.text().is_some_and(|text| !text.is_empty());
                let clear = has_text.then(|| call("clearText", json!({})));
                let typed = call("inputText", json!({ "text": text }));
                [Some(tap_on(stable)), clear, Some(typed)].into_iter().flatten().collect()
            }
        }
    }

    /// A selector for tools that only browsers have.
    fn web_selector(&self, node: &Node) -> Result<Value, Mistaken> {
        if self.shape != Shape::Web {
            return Err(Mistaken::Invalid("only browsers can do this".to_string()));
        }
        let selector = alternatives(&self.now.screen, node).into_iter().next();
        let none = || Mistaken::Invalid("nothing tells this element apart from others".to_string());
        selector.map(|selector| selector.to_json()).ok_or_else(none)
    }
}

/// What a step calls an element.
pub fn called(node: &Node) -> String {
    match element::name(node) {
        Some(name) => format!("\"{name}\""),
        None => format!("the {}", node.summary()),
    }
}

fn call(tool: &str, args: Value) -> Delegate {
    Delegate { tool: tool.to_string(), args: args.as_object().cloned().unwrap_or_else(Map::new) }
}

/// A call as in trails, without the name of its result.
pub fn delegate_of(written: &Value) -> Option<Delegate> {
    let CallParts { tool, args, .. } = parts_of(written)?;
    let args = if args.is_null() { Map::new() } else { args.as_object()?.clone() };
    Some(Delegate { tool: tool.to_string(), args })
}

fn unknown(action: &str) -> Mistaken {
    Mistaken::Invalid(format!("`{action}` cannot be done here"))
}
