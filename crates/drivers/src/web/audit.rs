//! Audits pages with axe-core, which the project provides: it is run in our own world of each document, where the page's
//! scripts do not see it, and its parts are put together as axe-core does it itself.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use trailblaze_core::driver::{AccessibilityAuditor, AccessibilityFault, AuditScope, Budget, DriverError, cut};
use trailblaze_core::query::Found;
use trailblaze_core::screen::fold;

use super::acting::Acting;
use super::driver::Web;
use super::look::parts_of;
use super::page::Page;

/// Where the package is in a project.
pub const PACKAGE: &str = "node_modules/axe-core/axe.min.js";
/// The largest file that is run, in bytes; axe-core has less than one megabyte.
const BYTES: u64 = 8 << 20;
/// The most faults that are returned, and the longest text of one.
const FAULTS: usize = 200;
const TEXT: usize = 300;
/// How deep frames may be nested.
const DEPTH: usize = 8;

/// What axe-core found in a document, before the parts are put together.
#[derive(Deserialize)]
struct DocumentAudit {
    partial: Value,
    frames: Vec<FrameAudit>,
}

/// A frame that is to be audited with its own context.
#[derive(Deserialize)]
struct FrameAudit {
    /// The element that contains it, in our numbers.
    owner: Option<u64>,
    context: Value,
}

/// An audit that is under way.
struct Audit<'a> {
    page: &'a Page,
    budget: &'a Budget,
    /// What makes axe-core in a document.
    source: &'a str,
    options: Value,
    except: &'a [Found],
}

#[async_trait]
impl AccessibilityAuditor for Web {
    async fn audit(&self, budget: &Budget, scope: &AuditScope) -> Result<Vec<AccessibilityFault>, DriverError> {
        let source = read(self.axe_file())?;
        let page = self.page(budget).await?;
        page.use_session();
        page.settle(&Budget { wait: None, ..budget.clone() }).await?;
        let _acting = Acting::begin(&page.shared);
        let options = options(scope);
        let audit = Audit { page: &page, budget, source: &source, options, except: &scope.except };
        audit.faults(scope.within.as_ref()).await
    }
}

/// What axe-core is asked: only violations, and in which rules.
fn options(scope: &AuditScope) -> Value {
    let mut options = json!({"resultTypes": ["violations"], "iframes": true});
    let enabled = |rules: &[String]| -> serde_json::Map<String, Value> {
        rules.iter().map(|rule| (rule.clone(), json!({"enabled": true}))).collect()
    };
    match (scope.rules.as_slice(), scope.tags.as_slice()) {
        ([], []) => {}
        (rules, []) => options["runOnly"] = json!({"type": "rule", "values": rules}),
        (rules, tags) => {
            options["runOnly"] = json!({"type": "tag", "values": tags});
            options["rules"] = enabled(rules).into();
        }
    }
    options
}

