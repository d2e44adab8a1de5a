//! Answers the studio's page: what it sees are the sessions, trails and runs of one project; what it does goes through the same
//! doors as the requests of other clients.

mod log;
mod runs;
mod streams;
mod workspace;
mod yaml_text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use trailblaze_core::trail::{Merge, Trail};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{EditedStep, StepKind};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::Point;

use runs::Runs;

use super::live::Live;
use super::projects::sound;
use super::service::LocalService;
use super::studio_access::Workplace;
use super::trails;
use crate::files::in_address;
use crate::output::report::served;
use crate::project::select::own_trail;
use crate::sessions::interactive::{CommandReply, Handled, InteractiveCommand, Save, StudioCommand};
use crate::sessions::service::generated::{
    ActRequest, AttemptDetail, CallStudioToolRequest, CarryOutRequest, CloseSessionRequest, EditStepsRequest,
    GetAttemptRequest, InspectRequest, Inspection, ListPaletteRequest, OpenInEditorRequest, OpenSessionRequest,
    OpenedSession, Palette, PaletteTool, ReadTrailRequest, ReadYamlRequest, ReplayStepsRequest, RerunOnChangeRequest,
    RunUpdate, SaveTrailRequest, SavedTrail, SelectorMatches, SessionUpdate, StartRunRequest, StartedRun,
    StopRunRequest, StopWorkRequest, Studio, StudioReply, StudioStep, TrailText, TrySelectorRequest, UndoStepsRequest,
    Updates, WatchRunRequest, WatchSessionRequest, WatchWorkspaceRequest, Workspace, WriteTrailRequest, YamlValue,
};
use crate::sessions::service::{
    EditRequest, Edited, NoProgress, OpenRequest, Ran, ReplayRequest, RunRequest, ServiceAnswer, ServiceError,
    SessionChoice,
};
use crate::sessions::viewing::{self, TouchRequest};

/// The studio of this process.
pub struct LocalStudio {
    service: Arc<LocalService>,
    runs: Arc<Runs>,
}

impl LocalStudio {
    pub fn new(service: Arc<LocalService>) -> LocalStudio {
        LocalStudio { service, runs: Arc::default() }
    }

    /// Stops the runs that the studio started, and waits for their ends.
    pub async fn close(&self) {
        self.runs.close().await;
    }

    fn place(&self, workspace: &str) -> Result<Workplace, ServiceError> {
        self.service.studio_access.workplace(workspace)
    }

    async fn live(&self, workspace: &str, session: &str) -> Result<(Workplace, Arc<Live>), ServiceError> {
        let place = self.place(workspace)?;
        let choice = SessionChoice { name: Some(session.to_string()), project: Some(place.root.clone()), device: None };
        let live = self.service.table.find(&choice).await?;
        Ok((place, live))
    }

    async fn handle(
        &self,
        workspace: &str,
        session: &str,
        asked: StudioCommand,
        cancel: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let (_, live) = self.live(workspace, session).await?;
        let Handled { reply, is_stale } = live.handle(asked, cancel).await?;
        Ok(StudioReply { is_stale, ..replied(reply) })
    }

    async fn execute(
        &self,
        live: &Live,
        place: &Workplace,
        command: InteractiveCommand,
        cancel: &CancellationToken,
    ) -> Result<CommandReply, ServiceError> {
        let replies = live.execute(vec![command], Some(place.root.clone()), cancel).await?;
        let none = || ServiceError::environment("stopped");
        replies.into_iter().next_back().ok_or_else(none)
    }
}

/// The folder of a run.
fn run_folder(place: &Workplace, run: &str) -> Result<PathBuf, ServiceError> {
    let folder = place.run_folder(run).filter(|folder| folder.is_dir());
    folder.ok_or_else(|| ServiceError::invalid(format!("there is no run `{run}`")))
}

fn replied(reply: CommandReply) -> StudioReply {
    match reply {
        CommandReply::Done { text, value } => StudioReply { is_done: true, text, is_stale: false, value },
        CommandReply::Failed { message, .. } => {
            StudioReply { is_done: false, text: message, is_stale: false, value: Value::Null }
        }
    }
}

