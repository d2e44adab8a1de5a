//! Performs actions with the events that a person would cause. Mouse and touch are in `pointer.rs`, the keyboard in
//! `typing.rs`.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Action, ActionOutput, ActionTarget, Budget, DriverError};
use trailblaze_core::query::Found;
use trailblaze_protocol::driver::Platform;

use super::backend::Navigation;
use super::keys::Chord;
use super::look::{Contact, ElementUse};
use super::page::Page;

/// How long a server may take to answer with a document.
const OPENING: Duration = Duration::from_secs(15);
/// How long a page may take to open its file chooser.
const BEGINNING: Duration = Duration::from_secs(5);

pub async fn act(
    page: &Page,
    budget: &Budget,
    (target, action): (&ActionTarget, &Action),
) -> Result<ActionOutput, DriverError> {
    let actor = Actor { page, budget };
    page.touch();
    match action {
        Action::Tap => actor.tap(target, 1).await?,
        Action::DoubleTap => actor.tap(target, 2).await?,
        Action::Click(click) => actor.click(target, click).await?,
        Action::LongPress => actor.long_press(target).await?,
        Action::Hover { at } => actor.hover(target, *at).await?,
        Action::Drag { at, to } => actor.drag(target, *at, to).await?,
        Action::InputText { text } => actor.type_text(target, text).await?,
        Action::SetText { text } => actor.fill(target, text).await?,
        Action::EraseText { count: None } => actor.clear().await?,
        Action::EraseText { count: Some(count) } => actor.erase(*count).await?,
        Action::PressKey { key } => actor.press_key(*key).await?,
        Action::PressChord { chord, count, repeats } => {
            let chord = Chord::parse(chord).map_err(|reason| DriverError::Refused { reason })?;
            actor.press(&chord, *count, *repeats).await?;
        }
        Action::Choose { values } => {
            let chosen = actor.choose(target, values).await?;
            return Ok(ActionOutput { value: Some(chosen), ..ActionOutput::default() });
        }
        Action::SetChecked { checked } => actor.set_checked(target, *checked).await?,
        Action::Upload { files } => actor.upload(target, files).await?,
        Action::Attribute { name } => {
            let node = element(target)?.node;
            let value: Value =
                page.ask_about(budget, node, |id| format!("trailblaze.attribute({id}, {})", json!(name))).await?;
            return Ok(ActionOutput {
                text: value.as_str().unwrap_or_default().to_string(),
                value: Some(value),
                ..ActionOutput::default()
            });
        }
        Action::HideKeyboard => {}
        Action::Swipe { from, to, duration } => actor.swipe(*from, *to, *duration).await?,
        Action::ScrollIntoView => {
            page.ready(budget, element(target)?.node, ElementUse::Drop { at: None }).await?;
        }
        Action::Scroll { direction, amount } => actor.scroll(target, *direction, *amount).await?,
        Action::Pinch { .. } | Action::Twist { .. } => {
            return Err(DriverError::Unsupported { action: action.name().to_string(), platform: Platform::Web });
        }
    }
    Ok(ActionOutput::default())
}

pub struct Actor<'a> {
    pub page: &'a Page,
    pub budget: &'a Budget,
}

