//! Actions that only a browser has: tabs, history, dialogs, storage, downloads.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Acted, Browse, DriverError};
use trailblaze_protocol::outcome::Attachment;

use super::act::Actor;
use super::page::string;
use super::state::{Download, State};

pub async fn browse(actor: &Actor<'_>, command: &Browse) -> Result<Acted, DriverError> {
    let Actor { page, budget } = actor;
    match command {
        Browse::Back => travel(actor, -1).await?,
        Browse::Forward => travel(actor, 1).await?,
        Browse::Reload => {
            page.revive(budget).await?;
            page.expect_document(true);
            page.command(budget, "Page.reload", json!({})).await?;
            page.settle(budget).await?;
        }
        Browse::Resize { size } => page.emulate(budget, *size).await?,
        Browse::Tabs => return tabs(actor).await,
        Browse::SelectTab { index } => {
            // The tab may still be opening because of the previous action.
            let until = budget.until(COMING);
            page.wait(budget, until, |state| state.tabs.get(*index).is_some_and(|tab| tab.is_ready)).await?;
            let target = target_at(&page.shared.state(), *index)?;
            page.shared.bump(|state| state.front.clone_from(&target));
            page.command(budget, "Page.bringToFront", json!({})).await?;
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
            return Ok(Acted { text, value: Some(seen.into()), ..Acted::default() });
        }
        Browse::Console => {
            let lines: Vec<String> = page.shared.state().console.iter().cloned().collect();
            return Ok(Acted { text: lines.join("\n"), value: Some(json!(lines)), ..Acted::default() });
        }
        Browse::Requests => {
            let requests: Vec<Value> = page.shared.state().requests.json();
            return Ok(Acted {
                text: format!("{} requests", requests.len()),
                value: Some(requests.into()),
                ..Acted::default()
            });
        }
        Browse::StorageState => return storage_state(actor).await,
        Browse::Restore { state } => restore(actor, state).await?,
        Browse::Download => {
            let mut state = page.shared.state();
            let has_ended = |download: &Download| download.is_whole || download.failure.is_some();
            if !state.downloads.first().is_some_and(has_ended) {
                return Ok(Acted::default());
            }
            let download = state.downloads.remove(0);
            drop(state);
            if let Some(why) = download.failure {
                return Err(DriverError::Refused { reason: format!("`{}` was not downloaded: {why}", download.name) });
            }
            return keep(&download);
        }
    }
    Ok(Acted::default())
}

/// How long a tab may take to open or close.
const COMING: Duration = Duration::from_secs(3);
/// The largest download that is attached to the record.
const KEPT: u64 = 32 << 20;

fn keep(download: &Download) -> Result<Acted, DriverError> {
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
    let value = json!({"name": download.name, "file": download.file, "bytes": n_bytes});
    Ok(Acted { text: format!("downloaded `{}`, {n_bytes} bytes", download.name), value: Some(value), files })
}

/// Goes back or forward in the tab's history.
pub async fn travel(actor: &Actor<'_>, by: i64) -> Result<(), DriverError> {
    let Actor { page, budget } = actor;
    let history = page.command(budget, "Page.getNavigationHistory", json!({})).await?;
    let current = history.get("currentIndex").and_then(Value::as_i64).unwrap_or(0);
    let entry = usize::try_from(current + by).ok().and_then(|index| history.pointer(&format!("/entries/{index}/id")));
    let Some(entry) = entry else {
        let (what, way) = if by < 0 { ("earlier", "back") } else { ("later", "forward") };
        return Err(DriverError::Refused { reason: format!("there is no {what} page to go {way} to") });
    };
    page.revive(budget).await?;
    page.expect_document(true);
    page.command(budget, "Page.navigateToHistoryEntry", json!({"entryId": entry})).await?;
    page.settle(budget).await
}

fn target_at(state: &State, index: usize) -> Result<String, DriverError> {
    let tab = state.tabs.get(index).map(|tab| tab.target.clone());
    tab.ok_or_else(|| DriverError::Refused {
        reason: format!("there is no tab {index}; there are {}, counted from 0", state.tabs.len()),
    })
}

