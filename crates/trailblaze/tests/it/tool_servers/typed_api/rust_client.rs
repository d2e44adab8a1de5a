//! The Rust client and the real server: from outside with a session's key, and inside a tool call with its id.

use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_client::{Client, Code, Error, LaunchMode};
use trailblaze_protocol::event::CallOrigin;
use trailblaze_protocol::ids::Parent;

use super::served::Served;
use crate::support::stage::Stage;
use crate::support::{Project, Running, wait_until};

fn client(served: &Served) -> Client {
    Client::new(&served.address).with_key(&served.key)
}

#[tokio::test]
async fn a_program_uses_a_served_device() {
    let project = Project::counter();
    let served = Served::on(&project, "android/sim-1");
    let client = client(&served);
    let session = client.get_session().await.unwrap();
    assert_eq!(session.session_id, served.session);
    let device = session.device.unwrap();
    assert_eq!((device.id.as_str(), device.platform.as_str()), ("android/sim-1", "android"));
    let client = client.with_platform(device.platform).with_device(device.id);
    assert!(client.playwright().is_none());

    client.launch_app().package_id("com.example.counter").launch_mode(LaunchMode::Reinstall).await.unwrap();
    client.tap().text("Add one").await.unwrap();
    assert!(client.is_visible().text("Count: 1").await.unwrap());
    assert!(!client.is_visible().text("Count: 2").await.unwrap());
    assert!(client.has_text("Count").await.unwrap());
    assert_eq!(client.get_element_count().text("Add one").await.unwrap(), 1);
    assert_eq!(client.get_element_text("nowhere").await.unwrap(), None);
    client.tap().id("name").await.unwrap();
    client.input_text("ada").hide_keyboard_after(true).await.unwrap();
    client.wait_until_visible("Hello, ada", 5_000).await.unwrap();
    client.assert_visible().text("Hello, ada").await.unwrap();

    let screen = client.capture_screen().picture(true).await.unwrap();
    assert_eq!((screen.width, screen.app.as_deref()), (device.width, Some("com.example.counter")));
    assert!(screen.picture.unwrap().data.starts_with(b"\x89PNG"));
    let mut todo = vec![screen.root.unwrap()];
    let mut add = None;
    while let Some(mut element) = todo.pop() {
        todo.append(&mut element.children);
        if element.text.as_deref() == Some("Add one") {
            add = Some(element);
        }
    }
    let add = add.expect("the button is on the screen");
    client.tap().reference(add.reference.unwrap()).await.unwrap();
    let bounds = add.bounds.unwrap();
    client.tap().at((bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2).await.unwrap();
    client.assert_visible().text("Count: 3").await.unwrap();

    client.remember("user", "ada").await.unwrap();
    assert_eq!(client.dump_memory().await.unwrap().get("user"), Some(&json!("ada")));
    client.forget("user").await.unwrap();
    let result = client.call_tool("tap", json!({"text": "Add one"})).await.unwrap();
    assert!(result.success);
    assert!(client.list_tools().await.unwrap().tools.iter().any(|tool| tool.name == "tap"));
    client.maestro().unwrap().press_back().await.unwrap();
    assert_eq!(client.list_devices().await.unwrap().devices.len(), 1);
    let mut lists = client.watch_devices().await.unwrap();
    assert_eq!(lists.next().await.unwrap().unwrap().devices[0].id, "android/sim-1");

    // Stopping it ends the stream, and later calls say that nobody listens.
    let mut events = client.watch_events().await.unwrap();
    let ended = tokio::task::spawn_blocking(move || served.end(&project));
    let (mut kinds, mut last) = (Vec::new(), 0);
    while let Some(Ok(event)) = events.next().await {
        assert_eq!(event.number, last + 1);
        last = event.number;
        kinds.push(event.kind);
    }
    assert!(kinds.iter().filter(|kind| *kind == "called").count() > 10, "{kinds:?}");
    ended.await.unwrap().exits(0);
    let error = client.has_text("a").await.unwrap_err();
    // Another server may have taken the port in the meantime.
    assert!(matches!(error.code(), Some(Code::Unavailable | Code::Unauthenticated)), "{error}");
}

#[tokio::test]
async fn what_goes_wrong_has_its_code() {
    let project = Project::counter();
    let served = Served::on(&project, "android/sim-1");
    let client = client(&served);
    let refused = |error: Error| (error.code(), error.to_string());
    let check = |got: (Option<Code>, String), code: Code, text: &str| {
        assert_eq!(got.0, Some(code), "{}", got.1);
        assert!(got.1.contains(text), "{}", got.1);
    };
    client.launch_app().package_id("com.example.counter").await.unwrap();
    let error = client.tap().text("Nowhere").timeout_ms(0).await.unwrap_err();
    assert!(matches!(&error, Error::ActionFailed { message, .. } if message.contains("Nowhere")), "{error:?}");
    let error = client.assert_visible().text("Nowhere").timeout_ms(0).await.unwrap_err();
    assert!(matches!(&error, Error::AssertionFailed { variant, .. } if variant == "AssertionFailed"), "{error:?}");
    let error = client.wait_until_visible("Nowhere", 0).await.unwrap_err();
    assert!(matches!(&error, Error::AssertionFailed { .. }), "{error:?}");

    let navigate = client.playwright().expect("the platform is not known").navigate("https://a.example");
    check(refused(navigate.await.unwrap_err()), Code::Unimplemented, "android");
    check(refused(client.call_tool("nothing", json!({})).await.unwrap_err()), Code::Unimplemented, "nothing");
    check(refused(client.call_tool("tap", json!([1])).await.unwrap_err()), Code::InvalidArgument, "`args`");
    check(refused(client.ask_model("Why?").await.unwrap_err()), Code::FailedPrecondition, "invocation_id");
    let other = client.clone().with_device("ios/sim-1");
    check(refused(other.has_text("Count").await.unwrap_err()), Code::PermissionDenied, "ios/sim-1");
    let stranger = Client::new(&served.address);
    check(refused(stranger.clone().with_key("k").has_text("Count").await.unwrap_err()), Code::Unauthenticated, "key");
    check(refused(stranger.clone().with_invocation("c-0").has_text("Count").await.unwrap_err()), Code::NotFound, "c-0");
    check(
        refused(stranger.has_text("Count").await.unwrap_err()),
        Code::FailedPrecondition,
        "`invocation_id` is missing",
    );
    let late = client.wait_until_visible("Nowhere", 60_000).deadline(Duration::from_millis(100));
    check(refused(late.await.unwrap_err()), Code::DeadlineExceeded, "took too long");
    let followed = client.watch_events().after(-1).await;
    let error = match followed {
        Ok(mut events) => events.next().await.expect("an error").unwrap_err(),
        Err(error) => error,
    };
    check(refused(error), Code::InvalidArgument, "`after`");
}

#[tokio::test]
async fn a_tool_acts_within_its_call() {
    let stage = Stage::new("stays_in_its_call").with("multiDevice: perDevice").with("sampling: true");
    stage
        .project()
        .write("replies.yaml", "replies: [{expect: {contains: [Is it one?, Be brief.]}, reply: {text: Yes.}}]\n");
    let run = ["run", "--pictures", "off", "-d", "android/sim-1", "--model", "scripted/replies.yaml"];
    let running = Running::of(stage.command(&run).spawn().expect("it starts"));
    let path = stage.project().root().join("android-sim-1.json");
    let told = wait_until("the tool is in its call", || std::fs::read_to_string(&path).ok());
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let client = Client::from_meta(&json!({"trailblaze": told})).unwrap();
    assert_eq!(client.platform(), Some("android"));
    client.launch_app().package_id("com.example.counter").await.unwrap();
    client.tap().text("Add one").await.unwrap();
    assert!(client.has_text("Count: 1").await.unwrap());
    let reply = client.ask_model("Is it one?").screen(true).system("Be brief.").max_tokens(5).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("Yes.", "scripted/replies.yaml"));
    let refused = client.ask_model(" ").await.unwrap_err();
    assert_eq!(refused.to_string(), "`prompt` is missing (invalid_argument)");
    stage.project().write("enough", "");
    let ran = stage.project().ended(running).exits(0);
    let over = client.tap().text("Add one").await.unwrap_err();
    assert!(matches!(over.code(), Some(Code::NotFound | Code::Unavailable)), "{over}");

    // Its calls are children of the tool's call.
    let calls = stage.judge(ran, 0).run.calls();
    let tool = calls.iter().find(|call| call.tool == "rogue_act").expect("the tool was called");
    let nested = |name: &str| calls.iter().find(|call| call.tool == name).expect("it was called");
    for call in [nested("tap"), nested("hasText")] {
        assert_eq!((call.origin, &call.parent), (CallOrigin::Callback, &Parent::Call(tool.call.clone())));
    }
}
