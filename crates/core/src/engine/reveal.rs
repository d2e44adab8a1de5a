//! The values of secrets, in what is sent to a device. The only place where seals become values.
//!
//! Every text is listed, without a catch-all, so that a new action or kind of search cannot be forgotten.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::driver::{
    Action, ActionTarget, AuditScope, BodySource, Browse, DeviceCommand, DeviceSetting, ExchangeQuery, LaunchSettings,
    MediaFeatures, MockedResponse, NetworkRule, PageWorldCommand, PhoneCommand, RequestPattern, ResponseChange,
    RuleEffect,
};
use crate::query::{ElementProperties, Query, QueryTarget, TextMatch};
use crate::values::secret::Secrets;

/// What is about to be sent to a device.
#[derive(Clone, Copy)]
pub enum Sent<'a> {
    Action(&'a ActionTarget, &'a Action),
    Command(&'a DeviceCommand),
}

/// The names of the secrets that it carries.
pub fn secrets_in(secrets: &Secrets, sent: &Sent<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if !secrets.is_empty() {
        let mut collect = |text: &mut String| names.extend(secrets.sealed_in(text));
        match sent {
            Sent::Action(_, action) => for_each_text(&mut (*action).clone(), &mut collect),
            Sent::Command(command) => for_each_text_of_command(&mut (*command).clone(), &mut collect),
        }
    }
    names
}

/// The action with the values of secrets.
pub fn action_with_values(secrets: &Secrets, action: &Action) -> Action {
    let mut action = action.clone();
    if !secrets.is_empty() {
        for_each_text(&mut action, &mut |text| *text = secrets.reveal(text));
    }
    action
}

/// The command with the values of secrets.
pub fn command_with_values(secrets: &Secrets, command: &DeviceCommand) -> DeviceCommand {
    let mut command = command.clone();
    if !secrets.is_empty() {
        for_each_text_of_command(&mut command, &mut |text| *text = secrets.reveal(text));
    }
    command
}

fn for_each_text(action: &mut Action, change: &mut dyn FnMut(&mut String)) {
    match action {
        Action::InputText { text }
        | Action::SetText { text }
        | Action::PressChord { chord: text, count: _, repeats: _ } => change(text),
        Action::Choose { values: texts } | Action::Upload { files: texts } => texts.iter_mut().for_each(change),
        Action::Attribute { name } => name.iter_mut().for_each(change),
        Action::Tap
        | Action::DoubleTap
        | Action::LongPress
        | Action::EraseText { count: _ }
        | Action::PressKey { key: _ }
        | Action::HideKeyboard
        | Action::Swipe { from: _, to: _, duration: _ }
        | Action::Scroll { direction: _, amount: _ }
        | Action::Pinch { scale: _ }
        | Action::Twist { degrees: _ }
        | Action::Click(_)
        | Action::Hover { at: _ }
        | Action::Drag { at: _, to: _ }
        | Action::ScrollIntoView
        | Action::SetChecked { checked: _ } => {}
    }
}

