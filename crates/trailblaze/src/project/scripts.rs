//! The scripts of tool files, compiled.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::config::Grants;
use trailblaze_core::engine::code::Code;
use trailblaze_core::tool_files::ScriptFile;
use trailblaze_core::yaml::{Problem, Problems, Source, Span, Spanned};
use trailblaze_script::transpile::SyntaxError;
use trailblaze_script::{Offset, Program};
use trailblaze_toolhost::script::{Granted, Origin, ScriptTool};

use crate::project::environment::Environment;
use crate::project::source::read_source;

/// Compiles the script of a tool file, or says everything that is wrong with it.
pub fn compile(
    root: &Path,
    script_root: &Path,
    tool: &ScriptFile,
    environment: &Environment,
) -> Result<Arc<dyn Code>, Vec<Problem>> {
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
        let compiled = Program::single(&tool.source.path, &text.value, offset);
        return compiled.map_err(|errors| match offset {
            Some(_) => errors.iter().map(|error| problem(&tool.source, error)).collect(),
            // The text is not in the file as it stands, so the error is placed where the text starts.
            None => errors.iter().map(|error| in_text(&tool.source, text.span, error)).collect(),
        });
    }
    let Some(file) = &tool.script.file else { return Err(Vec::new()) };
    let path = script_root.join(&file.value);
    if !path.is_file() {
        problems.error(file.span, format!("there is no file `{}`", file.value));
        return Err(Vec::new());
    }
    let mut found = Vec::new();
    let Some(source) = read_source(root, &path, &mut found) else { return Err(found) };
    let compiled = Program::single(&source.path, &source.text, None);
    compiled.map_err(|errors| errors.iter().map(|error| problem(&source, error)).collect())
}

/// Where the lines of a literal block are in its file; `None` for other ways to write a text.
fn block_offset(source: &Source, text: &Spanned<String>) -> Option<Offset> {
    let header = source.text.get(..text.span.start)?.trim_end().rsplit([' ', '\n']).next()?;
    let n_blank = text.value.chars().take_while(|c| *c == '\n').count();
    let offset = |number: usize| u32::try_from(number.checked_sub(1)?).ok();
    let lines = offset(text.span.line)?.checked_sub(u32::try_from(n_blank).ok()?)?;
    header.starts_with('|').then_some(Offset { lines, columns: offset(text.span.column)? })
}

fn problem(source: &Arc<Source>, error: &SyntaxError) -> Problem {
    let (line, column) = (error.at.line as usize, error.at.column as usize);
    let start = source.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
    let inside = source.text[start..].char_indices().nth(column.saturating_sub(1)).map_or(0, |(at, _)| at);
    let at = (start + inside).min(source.text.len());
    placed(source, Span { start: at, end: at, line, column }, error, error.message.clone())
}

fn in_text(source: &Arc<Source>, span: Span, error: &SyntaxError) -> Problem {
    let message = format!("line {} of the script: {}", error.at.line, error.message);
    placed(source, span, error, message)
}

fn placed(source: &Arc<Source>, span: Span, error: &SyntaxError, message: String) -> Problem {
    let mut problems = Problems::new(source);
    match &error.hint {
        Some(hint) => problems.error_with_hint(span, message, hint.as_str()),
        None => problems.error(span, message),
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
