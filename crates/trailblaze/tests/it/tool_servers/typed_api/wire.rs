//! Clients of the wire protocols, with as little in them as possible.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, header};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Map, Value};
use tokio::net::TcpStream;
use trailblaze_contract::{Method, codec};

use super::cases::{Answer, text};
use super::served::Served;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    ConnectJson,
    ConnectBinary,
    Grpc,
    GrpcWeb,
}

pub const PROTOCOLS: [Protocol; 4] =
    [Protocol::ConnectJson, Protocol::ConnectBinary, Protocol::Grpc, Protocol::GrpcWeb];

impl Protocol {
    fn content_type(self) -> &'static str {
        match self {
            Protocol::ConnectJson => "application/json",
            Protocol::ConnectBinary => "application/proto",
            Protocol::Grpc => "application/grpc+proto",
            Protocol::GrpcWeb => "application/grpc-web+proto",
        }
    }

    fn body(self, method: &Method, params: &Map<String, Value>) -> Result<Bytes, codec::CodecError> {
        let binary = || codec::to_binary(method.request, params);
        Ok(match self {
            // As a caller writes it, with whatever it contains.
            Protocol::ConnectJson => Value::Object(params.clone()).to_string().into(),
            Protocol::ConnectBinary => binary()?.into(),
            Protocol::Grpc | Protocol::GrpcWeb => frame(&binary()?).into(),
        })
    }
}

/// A caller over one protocol, with the ids and the key that it has.
#[derive(Clone)]
pub struct Caller {
    pub host: String,
    pub protocol: Protocol,
    pub key: Option<String>,
    /// Added to each request.
    pub ids: Map<String, Value>,
    pub headers: Vec<(&'static str, String)>,
    /// In place of the protocol's.
    pub content_type: Option<&'static str>,
}

impl Caller {
    pub fn of(served: &Served, protocol: Protocol) -> Caller {
        let (host, key) = (served.host().to_string(), Some(served.key.clone()));
        Caller { host, protocol, key, ids: Map::new(), headers: Vec::new(), content_type: None }
    }

    pub async fn call(&self, method: &str, params: Value) -> Answer {
        let method = trailblaze_contract::method(&format!("trailblaze.v1.{method}")).expect("a method");
        let mut params = params.as_object().cloned().unwrap_or_default();
        params.extend(self.ids.clone());
        let body = match self.protocol.body(method, &params) {
            Ok(body) => body,
            // The binary format cannot express an unknown enum value.
            Err(error) => return Err(("invalid_argument".into(), error.to_string())),
        };
        let response = self.send(method.path, body).await;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.into_body().collect().await.expect("a body");
        let trailers = body.trailers().cloned().unwrap_or_default();
        let bytes = body.to_bytes();
        let read = |bytes: &[u8]| codec::from_binary(method.response, bytes).expect("a message");
        match self.protocol {
            Protocol::ConnectJson if status == 200 => Ok(codec::from_json(method.response, &bytes).expect("a message")),
            Protocol::ConnectBinary if status == 200 => Ok(read(&bytes)),
            Protocol::ConnectJson | Protocol::ConnectBinary => {
                let error: Value = serde_json::from_slice(&bytes).unwrap_or_else(|_| panic!("{status} {bytes:?}"));
                Err((text(&error["code"]), text(&error["message"])))
            }
            Protocol::Grpc => {
                let status =
                    |name: &str| trailers.get(name).or(headers.get(name)).and_then(|value| value.to_str().ok());
                grpc(
                    status("grpc-status"),
                    status("grpc-message"),
                    frames(&bytes).first().map(|(_, frame)| read(frame)),
                )
            }
            Protocol::GrpcWeb => {
                let frames = frames(&bytes);
                let trailers = frames.iter().find(|(flags, _)| flags & 0x80 != 0);
                let trailers = trailers.map(|(_, text)| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
                let of_trailers = |name: &str| {
                    let lines = trailers.lines().filter_map(|line| line.split_once(':'));
                    let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.next().map(|(_, value)| value.trim().to_string())
                };
                let of_headers = |name: &str| headers.get(name)?.to_str().ok().map(str::to_string);
                let status = |name: &str| of_trailers(name).or_else(|| of_headers(name));
                let message = frames.iter().find(|(flags, _)| flags & 0x80 == 0).map(|(_, frame)| read(frame));
                grpc(status("grpc-status").as_deref(), status("grpc-message").as_deref(), message)
            }
        }
    }

    /// Posts a body to a path.
    pub async fn send(&self, path: &str, body: Bytes) -> Response<Incoming> {
        self.try_send(path, body).await.expect("a response")
    }

    pub async fn try_send(&self, path: &str, body: Bytes) -> hyper::Result<Response<Incoming>> {
        let is_h2 = self.protocol == Protocol::Grpc;
        let uri = if is_h2 { format!("http://{}/{path}", self.host) } else { format!("/{path}") };
        let mut request =
            Request::post(uri).header(header::CONTENT_TYPE, self.content_type.unwrap_or(self.protocol.content_type()));
        if !is_h2 {
            request = request.header(header::HOST, &self.host);
        }
        if is_h2 {
            request = request.header("te", "trailers");
        }
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(body)).expect("a request");
        let stream = TokioIo::new(TcpStream::connect(&self.host).await.expect("it listens"));
        if is_h2 {
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.expect("HTTP/2");
            tokio::spawn(connection);
            sender.send_request(request).await
        } else {
            let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.expect("HTTP/1");
            tokio::spawn(connection);
            sender.send_request(request).await
        }
    }
}

fn grpc(status: Option<&str>, message: Option<&str>, answer: Option<Map<String, Value>>) -> Answer {
    match (status, answer) {
        (Some("0"), Some(answer)) => Ok(answer),
        (Some(code), _) => Err((code_name(code).to_string(), percent_decoded(message.unwrap_or_default()))),
        (None, _) => panic!("no status"),
    }
}

fn code_name(number: &str) -> &'static str {
    match number {
        "1" => "canceled",
        "3" => "invalid_argument",
        "4" => "deadline_exceeded",
        "5" => "not_found",
        "7" => "permission_denied",
        "8" => "resource_exhausted",
        "9" => "failed_precondition",
        "11" => "out_of_range",
        "12" => "unimplemented",
        "13" => "internal",
        "14" => "unavailable",
        "16" => "unauthenticated",
        other => panic!("the code {other}"),
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let code = others.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match (first, code.and_then(|code| u8::from_str_radix(code, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = others;
            }
        }
    }
    String::from_utf8(bytes).expect("text")
}

/// A message with its length in front.
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a short message");
    [&[0], &length.to_be_bytes()[..], message].concat()
}

/// The flags and the content of each frame.
pub fn frames(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(5) {
        let length = u32::from_be_bytes(head[1..].try_into().expect("four bytes")) as usize;
        frames.push((head[0], rest[..length].to_vec()));
        bytes = &rest[length..];
    }
    frames
}
