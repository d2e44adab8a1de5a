//! A server for the conformance suites of MCP: ours, behind the guard and the settings of the listener, with the tools, resources and
//! prompts that the suites call. `scripts/mcp-conformance` runs it. It prints its URL.

// The older suite asks for messages by `logging/setLevel`.
#![allow(deprecated)]

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CompleteRequestParams,
    CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, Role, ServerCapabilities, ServerConfig, SetLevelRequestParams, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use trailblaze::api::mcp::{McpOptions, McpServer};
use trailblaze::sessions::service::{ClientPlace, ProgressSink, Service, ServiceAnswer, ServiceError, ServiceRequest};
use trailblaze::sessions::toolbox::Listed;

/// The smallest picture and the smallest sound, in base 64.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let folder = std::env::current_dir()?;
    let place = ClientPlace { current_dir: folder.clone(), project: Some(folder), ..ClientPlace::default() };
    let suite = Suite { ours: McpServer::new(Arc::new(Nothing), McpOptions { place, ..McpOptions::default() }) };
    let port = trailblaze::api::serve_mcp(suite).await?;
    println!("http://127.0.0.1:{port}/mcp");
    // The script ends this process when it is done.
    std::future::pending().await
}

/// The suites open no sessions, and read the registry.
struct Nothing;

#[async_trait]
impl Service for Nothing {
    async fn request(
        &self,
        request: ServiceRequest,
        _: &dyn ProgressSink,
        _: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError> {
        if matches!(request, ServiceRequest::Toolbox(_)) {
            return Ok(ServiceAnswer::Toolbox(Listed {
                text: String::new(),
                value: json!({"tools": [], "groups": {}}),
            }));
        }
        Err(ServiceError::environment("there are no devices here"))
    }
}

#[derive(Clone)]
struct Suite {
    ours: McpServer,
}

fn embedded(uri: &str, mime: &str, text: &str) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(mime)
}

fn tools() -> Vec<Tool> {
    let plain = |name: &'static str| {
        let schema = json!({"type": "object", "properties": {}});
        Tool::new(name, "For the conformance suite.", Arc::new(schema.as_object().cloned().unwrap_or_default()))
    };
    let mut tools = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_logging_tool",
        "test_streaming_elicitation",
        "test_missing_capability",
    ]
    .map(plain)
    .to_vec();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    tools.push(Tool::new("json_schema_2020_12_tool", "For the conformance suite.", Arc::new(schema)));
    tools
}

impl Suite {
    async fn call(&self, name: &str, cx: &RequestContext<RoleServer>) -> Option<CallToolResult> {
        let content = match name {
            "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
            "test_image_content" => vec![ContentBlock::image(PICTURE, "image/png")],
            "test_audio_content" => vec![ContentBlock::audio(SOUND, "audio/wav")],
            "test_embedded_resource" => {
                let text = "This is an embedded resource content.";
                vec![ContentBlock::resource(embedded("test://embedded-resource", "text/plain", text))]
            }
            "test_multiple_content_types" => vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PICTURE, "image/png"),
                ContentBlock::resource(embedded(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#,
                )),
            ],
            "test_tool_with_logging" => {
                for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, text.into());
                    let _ = cx.peer.notify_logging_message(message).await;
                }
                vec![ContentBlock::text("Tool with logging executed successfully")]
            }
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    if let Some(token) = cx.meta.get_progress_token() {
                        let mut progress = ProgressNotificationParam::new(token, done);
                        progress.total = Some(100.0);
                        let _ = cx.peer.notify_progress(progress).await;
                    }
                }
                vec![ContentBlock::text("Tool with progress executed successfully")]
            }
            // A client of the newer generation asks for messages in each request.
            "test_logging_tool" => {
                if cx.meta.log_level().is_some() {
                    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, "asked for".into());
                    let _ = cx.peer.notify_logging_message(message).await;
                }
                vec![ContentBlock::text("logged if asked")]
            }
            // The server asks clients for nothing, so its streams have no requests.
            "test_streaming_elicitation" => vec![ContentBlock::text("nothing is asked")],
            "json_schema_2020_12_tool" => vec![ContentBlock::text("JSON Schema 2020-12 tool called")],
            "test_error_handling" => {
                let text = "This tool intentionally returns an error for testing";
                return Some(CallToolResult::error(vec![ContentBlock::text(text)]));
            }
            _ => return None,
        };
        Some(CallToolResult::success(content))
    }
}

