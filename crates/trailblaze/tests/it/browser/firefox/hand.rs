//! Plays the person in front of a Firefox: input over Marionette, whose session is the one that drives it.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::{PATIENCE, wait_until};

/// A key of a keyboard that types nothing, as WebDriver names it.
pub const ENTER: &str = "\u{E006}";

pub struct Hand {
    stream: TcpStream,
    last_id: u64,
}

impl Hand {
    /// What tells Firefox at which port to listen, and the argument that makes it listen.
    pub fn variable(port: u16) -> (&'static str, String) {
        ("MOZ_MARIONETTE_PREF_STATE_ACROSS_RESTARTS", json!({"marionette.port": port}).to_string())
    }

    pub const ARGUMENT: &str = "--marionette";

    pub fn connect(port: u16) -> Hand {
        let stream = wait_until("Firefox listens", || TcpStream::connect(("127.0.0.1", port)).ok());
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let mut hand = Hand { stream, last_id: 0 };
        hand.read();
        hand
    }

    /// Messages begin with their length.
    fn read(&mut self) -> Value {
        let mut length = String::new();
        let mut byte = [0];
        loop {
            self.stream.read_exact(&mut byte).expect("Firefox answers");
            match byte[0] {
                b':' => break,
                digit => length.push(char::from(digit)),
            }
        }
        let mut message = vec![0; length.parse().expect("a length")];
        self.stream.read_exact(&mut message).expect("a whole message");
        serde_json::from_slice(&message).expect("JSON")
    }

    fn try_call(&mut self, command: &str, params: &Value) -> Result<Value, String> {
        self.last_id += 1;
        let message = json!([0, self.last_id, command, params]).to_string();
        write!(self.stream, "{}:{message}", message.len()).expect("Firefox listens");
        let answer = self.read();
        match &answer[2] {
            Value::Null => Ok(answer[3].clone()),
            error => Err(format!("{command}: {error}")),
        }
    }

    #[track_caller]
    fn call(&mut self, command: &str, params: &Value) -> Value {
        self.try_call(command, params).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Turns to the tab whose address contains a text, once there is one.
    pub fn tab(&mut self, address: &str) {
        wait_until(&format!("there is a tab at {address}"), || {
            let handles = self.call("WebDriver:GetWindowHandles", &json!({}));
            handles.as_array().expect("a list").iter().find_map(|handle| {
                self.try_call("WebDriver:SwitchToWindow", &json!({"handle": handle})).ok()?;
                let url = self.try_call("WebDriver:GetCurrentURL", &json!({})).ok()?;
                url["value"].as_str().is_some_and(|url| url.contains(address)).then_some(())
            })
        });
    }

    fn element(&mut self, css: &str) -> Value {
        wait_until(&format!("there is {css}"), || {
            let found = self.try_call("WebDriver:FindElement", &json!({"using": "css selector", "value": css})).ok()?;
            Some(found["value"].clone())
        })
    }

    pub fn click(&mut self, css: &str) {
        let element = self.element(css);
        let steps = json!([
            {"type": "pointerMove", "x": 0, "y": 0, "origin": element}, {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]);
        self.perform(
            &json!([{"type": "pointer", "id": "person", "parameters": {"pointerType": "mouse"}, "actions": steps}]),
        );
    }

    pub fn type_text(&mut self, text: &str) {
        let stroke = |sign: char| [("keyDown", sign), ("keyUp", sign)];
        let steps: Vec<Value> =
            text.chars().flat_map(stroke).map(|(kind, sign)| json!({"type": kind, "value": sign})).collect();
        self.perform(&json!([{"type": "key", "id": "keys", "actions": steps}]));
    }

    /// As with the button of the window.
    pub fn back(&mut self) {
        self.call("WebDriver:Back", &json!({}));
    }

    fn perform(&mut self, actions: &Value) {
        self.call("WebDriver:PerformActions", &json!({"actions": actions}));
    }
}
