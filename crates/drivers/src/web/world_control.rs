//! Changes the world of a browser's pages, as a trail says.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{
    ActionOutput, Budget, DriverError, NetworkExchange, NetworkRule, PageWorldCommand, PermissionState, RuleEffect,
    WorldControl,
};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::outcome::Attachment;

use super::act::Actor;
use super::backend_world::{GeoLocation, OriginStorage, PageConditions, Routing};
use super::browse::own_storage;
use super::driver::Web;
use super::page::{POLL, Page, string};
use super::world::{PageClock, PagePermission};

/// How long bodies may take that a HAR file needs.
const BODIES: Duration = Duration::from_secs(3);

fn unsupported(command: &PageWorldCommand) -> DriverError {
    DriverError::Unsupported { action: command.name().to_string(), platform: Platform::Web }
}

fn said(text: impl Into<String>) -> ActionOutput {
    ActionOutput { text: text.into(), ..ActionOutput::default() }
}

fn count(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

#[async_trait]
impl WorldControl for Web {
    async fn change(&self, budget: &Budget, command: &PageWorldCommand) -> Result<ActionOutput, DriverError> {
        match command {
            PageWorldCommand::FindExchange(query) => {
                let page = self.page(budget).await?;
                if page.backend.routing().is_none() {
                    return Err(unsupported(command));
                }
                return Ok(match self.world.find_exchange(query) {
                    Ok(found) => ActionOutput { text: found.text, value: Some(found.value), ..ActionOutput::default() },
                    Err(saw) => said(saw),
                });
            }
            PageWorldCommand::SaveHar => {
                self.await_bodies(budget).await?;
                let Some(saved) = self.world.save_har() else {
                    let reason = "no HAR file is being recorded; call web_recordHar first".to_string();
                    return Err(DriverError::Refused { reason });
                };
                let (file, n) = saved?;
                return Ok(said(format!("saved {} in {file}", count(n, "request"))));
            }
            _ => {}
        }
        let (page, _acting) = self.settled(budget).await?;
        let change = WorldChange { web: self, page: &page, budget, command };
        match command {
            PageWorldCommand::AddRule(rule) => {
                change.routing()?;
                self.world.add_rule(rule)?;
                change.hold_requests().await?;
                Ok(said(about(rule)))
            }
            PageWorldCommand::RemoveRules { url } => {
                let n = self.world.remove_rules(url.as_deref());
                if let (0, Some(url)) = (n, url) {
                    let reason = format!("there is no rule with the pattern `{url}`");
                    return Err(DriverError::Refused { reason });
                }
                change.hold_requests().await?;
                Ok(said(format!("removed {}", count(n, "rule"))))
            }
            PageWorldCommand::ReplayHar { file, url, missing, redact } => {
                change.routing()?;
                let n = self.world.replay_har(file, url, *missing, redact)?;
                change.hold_requests().await?;
                Ok(said(format!("{} are answered from {file}", count(n, "request"))))
            }
            PageWorldCommand::RecordHar { file, url, redact } => {
                change.routing()?;
                self.world.record_har(file, url, redact).map(|()| said(format!("recording {file}")))
            }
            PageWorldCommand::SetCredentials { origin, username, password } => {
                change.routing()?;
                self.world.set_credentials(origin, username, password);
                change.hold_requests().await?;
                Ok(ActionOutput::default())
            }
            PageWorldCommand::LocalStorage { origin } => change.local_storage(origin.as_deref()).await,
            PageWorldCommand::SetLocalStorage { origin, items } => {
                change.set_local_storage(origin.as_deref(), items).await
            }
            PageWorldCommand::Pdf { is_landscape } => change.pdf(*is_landscape).await,
            PageWorldCommand::ReadClipboard | PageWorldCommand::WriteClipboard { .. } => change.clipboard().await,
            _ => change.surround().await.map(|()| ActionOutput::default()),
        }
    }

    fn exchanges(&self) -> Vec<NetworkExchange> {
        self.world.exchanges()
    }
}

impl Web {
    /// Waits for the bodies of requests that are over, or about to be.
    async fn await_bodies(&self, budget: &Budget) -> Result<(), DriverError> {
        let until = budget.deadline.min(Instant::now() + BODIES);
        while self.world.is_har_incomplete() && Instant::now() < until {
            budget.run("the responses of a HAR file", tokio::time::sleep(POLL)).await?;
        }
        Ok(())
    }

    /// Ends what the trail has changed, and saves what it has recorded.
    pub(super) async fn end_world(&self, budget: &Budget) -> Result<(), DriverError> {
        self.await_bodies(budget).await?;
        let saved = self.world.save_har().transpose();
        match self.opened().filter(|page| page.backend.end().is_none()) {
            Some(page) => page.call(budget, "the browser", self.world.put_back(Some(&*page.backend))).await?,
            // Nothing is left to be put back.
            None => drop(self.world.put_back(None).await),
        }
        saved.map(drop)
    }
}

/// A change of the world of a page.
struct WorldChange<'c> {
    web: &'c Web,
    page: &'c Page,
    budget: &'c Budget,
    command: &'c PageWorldCommand,
}

