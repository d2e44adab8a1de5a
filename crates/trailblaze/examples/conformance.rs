//! A server for the conformance suite of Connect, behind the guard, the limits and the listener of the typed API. `scripts/conformance`
//! runs it. The argument is the folder with the suite's proto files.
//!
//! The suite defines what the methods do: they answer as the request tells them to, and say what they received.

use std::io::{Read, Write};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use connectrpc::codec::CodecFormat;
use connectrpc::dispatcher::{RequestStream, StreamingResult, UnaryResult};
use connectrpc::payload::Payload;
use connectrpc::{
    ConnectError, Dispatcher, EncodedBody, EncodedStream, ErrorCode, ErrorDetail, MethodDescriptor, RequestContext,
    Response,
};
use futures::StreamExt;
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, ReflectMessage, SerializeOptions};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout_at};

const PACKAGE: &str = "connectrpc.conformance.v1";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("the argument is the folder with the proto files of the suite")?;
    let files = ["service.proto", "server_compat.proto"].map(|file| format!("connectrpc/conformance/v1/{file}"));
    let pool = DescriptorPool::from_file_descriptor_set(protox::compile(files, [folder])?)?;
    let suite = Suite { pool };

    // The runner says what it needs, in a message after its length, and is told where the server is.
    let mut length = [0; 4];
    std::io::stdin().read_exact(&mut length)?;
    let mut wanted = vec![0; u32::from_be_bytes(length) as usize];
    std::io::stdin().read_exact(&mut wanted)?;
    let wanted = suite.read("ServerCompatRequest", &wanted, CodecFormat::Proto)?;
    let limit = match wanted["messageReceiveLimit"].as_u64() {
        Some(limit) => usize::try_from(limit)?,
        None => 1 << 20,
    };
    let port = trailblaze::api::serve_methods(suite.clone(), limit).await?;
    let here = suite.write("ServerCompatResponse", &json!({"host": "127.0.0.1", "port": port}), CodecFormat::Proto)?;
    std::io::stdout().write_all(&u32::try_from(here.len())?.to_be_bytes())?;
    std::io::stdout().write_all(&here)?;
    std::io::stdout().flush()?;
    // The runner ends this process when it is done.
    std::future::pending().await
}

/// The methods of the suite.
#[derive(Clone)]
struct Suite {
    pool: DescriptorPool,
}

/// A request that was read.
struct Received {
    /// What the server is told to do.
    definition: Value,
    /// What the server is to say about the request.
    info: Value,
}

impl Suite {
    /// Reads a message of the suite as JSON.
    fn read(&self, name: &str, bytes: &[u8], format: CodecFormat) -> Result<Value, ConnectError> {
        let bad = |error: &dyn std::fmt::Display| ConnectError::invalid_argument(error.to_string());
        let kind = self.pool.get_message_by_name(&format!("{PACKAGE}.{name}"));
        let kind = kind.ok_or_else(|| ConnectError::internal(format!("there is no message {name}")))?;
        let message = match format {
            CodecFormat::Json => {
                let options = DeserializeOptions::new().deny_unknown_fields(false);
                let mut json = serde_json::Deserializer::from_slice(bytes);
                let message = DynamicMessage::deserialize_with_options(kind, &mut json, &options);
                json.end().map_err(|error| bad(&error))?;
                message.map_err(|error| bad(&error))?
            }
            _ => DynamicMessage::decode(kind, bytes).map_err(|error| bad(&error))?,
        };
        to_json(&message)
    }

    fn write(&self, name: &str, message: &Value, format: CodecFormat) -> Result<Vec<u8>, ConnectError> {
        let bug = |error: &dyn std::fmt::Display| ConnectError::internal(error.to_string());
        let kind = self.pool.get_message_by_name(&format!("{PACKAGE}.{name}"));
        let kind = kind.ok_or_else(|| ConnectError::internal(format!("there is no message {name}")))?;
        let message = DynamicMessage::deserialize(kind, message).map_err(|error| bug(&error))?;
        match format {
            CodecFormat::Json => Ok(to_json(&message)?.to_string().into_bytes()),
            _ => Ok(message.encode_to_vec()),
        }
    }

    fn receive(
        &self,
        method: &str,
        cx: &RequestContext,
        bytes: &[u8],
        format: CodecFormat,
    ) -> Result<Received, ConnectError> {
        let request = self.read(&format!("{method}Request"), bytes, format)?;
        let definition = request["responseDefinition"].clone();
        let mut sent = request.as_object().cloned().unwrap_or_default();
        sent.insert("@type".into(), format!("type.googleapis.com/{PACKAGE}.{method}Request").into());
        let headers = cx.headers().keys().map(|name| {
            let values = cx.headers().get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
            json!({"name": name.as_str(), "value": values.collect::<Vec<_>>()})
        });
        let mut info = json!({"requestHeaders": headers.collect::<Vec<_>>(), "requests": [sent]});
        if let Some(left) = cx.time_remaining() {
            // In JSON, 64-bit numbers are texts. Part of the time has passed, so that the number is rounded up.
            info["timeoutMs"] = left.as_micros().div_ceil(1000).to_string().into();
        }
        Ok(Received { definition, info })
    }