fn for_each_text_of_command(command: &mut DeviceCommand, change: &mut dyn FnMut(&mut String)) {
    match command {
        DeviceCommand::SetClipboard { text }
        | DeviceCommand::Shell { command: text }
        | DeviceCommand::EvaluateJs { script: text }
        | DeviceCommand::OpenUrl { url: text }
        | DeviceCommand::LaunchApp { app: text, mode: _ }
        | DeviceCommand::StopApp { app: text }
        | DeviceCommand::ClearAppData { app: text }
        | DeviceCommand::ActivateWindow { window: text }
        | DeviceCommand::CloseWindow { window: text } => change(text),
        DeviceCommand::ChooseMenu { path } => path.iter_mut().for_each(change),
        DeviceCommand::InstallApp { file: text }
        | DeviceCommand::UninstallApp { app: text }
        | DeviceCommand::PullFile { path: text } => change(text),
        DeviceCommand::GrantPermission { app, permission } | DeviceCommand::RevokePermission { app, permission } => {
            [app, permission].into_iter().for_each(change);
        }
        DeviceCommand::PushFile { file, path } => [file, path].into_iter().for_each(change),
        DeviceCommand::Change(DeviceSetting::Locale { app, locale }) => [app, locale].into_iter().for_each(change),
        DeviceCommand::PasteClipboard
        | DeviceCommand::GetClipboard
        | DeviceCommand::Windows
        | DeviceCommand::SetNetwork { connected: _ }
        | DeviceCommand::ListApps
        | DeviceCommand::CurrentApp
        | DeviceCommand::Change(
            DeviceSetting::Orientation(_)
            | DeviceSetting::Appearance(_)
            | DeviceSetting::Location { latitude: _, longitude: _ },
        )
        | DeviceCommand::StartRecording { limit: _ }
        | DeviceCommand::StopRecording => {}
        DeviceCommand::Browse(browse) => match browse {
            Browse::NewTab { url: text } | Browse::Dialogs { accept: _, text } => text.iter_mut().for_each(change),
            Browse::Restore { state } => for_each_text_of(state, change),
            Browse::SaveStorageState { file } => change(file),
            Browse::Back
            | Browse::Forward
            | Browse::Reload
            | Browse::Resize { size: _ }
            | Browse::Tabs
            | Browse::SelectTab { index: _ }
            | Browse::CloseTab { index: _ }
            | Browse::StorageState
            | Browse::Download => {}
        },
        DeviceCommand::Phone(command) => for_each_text_of_phone_command(command, change),
        DeviceCommand::World(command) => for_each_text_of_world_command(command, change),
        DeviceCommand::Audit(AuditScope { rules, tags, within: _, except: _ }) => {
            rules.iter_mut().chain(tags).for_each(change);
        }
    }
}

fn for_each_text_of_phone_command(command: &mut PhoneCommand, change: &mut dyn FnMut(&mut String)) {
    match command {
        PhoneCommand::LaunchWith { app, how: LaunchSettings { mode: _, arguments, environment } } => {
            change(app);
            arguments.iter_mut().for_each(&mut *change);
            for (name, value) in environment {
                change(name);
                change(value);
            }
        }
        PhoneCommand::GetAppState { app } => change(app),
        PhoneCommand::AnswerAlert { accept: _, button } => button.iter_mut().for_each(change),
        PhoneCommand::Lock | PhoneCommand::Unlock | PhoneCommand::GetClipboard | PhoneCommand::GetAlert => {}
    }
}

fn for_each_text_of_world_command(command: &mut PageWorldCommand, change: &mut dyn FnMut(&mut String)) {
    match command {
        PageWorldCommand::AddRule(NetworkRule { pattern, effect, times: _ }) => {
            for_each_text_of_pattern(pattern, change);
            for_each_text_of_effect(effect, change);
        }
        PageWorldCommand::RemoveRules { url } => url.iter_mut().for_each(change),
        PageWorldCommand::RecordHar { file, url, redact: _ }
        | PageWorldCommand::ReplayHar { file, url, missing: _, redact: _ } => [file, url].into_iter().for_each(change),
        PageWorldCommand::FindExchange(ExchangeQuery { pattern, side: _, status: _, contains, json }) => {
            for_each_text_of_pattern(pattern, change);
            contains.iter_mut().for_each(&mut *change);
            json.iter_mut().for_each(|json| for_each_text_of(json, change));
        }
        PageWorldCommand::SetPermissions { permissions, state: _, origin } => {
            permissions.iter_mut().chain(origin).for_each(change);
        }
        PageWorldCommand::SetMedia(MediaFeatures { medium, features }) => {
            medium.iter_mut().for_each(&mut *change);
            for_each_text_of_pairs(features, change);
        }
        PageWorldCommand::WriteClipboard { text } => change(text),
        PageWorldCommand::SetCredentials { origin, username, password } => {
            [origin, username, password].into_iter().for_each(change);
        }
        PageWorldCommand::LocalStorage { origin } => origin.iter_mut().for_each(change),
        PageWorldCommand::SetLocalStorage { origin, items } => {
            origin.iter_mut().for_each(&mut *change);
            let mut value = Value::Object(std::mem::take(items));
            for_each_text_of(&mut value, change);
            if let Value::Object(changed) = value {
                *items = changed;
            }
        }
        PageWorldCommand::SetSpeed(_)
        | PageWorldCommand::SaveHar
        | PageWorldCommand::SetClock { time: _, mode: _ }
        | PageWorldCommand::AdvanceClock { millis: _ }
        | PageWorldCommand::SetLocation { latitude: _, longitude: _, accuracy: _ }
        | PageWorldCommand::ReadClipboard
        | PageWorldCommand::Pdf { is_landscape: _ } => {}
    }
}

