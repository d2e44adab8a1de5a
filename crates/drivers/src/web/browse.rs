//! Actions that only a browser has: tabs, history, dialogs, storage, downloads.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{ActionOutput, Browse, DriverError};
use trailblaze_protocol::outcome::Attachment;

use super::act::Actor;
use super::backend::{ExecutionWorld, Realm, ScriptScope, TabId, TabInfo};
use super::page::string;
use super::private_file::write_private;
use super::state::{Download, State};

pub async fn browse(actor: &Actor<'_>, command: &Browse) -> Result<ActionOutput, DriverError> {
    let Actor { page, budget } = actor;
    page.check_supported(command)?;
    match command {
        Browse::Back => travel(actor, -1).await?,
        Browse::Forward => travel(actor, 1).await?,
        Browse::Reload => {
            page.revive(budget).await?;
            page.expect_document(true);
            let tab = page.front()?;
            page.call(budget, "the page to reload", page.backend.reload(&tab)).await?;
            page.settle(budget).await?;
        }
        Browse::Resize { size } => page.resize(budget, *size).await?,
        Browse::Tabs => return tabs(actor).await,
        Browse::SelectTab { index } => {
            // The tab may still be opening because of the previous action.
            let until = budget.until(COMING);
            page.wait(budget, until, |state| state.tabs.get(*index).is_some_and(|tab| tab.is_ready)).await?;
            let tab = tab_at(&page.shared.state(), *index)?;
            page.shared.bump(|state| state.front.clone_from(&tab));
            page.call(budget, "the tab to come to the front", page.backend.activate(&tab)).await?;
        }
        Browse::NewTab { url } => {
            page.new_tab(budget).await?;
            if let Some(url) = url {
                actor.go(url).await?;
            }
        }
        Browse::CloseTab { index } => close_tab(actor, *index).await?,
        Browse::Dialogs { accept, text } => {
            let seen = page.shared.bump(|state| {
                if let Some(accept) = accept {
                    state.dialogs.answer = Some(*accept);
                    state.dialogs.text.clone_from(text);
                }
                state.dialogs.take_seen()
            });
            let line = |dialog: &Value| {
                format!("{} \"{}\" was {}", string(dialog, "type"), string(dialog, "message"), string(dialog, "answer"))
            };
            let text = seen.iter().map(line).collect::<Vec<_>>().join("\n");
            return Ok(ActionOutput { text, value: Some(seen.into()), ..ActionOutput::default() });
        }
        Browse::StorageState => return storage_state(actor).await,
        Browse::SaveStorageState { file } => return save_storage_state(actor, Path::new(file)).await,
        Browse::Restore { state } => restore(actor, state).await?,
        Browse::Download => {
            let mut state = page.shared.state();
            let has_ended = |download: &Download| download.is_whole || download.failure.is_some();
            if !state.downloads.first().is_some_and(has_ended) {
                return Ok(ActionOutput::default());
            }
            let download = state.downloads.remove(0);
            drop(state);
            if let Some(why) = download.failure {
                return Err(DriverError::Refused { reason: format!("`{}` was not downloaded: {why}", download.name) });
            }
            return keep(&download);
        }
    }
    Ok(ActionOutput::default())
}

/// How long a tab may take to open or close.
const COMING: Duration = Duration::from_secs(3);
/// The largest download that is attached to the record.
const KEPT: u64 = 32 << 20;
/// The largest text of a download that is also part of the outcome.
const TEXT: usize = 64 << 10;

fn keep(download: &Download) -> Result<ActionOutput, DriverError> {
    let lost = |error: std::io::Error| DriverError::Refused {
        reason: format!("`{}` was downloaded, but cannot be read: {error}", download.name),
    };
    let n_bytes = std::fs::metadata(&download.file).map_err(lost)?.len();
    let mut files = Vec::new();
    if n_bytes <= KEPT {
        let bytes = std::fs::read(&download.file).map_err(lost)?.into();
        let mime = match download.name.rsplit_once('.') {
            Some((_, ending)) if ending.chars().all(|sign| sign.is_ascii_alphanumeric()) => {
                format!("download/{ending}")
            }
            _ => "download/bin".to_string(),
        };
        files.push(Attachment { name: download.name.clone(), mime, file: None, bytes });
    }
    let bytes = files.first().map(|file: &Attachment| &*file.bytes).filter(|bytes| bytes.len() <= TEXT);
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'));
    let value = json!({"name": download.name, "file": download.file, "bytes": n_bytes, "text": text});
    Ok(ActionOutput { text: format!("downloaded `{}`, {n_bytes} bytes", download.name), value: Some(value), files })
}