    /// The error that a definition asks for, with what was received if no message has said it.
    fn error(&self, definition: &Value, info: Option<&Value>) -> Result<Option<ConnectError>, ConnectError> {
        let Some(asked) = definition.get("error") else { return Ok(None) };
        let code = asked["code"].as_str().unwrap_or_default().trim_start_matches("CODE_").to_lowercase();
        let code = code.parse::<ErrorCode>().unwrap_or(ErrorCode::Unknown);
        let mut error = ConnectError::new(code, asked["message"].as_str().unwrap_or_default());
        let info = info.map(|info| {
            let mut info = info.as_object().cloned().unwrap_or_default();
            info.insert("@type".into(), format!("type.googleapis.com/{PACKAGE}.ConformancePayload.RequestInfo").into());
            Value::Object(info)
        });
        for detail in asked["details"].as_array().into_iter().flatten().chain(&info) {
            let mut fields = detail.as_object().cloned().unwrap_or_default();
            let kind = fields.remove("@type").and_then(|kind| kind.as_str().map(String::from)).unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_string();
            let name = kind.strip_prefix(&format!("{PACKAGE}.")).unwrap_or(&kind);
            let bytes = self.write(name, &Value::Object(fields), CodecFormat::Proto)?;
            let value = Some(STANDARD_NO_PAD.encode(bytes));
            error = error.with_detail(ErrorDetail { type_url: kind, value, debug: None });
        }
        Ok(Some(error))
    }

    async fn unary(&self, method: &str, received: Received, format: CodecFormat) -> Result<Vec<u8>, ConnectError> {
        let Received { definition, info } = received;
        delay(&definition).await;
        if let Some(error) = self.error(&definition, Some(&info))? {
            let (headers, trailers) = metadata(&definition)?;
            return Err(error.with_headers(headers).with_trailers(trailers));
        }
        let payload = json!({"requestInfo": info, "data": definition.get("responseData")});
        self.write(&format!("{method}Response"), &json!({"payload": payload}), format)
    }
}

impl Dispatcher for Suite {
    fn lookup(&self, path: &str) -> Option<MethodDescriptor> {
        match path.trim_start_matches('/').strip_prefix(&format!("{PACKAGE}.ConformanceService/"))? {
            "Unary" | "IdempotentUnary" => Some(MethodDescriptor::unary(false)),
            "ServerStream" => Some(MethodDescriptor::server_streaming()),
            _ => None,
        }
    }

    fn call_unary(&self, path: &str, cx: RequestContext, request: Payload, format: CodecFormat) -> UnaryResult {
        let (this, method) = (self.clone(), method_of(path));
        let received = request.encoded().and_then(|bytes| this.receive(&method, &cx, &bytes, format));
        Box::pin(async move {
            let received = received?;
            let (headers, trailers) = metadata(&received.definition)?;
            let answered = match cx.deadline() {
                Some(deadline) => timeout_at(deadline.into(), this.unary(&method, received, format))
                    .await
                    .unwrap_or_else(|_| Err(ConnectError::deadline_exceeded("it took too long"))),
                None => this.unary(&method, received, format).await,
            };
            let mut response = Response::new(EncodedBody::from(Bytes::from(answered?)));
            response.headers = headers;
            response.trailers = trailers;
            Ok(response)
        })
    }

    fn call_server_streaming(
        &self,
        path: &str,
        cx: RequestContext,
        request: Bytes,
        format: CodecFormat,
    ) -> StreamingResult {
        let (this, method) = (self.clone(), method_of(path));
        let received = self.receive(&method, &cx, &request, format);
        Box::pin(async move {
            let Received { definition, info } = received?;
            let (headers, trailers) = metadata(&definition)?;
            let data: Vec<Value> = definition["responseData"].as_array().cloned().unwrap_or_default();
            let error = this.error(&definition, data.is_empty().then_some(&info))?;
            let messages = futures::stream::iter(data.into_iter().enumerate()).then(move |(index, data)| {
                let (this, definition) = (this.clone(), definition.clone());
                let payload = match index {
                    0 => json!({"data": data, "requestInfo": info}),
                    _ => json!({"data": data}),
                };
                let name = format!("{method}Response");
                async move {
                    delay(&definition).await;
                    Ok(EncodedBody::from(Bytes::from(this.write(&name, &json!({"payload": payload}), format)?)))
                }
            });
            let messages = messages.chain(futures::stream::iter(error.map(Err)));
            let mut response = Response::new(messages.boxed() as EncodedStream);
            response.headers = headers;
            response.trailers = trailers;
            Ok(response)
        })
    }

    fn call_client_streaming(&self, path: &str, _: RequestContext, _: RequestStream, _: CodecFormat) -> UnaryResult {
        connectrpc::dispatcher::unimplemented_unary(path)
    }

    fn call_bidi_streaming(&self, path: &str, _: RequestContext, _: RequestStream, _: CodecFormat) -> StreamingResult {
        connectrpc::dispatcher::unimplemented_streaming(path)
    }
}

fn method_of(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_string()
}

async fn delay(definition: &Value) {
    if let Some(millis) = definition["responseDelayMs"].as_u64() {
        sleep(Duration::from_millis(millis)).await;
    }
}

/// The headers and trailers that a definition asks for.
fn metadata(definition: &Value) -> Result<(HeaderMap, HeaderMap), ConnectError> {
    let read = |name: &str| -> Result<HeaderMap, ConnectError> {
        let mut map = HeaderMap::new();
        for header in definition[name].as_array().into_iter().flatten() {
            let name = header["name"].as_str().unwrap_or_default().parse::<HeaderName>();
            let name = name.map_err(|error| ConnectError::invalid_argument(error.to_string()))?;
            for value in header["value"].as_array().into_iter().flatten() {
                let value = value.as_str().unwrap_or_default().parse::<HeaderValue>();
                map.append(&name, value.map_err(|error| ConnectError::invalid_argument(error.to_string()))?);
            }
        }
        Ok(map)
    };
    Ok((read("responseHeaders")?, read("responseTrailers")?))
}

fn to_json(message: &DynamicMessage) -> Result<Value, ConnectError> {
    let options = SerializeOptions::new();
    message
        .serialize_with_options(serde_json::value::Serializer, &options)
        .map_err(|error| ConnectError::internal(format!("{}: {error}", message.descriptor().full_name())))
}
