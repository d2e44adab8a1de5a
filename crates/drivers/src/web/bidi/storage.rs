//! Cookies and storage.

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Map, Value, json};

use super::super::backend::{BackendError, Storage};
use super::{BidiSession, string, values};

/// Removes everything that the origin of a document has stored, except cookies.
const CLEAR: &str = "(async () => { \
    try { localStorage.clear(); sessionStorage.clear(); } catch {} \
    try { for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name); } catch {} \
    try { for (const name of await caches.keys()) await caches.delete(name); } catch {} \
    try { for (const worker of await navigator.serviceWorker.getRegistrations()) await worker.unregister(); } catch {} \
    return true; })()";

#[async_trait]
impl Storage for BidiSession {
    async fn cookies(&self, _: &str) -> Result<Vec<Value>, BackendError> {
        let kept = self.call("storage.getCookies", json!({"partition": self.partition()})).await?;
        Ok(kept.get("cookies").and_then(Value::as_array).into_iter().flatten().map(cookie_of).collect())
    }

    async fn set_cookies(&self, _: &str, cookies: &[Value]) -> Result<(), BackendError> {
        let partition = self.partition();
        let partial: Vec<Value> = cookies.iter().map(partial_of).collect::<Result<_, _>>()?;
        let commands = partial
            .into_iter()
            .map(|cookie| self.connection.call("storage.setCookie", json!({"cookie": cookie, "partition": partition})));
        join_all(commands).await.into_iter().collect::<Result<Vec<Value>, _>>()?;
        Ok(())
    }

    async fn clear(&self, tab: &str, origin: Option<&str>) -> Result<(), BackendError> {
        self.call("storage.deleteCookies", json!({"partition": self.partition()})).await?;
        let Some(origin) = origin else { return Ok(()) };
        let shown = values::value_of(&self.evaluate_in(tab, "location.origin").await?)?;
        match shown == origin {
            true => self.evaluate_in(tab, CLEAR).await.map(drop),
            false => self.clear_elsewhere(origin).await,
        }
    }
}

impl BidiSession {
    fn partition(&self) -> Value {
        json!({"type": "storageKey", "userContext": self.known.lock().context})
    }

    /// Only a document of an origin can remove what it has stored: an empty one, for which no server is asked, in a tab of its own.
    async fn clear_elsewhere(&self, origin: &str) -> Result<(), BackendError> {
        let context = self.known.lock().context.clone();
        let create = json!({"type": "tab", "userContext": context, "background": true});
        // Not a tab of the device.
        let tab = self.hidden_tab(create).await?;
        let cleared = self.clear_in(&tab, origin).await;
        let closed = self.call("browsingContext.close", json!({"context": tab})).await;
        cleared.and(closed.map(drop))
    }

    async fn clear_in(&self, tab: &str, origin: &str) -> Result<(), BackendError> {
        let url = format!("{origin}/");
        let intercept = json!({
            "phases": ["beforeRequestSent"], "contexts": [tab], "urlPatterns": [{"type": "string", "pattern": url}],
        });
        let intercept = string(&self.call("network.addIntercept", intercept).await?, "intercept");
        self.known.lock().empty_pages.insert(tab.to_string());
        let opened =
            self.call("browsingContext.navigate", json!({"context": tab, "url": url, "wait": "complete"})).await;
        let cleared = match opened {
            Ok(_) => self.evaluate_in(tab, CLEAR).await.map(drop),
            Err(error) => Err(error),
        };
        self.known.lock().empty_pages.remove(tab);
        self.call("network.removeIntercept", json!({"intercept": intercept})).await?;
        cleared
    }
}

/// A cookie as a storage state has it.
fn cookie_of(cookie: &Value) -> Value {
    let same_site = match string(cookie, "sameSite").as_str() {
        "strict" => "Strict",
        "none" => "None",
        _ => "Lax",
    };
    json!({
        "name": cookie["name"], "value": string(&cookie["value"], "value"), "domain": cookie["domain"],
        "path": cookie["path"], "expires": cookie.get("expiry").cloned().unwrap_or_else(|| json!(-1)),
        "httpOnly": cookie["httpOnly"], "secure": cookie["secure"], "sameSite": same_site,
    })
}

/// A cookie of a storage state as the protocol has it.
fn partial_of(cookie: &Value) -> Result<Value, BackendError> {
    let mut partial = Map::new();
    let name = string(cookie, "name");
    let url = string(cookie, "url");
    let host = url.split_once("://").map(|(_, rest)| rest.split(['/', ':', '?', '#']).next().unwrap_or_default());
    let domain = cookie.get("domain").and_then(Value::as_str).or(host).unwrap_or_default();
    if name.is_empty() || domain.is_empty() {
        return Err(BackendError::Refused(format!("the cookie `{name}` needs a name, and a `domain` or a `url`")));
    }
    partial.insert("name".to_string(), name.into());
    partial.insert("value".to_string(), json!({"type": "string", "value": string(cookie, "value")}));
    partial.insert("domain".to_string(), domain.into());
    partial.insert("path".to_string(), cookie.get("path").cloned().unwrap_or_else(|| json!("/")));
    for key in ["httpOnly", "secure"] {
        if let Some(flag) = cookie.get(key).filter(|flag| flag.is_boolean()) {
            partial.insert(key.to_string(), flag.clone());
        }
    }
    if let Some(same_site) = cookie.get("sameSite").and_then(Value::as_str) {
        partial.insert("sameSite".to_string(), same_site.to_lowercase().into());
    }
    if let Some(expires) = cookie.get("expires").and_then(Value::as_f64) {
        partial.insert("expiry".to_string(), json!(expires as i64));
    }
    Ok(Value::Object(partial))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_survives_being_saved_and_restored() {
        let kept = json!({
            "name": "a", "value": {"type": "string", "value": "1"}, "domain": "x.test", "path": "/", "size": 2,
            "httpOnly": true, "secure": false, "sameSite": "strict", "expiry": 1_900_000_000,
        });
        let saved = cookie_of(&kept);
        assert_eq!(saved["sameSite"], "Strict");
        assert_eq!(saved["expires"], 1_900_000_000);
        let restored = partial_of(&saved).unwrap();
        let expected = json!({
            "name": "a", "value": {"type": "string", "value": "1"}, "domain": "x.test", "path": "/", "httpOnly": true,
            "secure": false, "sameSite": "strict", "expiry": 1_900_000_000,
        });
        assert_eq!(restored, expected);
    }

    #[test]
    fn a_cookie_without_a_place_is_refused() {
        let by_url = json!({"name": "a", "value": "1", "url": "https://x.test:8080/path"});
        assert_eq!(partial_of(&by_url).unwrap()["domain"], "x.test");
        let error = partial_of(&json!({"name": "a", "value": "1"})).unwrap_err();
        assert_eq!(error.to_string(), "the cookie `a` needs a name, and a `domain` or a `url`");
    }
}
