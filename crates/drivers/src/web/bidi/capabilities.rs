//! What BiDi has beyond what every browser has.

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::backend::{
    BackendError, BrowserEvents, Contexts, ExecutionWorld, IsolatedWorld, OldContext, Realm, ScriptScope, TabHistory,
};
use super::history::KeyedHistory;
use super::{BidiSession, ENDING, WORLD, values};

/// The most dialogs that warnings are given for.
const MOST_WARNED: usize = 100;

#[async_trait]
impl IsolatedWorld for BidiSession {
    async fn add_script(
        &self,
        scope: ScriptScope<'_>,
        world: ExecutionWorld,
        script: &str,
    ) -> Result<(), BackendError> {
        // What runs in all documents follows a person, who may change the address of a tab.
        let follows = scope == ScriptScope::Session && world == ExecutionWorld::Isolated;
        let script = if follows { format!("{script};\n{}", include_str!("history.js")) } else { script.to_string() };
        let mut preload = json!({"functionDeclaration": format!("() => {{\n{script}\n}}")});
        if world == ExecutionWorld::Isolated {
            preload["sandbox"] = WORLD.into();
        }
        let contexts: Vec<String> = {
            let mut known = self.known.lock();
            let mark = format!("{world:?} {script}");
            if scope == ScriptScope::Session && !known.scripts.insert(mark) {
                return Ok(());
            }
            let is_meant = |tab: &str| match scope {
                ScriptScope::Tab(only) => tab == only,
                ScriptScope::Session => true,
            };
            known.frames.iter().filter(|(_, frame)| is_meant(&frame.tab)).map(|(id, _)| id.clone()).collect()
        };
        if let ScriptScope::Tab(tab) = scope {
            preload["contexts"] = json!([tab]);
        }
        self.call("script.addPreloadScript", preload).await?;
        for context in contexts {
            let mut target = json!({"context": context});
            if world == ExecutionWorld::Isolated {
                target["sandbox"] = WORLD.into();
            }
            // A document that has gone meanwhile needs nothing.
            match self.evaluate_at(&target, &script, json!({})).await {
                Ok(_) | Err(BackendError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn make_realm(&self, frame: &str) -> Result<Realm, BackendError> {
        let made = self.evaluate_in(frame, "1").await?;
        let realm = made.get("realm").and_then(Value::as_str);
        realm
            .map(|realm| Realm(realm.to_string()))
            .ok_or_else(|| BackendError::Refused("the frame is gone".to_string()))
    }

    async fn open_root(&self, realm: &Realm, host: &str, function: &str) -> Result<bool, BackendError> {
        let options = json!({"serializationOptions": {"maxDomDepth": 0, "includeShadowTree": "all"}});
        let host = self.evaluate_at(&json!({"realm": realm.0}), host, options).await?;
        let root = host.pointer("/result/value/shadowRoot");
        let is_closed = |root: &&Value| root.pointer("/value/mode").and_then(Value::as_str) == Some("closed");
        let root = root.filter(is_closed).and_then(|root| root.get("sharedId"));
        let (Some(root), Some(id)) = (root, values::shared_id(&host)) else { return Ok(false) };
        let params = json!({
            "functionDeclaration": function, "target": {"realm": realm.0}, "this": {"sharedId": id},
            "arguments": [{"sharedId": root}], "awaitPromise": false,
        });
        self.call("script.callFunction", params).await?;
        Ok(true)
    }
}

#[async_trait]
impl BrowserEvents for BidiSession {
    async fn answer_dialog(&self, dialog: &str, accept: bool, text: &str) -> Result<(), BackendError> {
        let answer = json!({"context": dialog, "accept": accept, "userText": text});
        self.call("browsingContext.handleUserPrompt", answer).await.map(drop)
    }

    fn is_new_dialog(&self, dialog: &str) -> bool {
        let mut warned = self.warned.lock();
        warned.len() < MOST_WARNED && warned.insert(dialog.to_string())
    }

    async fn crash(&self, _: &str) -> Result<(), BackendError> {
        Err(BackendError::Refused("the protocol cannot end the process of a page".to_string()))
    }

    async fn history(&self, tab: &str) -> Result<TabHistory, BackendError> {
        let told = self.known.lock().histories.get(tab).map(KeyedHistory::told);
        told.ok_or_else(|| BackendError::Refused("the protocol does not tell the history of a tab".to_string()))
    }
}

#[async_trait]
impl Contexts for BidiSession {
    async fn begin(&self) -> Result<OldContext, BackendError> {
        let context = self.new_context().await?;
        let mut known = self.known.lock();
        let id = std::mem::replace(&mut known.context, context);
        known.emulation = self.start.clone();
        Ok(OldContext { id, tabs: known.tabs.clone() })
    }

    fn end(&self, old: OldContext) {
        {
            let mut known = self.known.lock();
            for tab in &old.tabs {
                known.forget_tab(tab);
            }
        }
        let Some(me) = self.me.upgrade() else { return };
        // Detached: the context ends even if the device is closed meanwhile, after `ENDING` at the latest.
        tokio::spawn(async move {
            let remove = me.call("browser.removeUserContext", json!({"userContext": old.id}));
            timeout(ENDING, remove).await
        });
    }
}