/// Goes back or forward in the tab's history.
pub async fn travel(actor: &Actor<'_>, by: i64) -> Result<(), DriverError> {
    let Actor { page, budget } = actor;
    page.revive(budget).await?;
    page.expect_document(true);
    let tab = page.front()?;
    if !page.call(budget, "the page to open", page.backend.travel(&tab, by)).await? {
        page.expect_document(false);
        let (what, way) = if by < 0 { ("earlier", "back") } else { ("later", "forward") };
        return Err(DriverError::Refused { reason: format!("there is no {what} page to go {way} to") });
    }
    page.settle(budget).await
}

fn tab_at(state: &State, index: usize) -> Result<TabId, DriverError> {
    let tab = state.tabs.get(index).map(|tab| tab.id.clone());
    tab.ok_or_else(|| DriverError::Refused {
        reason: format!("there is no tab {index}; there are {}, counted from 0", state.tabs.len()),
    })
}

async fn tabs(actor: &Actor<'_>) -> Result<ActionOutput, DriverError> {
    let Actor { page, budget } = actor;
    let (tabs, front) = {
        let state = page.shared.state();
        (state.tabs.iter().map(|tab| tab.id.clone()).collect::<Vec<_>>(), state.front.clone())
    };
    let mut all = Vec::new();
    for (index, tab) in tabs.iter().enumerate() {
        let TabInfo { url, title } = page.call(budget, "the tabs", page.backend.tab_info(tab)).await?;
        all.push(json!({"index": index, "url": url, "title": title, "isFront": *tab == front}));
    }
    let line = |tab: &Value| {
        let mark = if tab["isFront"] == true { "*" } else { " " };
        format!("{mark} {} {} {}", tab["index"], string(tab, "url"), string(tab, "title"))
    };
    Ok(ActionOutput {
        text: all.iter().map(line).collect::<Vec<_>>().join("\n"),
        value: Some(all.into()),
        ..ActionOutput::default()
    })
}

/// Closes all tabs but one, and forgets what the pages before said. Cookies and storage stay.
pub async fn restart(actor: &Actor<'_>) -> Result<(), DriverError> {
    let Actor { page, .. } = actor;
    let others: Vec<TabId> = page.shared.bump(|state| {
        state.forget_pages();
        let mut ids = state.tabs.iter().map(|tab| tab.id.clone());
        state.front = ids.next().unwrap_or_default();
        ids.collect()
    });
    for tab in others {
        // A tab that has already gone counts as closed.
        let _ = close_and_wait(actor, &tab).await;
    }
    Ok(())
}

/// Closes a tab and waits until it is gone, because a page may open a window under the same name.
async fn close_and_wait(actor: &Actor<'_>, tab: &str) -> Result<(), DriverError> {
    let Actor { page, budget } = actor;
    page.call(budget, "the tab to close", page.backend.close_tab(tab)).await?;
    let until = budget.deadline.min(Instant::now() + COMING);
    page.wait(budget, until, |state| !state.tabs.iter().any(|known| known.id == tab)).await?;
    page.shared.bump(|state| state.close_tab(tab));
    Ok(())
}

async fn close_tab(actor: &Actor<'_>, index: Option<usize>) -> Result<(), DriverError> {
    let Actor { page, .. } = actor;
    let tab = {
        let state = page.shared.state();
        match index {
            Some(index) => tab_at(&state, index)?,
            None => state.front.clone(),
        }
    };
    if page.shared.state().tabs.len() == 1 {
        return Err(DriverError::Refused { reason: "it is the only tab, and a device must keep one".to_string() });
    }
    close_and_wait(actor, &tab).await
}

/// The origin of a document, and its local storage as a storage state has it; `None` if it has none.
pub async fn own_storage(actor: &Actor<'_>, realm: &Realm) -> Result<Option<Value>, DriverError> {
    let script = "(() => { try { return { origin: location.protocol === 'file:' ? 'file://' : location.origin, \
                  localStorage: Object.entries(localStorage).map(([name, value]) => ({ name, value })) }; } \
                  catch { return null; } })()";
    let own = actor.page.ask_in(actor.budget, realm, script).await?;
    Ok(own.filter(Value::is_object))
}

