//! The tool `session`.

use serde_json::{Map, json};

use super::super::answer::{McpCallError, McpCallResult, text};
use super::super::arguments::{McpSessionArgs, SessionAction};
use super::screen::{look, shown};
use super::{McpRequest, at, last, said};
use crate::sessions::interactive::{CallArguments, CommandReply, InteractiveCommand};
use crate::sessions::service::{
    ClientPlace, DevicesRequest, OpenRequest, ReplayRequest, ServiceAnswer, ServiceRequest, SessionInfo,
};

impl McpRequest<'_> {
    pub(super) async fn session(&self, args: McpSessionArgs) -> McpCallResult {
        let session = args.session.as_deref();
        match args.action {
            SessionAction::Open => self.open_session(args).await,
            SessionAction::List => match self.request(ServiceRequest::Sessions).await? {
                ServiceAnswer::Sessions(sessions) if sessions.is_empty() => {
                    Ok(text("no session is open\nhint: {\"action\":\"open\"} opens one"))
                }
                ServiceAnswer::Sessions(sessions) => {
                    Ok(text(sessions.iter().map(described).collect::<Vec<_>>().join("\n")))
                }
                other => Err(McpCallError::unexpected(&other)),
            },
            SessionAction::Close => {
                let closed = self.request(ServiceRequest::Close { session: self.choice(session) }).await;
                match closed.map_err(|error| self.explained(error))? {
                    ServiceAnswer::Closed(closed) => {
                        let mut lines = vec![format!("closed session `{}`", closed.name)];
                        lines.extend(closed.unsaved.map(|file| {
                            format!("its steps were not saved as a trail; they are in {}", file.display())
                        }));
                        lines.extend(closed.report.map(|report| format!("report: {}", report.display())));
                        Ok(text(lines.join("\n")))
                    }
                    other => Err(McpCallError::unexpected(&other)),
                }
            }
            SessionAction::Steps => {
                Ok(text(said(last(self.execute_open(session, vec![InteractiveCommand::Steps]).await?)?)?))
            }
            SessionAction::Undo => {
                Ok(text(said(last(self.execute_open(session, vec![InteractiveCommand::UndoStep]).await?)?)?))
            }
            SessionAction::Replay => {
                let request = ReplayRequest {
                    session: self.choice(session),
                    client: self.place(session).await?,
                    device: args.device,
                    from: args.from,
                    to: args.to,
                };
                let ran = self.request(ServiceRequest::Replay(request)).await;
                match ran.map_err(|error| self.explained(error))? {
                    ServiceAnswer::Ran(ran) => super::project::outcome(&ran),
                    other => Err(McpCallError::unexpected(&other)),
                }
            }
        }
    }

    /// The browser of a project.
    async fn browser(&self, client: &ClientPlace) -> Result<String, McpCallError> {
        let ServiceAnswer::Devices(devices) =
            self.request(ServiceRequest::Devices(DevicesRequest { client: client.clone() })).await?
        else {
            return Ok("web/chromium".to_string());
        };
        let browser = devices.into_iter().find(|device| device.platform == "web" && !device.id.starts_with("web/sim"));
        Ok(browser.map_or_else(|| "web/chromium".to_string(), |browser| browser.id))
    }

    async fn open_session(&self, args: McpSessionArgs) -> McpCallResult {
        let default = self.opening();
        let place = &self.server.options.place;
        let client = match &args.project {
            Some(project) if self.is_homeless() && project.is_relative() => {
                let text = format!("`project` must be an absolute path, got `{}`", project.display());
                return Err(McpCallError::failed(text));
            }
            Some(project) => at(place, project),
            None if self.is_homeless() => {
                return Err(McpCallError::failed(
                    "`project` is needed: the folder of the project, such as one with a trailblaze.yaml",
                ));
            }
            None => default.client,
        };
        let device = args.device.or(default.device);
        let device = match &args.url {
            Some(url) if device.is_none() && args.session.is_none() && is_page(url) => {
                Some(self.browser(&client).await?)
            }
            _ => device,
        };
        let opened = self
            .open(OpenRequest {
                client,
                name: args.session.or(default.name),
                device,
                target: args.target.or(default.target),
                is_headed: args.headed,
                takes_over: args.take_over,
                secrets: args.secrets.clone(),
                allowed_secrets: default.allowed_secrets,
                ..OpenRequest::default()
            })
            .await?;
        self.server.secrets.lock().extend(args.secrets);
        let name = opened.name.clone();
        let mut commands: Vec<InteractiveCommand> = args.url.iter().map(|url| start(&opened, url)).collect();
        commands.push(look(args.url.is_some()));
        let replies = self.execute_open(Some(&name), commands).await?;
        let word = if opened.is_new { "opened" } else { "is open already:" };
        let mut head = format!("{word} {}", described(&opened));
        if let Some(ended) = &opened.took_over {
            head.push_str(&format!("\nended session `{}`", ended.name));
            if let Some(file) = &ended.unsaved {
                head.push_str(&format!("; its steps are in {}", file.display()));
            }
        }
        match last(replies)? {
            CommandReply::Failed { message, exit } if opened.is_new => {
                // A session that could not be used is not left open.
                let _ = self.request(ServiceRequest::Close { session: self.choice(Some(&name)) }).await;
                Err(McpCallError::of_exit(exit, format!("no session was opened: {message}")))
            }
            CommandReply::Failed { message, exit } => {
                Err(McpCallError::of_exit(exit, format!("{head}\nbut: {message}")))
            }
            seen => Ok(text(format!("{head}\n{}", shown(seen)?.whole()))),
        }
    }
}

/// Whether a browser is meant.
fn is_page(url: &str) -> bool {
    ["http://", "https://", "file://"].iter().any(|scheme| url.starts_with(scheme))
}

/// The call that opens a page, a link, or an app by its id. A new session begins as a new visitor, so that its trail does too.
fn start(session: &SessionInfo, url: &str) -> InteractiveCommand {
    let is_web = session.platform == "web";
    let (tool, argument) = match url.contains("://") {
        _ if is_web && !session.is_new => ("navigate", "url"),
        _ if is_web => ("launchApp", "packageId"),
        true => ("openUrl", "url"),
        false => ("launchApp", "packageId"),
    };
    let args = Map::from_iter([(argument.to_string(), json!(url))]);
    InteractiveCommand::Call { tool: tool.to_string(), args: CallArguments::Json(args) }
}

fn described(session: &SessionInfo) -> String {
    let steps = match session.steps {
        0 => "no steps".to_string(),
        1 => "1 step".to_string(),
        n_steps => format!("{n_steps} steps"),
    };
    let lost = session.lost.as_ref().map(|why| format!("; its device was lost: {why}")).unwrap_or_default();
    let project = session.project.display();
    format!("session `{}` on {} ({steps}; project {project}){lost}", session.name, session.device)
}