impl Actor<'_> {
    /// Clicks, unless it already has the requested state.
    async fn set_checked(&self, target: &ActionTarget, checked: bool) -> Result<(), DriverError> {
        let found = element(target)?;
        let is_checked = || self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.isChecked({id})"));
        if is_checked().await? == Some(checked) {
            return Ok(());
        }
        self.tap(target, 1).await?;
        let now: Option<bool> = is_checked().await?;
        match now {
            Some(now) if now != checked => {
                let what = if checked { "checked" } else { "unchecked" };
                Err(DriverError::Refused { reason: format!("{} could not be {what}", found.summary) })
            }
            _ => Ok(()),
        }
    }

    /// Sets files on a file field, or in the file chooser that a click opens.
    async fn upload(&self, target: &ActionTarget, files: &[String]) -> Result<(), DriverError> {
        if let Some(missing) = files.iter().find(|file| !std::path::Path::new(file).is_file()) {
            return Err(DriverError::Refused { reason: format!("there is no file `{missing}`") });
        }
        let found = element(target)?;
        let given = self.page.set_files(self.budget, found.node, files).await;
        let Err(DriverError::Refused { .. }) = given else {
            self.page.landed(self.budget, found.node, Contact::None).await?;
            return given;
        };
        let (interception, tab) = (self.page.interception("upload through a file chooser")?, self.page.front()?);
        self.page.shared.state().chooser = None;
        let intercept =
            |is_on: bool| self.page.call(self.budget, "the chooser", interception.intercept_choosers(&tab, is_on));
        intercept(true).await?;
        let clicked = self.tap(target, 1).await;
        let until = self.budget.deadline.min(Instant::now() + BEGINNING);
        let opened = self.page.wait(self.budget, until, |state| state.chooser.is_some()).await;
        intercept(false).await?;
        clicked?;
        opened?;
        let chooser = self.page.shared.state().chooser.take();
        let Some(chooser) = chooser else {
            let reason = format!("{} does not take files, and a click on it opens no file chooser", found.summary);
            return Err(DriverError::Refused { reason });
        };
        self.page.call(self.budget, "the files", interception.choose_files(&chooser, files)).await
    }

    pub async fn go(&self, url: &str) -> Result<(), DriverError> {
        // `localhost:8080` has a colon, but no scheme.
        let is_port = |rest: &str| rest.split('/').next().is_some_and(|port| port.parse::<u16>().is_ok());
        if url.split_once(':').is_none_or(|(_, rest)| is_port(rest)) {
            let scheme = if url.contains(':') { "http" } else { "https" };
            let reason = format!("`{url}` is not a full URL; add a scheme, such as {scheme}://{url}");
            return Err(DriverError::Refused { reason });
        }
        let started = Instant::now();
        self.page.revive(self.budget).await?;
        let commits = self.page.commits();
        self.page.expect_document(true);
        let budget = Budget { deadline: self.budget.until(OPENING), ..self.budget.clone() };
        let tab = self.page.front()?;
        let answer = self.page.call(&budget, "the page to open", self.page.backend.navigate(&tab, url)).await;
        let fail = |why: &str| {
            self.page.expect_document(false);
            Err(DriverError::Refused { reason: format!("cannot open `{url}`: {why}") })
        };
        match answer {
            Ok(Navigation::Document) => {
                if !self.page.await_document(&budget, commits).await? {
                    let after = started.elapsed().as_secs_f64();
                    return fail(&format!("the page before it did not give way within {after:.0} s"));
                }
            }
            // Navigated within the same document, or not at all.
            Ok(Navigation::SameDocument) => self.page.expect_document(false),
            // A download is not a document, and not a failure.
            Ok(Navigation::Failed { is_aborted: true, .. }) if !self.page.shared.state().downloads.is_empty() => {
                self.page.expect_document(false);
                return Ok(());
            }
            Ok(Navigation::Failed { why, .. }) => return fail(&why),
            Err(DriverError::Refused { reason }) => return fail(&reason),
            Err(DriverError::TimedOut { .. }) => {
                // A tab that loads nothing refuses it, which is as good.
                let _ = self.page.call(self.budget, "the page to stop", self.page.backend.stop_loading(&tab)).await;
                return fail(&format!("nothing answered within {:.0} s", started.elapsed().as_secs_f64()));
            }
            Err(error) => return Err(error),
        }
        let wait = self.budget.wait.map(|wait| wait.saturating_sub(started.elapsed()));
        self.page.settle(&Budget { wait, ..self.budget.clone() }).await
    }

    /// Clears the cookies and storage of the app's origin.
    pub async fn forget(&self, app: &str) -> Result<(), DriverError> {
        let (storage, tab) = (self.page.storage()?, self.page.front()?);
        let origin = Some(origin(app)).filter(|origin| origin.starts_with("http"));
        self.page.call(self.budget, "the data to be removed", storage.clear(&tab, origin)).await
    }
}

pub fn element(target: &ActionTarget) -> Result<&Found, DriverError> {
    match target {
        ActionTarget::Element(found) => Ok(found),
        _ => Err(DriverError::Refused { reason: "this action needs an element".to_string() }),
    }
}

/// The origin of a URL, such as `https://a.example:8080`.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    &url[..end]
}
