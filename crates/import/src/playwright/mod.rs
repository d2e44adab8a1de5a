//! Tests of Playwright as trails: each test becomes one, and what has no counterpart is kept as a comment.

mod actions;
mod body;
mod checks;
mod code;
mod locator;
mod network;
mod snapshots;
mod tests;
mod value;

use trailblaze_core::yaml::{Problem, Severity, Source, Span};
use trailblaze_script::transpile::with_deep_stack;

use crate::{ForeignFile, Imported};

/// Makes a trail of each test. Relative addresses are below `base_url`.
pub fn import(files: &[ForeignFile], base_url: Option<&str>) -> Imported {
    let mut imported = Imported::default();
    for file in files {
        // The parser and the translation are recursive.
        let parsed = with_deep_stack(&file.text, || {
            let mut own = Imported::default();
            match code::parse(&file.path, &file.text) {
                Ok(statements) => {
                    tests::translate(file, &statements, base_url, &mut own);
                    Ok((own, None))
                }
                Err(error) => Ok((own, Some(error))),
            }
        });
        match parsed {
            Ok((own, None)) => {
                imported.statements.extend(own.statements);
                for trail in own.files {
                    let stem = trail.path.trim_start_matches("trails/").trim_end_matches(".trail.yaml").to_string();
                    imported.add("trails/", &stem, ".trail.yaml", trail.text);
                }
            }
            Ok((_, Some((at, message)))) => imported.problems.push(problem(file, span(&file.text, at), message)),
            Err(errors) => {
                for error in errors {
                    let (line, column) = (error.at.line as usize, error.at.column as usize);
                    imported.problems.push(problem(file, Span { line, column, ..Span::default() }, error.message));
                }
            }
        }
    }
    imported
}

fn problem(file: &ForeignFile, span: Span, message: String) -> Problem {
    let source = Source::new(file.path.as_str(), file.text.as_str());
    Problem { source, span, severity: Severity::Error, message, hint: None }
}

/// The place of a byte.
fn span(text: &str, at: usize) -> Span {
    let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Span {
        start: at,
        end: at,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