/// The cookies of the context, and the local storage of all origins whose documents it has shown.
async fn storage_state(actor: &Actor<'_>) -> Result<ActionOutput, DriverError> {
    let Actor { page, budget } = actor;
    let (storage, tab) = (page.storage()?, page.front()?);
    let cookies = page.call(budget, "the cookies", storage.cookies(&tab)).await?;
    let mut origins: Vec<Value> = Vec::new();
    for realm in page.realms() {
        let Some(origin) = own_storage(actor, &realm).await? else { continue };
        if !origins.iter().any(|known| known["origin"] == origin["origin"]) {
            origins.push(origin);
        }
    }
    // Those whose documents are not open any more.
    for origin in page.world.origins() {
        let Some(stored) = page.backend.origin_storage() else { break };
        if origins.iter().any(|known| string(known, "origin") == origin) {
            continue;
        }
        let items = page.call(budget, "the local storage", stored.local_storage(&origin)).await?;
        let items: Vec<Value> = items.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        origins.push(json!({"origin": origin, "localStorage": items}));
    }
    origins.retain(|origin| origin.pointer("/localStorage/0").is_some());
    let state = json!({"cookies": cookies, "origins": origins});
    Ok(ActionOutput { text: state.to_string(), value: Some(state), ..ActionOutput::default() })
}

async fn save_storage_state(actor: &Actor<'_>, file: &Path) -> Result<ActionOutput, DriverError> {
    let state = storage_state(actor).await?.value.unwrap_or_default();
    let count = |name: &str, word: &str| match state[name].as_array().map_or(0, Vec::len) {
        1 => format!("1 {word}"),
        n => format!("{n} {word}s"),
    };
    let text = format!("saved {} and the local storage of {}", count("cookies", "cookie"), count("origins", "origin"));
    write_private(file, &format!("{state:#}\n")).map_err(|error| DriverError::Refused {
        reason: format!("the storage state cannot be written to `{}`: {error}", file.display()),
    })?;
    Ok(ActionOutput { text, ..ActionOutput::default() })
}

pub async fn restore(actor: &Actor<'_>, state: &Value) -> Result<(), DriverError> {
    let Actor { page, budget } = actor;
    let wrong = |what: &str| DriverError::Refused { reason: format!("{what} must be a list") };
    let (cookies, origins) = match state {
        Value::Array(_) => (Some(state), None),
        state => (state.get("cookies"), state.get("origins")),
    };
    if let Some(cookies) = cookies {
        let cookies = cookies.as_array().ok_or_else(|| wrong("`cookies`"))?;
        let cookies: Vec<Value> = cookies.iter().map(cookie_param).collect();
        let (storage, tab) = (page.storage()?, page.front()?);
        let set = page.call(budget, "the cookies", storage.set_cookies(&tab, &cookies)).await;
        set.map_err(|error| match error {
            DriverError::Refused { reason } => {
                DriverError::Refused { reason: format!("the browser refused the cookies: {reason}") }
            }
            error => error,
        })?;
    }
    let origins = origins.map(|origins| origins.as_array().ok_or_else(|| wrong("`origins`"))).transpose()?;
    for origin in origins.into_iter().flatten() {
        store(actor, origin).await?;
    }
    Ok(())
}

fn cookie_param(cookie: &Value) -> Value {
    let mut param = cookie.clone();
    if let Value::Object(fields) = &mut param {
        // A session cookie has no expiry date, or -1.
        if fields.get("expires").and_then(Value::as_f64).is_some_and(|at| at < 0.0) {
            fields.remove("expires");
        }
        fields.retain(|key, _| {
            let known = ["name", "value", "url", "domain", "path", "secure", "httpOnly", "sameSite", "expires"];
            known.contains(&key.as_str())
        });
    }
    param
}

/// Restores local storage. Only a document of the origin can do that, so every document gets the entries of its origin.
async fn store(actor: &Actor<'_>, origin: &Value) -> Result<(), DriverError> {
    let Actor { page, budget } = actor;
    let items = origin.get("localStorage").cloned().unwrap_or_else(|| json!([]));
    let mark = format!("trailblaze-restored-{}", trailblaze_core::ids::run_suffix());
    let script = format!(
        "(() => {{ try {{ const origin = location.protocol === 'file:' ? 'file://' : location.origin; \
         if (origin !== {} || sessionStorage.getItem({mark:?})) return; \
         sessionStorage.setItem({mark:?}, '1'); \
         for (const {{ name, value }} of {items}) localStorage.setItem(name, value); }} catch {{}} }})()",
        json!(string(origin, "origin")),
    );
    let tab = page.front()?;
    page.run_in_documents(budget, ScriptScope::Tab(&tab), ExecutionWorld::Page, &script).await
}