fn done(text: impl Into<String>) -> StudioReply {
    StudioReply { is_done: true, text: text.into(), ..StudioReply::default() }
}

fn kind_of(word: &str) -> Result<StepKind, ServiceError> {
    match word {
        "" | "step" => Ok(StepKind::Step),
        "verify" => Ok(StepKind::Verify),
        "trailhead" => Ok(StepKind::Trailhead),
        other => Err(ServiceError::invalid(format!("`{other}` is not a kind of step"))),
    }
}

fn edited(step: StudioStep) -> Result<EditedStep, ServiceError> {
    Ok(EditedStep { kind: kind_of(&step.kind)?, text: step.text, calls: step.calls })
}

fn step_number(number: i32) -> Option<usize> {
    usize::try_from(number).ok().filter(|number| *number > 0)
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a trail with its digest and what is wrong with it.
fn trail_text(path: &Path, text: String) -> TrailText {
    let path = path.display().to_string();
    let source = Source::new(path.as_str(), text.as_str());
    let (_, problems) = Trail::read(&source);
    let problems = problems.iter().map(ToString::to_string).collect();
    TrailText { path, digest: digest(&text), text, problems, is_refused: false }
}

#[async_trait]
impl Studio for LocalStudio {
    async fn watch_workspace(&self, request: WatchWorkspaceRequest) -> Result<Updates<Workspace>, ServiceError> {
        let place = self.place(&request.workspace)?;
        Ok(workspace::follow(Arc::clone(&self.service), Arc::clone(&self.runs), place))
    }

    async fn open_session(
        &self,
        request: OpenSessionRequest,
        cancel: &CancellationToken,
    ) -> Result<OpenedSession, ServiceError> {
        let place = self.place(&request.workspace)?;
        let named = Some(request.device).filter(|device| !device.is_empty());
        let loaded = self.service.projects.load(&place.client)?;
        let device = self.service.device(&loaded, named.as_deref()).await?;
        let wanted = OpenRequest {
            client: place.client.clone(),
            is_headed: request.headed,
            // Its window is there to be used.
            follows_person: request.headed && device.follows_person,
            device: named,
            takes_over: request.take_over,
            ..OpenRequest::default()
        };
        let info = tokio::select! {
            info = self.service.open(wanted, &NoProgress) => info?,
            () = cancel.cancelled() => return Err(ServiceError::environment("cancelled")),
        };
        if !request.url.is_empty() {
            let (_, live) = self.live(&request.workspace, &info.name).await?;
            let args = json!({"packageId": request.url}).as_object().cloned().unwrap_or_default();
            let text = format!("Open {}", request.url);
            let asked = StudioCommand::Call { tool: "launchApp".to_string(), args, text };
            let Handled { reply, .. } = live.handle(asked, cancel).await?;
            if let CommandReply::Failed { message, exit } = reply {
                return Err(ServiceError::new(exit, message));
            }
        }
        Ok(OpenedSession { session: info.name })
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let (_, live) = self.live(&request.workspace, &request.session).await?;
        let closed = self.service.close_session(&live).await?;
        let unsaved = closed.unsaved.map(|file| format!("; its unsaved steps are in {}", file.display()));
        Ok(done(format!("ended session `{}`{}", closed.name, unsaved.unwrap_or_default())))
    }

    async fn watch_session(&self, request: WatchSessionRequest) -> Result<Updates<SessionUpdate>, ServiceError> {
        let (_, live) = self.live(&request.workspace, &request.session).await?;
        Ok(streams::session(self.service.count(), &live))
    }

    async fn inspect(&self, request: InspectRequest, _: &CancellationToken) -> Result<Inspection, ServiceError> {
        let (_, live) = self.live(&request.workspace, &request.session).await?;
        let stale = || Inspection { is_stale: true, ..Inspection::default() };
        let Some(sight) = live.viewer.sight(request.generation) else { return Ok(stale()) };
        Ok(sight.node(request.element).map_or_else(stale, |node| viewing::inspect(&sight.screen, node)))
    }

    async fn try_selector(
        &self,
        request: TrySelectorRequest,
        _: &CancellationToken,
    ) -> Result<SelectorMatches, ServiceError> {
        let (_, live) = self.live(&request.workspace, &request.session).await?;
        let Some(sight) = live.viewer.newest() else {
            let problem = "the screen was not seen yet".to_string();
            return Ok(SelectorMatches { problem, ..SelectorMatches::default() });
        };
        let generation = sight.generation;
        Ok(match viewing::matches(live.viewer.session(), &sight, &request.selector).await {
            Ok(found) => SelectorMatches {
                generation,
                elements: found.places,
                problem: String::new(),
                understood: found.understood,
                unlisted: i32::try_from(found.n_unlisted).unwrap_or(i32::MAX),
            },
            Err(problem) => SelectorMatches { generation, problem, ..SelectorMatches::default() },
        })
    }

    async fn act(&self, request: ActRequest, cancel: &CancellationToken) -> Result<StudioReply, ServiceError> {
        let nth = |nth: Option<i32>| nth.and_then(|nth| usize::try_from(nth).ok());
        let aim = TouchRequest {
            generation: request.generation,
            element: Some(request.element).filter(|element| *element >= 0),
            point: Point { x: request.x, y: request.y },
            to: Point { x: request.to_x, y: request.to_y },
            action: request.action,
            text: request.text,
            description: nth(request.description),
            assertion: nth(request.assertion),
        };
        self.handle(&request.workspace, &request.session, StudioCommand::Act(Box::new(aim)), cancel).await
    }

    async fn list_palette(&self, request: ListPaletteRequest, _: &CancellationToken) -> Result<Palette, ServiceError> {
        let (_, live) = self.live(&request.workspace, &request.session).await?;
        let registry = live.viewer.session().registry();
        let tools = registry.tools().map(|tool| PaletteTool {
            name: tool.name.to_string(),
            description: tool.description.to_string(),
            group: tool.contributor.label.to_string(),
            is_custom: tool.is_custom(),
            schema: tool.schema.json().as_object().cloned().unwrap_or_default(),
        });
        let generation = i32::try_from(registry.generation).unwrap_or(i32::MAX);
        Ok(Palette { generation, tools: tools.collect() })
    }

    async fn call_studio_tool(
        &self,
        request: CallStudioToolRequest,
        cancel: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let asked = StudioCommand::Call { tool: request.tool, args: request.arguments, text: request.text };
        self.handle(&request.workspace, &request.session, asked, cancel).await
    }

    async fn carry_out(
        &self,
        request: CarryOutRequest,
        cancel: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        if request.text.trim().is_empty() {
            return Err(ServiceError::invalid("say what to do"));
        }
        let kind = if request.is_check { StepKind::Verify } else { StepKind::Step };
        self.handle(&request.workspace, &request.session, StudioCommand::Do { kind, text: request.text }, cancel).await
    }

    async fn edit_steps(
        &self,
        request: EditStepsRequest,
        cancel: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let steps = request.steps.into_iter().map(edited).collect::<Result<_, _>>()?;
        let asked = StudioCommand::Edit { revision: request.revision, steps };
        self.handle(&request.workspace, &request.session, asked, cancel).await
    }

    async fn read_yaml(&self, request: ReadYamlRequest, _: &CancellationToken) -> Result<YamlValue, ServiceError> {
        self.place(&request.workspace)?;
        let read = if request.is_calls { yaml_text::read_calls } else { yaml_text::read_value };
        Ok(match read(&request.text) {
            Ok(value) => YamlValue { value, problem: String::new() },
            Err(problem) => YamlValue { value: Value::Null, problem },
        })
    }

    async fn undo_steps(
        &self,
        request: UndoStepsRequest,
        cancel: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let asked = StudioCommand::Undo { revision: request.revision, redo: request.redo };
        self.handle(&request.workspace, &request.session, asked, cancel).await
    }

    async fn replay_steps(
        &self,
        request: ReplayStepsRequest,
        cancel: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let (place, live) = self.live(&request.workspace, &request.session).await?;
        let wanted = ReplayRequest {
            session: SessionChoice { name: Some(live.name.clone()), project: Some(place.root.clone()), device: None },
            client: place.client,
            device: Some(request.device).filter(|device| !device.is_empty()),
            from: step_number(request.from),
            to: step_number(request.to),
        };
        match self.service.replay(wanted, &NoProgress, cancel).await? {
            ServiceAnswer::Ran(Ran { exit, text, report, .. }) => {
                let run = report.as_deref().and_then(Path::parent).and_then(Path::file_name);
                let value = run.map_or(Value::Null, |run| json!({"run": run.to_string_lossy()}));
                Ok(StudioReply { is_done: exit == Exit::Passed, text, is_stale: false, value })
            }
            _ => Err(ServiceError::new(Exit::Bug, "a replay was answered with something else")),
        }
    }

    async fn stop_work(&self, request: StopWorkRequest, _: &CancellationToken) -> Result<StudioReply, ServiceError> {
        let (_, live) = self.live(&request.workspace, &request.session).await?;
        Ok(done(if live.stop_work() { "stopped" } else { "there was nothing to stop" }))
    }

    async fn save_trail(
        &self,
        request: SaveTrailRequest,
        cancel: &CancellationToken,
    ) -> Result<SavedTrail, ServiceError> {
        let (place, live) = self.live(&request.workspace, &request.session).await?;
        let path = PathBuf::from(&request.path);
        let file = own_trail(&place.root, &path).map_err(|error| ServiceError::invalid(error.to_string()))?;
        let merge = match request.merge.as_str() {
            "" if file.exists() => {
                return Ok(SavedTrail { path: request.path, text: "the file exists".to_string(), exists: true });
            }
            "" => None,
            "append" => Some(Merge::Append),
            "replace" => Some(Merge::Replace),
            other => return Err(ServiceError::invalid(format!("`{other}` is neither append nor replace"))),
        };
        // An existing trail keeps its title.
        let title = Some(request.title).filter(|title| !title.trim().is_empty() && !file.exists());
        let save = Save { path, merge: merge.filter(|_| file.exists()), title, from: None, to: None, is_own: true };
        match self.execute(&live, &place, InteractiveCommand::Save(save), cancel).await? {
            CommandReply::Done { text, .. } => {
                live.note_saved(&request.path);
                Ok(SavedTrail { path: request.path, text, exists: false })
            }
            CommandReply::Failed { message, exit } => Err(ServiceError::new(exit, message)),
        }
    }

    async fn read_trail(&self, request: ReadTrailRequest, _: &CancellationToken) -> Result<TrailText, ServiceError> {
        let place = self.place(&request.workspace)?;
        let path = Some(PathBuf::from(request.path));
        let edit = EditRequest { client: place.client, path, ..EditRequest::default() };
        match trails::edit(&self.service.projects, &edit)? {
            ServiceAnswer::Trail(Edited::Text { path, text }) => Ok(trail_text(&path, text)),
            _ => Err(ServiceError::new(Exit::Bug, "a trail was answered with something else")),
        }
    }

    async fn write_trail(
        &self,
        request: WriteTrailRequest,
        cancel: &CancellationToken,
    ) -> Result<TrailText, ServiceError> {
        let place = self.place(&request.workspace)?;
        let read = ReadTrailRequest { workspace: request.workspace.clone(), path: request.path.clone() };
        let now = self.read_trail(read.clone(), cancel).await?;
        if now.digest != request.digest {
            return Ok(TrailText { is_refused: true, ..now });
        }
        let written = trail_text(Path::new(&request.path), request.text.clone());
        let edit = EditRequest {
            client: place.client,
            path: Some(PathBuf::from(request.path)),
            text: Some(request.text),
            replace: None,
        };
        match trails::edit(&self.service.projects, &edit) {
            Ok(_) => self.read_trail(read, cancel).await,
            Err(error) if error.exit == Exit::Invalid => {
                let problems = if written.problems.is_empty() { vec![error.message] } else { written.problems };
                Ok(TrailText { is_refused: true, problems, ..now })
            }
            Err(error) => Err(error),
        }
    }

    async fn open_in_editor(
        &self,
        request: OpenInEditorRequest,
        _: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let place = self.place(&request.workspace)?;
        let file = own_trail(&place.root, Path::new(&request.path));
        let file = file.map_err(|error| ServiceError::invalid(error.to_string()))?;
        let editor = place.client.variables.get("TRAILBLAZE_EDITOR").map_or("vscode", String::as_str);
        let line = request.line.max(1);
        let encoded = in_address(&file);
        let url = match editor {
            "idea" => format!("idea://open?file={encoded}&line={line}"),
            "vscode" | "cursor" | "zed" | "windsurf" | "vscodium" => format!("{editor}://file{encoded}:{line}"),
            other => {
                let known = "vscode, cursor, windsurf, vscodium, zed or idea";
                let text =
                    format!("TRAILBLAZE_EDITOR is `{other}`; it must be {known}. The trail is in {}", file.display());
                return Ok(StudioReply { text, ..StudioReply::default() });
            }
        };
        Ok(StudioReply { value: json!({ "url": url }), ..done(file.display().to_string()) })
    }

    async fn start_run(&self, request: StartRunRequest, _: &CancellationToken) -> Result<StartedRun, ServiceError> {
        let place = self.place(&request.workspace)?;
        sound(&*self.service.projects.load(&place.client)?)?;
        let wanted = RunRequest {
            client: place.client,
            paths: request.trails.iter().map(|trail| place.root.join(trail)).collect(),
            devices: request.devices,
            records: request.record,
            ..RunRequest::default()
        };
        match self.runs.start(&self.service, wanted, &request.rerun_of).await {
            Ok(folder) => {
                let run = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                Ok(StartedRun { run, problem: String::new() })
            }
            Err(error) => Ok(StartedRun { run: String::new(), problem: error.message }),
        }
    }

    async fn stop_run(&self, request: StopRunRequest, _: &CancellationToken) -> Result<StudioReply, ServiceError> {
        let place = self.place(&request.workspace)?;
        let folder = run_folder(&place, &request.run)?;
        Ok(match self.runs.stop(&folder) {
            true => done("stopping"),
            false => StudioReply {
                text: "the run is over, or another process carries it out".to_string(),
                ..StudioReply::default()
            },
        })
    }

    async fn rerun_on_change(
        &self,
        request: RerunOnChangeRequest,
        _: &CancellationToken,
    ) -> Result<StudioReply, ServiceError> {
        let place = self.place(&request.workspace)?;
        let is_on = !request.trails.is_empty();
        self.runs.rerun(&self.service, &place, request.trails, request.devices)?;
        Ok(done(if is_on { "trails run again when files change" } else { "trails no longer run on changes" }))
    }

    async fn watch_run(&self, request: WatchRunRequest) -> Result<Updates<RunUpdate>, ServiceError> {
        let place = self.place(&request.workspace)?;
        let folder = run_folder(&place, &request.run)?;
        Ok(streams::run(self.service.count(), Arc::clone(&self.runs), place.id, folder))
    }

    async fn get_attempt(
        &self,
        request: GetAttemptRequest,
        _: &CancellationToken,
    ) -> Result<AttemptDetail, ServiceError> {
        let place = self.place(&request.workspace)?;
        let folder = run_folder(&place, &request.run)?;
        let nth = usize::try_from(request.attempt).unwrap_or(usize::MAX);
        let read = tokio::task::spawn_blocking(move || served::detail(&folder, nth)).await;
        match read {
            Ok(Ok(Some(attempt))) => Ok(AttemptDetail { attempt }),
            Ok(Ok(None)) => Err(ServiceError::invalid(format!("the run has no attempt {nth}"))),
            Ok(Err(error)) => Err(ServiceError::environment(error.to_string())),
            Err(error) => Err(ServiceError::new(Exit::Bug, error.to_string())),
        }
    }
}
