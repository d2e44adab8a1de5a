//! Tools that look at the screen or act on it.

use std::collections::HashSet;

use rmcp::model::ContentBlock;
use serde_json::{Map, Value};
use trailblaze_core::refs;
use trailblaze_protocol::event::StepKind;
use trailblaze_protocol::exit::Exit;

use super::super::answer::{McpCallError, McpCallResult, cut, text};
use super::super::arguments::{ActArgs, McpSnapshotArgs, McpToolCall, ScreenshotArgs, WordsArgs};
use super::{McpRequest, last};
use crate::sessions::interactive::{CallArguments, CommandReply, InteractiveCommand, Snapshot};

const NARROWER: &str = "narrow it with `find`, `within` or `depth`";

impl McpRequest<'_> {
    pub(super) async fn snapshot(&self, args: McpSnapshotArgs) -> McpCallResult {
        let within = args.within.map(|reference| reference.trim_matches(['[', ']']).to_string());
        let mut wish = Snapshot { within, find: args.find, since: args.since, ..Snapshot::default() };
        wish.details.depth = args.depth;
        // What is searched for may be anywhere on the page.
        wish.details.offscreen = args.offscreen || wish.find.is_some();
        let replies = self.execute(args.session.as_deref(), vec![InteractiveCommand::Snapshot(wish)]).await?;
        let shown = shown(last(replies)?)?;
        Ok(vec![ContentBlock::text(cut(&shown.text, NARROWER)), ContentBlock::text(shown.numbered())])
    }

    pub(super) async fn act(&self, args: ActArgs) -> McpCallResult {
        if args.calls.is_empty() {
            return Err(McpCallError::failed("`calls` must have at least one call"));
        }
        let begin = match (args.step, args.verify) {
            (Some(_), Some(_)) => return Err(McpCallError::failed("give `step` or `verify`, not both")),
            (Some(text), None) => Some(InteractiveCommand::Step { kind: StepKind::Step, text }),
            (None, Some(text)) => Some(InteractiveCommand::Step { kind: StepKind::Verify, text }),
            (None, None) => None,
        };
        let names: Vec<String> = args.calls.iter().map(|call| call.tool.clone()).collect();
        let n_before = usize::from(begin.is_some());
        let calls = args.calls.into_iter();
        let calls =
            calls.map(|call| InteractiveCommand::Call { tool: call.tool, args: CallArguments::Json(call.args) });
        let commands = begin.into_iter().chain(calls).chain([look_for_changes()]).collect();
        let session = args.session.as_deref();
        let replies = self.execute(session, commands).await?;
        let mut replies = replies.into_iter().skip(n_before);
        let mut lines = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let reply = replies.next();
            let remarks = reply.as_ref().map(CommandReply::remarks).unwrap_or_default();
            match reply {
                Some(CommandReply::Done { text, value }) => {
                    // What an action was recorded as says nothing new.
                    let is_recorded = value["delegates"].as_array().is_some_and(|calls| !calls.is_empty());
                    lines.extend((text != "done" && !is_recorded).then(|| format!("{name}: {text}")));
                    lines.extend(remarks);
                    let warning = value["warning"].as_str().filter(|_| is_recorded);
                    lines.extend(warning.map(|warning| format!("{name}: warning: {warning}")));
                }
                Some(CommandReply::Failed { message, exit }) => {
                    return Err(self.stopped(session, &names, at, lines, message, exit).await);
                }
                None => return Err(McpCallError::failed(format!("`{name}` was not called"))),
            }
        }
        match replies.next() {
            Some(CommandReply::Failed { message, exit }) => {
                lines.push(format!("all calls were made, but the screen could not be read: {message}"));
                Err(McpCallError::of_exit(exit, lines.join("\n")))
            }
            Some(reply) => {
                lines.extend(reply.remarks());
                lines.push(shown(reply)?.whole());
                Ok(text(lines.join("\n")))
            }
            None => Ok(text(lines.join("\n"))),
        }
    }

    /// Makes a single call in the default session.
    pub async fn make(&self, tool: &str, args: Map<String, Value>) -> McpCallResult {
        let calls = vec![McpToolCall { tool: tool.to_string(), args }];
        self.act(ActArgs { calls, step: None, verify: None, session: None }).await
    }

    /// A call failed, so that those after it were not made.
    async fn stopped(
        &self,
        session: Option<&str>,
        names: &[String],
        at: usize,
        mut lines: Vec<String>,
        message: String,
        exit: Exit,
    ) -> McpCallError {
        lines.push(format!("`{}` failed: {message}", names[at]));
        if names.len() > 1 {
            let number = at + 1;
            let made = match at {
                0 => "no call before it was made".to_string(),
                1 => "call 1 was made".to_string(),
                at => format!("calls 1 to {at} were made"),
            };
            let left = match names.len() - number {
                0 => String::new(),
                1 => format!("; call {} was not made", names.len()),
                _ => format!("; calls {} to {} were not made", number + 1, names.len()),
            };
            lines.push(format!("This is call {number} of {}; {made}{left}.", names.len()));
        }
        if matches!(exit, Exit::Failed)
            && let Ok(replies) = self.execute_open(session, vec![look_for_changes()]).await
            && let Some(seen) = replies.into_iter().next_back().and_then(|reply| shown(reply).ok())
        {
            lines.push(seen.whole());
        }
        McpCallError::of_exit(exit, lines.join("\n"))
    }

    pub(super) async fn step(&self, args: WordsArgs) -> McpCallResult {
        self.carry_out(StepKind::Step, args).await
    }

    pub(super) async fn verify(&self, args: WordsArgs) -> McpCallResult {
        self.carry_out(StepKind::Verify, args).await
    }

    async fn carry_out(&self, kind: StepKind, args: WordsArgs) -> McpCallResult {
        let commands = vec![InteractiveCommand::Do { kind, text: args.text }, look_for_changes()];
        let mut replies = self.execute(args.session.as_deref(), commands).await?.into_iter();
        let done = replies.next().ok_or_else(|| McpCallError::failed("nothing was done"))?;
        let mut lines = done.remarks();
        lines.insert(0, super::said(done)?);
        if let Some(reply) = replies.next() {
            lines.extend(reply.remarks());
            lines.extend(shown(reply).ok().map(|shown| shown.whole()));
        }
        Ok(text(lines.join("\n")))
    }

    pub(super) async fn screenshot(&self, args: ScreenshotArgs) -> McpCallResult {
        let command = InteractiveCommand::Screenshot { has_marks: args.marks };
        match last(self.execute(args.session.as_deref(), vec![command]).await?)? {
            CommandReply::Done { value, .. } => {
                let url = value["url"].as_str().unwrap_or_default();
                let picture = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
                let (mime, data) = picture.ok_or_else(|| McpCallError::failed("there is no picture"))?;
                Ok(vec![ContentBlock::image(data, mime)])
            }
            CommandReply::Failed { message, exit } => Err(McpCallError::of_exit(exit, message)),
        }
    }
}

