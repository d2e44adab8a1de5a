//! A page of the studio, without a browser: what its requests and streams carry. A benchmark uses it too.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// How long a page waits for what it expects, on a machine that is busy with other work.
const WAIT: Duration = Duration::from_secs(120);

pub struct Page {
    runtime: Runtime,
    pub host: String,
    pub workspace: String,
    pub view: Option<String>,
    pub key: String,
    pub cookie: Option<String>,
    /// In place of the headers of a browser.
    pub origin: Option<String>,
}

impl Page {
    /// A page at an address, which has not entered yet.
    pub fn at(address: &str) -> Page {
        let rest = address.strip_prefix("http://").expect("an http address");
        let (host, rest) = rest.split_once('/').expect("a path");
        let (path, fragment) = rest.split_once('#').expect("a fragment");
        assert_eq!(path, "studio/");
        let param = |name: &str| {
            fragment.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).map(str::to_string)
        };
        Page {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"),
            host: host.to_string(),
            workspace: param("workspace").expect("a workspace"),
            view: param("view"),
            key: param("key").expect("a key"),
            cookie: None,
            origin: None,
        }
    }

    /// The session that the address names.
    pub fn session(&self) -> String {
        self.view.as_deref().and_then(|view| view.strip_prefix("/session/")).expect("a session").to_string()
    }

    /// Exchanges the key for a cookie. Returns the status.
    pub fn enter(&mut self) -> u16 {
        let body = json!({"key": self.key}).to_string();
        let response = self.send("POST", "/studio/enter", "application/json", body);
        let status = response.status().as_u16();
        if let Some(cookie) = response.headers().get(header::SET_COOKIE) {
            let cookie = cookie.to_str().expect("text");
            assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
            self.cookie = cookie.split(';').next().map(str::to_string);
        }
        status
    }

    pub fn get(&self, path: &str) -> (u16, header::HeaderMap, Bytes) {
        let response = self.send("GET", path, "", String::new());
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        (status, headers, self.body(response))
    }

    fn body(&self, response: Response<Incoming>) -> Bytes {
        self.runtime.block_on(async { response.into_body().collect().await.expect("a body").to_bytes() })
    }

    /// Calls a method. An error is its code and its message.
    pub fn try_call(&self, method: &str, params: Value) -> Result<Value, (String, String)> {
        let path = format!("/trailblaze.v1.TrailblazeStudio/{method}");
        let response = self.send("POST", &path, "application/json", self.with_workspace(params).to_string());
        let status = response.status().as_u16();
        let body = self.body(response);
        let body: Value = serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{status}: {body:?}"));
        match status {
            200 => Ok(body),
            _ => {
                let text = |key: &str| body[key].as_str().unwrap_or_default().to_string();
                Err((text("code"), text("message")))
            }
        }
    }

    pub fn call(&self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|(code, message)| panic!("{method}: {code}: {message}"))
    }

    fn with_workspace(&self, mut params: Value) -> Value {
        params["workspace"] = self.workspace.as_str().into();
        params
    }

    /// Follows a stream.
    pub fn follow(&self, method: &str, params: Value) -> Stream<'_> {
        let path = format!("/trailblaze.v1.TrailblazeStudio/{method}");
        let message = self.with_workspace(params).to_string();
        let length = u32::try_from(message.len()).expect("a short message").to_be_bytes();
        let body = [&[0], length.as_slice(), message.as_bytes()].concat();
        let response = self.send("POST", &path, "application/connect+json", body);
        assert_eq!(response.status(), 200, "{method}");
        Stream { page: self, part: None, body: response.into_body(), held: Vec::new() }
    }

    /// Follows one part of a session: its screen, steps or log.
    pub fn watch(&self, part: &'static str, session: &str) -> Stream<'_> {
        Stream { part: Some(part), ..self.follow("WatchSession", json!({"session": session})) }
    }

    pub fn send(&self, verb: &str, path: &str, kind: &str, body: impl Into<Bytes>) -> Response<Incoming> {
        self.runtime.block_on(async {
            let stream = TcpStream::connect(&self.host).await.expect("the daemon listens");
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
            tokio::spawn(connection);
            let mut request = Request::builder().method(verb).uri(path).header(header::HOST, &self.host);
            if !kind.is_empty() {
                request = request.header(header::CONTENT_TYPE, kind);
            }
            if let Some(cookie) = &self.cookie {
                request = request.header(header::COOKIE, cookie);
            }
            let origin = self.origin.clone().unwrap_or_else(|| format!("http://{}", self.host));
            let request = request.header(header::ORIGIN, origin).body(Full::new(body.into())).expect("a request");
            sender.send_request(request).await.expect("a response")
        })
    }
}

pub struct Stream<'p> {
    page: &'p Page,
    /// The part of the messages that is of interest.
    part: Option<&'static str>,
    body: Incoming,
    held: Vec<u8>,
}

impl Stream<'_> {
    /// The next message; `None` if the stream has ended.
    pub fn next(&mut self) -> Option<Value> {
        let deadline = Instant::now() + WAIT;
        loop {
            if self.held.len() >= 5 {
                let length = u32::from_be_bytes(self.held[1..5].try_into().expect("four bytes")) as usize;
                if self.held.len() >= 5 + length {
                    let frame: Vec<u8> = self.held.drain(..5 + length).collect();
                    if frame[0] & 2 != 0 {
                        let end: Value = serde_json::from_slice(&frame[5..]).expect("JSON");
                        assert!(end.get("error").is_none(), "{end}");
                        return None;
                    }
                    let mut message: Value = serde_json::from_slice(&frame[5..]).expect("JSON");
                    let wanted = self.part.map_or(Some(message.clone()), |part| Some(message[part].take()));
                    match wanted.filter(|wanted| !wanted.is_null()) {
                        Some(wanted) => return Some(wanted),
                        None => continue,
                    }
                }
            }
            let next =
                self.page.runtime.block_on(async { tokio::time::timeout_at(deadline.into(), self.body.frame()).await });
            let frame = next.expect("something in time")?.expect("a frame");
            if let Ok(data) = frame.into_data() {
                self.held.extend_from_slice(&data);
            }
        }
    }

    /// Waits for a message that fits. Returns the last value of each field that was sent, as a page keeps them.
    pub fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut kept = json!({});
        let deadline = Instant::now() + 2 * WAIT;
        while Instant::now() < deadline {
            let message = self.next().unwrap_or_else(|| panic!("the stream ended before {what}: {kept:#}"));
            let is_new = message["hasElements"] != json!(false);
            for (key, value) in message.as_object().expect("a message") {
                if (key != "elements" || is_new) && (key != "picture" || value != "") {
                    kept[key] = value.clone();
                }
            }
            if fits(&kept) {
                return kept;
            }
        }
        panic!("{what} did not come: {kept:#}")
    }
}

/// The element with this name on a screen.
pub fn element<'s>(screen: &'s Value, name: &str) -> &'s Value {
    let elements = screen["elements"].as_array().expect("elements");
    let found = elements.iter().find(|element| element["name"] == name || element["id"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {screen:#}"))
}

pub fn has(screen: &Value, name: &str) -> bool {
    let elements = screen["elements"].as_array().into_iter().flatten();
    elements.clone().any(|element| element["name"] == name || element["id"] == name)
}