impl Audit<'_> {
    async fn faults(&self, within: Option<&Found>) -> Result<Vec<AccessibilityFault>, DriverError> {
        let (number, include) = match within {
            None => (0, "[document]".to_string()),
            Some(found) => {
                let (number, element) = parts_of(found.node);
                (number, format!("[trailblaze.elementOf({element})].filter(Boolean)"))
            }
        };
        let context = format!("({{include: {include}, exclude: []}})");
        let partials = self.document(number, context, 0).await?;
        let finish = format!(
            "(async () => JSON.stringify((await axe.finishRun({}, {})).violations.flatMap((rule) => rule.nodes.map((node) => ({{
                rule: rule.id, impact: node.impact ?? '', help: rule.help, url: rule.helpUrl ?? '', target: node.target,
            }})))))()",
            Value::from(partials),
            self.options
        );
        let violations = self.ask(number, &finish).await?.unwrap_or_default();
        let violations: Vec<Violation> = parse(&violations)?;
        Ok(violations.into_iter().take(FAULTS).map(Violation::fault).collect())
    }

    /// The parts of a document and of the frames in it, in document order. A frame that cannot be audited has an empty one.
    fn document(&self, number: u64, context: String, depth: usize) -> BoxFuture<'_, Result<Vec<Value>, DriverError>> {
        Box::pin(async move {
            let has_axe = "typeof globalThis.axe?.runPartial === 'function'";
            if self.ask(number, has_axe).await? != Some(Value::Bool(true)) {
                self.ask(number, &format!("{};\n0", self.source)).await?;
                if self.ask(number, has_axe).await? != Some(Value::Bool(true)) {
                    let reason =
                        "the file of axe-core defines no `axe.runPartial`; use version 4.3 or newer".to_string();
                    return Err(DriverError::Refused { reason });
                }
            }
            let except: Vec<u64> = self
                .except
                .iter()
                .map(|found| parts_of(found.node))
                .filter(|(own, _)| *own == number)
                .map(|(_, id)| id)
                .collect();
            let audit = format!(
                "(async () => {{
                    const context = {context}, options = {options};
                    const missing = (options.runOnly?.type === 'tag' ? options.runOnly.values : [])
                        .filter((tag) => axe.getRules([tag]).length === 0);
                    if (missing.length) throw new Error(`no rule of axe-core has the tag \\`${{missing[0]}}\\``);
                    context.exclude = [...(context.exclude ?? []), ...{except:?}.map((id) => trailblaze.elementOf(id)).filter(Boolean)];
                    const frames = axe.utils.getFrameContexts(context, options).map(({{ frameSelector, frameContext }}) => {{
                        const frame = axe.utils.shadowSelect(frameSelector);
                        return {{ owner: frame ? trailblaze.idOf(frame) : null, context: frameContext }};
                    }});
                    return JSON.stringify({{ partial: await axe.runPartial(context, options), frames }});
                }})()",
                options = self.options,
            );
            let gone = || DriverError::Refused { reason: "the page went away while it was audited".to_string() };
            let audited: DocumentAudit = parse(&self.ask(number, &audit).await?.ok_or_else(gone)?)?;
            let mut partials = vec![audited.partial];
            for FrameAudit { owner, context } in audited.frames {
                let held = owner.and_then(|owner| self.page.frame_held_by(number, owner));
                let parts = match held.filter(|_| depth < DEPTH) {
                    Some(held) => self.document(held, format!("({context})"), depth + 1).await.ok(),
                    None => None,
                };
                partials.extend(parts.unwrap_or_else(|| vec![Value::Null]));
            }
            Ok(partials)
        })
    }

    /// Evaluates in our world of a document of the front tab; `None` if it is gone.
    async fn ask(&self, number: u64, expression: &str) -> Result<Option<Value>, DriverError> {
        match self.page.realm_numbered(number) {
            Some(realm) => self.page.ask_in(self.budget, &realm, expression).await,
            None => Ok(None),
        }
    }
}

/// A violation on an element.
#[derive(Deserialize)]
struct Violation {
    rule: String,
    impact: String,
    help: String,
    url: String,
    /// Selectors: of the frames that it is in, and its own; each a text, or a list of those of shadow hosts and its own.
    target: Vec<Value>,
}

impl Violation {
    fn fault(self) -> AccessibilityFault {
        let selector = |part: &Value| match part {
            Value::Array(inner) => inner.last().and_then(Value::as_str).unwrap_or_default().to_string(),
            part => part.as_str().unwrap_or_default().to_string(),
        };
        let mut selectors: Vec<String> = self.target.iter().map(selector).collect();
        let own = selectors.pop().map(|own| format!("css={own}")).unwrap_or_default();
        let frames = selectors.iter().map(|frame| format!(" in frame {frame}")).collect::<String>();
        AccessibilityFault {
            rule: cut(&self.rule, TEXT),
            impact: cut(&self.impact, TEXT),
            text: cut(&fold(&self.help), TEXT),
            element: cut(&format!("{own}{frames}"), TEXT),
            help: cut(&self.url, TEXT),
        }
    }
}

fn parse<T: for<'d> Deserialize<'d>>(answer: &Value) -> Result<T, DriverError> {
    serde_json::from_str(answer.as_str().unwrap_or_default())
        .map_err(|error| DriverError::Refused { reason: format!("axe-core returned an invalid answer: {error}") })
}

fn read(file: &AxeFile) -> Result<String, DriverError> {
    let refused = |why: String| DriverError::Refused {
        reason: format!(
            "axe-core, which audits pages, cannot be read from `{}`: {why}; {}",
            file.path.display(),
            if file.is_named {
                "correct `axe:` in trailblaze.yaml"
            } else {
                "add `axe-core` to the package.json of the project and run `trailblaze tool install`, or name the file with \
                 `axe:` in trailblaze.yaml"
            }
        ),
    };
    let size = std::fs::metadata(&file.path).map_err(|error| refused(error.to_string()))?.len();
    if size > BYTES {
        return Err(refused(format!("it has {size} bytes, more than {BYTES}")));
    }
    std::fs::read_to_string(&file.path).map_err(|error| refused(error.to_string()))
}

/// Where axe-core is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AxeFile {
    pub path: PathBuf,
    /// Whether the project names the file.
    pub is_named: bool,
}

impl AxeFile {
    pub fn of(root: &Path, named: Option<&str>) -> AxeFile {
        AxeFile { path: root.join(named.unwrap_or(PACKAGE)), is_named: named.is_some() }
    }
}
