//! What all protocols share: retries, budgets, unreadable responses, keys that stay secret, proxies.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::config::ProviderKind;
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{ModelError, ModelErrorKind};
use trailblaze_http::ProxySettings;
use trailblaze_models::{Endpoint, Secret, Settings, open};

use crate::server::*;
use crate::support::*;

const KINDS: [ProviderKind; 4] =
    [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Google, ProviderKind::Ollama];

fn accept(_: &Arrived) -> Option<Prepared> {
    None
}

/// A reply that each protocol can read.
fn hello(kind: ProviderKind) -> Prepared {
    let message = json!({"role": "assistant", "content": "hello"});
    ok(match kind {
        ProviderKind::Anthropic => json!({"content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"}),
        ProviderKind::Google => {
            json!({"candidates": [{"content": {"parts": [{"text": "hello"}]}, "finishReason": "STOP"}]})
        }
        ProviderKind::Ollama => json!({"message": message, "done": true}),
        _ => json!({"choices": [{"message": message, "finish_reason": "stop"}]}),
    })
}

async fn failed(kind: ProviderKind, answers: Vec<Prepared>) -> (ModelError, usize) {
    let server = Server::start(accept, answers).await;
    let error = server.model(kind).complete(&budget(), &plain()).await.expect_err("a failure");
    (error, server.arrived().len())
}

#[tokio::test]
async fn a_temporary_failure_is_tried_again() {
    for kind in KINDS {
        for code in [408, 409, 429, 500, 502, 503, 529] {
            let answers = [text(code, "busy").with("retry-after-ms", "1"), hello(kind)];
            let server = Server::start(accept, answers).await;
            let reply = server.model(kind).complete(&budget(), &plain()).await.expect("a reply");
            assert_eq!((reply.text.as_str(), server.arrived().len()), ("hello", 2), "{kind:?} {code}");
        }
    }
}

#[tokio::test]
async fn a_mistake_is_not_tried_again() {
    for kind in KINDS {
        for code in [302, 400, 401, 403, 404, 422] {
            let (error, n_tries) = failed(kind, vec![text(code, "no").with("retry-after", "0")]).await;
            assert_eq!((error.kind, n_tries), (ModelErrorKind::Setup, 1), "{kind:?} {code}: {error}");
        }
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_reported_instead() {
    let (error, n_tries) = failed(ProviderKind::OpenAi, vec![text(429, "later").with("retry-after", "3600")]).await;
    assert_eq!((error.kind, n_tries), (ModelErrorKind::Unavailable, 1));
    let server = Server::start(accept, [text(503, "later").with("retry-after", "30")]).await;
    let brief = Budget::new(Instant::now() + Duration::from_secs(20), CancellationToken::new());
    let error = server.model(ProviderKind::OpenAi).complete(&brief, &plain()).await.expect_err("no time to wait");
    assert_eq!((error.kind, server.arrived().len()), (ModelErrorKind::Unavailable, 1));
}

#[tokio::test]
async fn a_response_that_cannot_be_read_says_what_it_is() {
    let html = "<!DOCTYPE html>\n<html><body>Sign in to the \u{1b}[31mcorporate network</body></html>";
    for kind in KINDS {
        let name = kind.name();
        let cases = [
            (
                html,
                format!(
                    "the response of `{name}` (200) cannot be read: it is HTML: `<!DOCTYPE html> <html><body>Sign in to the [31mcorporate network</body></html>`"
                ),
            ),
            ("", format!("the response of `{name}` (200) cannot be read: it is empty")),
            (
                "{\"choices\": [{\"mess",
                format!(
                    "the response of `{name}` (200) cannot be read: it is incomplete or broken JSON: `{{\"choices\": [{{\"mess`"
                ),
            ),
            ("hello", format!("the response of `{name}` (200) cannot be read: it is not JSON: `hello`")),
        ];
        for (body, message) in cases {
            let (error, n_tries) = failed(kind, vec![text(200, body)]).await;
            assert_eq!((error.kind, error.message, n_tries), (ModelErrorKind::Unreadable, message, 1));
        }
        let (error, _) = failed(kind, vec![ok(json!({"something": "else"}))]).await;
        assert_eq!(error.kind, ModelErrorKind::Unreadable);
        assert!(error.message.contains("cannot be read: it has no `"), "{error}");
    }
}

#[tokio::test]
async fn a_response_that_breaks_off_is_tried_again() {
    let half = Prepared { announced: Some(10_000), ..text(200, "{\"choices\": [") };
    let server = Server::start(accept, [half, hello(ProviderKind::OpenAi)]).await;
    let reply = server.model(ProviderKind::OpenAi).complete(&budget(), &plain()).await.expect("a reply");
    assert_eq!((reply.text.as_str(), server.arrived().len()), ("hello", 2));
}

#[tokio::test]
async fn a_response_without_end_is_not_read() {
    let (error, _) = failed(ProviderKind::OpenAi, vec![text(200, &"x".repeat(17 << 20))]).await;
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ModelErrorKind::Unreadable, "`openai` sent more than 16777216 bytes")
    );
}

