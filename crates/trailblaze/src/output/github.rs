//! Reports a run to GitHub Actions: a job summary, and an annotation for each failure.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use trailblaze_protocol::event::Level;

use crate::output::print;
use crate::output::report::RunRecord;
use crate::output::report::markdown::markdown;
use crate::output::report::model::AttemptRecord;

/// GitHub shows ten annotations of a step; a few more do no harm.
const MOST_ANNOTATIONS: usize = 50;

/// What GitHub Actions sets for the programs it runs.
struct GithubJob {
    /// The file that the summary of the job is appended to.
    summary: Option<PathBuf>,
    is_action: bool,
    /// Where the repository is: annotations name files from there.
    workspace: Option<PathBuf>,
}

impl GithubJob {
    fn new<'e>(variable: impl Fn(&str) -> Option<&'e OsStr>) -> GithubJob {
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        GithubJob {
            summary: path("GITHUB_STEP_SUMMARY"),
            is_action: variable("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
            workspace: path("GITHUB_WORKSPACE"),
        }
    }
}

/// Reports the result of a run if the environment variables show that GitHub Actions runs this program. A summary that
/// cannot be written does not affect the run.
pub fn tell<'e>(run: &RunRecord, variable: impl Fn(&str) -> Option<&'e OsStr>) {
    let job = GithubJob::new(variable);
    if let Some(path) = &job.summary {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{}", markdown(run))) {
            print::warning(format!("cannot write the job summary to `{}`: {error}", path.display()));
        }
    }
    if job.is_action {
        annotations(run, job.workspace.as_deref()).iter().for_each(|command| print::workflow_command(command));
    }
}

/// One `::error` line for each failure, at the line of the call that failed.
fn annotations(run: &RunRecord, workspace: Option<&Path>) -> Vec<String> {
    let project = run.start.as_ref().map(|start| Path::new(&start.project));
    let notes = run.notes.iter().filter(|note| note.level == Level::Error);
    let notes = notes.map(|note| format!("::error::{}", message(&note.text)));
    let tries = run.tries();
    let failed = tries.iter().filter_map(|tries| tries.last()).filter(|attempt| attempt.state().is_bad());
    let failed = failed.map(|attempt| annotation(attempt, project, workspace));
    notes.chain(failed).take(MOST_ANNOTATIONS).collect()
}

fn annotation(attempt: &AttemptRecord, project: Option<&Path>, workspace: Option<&Path>) -> String {
    let path = project.unwrap_or(Path::new("")).join(&attempt.trail.path);
    let line = attempt.failure().and_then(|failure| failure.place.as_ref()).map_or(1, |place| place.line);
    let path = workspace.and_then(|workspace| path.strip_prefix(workspace).ok()).unwrap_or(&path);
    let file = path.to_string_lossy().replace('\\', "/");
    let title = format!("{} on {}", attempt.name(), attempt.device);
    let mut text = attempt.failure().map_or(attempt.message(), |failure| &failure.message).to_string();
    if text.is_empty() {
        text = attempt.state().name().to_string();
    }
    if let Some(step) = attempt.failing_step() {
        text = format!("{}\n{text}", step.text);
    }
    format!("::error file={},line={line},title={}::{}", property(&file), property(&title), message(&text))
}

/// <https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts>
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{message, property};

    #[test]
    fn nothing_ends_a_command_early() {
        assert_eq!(message("50%: a,\r\nb"), "50%25: a,%0D%0Ab");
        assert_eq!(property("a:b,c\n%"), "a%3Ab%2Cc%0A%25");
    }
}