/// The command that shows the whole screen.
pub(super) fn look(settles: bool) -> InteractiveCommand {
    // Without an earlier snapshot of it, everything is shown.
    InteractiveCommand::Snapshot(Snapshot { whole_if_new: true, settles, ..Snapshot::default() })
}

/// The command that says what changed on the screen, once it has settled.
fn look_for_changes() -> InteractiveCommand {
    InteractiveCommand::Snapshot(Snapshot {
        only_changes: true,
        whole_if_new: true,
        settles: true,
        ..Snapshot::default()
    })
}

/// What a snapshot shows.
pub(super) struct ShownSnapshot {
    text: String,
    number: Option<u64>,
    is_whole: bool,
}

impl ShownSnapshot {
    fn numbered(&self) -> String {
        self.number.map(|number| format!("snapshot {number}")).unwrap_or_default()
    }

    /// With a line before it that says what it is.
    pub(super) fn whole(&self) -> String {
        let what = if self.is_whole { "the screen" } else { "what changed" };
        match self.number {
            Some(number) => format!("snapshot {number}, {what}:\n{}", cut(&self.text, NARROWER)),
            None => cut(&self.text, NARROWER),
        }
    }
}

pub(super) fn shown(reply: CommandReply) -> Result<ShownSnapshot, McpCallError> {
    match reply {
        CommandReply::Done { text, value } => {
            let is_whole = value["isWhole"] == true;
            let text = text.replace("use --offscreen to show", "`offscreen` shows them");
            let text = if is_whole { text } else { without_replaced(&text) };
            Ok(ShownSnapshot { text, number: value["snapshot"].as_u64(), is_whole })
        }
        CommandReply::Failed { message, exit } => Err(McpCallError::of_exit(exit, message)),
    }
}

/// Changes without the former lines of elements whose new lines are there.
fn without_replaced(changes: &str) -> String {
    let added: HashSet<&str> = changes.lines().filter_map(|line| refs::of_line(line.strip_prefix("+ ")?)).collect();
    let is_replaced = |line: &str| {
        let reference = line.strip_prefix("- ").and_then(refs::of_line);
        reference.is_some_and(|reference| added.contains(reference))
    };
    changes.lines().filter(|line| !is_replaced(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_element_is_shown_once() {
        let changes = "- [e1] button \"Pay\"\n- [e2] text\n- gone\n+ [e1] button \"Paid\"\n+ new";
        assert_eq!(without_replaced(changes), "- [e2] text\n- gone\n+ [e1] button \"Paid\"\n+ new");
        assert_eq!(without_replaced("(nothing changed)"), "(nothing changed)");
    }
}