#[tokio::test]
async fn a_key_is_in_no_message() {
    for kind in KINDS {
        for answer in [text(401, KEY), text(200, KEY), text(500, &format!("{KEY} {KEY}")).with("retry-after-ms", "1")] {
            let (error, _) = failed(kind, vec![answer]).await;
            assert!(!format!("{error:?}").contains(KEY), "{error:?}");
            assert!(error.message.contains("***"), "{error}");
        }
    }
    let server = Server::start(accept, [hello(ProviderKind::OpenAi)]).await;
    assert!(!format!("{:?}", server.endpoint(ProviderKind::OpenAi)).contains(KEY));
}

#[tokio::test]
async fn a_budget_ends_a_request() {
    let server = Server::start(accept, []).await;
    let brief = Budget::new(Instant::now(), CancellationToken::new());
    let error = server.model(ProviderKind::OpenAi).complete(&brief, &plain()).await.expect_err("no time");
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::TimedOut, "`openai/m-1` did not reply in time"));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let cancelled = Budget::new(Instant::now() + Duration::from_secs(60), cancel);
    let error = server.model(ProviderKind::OpenAi).complete(&cancelled, &plain()).await.expect_err("cancelled");
    assert_eq!(error.kind, ModelErrorKind::Cancelled);
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_unavailable() {
    let mut gone = Server::start(accept, []).await;
    gone.url = "http://127.0.0.1:9".to_string();
    let error = gone.model(ProviderKind::Ollama).complete(&budget(), &plain()).await.expect_err("nobody is there");
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    assert!(error.message.starts_with("`ollama` at http://127.0.0.1:9/api/chat cannot be reached: "), "{error}");
    assert_eq!(error.hint.as_deref(), Some("`ollama serve` starts Ollama"));
}

#[tokio::test]
async fn headers_of_the_project_are_sent_and_win() {
    let server = Server::start(accept, [hello(ProviderKind::OpenAi)]).await;
    let headers = [("X-Team", "qa"), ("Authorization", "Bearer other")]
        .map(|(name, value)| (name.to_string(), Secret(value.to_string())));
    let endpoint = Endpoint { headers: headers.into(), ..server.endpoint(ProviderKind::OpenAi) };
    let model = open(&endpoint, Settings::unlisted("openai", "m-1")).expect("it can be used");
    model.complete(&budget(), &plain()).await.expect("a reply");
    let head = &server.arrived()[0].head;
    assert!(head.contains("x-team: qa") && head.contains("authorization: bearer other"), "{head}");
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_before_anything_is_sent() {
    let server = Server::start(accept, []).await;
    let fit = || server.endpoint(ProviderKind::OpenAi);
    let cases = [
        (Endpoint { base_url: "https://ada:pw@host".into(), ..fit() }, "the `base_url` of `openai` is not valid"),
        (Endpoint { base_url: "host".into(), ..fit() }, "the `base_url` of `openai` is not valid"),
        (
            Endpoint { key: Some(Secret("two\nlines".into())), ..fit() },
            "the header `authorization` of `openai` cannot be sent: it has a line break or the like",
        ),
        (
            Endpoint { headers: vec![("bad name".into(), Secret("x".into()))], ..fit() },
            "`bad name` in the `headers` of `openai` is not a header name",
        ),
    ];
    for (endpoint, message) in cases {
        let error = open(&endpoint, Settings::unlisted("openai", "m-1")).err().expect(message);
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Setup, message));
    }
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_used() {
    // Plain HTTP is forwarded: the proxy gets the whole URL, and the password.
    let proxy = Server::start(accept, [hello(ProviderKind::OpenAi)]).await;
    let with_password = proxy.url.replace("http://", "http://ada:pw@");
    let proxies = ProxySettings { http: with_password.clone(), https: with_password, ..ProxySettings::default() };
    let endpoint = Endpoint {
        base_url: "http://models.example/v1".into(),
        proxies: proxies.clone(),
        ..proxy.endpoint(ProviderKind::OpenAi)
    };
    let model = open(&endpoint, Settings::unlisted("openai", "m-1")).expect("it can be used");
    model.complete(&budget(), &plain()).await.expect("a reply");
    let head = proxy.arrived()[0].head.clone();
    assert!(head.starts_with("post http://models.example/v1/chat/completions http/1.1"), "{head}");
    assert!(head.contains("proxy-authorization: basic ywrhonb3"), "{head}");

    // HTTPS is tunnelled, so the key never reaches the proxy.
    let proxy = Server::start(accept, [text(403, "no")]).await;
    let url = proxy.url.replace("http://", "http://ada:pw@");
    let endpoint = Endpoint {
        base_url: "https://models.example/v1".into(),
        proxies: ProxySettings { https: url, ..ProxySettings::default() },
        ..proxy.endpoint(ProviderKind::OpenAi)
    };
    let model = open(&endpoint, Settings::unlisted("openai", "m-1")).expect("it can be used");
    let error = model.complete(&budget(), &plain()).await.expect_err("the proxy refuses");
    assert_eq!(error.kind, ModelErrorKind::Unavailable);
    let head = proxy.arrived()[0].head.clone();
    assert!(head.starts_with("connect models.example:443 http/1.1") && !head.contains(KEY), "{head}");
    assert_eq!(proxy.arrived()[0].body, Value::Null);
}