async fn tabs(actor: &Actor<'_>) -> Result<Acted, DriverError> {
    let Actor { page, budget } = actor;
    let (targets, front) = {
        let state = page.shared.state();
        (state.tabs.iter().map(|tab| tab.target.clone()).collect::<Vec<_>>(), state.front.clone())
    };
    let mut all = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let info = page.browser.cdp.call(None, "Target.getTargetInfo", json!({"targetId": target}));
        let info = budget.run("the tabs", info).await?.map_err(|error| page.wrong(error))?;
        let (url, title) = (string(&info["targetInfo"], "url"), string(&info["targetInfo"], "title"));
        all.push(json!({"index": index, "url": url, "title": title, "isFront": *target == front}));
    }
    let line = |tab: &Value| {
        let mark = if tab["isFront"] == true { "*" } else { " " };
        format!("{mark} {} {} {}", tab["index"], string(tab, "url"), string(tab, "title"))
    };
    Ok(Acted { text: all.iter().map(line).collect::<Vec<_>>().join("\n"), value: Some(all.into()), ..Acted::default() })
}

/// Closes all tabs but one, and forgets what the pages before said. Cookies and storage stay.
pub async fn restart(actor: &Actor<'_>) -> Result<(), DriverError> {
    let Actor { page, .. } = actor;
    let others: Vec<String> = page.shared.bump(|state| {
        state.forget_pages();
        let first = state.tabs.first().map(|tab| tab.target.clone()).unwrap_or_default();
        let others = state.tabs.iter().map(|tab| tab.target.clone()).filter(|target| *target != first).collect();
        state.front = first;
        others
    });
    for target in others {
        // A tab that has already gone counts as closed.
        let _ = close_target(actor, &target).await;
    }
    Ok(())
}

/// Closes a tab and waits until it is gone, because a page may open a window under the same name.
async fn close_target(actor: &Actor<'_>, target: &str) -> Result<(), DriverError> {
    let Actor { page, budget } = actor;
    let close = page.browser.cdp.call(None, "Target.closeTarget", json!({"targetId": target}));
    budget.run("the tab to close", close).await?.map_err(|error| page.wrong(error))?;
    let until = budget.deadline.min(Instant::now() + COMING);
    page.wait(budget, until, |state| !state.tabs.iter().any(|tab| tab.target == target)).await?;
    page.shared.bump(|state| state.close_tab(target));
    Ok(())
}

async fn close_tab(actor: &Actor<'_>, index: Option<usize>) -> Result<(), DriverError> {
    let Actor { page, .. } = actor;
    let target = {
        let state = page.shared.state();
        match index {
            Some(index) => target_at(&state, index)?,
            None => state.front.clone(),
        }
    };
    if page.shared.state().tabs.len() == 1 {
        return Err(DriverError::Refused { reason: "it is the only tab, and a device must keep one".to_string() });
    }
    close_target(actor, &target).await
}

/// The cookies of the context, and the local storage of the origins that its tabs show.
async fn storage_state(actor: &Actor<'_>) -> Result<Acted, DriverError> {
    let Actor { page, budget } = actor;
    let kept = page.command(budget, "Network.getAllCookies", json!({})).await?;
    let cookie = |cookie: &Value| {
        json!({
            "name": cookie["name"], "value": cookie["value"], "domain": cookie["domain"], "path": cookie["path"],
            "expires": cookie["expires"], "httpOnly": cookie["httpOnly"], "secure": cookie["secure"],
            "sameSite": cookie.get("sameSite").cloned().unwrap_or_else(|| "Lax".into()),
        })
    };
    let cookies: Vec<Value> = kept.get("cookies").and_then(Value::as_array).into_iter().flatten().map(cookie).collect();
    let script = "(() => { try { return { origin: location.origin, \
                  localStorage: Object.entries(localStorage).map(([name, value]) => ({ name, value })) }; } \
                  catch { return null; } })()";
    let mut origins: Vec<Value> = Vec::new();
    for world in page.worlds() {
        let Some(origin) = page.ask_in(budget, &world, script).await? else { continue };
        let is_known = origins.iter().any(|known| known["origin"] == origin["origin"]);
        if origin.pointer("/localStorage/0").is_some() && !is_known {
            origins.push(origin);
        }
    }
    let state = json!({"cookies": cookies, "origins": origins});
    Ok(Acted { text: state.to_string(), value: Some(state), ..Acted::default() })
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
        let params = json!({"cookies": cookies.iter().map(cookie_param).collect::<Vec<_>>()});
        page.command(budget, "Network.setCookies", params).await.map_err(|error| match error {
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
        "(() => {{ try {{ if (location.origin !== {} || sessionStorage.getItem({mark:?})) return; \
         sessionStorage.setItem({mark:?}, '1'); \
         for (const {{ name, value }} of {items}) localStorage.setItem(name, value); }} catch {{}} }})()",
        json!(string(origin, "origin")),
    );
    let params = json!({"source": script, "runImmediately": true});
    page.command(budget, "Page.addScriptToEvaluateOnNewDocument", params).await.map(drop)
}