impl WorldChange<'_> {
    fn routing(&self) -> Result<&dyn Routing, DriverError> {
        self.page.backend.routing().ok_or_else(|| unsupported(self.command))
    }

    fn page_conditions(&self) -> Result<&dyn PageConditions, DriverError> {
        self.page.backend.page_conditions().ok_or_else(|| unsupported(self.command))
    }

    fn origin_storage(&self) -> Result<&dyn OriginStorage, DriverError> {
        self.page.backend.origin_storage().ok_or_else(|| unsupported(self.command))
    }

    async fn hold_requests(&self) -> Result<(), DriverError> {
        let hold = self.web.world.hold_requests(&*self.page.backend);
        self.page.call(self.budget, "the network", hold).await
    }

    /// What pages are told about where they are.
    async fn surround(&self) -> Result<(), DriverError> {
        let WorldChange { web, page, budget, command } = self;
        let page_conditions = self.page_conditions()?;
        match command {
            PageWorldCommand::SetSpeed(speed) => {
                let change = web.world.change_conditions(page_conditions, |conditions| conditions.speed = *speed);
                page.call(budget, "the network", change).await
            }
            PageWorldCommand::SetClock { time, mode } => {
                let set = web.world.set_clock(page_conditions, PageClock::new(*time, *mode));
                page.call(budget, "the clock", set).await
            }
            PageWorldCommand::AdvanceClock { millis } => {
                let advanced =
                    page.call(budget, "the clock", web.world.advance_clock(page_conditions, *millis)).await?;
                if advanced.is_none() {
                    let reason = "the clock of the page is not set; call web_setClock first".to_string();
                    return Err(DriverError::Refused { reason });
                }
                page.run_script(budget, PageClock::advanced()).await.map(drop)
            }
            PageWorldCommand::SetLocation { latitude, longitude, accuracy } => {
                let (latitude, longitude, accuracy) = (*latitude, *longitude, *accuracy);
                let set = web.world.set_location(page_conditions, GeoLocation { latitude, longitude, accuracy });
                page.call(budget, "the place", set).await
            }
            PageWorldCommand::SetPermissions { permissions, state, origin } => {
                for name in permissions {
                    let new = PagePermission { name: name.clone(), state: *state, origin: origin.clone() };
                    let set = page.call(budget, "a permission", web.world.set_permission(page_conditions, new)).await;
                    set.map_err(|error| match error {
                        DriverError::Refused { reason } => {
                            let known = "names are those of the Permissions API, such as geolocation, notifications, camera, \
                                         microphone, clipboard-read, clipboard-write, midi, storage-access";
                            DriverError::Refused { reason: format!("the browser refused `{name}`: {reason}; {known}") }
                        }
                        error => error,
                    })?;
                }
                Ok(())
            }
            PageWorldCommand::SetMedia(media) => {
                page.call(budget, "the style", web.world.set_media(page_conditions, media)).await
            }
            _ => Err(unsupported(command)),
        }
    }

    /// Reads or writes the clipboard of the browser, in the page in front.
    async fn clipboard(&self) -> Result<ActionOutput, DriverError> {
        let WorldChange { web, page, budget, command } = self;
        let page_conditions = self.page_conditions()?;
        let (tab, names) = (page.front()?, ["clipboard-read", "clipboard-write"]);
        for name in names {
            let grant = page_conditions.set_permission(name, PermissionState::Granted, None);
            page.call(budget, "a permission", grant).await?;
        }
        page.call(budget, "the page to come to the front", page.backend.activate(&tab)).await?;
        page.call(budget, "the focus", page_conditions.pretend_focus(&tab, true)).await?;
        let script = match command {
            PageWorldCommand::WriteClipboard { text } => {
                format!("navigator.clipboard?.writeText({}).then(() => '')", json!(text))
            }
            _ => "navigator.clipboard?.readText()".to_string(),
        };
        let done = page.run_script(budget, &script).await;
        page.call(budget, "the focus", page_conditions.pretend_focus(&tab, false)).await?;
        for name in names {
            let state = web.world.permission(name).unwrap_or(PermissionState::Prompt);
            page.call(budget, "a permission", page_conditions.set_permission(name, state, None)).await?;
        }
        let Value::String(text) = done? else {
            let reason =
                "this page has no clipboard: only pages over https, from localhost and from files have one".to_string();
            return Err(DriverError::Refused { reason });
        };
        if let PageWorldCommand::WriteClipboard { text } = command {
            text.clone_into(&mut web.clipboard.lock());
            return Ok(ActionOutput::default());
        }
        Ok(ActionOutput { value: Some(text.as_str().into()), text, ..ActionOutput::default() })
    }

    async fn pdf(&self, is_landscape: bool) -> Result<ActionOutput, DriverError> {
        let tab = self.page.front()?;
        let print = self.page_conditions()?.pdf(&tab, is_landscape);
        let bytes = self.page.call(self.budget, "the page to be printed", print).await?;
        let (name, n_bytes) = ("page.pdf".to_string(), bytes.len());
        let file = Attachment { name, mime: "application/pdf".to_string(), file: None, bytes: bytes.into() };
        let value = json!({"name": file.name, "bytes": n_bytes});
        Ok(ActionOutput { text: format!("printed {n_bytes} bytes"), value: Some(value), files: vec![file] })
    }

    /// The local storage of the page in front, if it is of this origin.
    async fn own_storage(&self, origin: Option<&str>) -> Result<Option<Value>, DriverError> {
        let (page, budget) = (self.page, self.budget);
        let realm = page.main_realm(budget).await?;
        let own = own_storage(&Actor { page, budget }, &realm).await?;
        Ok(own.filter(|own| origin.is_none_or(|origin| string(own, "origin") == origin)))
    }

    async fn local_storage(&self, origin: Option<&str>) -> Result<ActionOutput, DriverError> {
        let items: Map<String, Value> = match (self.own_storage(origin).await?, origin) {
            (Some(own), _) => {
                let items = own["localStorage"].as_array().into_iter().flatten();
                items.map(|item| (string(item, "name"), item["value"].clone())).collect()
            }
            (None, Some(origin)) => {
                let read = self.origin_storage()?.local_storage(origin);
                let items = self.page.call(self.budget, "the local storage", read).await?;
                items.into_iter().map(|(key, value)| (key, Value::from(value))).collect()
            }
            (None, None) => return Err(no_storage()),
        };
        Ok(ActionOutput { text: json!(items).to_string(), value: Some(items.into()), ..ActionOutput::default() })
    }

    async fn set_local_storage(
        &self,
        origin: Option<&str>,
        items: &Map<String, Value>,
    ) -> Result<ActionOutput, DriverError> {
        let (page, budget) = (self.page, self.budget);
        if let Some(own) = self.own_storage(origin).await? {
            let script = format!(
                "(() => {{ for (const [key, value] of Object.entries({})) \
                 value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value); return 1; }})()",
                json!(items)
            );
            let realm = page.main_realm(budget).await?;
            page.ask_in(budget, &realm, &script).await?;
            self.web.world.visited(string(&own, "origin"));
            return Ok(ActionOutput::default());
        }
        let Some(origin) = origin else { return Err(no_storage()) };
        let items: Vec<(String, Option<String>)> =
            items.iter().map(|(key, value)| (key.clone(), value.as_str().map(str::to_string))).collect();
        let set = self.origin_storage()?.set_local_storage(origin, &items);
        page.call(budget, "the local storage", set).await?;
        self.web.world.visited(origin.to_string());
        Ok(ActionOutput::default())
    }
}

fn no_storage() -> DriverError {
    DriverError::Refused { reason: "the page has no local storage; give `origin`, or open a page first".to_string() }
}

/// What a rule does, in words.
fn about(rule: &NetworkRule) -> String {
    let NetworkRule { pattern, effect, times } = rule;
    let what = match effect {
        RuleEffect::Mock(mock) => format!("are answered with {}", mock.status),
        RuleEffect::Abort(reason) => format!("fail ({})", reason.name()),
        RuleEffect::Delay(by) => format!("wait {} s", by.as_secs_f64()),
        RuleEffect::Change(_) => "have their responses changed".to_string(),
    };
    match times {
        Some(times) => {
            format!("the next {} to {pattern} {what}", count(usize::try_from(*times).unwrap_or(usize::MAX), "request"))
        }
        None => format!("requests to {pattern} {what}"),
    }
}