fn for_each_text_of_effect(effect: &mut RuleEffect, change: &mut dyn FnMut(&mut String)) {
    let (headers, body) = match effect {
        RuleEffect::Mock(MockedResponse { status: _, headers, body }) => (headers, Some(body)),
        RuleEffect::Change(ResponseChange { status: _, headers, body, merge }) => {
            merge.iter_mut().for_each(|merge| for_each_text_of(merge, change));
            (headers, body.as_mut())
        }
        RuleEffect::Abort(_) | RuleEffect::Delay(_) => return,
    };
    for_each_text_of_pairs(headers, change);
    match body {
        Some(BodySource::Text(text) | BodySource::File(text)) => change(text),
        Some(BodySource::Json(value)) => for_each_text_of(value, change),
        None => {}
    }
}

fn for_each_text_of_pattern(pattern: &mut RequestPattern, change: &mut dyn FnMut(&mut String)) {
    let RequestPattern { url, method } = pattern;
    std::iter::once(url).chain(method).for_each(change);
}

fn for_each_text_of_pairs(pairs: &mut [(String, String)], change: &mut dyn FnMut(&mut String)) {
    for (name, value) in pairs {
        change(name);
        change(value);
    }
}

fn for_each_text_of(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_text_of(item, change)),
        Value::Object(map) => {
            for (mut key, mut value) in std::mem::take(map) {
                change(&mut key);
                for_each_text_of(&mut value, change);
                map.insert(key, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The search with the values of secrets.
pub fn query_with_values(secrets: &Secrets, query: &Query) -> Query {
    let mut query = query.clone();
    if secrets.is_empty() {
        return query;
    }
    let reveal = |text: &mut String| *text = secrets.reveal(text);
    let reveal_in_pattern = |pattern: &str| secrets.reveal_in_pattern(pattern);
    match &mut query.what {
        QueryTarget::Element(ElementProperties { text, id, enabled: _, selected: _ }) => {
            id.iter_mut().for_each(reveal);
            match text {
                Some(TextMatch::Exact(text) | TextMatch::Contains(text)) => reveal(text),
                Some(TextMatch::Pattern(pattern)) => *pattern = reveal_in_pattern(pattern),
                None => {}
            }
        }
        QueryTarget::Described(description) => description.for_each_text(&reveal),
        QueryTarget::Selector(selector) => selector.for_each_text(&reveal, &reveal_in_pattern),
        QueryTarget::Reference(_) | QueryTarget::Node(_) => {}
    }
    query
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::query::ElementDescription;
    use crate::selector::Selector;

    fn secrets() -> Secrets {
        Secrets::new([("PIN".to_string(), "4+7\\E1".to_string())])
    }

    #[test]
    fn a_device_gets_the_values_of_secrets_in_every_action_and_command() {
        let secrets = secrets();
        let seal = secrets.seal("PIN").unwrap().to_string();
        let named = |sent: Sent<'_>| secrets_in(&secrets, &sent).into_iter().collect::<Vec<_>>();
        let actions = |pin: &str| [Action::InputText { text: pin.into() }, Action::Upload { files: vec![pin.into()] }];
        for (sealed, expected) in actions(&seal).iter().zip(actions("4+7\\E1")) {
            assert_eq!(action_with_values(&secrets, sealed), expected);
            assert_eq!(named(Sent::Action(&ActionTarget::Device, sealed)), ["PIN"], "{sealed:?}");
            assert!(named(Sent::Action(&ActionTarget::Device, &expected)).is_empty(), "{expected:?}");
        }
        let world = DeviceCommand::World;
        let state = |pin: &str| json!({"cookies": [{"name": "pin", "value": pin}], pin: [pin]});
        let commands = |pin: &str| {
            [
                DeviceCommand::LaunchApp { app: format!("http://a/?{pin}"), mode: crate::driver::LaunchMode::Resume },
                DeviceCommand::Browse(Browse::NewTab { url: Some(format!("http://a/?{pin}")) }),
                DeviceCommand::Browse(Browse::Dialogs { accept: Some(true), text: Some(pin.to_string()) }),
                DeviceCommand::Browse(Browse::Restore { state: state(pin) }),
                DeviceCommand::Browse(Browse::SaveStorageState { file: format!("/a/{pin}.json") }),
                world(PageWorldCommand::WriteClipboard { text: pin.to_string() }),
                world(PageWorldCommand::SetCredentials {
                    origin: "http://a".into(),
                    username: "ada".into(),
                    password: pin.to_string(),
                }),
                world(PageWorldCommand::AddRule(NetworkRule {
                    pattern: RequestPattern { url: "/api".into(), method: None },
                    effect: RuleEffect::Mock(MockedResponse {
                        status: 200,
                        headers: vec![("x-pin".into(), pin.to_string())],
                        body: BodySource::Json(json!({"pin": [pin]})),
                    }),
                    times: None,
                })),
                world(PageWorldCommand::SetLocalStorage {
                    origin: None,
                    items: state(pin).as_object().cloned().unwrap_or_default(),
                }),
            ]
        };
        for (sealed, expected) in commands(&seal).iter().zip(commands("4+7\\E1")) {
            assert_eq!(command_with_values(&secrets, sealed), expected);
            assert_eq!(named(Sent::Command(sealed)), ["PIN"], "{sealed:?}");
            assert!(named(Sent::Command(&expected)).is_empty(), "{expected:?}");
        }
    }

    #[test]
    fn a_search_gets_the_values_of_secrets_literally() {
        let secrets = secrets();
        let seal = secrets.seal("PIN").unwrap().to_string();
        let selector =
            json!({"web": {"ariaNameRegex": format!("Code {seal}")}, "childOf": {"web": {"cssSelector": seal}}});
        let what = QueryTarget::Selector(Box::new(Selector::parse(&selector).unwrap()));
        let QueryTarget::Selector(found) = query_with_values(&secrets, &Query { what, index: None }).what else {
            panic!()
        };
        let found = found.to_json();
        assert_eq!(found.pointer("/web/ariaNameRegex").unwrap(), r"Code \Q4+7\E\\E\Q1\E", "{found}");
        assert_eq!(found.pointer("/childOf/web/cssSelector").unwrap(), r"4+7\E1", "{found}");
        let described = ElementDescription::parse(&format!("button \"Pay {seal}\" in listitem \"{seal}\"")).unwrap();
        let written = described.to_string();
        let query = Query { what: QueryTarget::Described(Box::new(described)), index: None };
        let QueryTarget::Described(found) = query_with_values(&secrets, &query).what else { panic!() };
        assert_eq!(found.name.as_deref(), Some(r"Pay 4+7\E1"));
        assert_eq!(found.to_string(), written, "messages have the template");
    }
}
