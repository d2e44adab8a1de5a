//! The scripts of tool files, compiled.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::config::Grants;
use trailblaze_core::engine::code::ToolCode;
use trailblaze_core::tool_files::ScriptFile;
use trailblaze_core::yaml::{Problem, Problems, Source, Span, Spanned};
use trailblaze_script::link::{EntryPoint, LinkError, link};
use trailblaze_script::text::Position;
use trailblaze_script::transpile::SourceRole;
use trailblaze_script::{Program, SourceOffset};
use trailblaze_toolhost::script::{Granted, Origin, ScriptTool};

use crate::project::environment::Environment;
use crate::project::source::{FILE_START, read_source};

/// Compiles the script of a tool file, or says everything that is wrong with it.
pub fn compile(
    root: &Path,
    script_root: &Path,
    tool: &ScriptFile,
    environment: &Environment,
) -> Result<Arc<dyn ToolCode>, Vec<Problem>> {
    let mut problems = Problems::new(&tool.source);
    let granted = granted(root, tool.grants.as_ref(), environment, &mut problems);
    let program = program(root, script_root, tool, &mut problems);
    let mut found = problems.into_vec();
    match program {
        Ok(program) if found.is_empty() => {
            Ok(Arc::new(ScriptTool::new(program, granted, tool.script.timeout.duration())))
        }
        Ok(_) => Err(found),
        Err(more) => {
            found.extend(more);
            Err(found)
        }
    }
}

fn program(
    root: &Path,
    script_root: &Path,
    tool: &ScriptFile,
    problems: &mut Problems,
) -> Result<Program, Vec<Problem>> {
    if let Some(text) = &tool.script.source {
        let offset = block_offset(&tool.source, text);
        let path = Path::new(&tool.source.path);
        let entry = EntryPoint { path, source: Some(&text.value), offset, role: SourceRole::Tool };
        let place = |error: &LinkError| match offset {
            // The text is not in the file as it stands, so the error is placed where the text starts.
            None if error.module == tool.source.path => in_text(&tool.source, text.span, error),
            _ => in_file(root, root, error, &tool.source),
        };
        return match link(root, entry) {
            Ok(linked) => Ok(linked.program),
            Err(errors) => Err(errors.iter().map(place).collect()),
        };
    }
    let Some(file) = &tool.script.file else { return Err(Vec::new()) };
    if !script_root.join(&file.value).is_file() {
        let message = format!("there is no file `{}`", file.value);
        match script_root == root {
            true => problems.error(file.span, message),
            false => {
                let folder = script_root.strip_prefix(root).unwrap_or(script_root).display();
                let hint = match script_root.is_dir() {
                    true => format!("paths of scripts start at `{folder}`, the `scriptRoot` of trailblaze.yaml"),
                    false => format!("there is no folder `{folder}`, the `scriptRoot` of trailblaze.yaml"),
                };
                problems.error_with_hint(file.span, message, hint);
            }
        }
        return Err(Vec::new());
    }
    if !is_inside(script_root, &file.value) {
        let folder = if script_root == root { "project" } else { "`scriptRoot` of trailblaze.yaml" };
        problems.error_with_hint(
            file.span,
            format!("`{}` is outside the {folder}", file.value),
            "move it there, or `trailblaze.yaml` to a folder above both",
        );
        return Err(Vec::new());
    }
    match link(script_root, EntryPoint::file(Path::new(&file.value), SourceRole::Tool)) {
        Ok(linked) => Ok(match script_root.strip_prefix(root) {
            Ok(folder) if folder != Path::new("") => linked.program.with_prefix(&format!("{}/", folder.display())),
            _ => linked.program,
        }),
        Err(errors) => Err(errors.iter().map(|error| in_file(root, script_root, error, &tool.source)).collect()),
    }
}

/// Whether a file is beneath a folder, wherever links lead.
fn is_inside(folder: &Path, file: &str) -> bool {
    let (Ok(file), Ok(folder)) = (folder.join(file).canonicalize(), folder.canonicalize()) else { return false };
    file.starts_with(folder)
}

/// Where the lines of a literal block are in its file; `None` for other ways to write a text.
fn block_offset(source: &Source, text: &Spanned<String>) -> Option<SourceOffset> {
    let header = source.text.get(..text.span.start)?.trim_end().rsplit([' ', '\n']).next()?;
    let n_blank = text.value.chars().take_while(|c| *c == '\n').count();
    let offset = |number: usize| u32::try_from(number.checked_sub(1)?).ok();
    let lines = offset(text.span.line)?.checked_sub(u32::try_from(n_blank).ok()?)?;
    header.starts_with('|').then_some(SourceOffset { lines, columns: offset(text.span.column)? })
}

/// A problem in the file of a module, or in the tool's file if the module's cannot be read.
fn in_file(root: &Path, script_root: &Path, error: &LinkError, tool: &Arc<Source>) -> Problem {
    let source = match error.module == tool.path {
        true => Some(Arc::clone(tool)),
        false => read_source(root, &script_root.join(&error.module), &mut Vec::new()),
    };
    let at = error.at.unwrap_or(Position { line: 1, column: 1 });
    let Some(source) = source else { return placed(tool, FILE_START, error, error.to_string()) };
    let (line, column) = (at.line as usize, at.column as usize);
    let start = source.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
    let inside = source.text[start..].char_indices().nth(column.saturating_sub(1)).map_or(0, |(at, _)| at);
    let byte = (start + inside).min(source.text.len());
    placed(&source, Span { start: byte, end: byte, line, column }, error, error.message.clone())
}

fn in_text(source: &Arc<Source>, span: Span, error: &LinkError) -> Problem {
    let line = error.at.map(|at| format!("line {} of the script: ", at.line)).unwrap_or_default();
    placed(source, span, error, format!("{line}{}", error.message))
}

fn placed(source: &Arc<Source>, span: Span, error: &LinkError, message: String) -> Problem {
    let chain = match &error.chain[..] {
        [] => String::new(),
        chain => format!(" (imported by {})", chain.join(", imported by ")),
    };
    let mut problems = Problems::new(source);
    match &error.hint {
        Some(hint) => problems.error_with_hint(span, message + &chain, hint.as_str()),
        None => problems.error(span, message + &chain),
    }
    problems.into_vec().remove(0)
}

/// The grants of a tool, checked.
fn granted(root: &Path, grants: Option<&Grants>, environment: &Environment, problems: &mut Problems) -> Granted {
    let mut granted = Granted::new(root);
    let Some(grants) = grants else { return granted };
    let patterns: Vec<String> = grants.read_file.iter().map(|pattern| pattern.value.clone()).collect();
    if let Err((index, error)) = granted.allow_files(&patterns) {
        problems.error(grants.read_file[index].span, format!("the pattern is invalid: {}", error.kind()));
    }
    for Spanned { value, span } in &grants.fetch {
        match Origin::parse(value) {
            Ok(origin) => granted.allow_origin(origin),
            Err(error) => problems.error(*span, error.to_string()),
        }
    }
    for name in &grants.env {
        granted.allow_variable(&name.value, environment.text(&name.value).map(str::to_string));
    }
    granted.clock = grants.clock;
    granted
}

/// The folder that the paths of scripts start at.
pub fn script_root(root: &Path, configured: Option<&str>) -> PathBuf {
    configured.map_or_else(|| root.to_path_buf(), |folder| root.join(folder))
}