fn prompts() -> Vec<Prompt> {
    let argument = |name: &str| PromptArgument::new(name).with_description("For the suite.").with_required(true);
    let prompt = |name: &str, arguments: Vec<PromptArgument>| {
        Prompt::new(name, Some("For the conformance suite."), (!arguments.is_empty()).then_some(arguments))
    };
    vec![
        prompt("test_simple_prompt", Vec::new()),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", Vec::new()),
    ]
}

impl ServerHandler for Suite {
    fn get_info(&self) -> ServerConfig {
        let mut config = self.ours.get_info();
        config.capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_logging()
            .enable_prompts()
            .enable_completions()
            .build();
        config
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.ours.list_tools(request, cx).await?;
        list.tools.extend(tools());
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let can_sample = cx.client_capabilities().is_some_and(|client| client.sampling.is_some());
        if request.name == "test_missing_capability" && !can_sample {
            let wanted = ClientCapabilities::builder().enable_sampling().build();
            return Err(ErrorData::missing_required_client_capability(wanted));
        }
        match self.call(&request.name, &cx).await {
            Some(result) => Ok(result.into()),
            None => self.ours.call_tool(request, cx).await,
        }
    }

    async fn set_level(&self, request: SetLevelRequestParams, cx: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.ours.set_level(request, cx).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.ours.list_resources(request, cx).await?;
        for (uri, mime) in [("test://static-text", "text/plain"), ("test://static-binary", "image/png")] {
            list.resources.push(Resource::new(uri, uri).with_mime_type(mime));
        }
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.ours.list_resource_templates(request, cx).await?;
        list.resource_templates.push(ResourceTemplate::new("test://template/{id}/data", "template"));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri.as_str(), id) {
            (_, Some(id)) => {
                let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                embedded(&uri, "application/json", &text.to_string())
            }
            ("test://static-text", _) => {
                embedded(&uri, "text/plain", "This is the content of the static text resource.")
            }
            ("test://static-binary", _) => ResourceContents::blob(PICTURE, uri.as_str()).with_mime_type("image/png"),
            _ => return self.ours.read_resource(request, cx).await,
        };
        let result = ReadResourceResult::new(vec![contents]);
        Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts()).with_ttl_ms(0).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let args = request.arguments.unwrap_or_default();
        let word = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        let user = |text: &str| PromptMessage::new_text(Role::User, text);
        let messages = match request.name.as_str() {
            "test_simple_prompt" => vec![user("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let text = format!("Prompt with arguments: arg1='{}', arg2='{}'", word("arg1"), word("arg2"));
                vec![user(&text)]
            }
            "test_prompt_with_embedded_resource" => {
                let contents = embedded(&word("resourceUri"), "text/plain", "Embedded resource content for testing.");
                let resource = PromptMessage::new(Role::User, ContentBlock::resource(contents));
                vec![resource, user("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => {
                let image = PromptMessage::new(Role::User, ContentBlock::image(PICTURE, "image/png"));
                vec![image, user("Please analyze the image above.")]
            }
            other => return Err(ErrorData::invalid_params(format!("unknown prompt `{other}`"), None)),
        };
        Ok(GetPromptResult::new(messages).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = CompletionInfo::with_all_values(vec!["paris".to_string(), "park".to_string()]);
        Ok(CompleteResult::new(values.map_err(|error| ErrorData::internal_error(error, None))?))
    }
}
