//! From a script, in TypeScript or JavaScript, to the JavaScript module that the engine runs.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    DoWhileStatement, ExportSpecifier, Expression, ForInStatement, ForOfStatement, ForStatement, ImportExpression,
    Program, Statement, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan, SourceType};
use oxc_transformer::{TransformOptions, Transformer};
use serde::{Deserialize, Serialize};

use crate::nesting::too_deep;
use crate::text::{Inserted, Insertions, Position, Text};

/// The largest source, in bytes.
pub const SOURCE_BYTES: usize = 2 << 20;
/// The stack of the thread that parses. The parser is recursive; `nesting` limits how deep it goes.
const STACK_BYTES: usize = 256 << 20;
/// The variable that holds the place of the loop that was entered last.
pub const LOOP_PLACE: &str = "__trailblazeLoop";

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A tool: a module with a default export, a single function, or statements that may `return`. In each case, the result has a
    /// default export, which is called.
    Tool,
    /// A module that others import, or that registers tools itself.
    Module,
}

/// A JavaScript module, and where its parts come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transpiled {
    pub code: String,
    /// The modules that it imports.
    pub imports: Vec<Import>,
    pub map: SourceMap,
}

/// An import, and where it is in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub specifier: String,
    pub at: Position,
    /// Whether it is an `import()`, which happens only when it is reached.
    pub is_dynamic: bool,
}

/// From positions in the code to positions in the source.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SourceMap(Vec<(Position, Position)>);

impl SourceMap {
    /// Where a position of the code comes from.
    pub fn original(&self, code: Position) -> Option<Position> {
        let key = |position: &Position| (position.line, position.column);
        let after = self.0.partition_point(|(there, _)| key(there) <= key(&code));
        self.0[..after].last().map(|(_, source)| *source)
    }
}

/// What is wrong with a source, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    pub at: Position,
    pub message: String,
    pub hint: Option<String>,
}

/// Makes a module of a source. `path` names it in errors and decides its language: TypeScript unless it ends in `.js`, `.mjs` or
/// `.cjs`.
pub fn transpile(path: &str, source: &str, role: Role) -> Result<Transpiled, Vec<SyntaxError>> {
    with_deep_stack(source, || on_this_stack(path, source, role))
}

/// Parses a source on a thread with a stack that is large enough, unless the source is too large or nested too deeply.
pub(crate) fn with_deep_stack<T: Send>(
    source: &str,
    parse: impl FnOnce() -> Result<T, Vec<SyntaxError>> + Send,
) -> Result<T, Vec<SyntaxError>> {
    let refuse =
        |at: usize, message: String| Err(vec![SyntaxError { at: Text::new(source).position(at), message, hint: None }]);
    if source.len() > SOURCE_BYTES {
        return refuse(0, format!("the source has {} bytes; the limit is {SOURCE_BYTES}", source.len()));
    }
    if let Some(at) = too_deep(source) {
        return refuse(at, "the source is nested too deeply here".to_string());
    }
    let parsed = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("transpile".into()).stack_size(STACK_BYTES);
        Some(thread.spawn_scoped(scope, parse).ok()?.join())
    });
    match parsed {
        Some(Ok(parsed)) => parsed,
        Some(Err(_)) => refuse(0, "the source cannot be parsed: this is a bug in Trailblaze".to_string()),
        None => refuse(0, "the source cannot be parsed: no thread could be started".to_string()),
    }
}

fn on_this_stack(path: &str, source: &str, role: Role) -> Result<Transpiled, Vec<SyntaxError>> {
    let kind = match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some("js" | "mjs" | "cjs") => SourceType::mjs(),
        _ => SourceType::ts().with_module(true),
    };
    let arena = Allocator::default();
    let text = Text::new(source);
    let options = ParseOptions { allow_return_outside_function: role == Role::Tool, ..ParseOptions::default() };
    let mut insertions = Insertions::default();
    let is_unnamed = role == Role::Tool && is_unnamed_function(source);
    if is_unnamed {
        insertions.insert(0, "export default (");
        insertions.insert(source.trim_end().trim_end_matches(';').len(), "\n)");
    }
    let whole = insertions.clone().apply(source);
    let parsed = Parser::new(&arena, &whole.text, kind).with_options(options).parse();
    let position = |at: usize| text.position(whole.original(at));
    let errors: Vec<SyntaxError> = parsed.diagnostics.errors().map(|error| syntax_error(error, position)).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    if role == Role::Tool && !is_unnamed {
        if let Some(at) = no_default_export(&parsed.program) {
            let message = "the script has exports, but no default one, which is the tool".to_string();
            let hint = Some("write `export default` before the tool's function".to_string());
            return Err(vec![SyntaxError { at: position(at), message, hint }]);
        }
        make_default_export(&parsed.program, source, &mut insertions);
    }
    let mut loops = Loops { path, text: &text, whole: &whole, insertions };
    loops.visit_program(&parsed.program);
    let inserted = loops.insertions.apply(source);
    generate(path, kind, &inserted, &text)
}

/// Where the first export is, if a script has exports but no default one.
fn no_default_export(program: &Program<'_>) -> Option<usize> {
    let names_default =
        |specifiers: &[ExportSpecifier<'_>]| specifiers.iter().any(|one| one.exported.name() == "default");
    let is_default = |statement: &Statement<'_>| match statement {
        Statement::ExportDefaultDeclaration(_) => true,
        Statement::ExportNamedDeclaration(export) => names_default(&export.specifiers),
        Statement::ExportFromDeclaration(export) => names_default(&export.specifiers),
        _ => false,
    };
    let is_import = |statement: &Statement<'_>| matches!(statement, Statement::ImportDeclaration(_));
    let mut exports = program.body.iter().filter(|one| one.is_module_declaration() && !is_import(one));
    if program.body.iter().any(is_default) {
        return None;
    }
    exports.next().map(|export| export.span().start as usize)
}

/// Turns a single function, or statements, into a default export.
fn make_default_export(program: &Program<'_>, source: &str, insertions: &mut Insertions) {
    let is_import = |statement: &Statement<'_>| matches!(statement, Statement::ImportDeclaration(_));
    let is_export = |statement: &Statement<'_>| statement.is_module_declaration() && !is_import(statement);
    if program.body.iter().any(is_export) {
        return;
    }
    let imports = program.body.iter().take_while(|statement| is_import(statement)).last();
    let start = imports.map_or(0, |import| import.span().end as usize);
    let mut own = program.body.iter().filter(|statement| !is_import(statement));
    if let (Some(only), None, true) = (own.next(), own.next(), program.directives.is_empty()) {
        match only {
            // A declaration needs nothing but the words in front of it.
            Statement::FunctionDeclaration(function) => {
                return insertions.insert(function.span.start as usize, "export default ");
            }
            Statement::ExpressionStatement(statement) if is_function(&statement.expression) => {
                let span = statement.expression.span();
                insertions.insert(span.start as usize, "export default (");
                return insertions.insert(span.end as usize, ")");
            }
            _ => {}
        }
    }
    let separator = if start == 0 { "" } else { ";" };
    insertions.insert(start, format!("{separator}export default async () => {{"));
    // A last line may be a comment.
    insertions.insert(source.len(), "\n}");
}

/// Whether a source starts with a function without a name, which is no statement.
fn is_unnamed_function(source: &str) -> bool {
    let start = source.trim_start();
    let start = start.strip_prefix("async").unwrap_or(start).trim_start();
    start
        .strip_prefix("function")
        .is_some_and(|rest| rest.trim_start().trim_start_matches('*').trim_start().starts_with('('))
}

fn is_function(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) => true,
        Expression::ParenthesizedExpression(inner) => is_function(&inner.expression),
        _ => false,
    }
}

/// Makes each loop note its place when it is entered, because the engine does not know where it was when it is interrupted.
struct Loops<'t> {
    path: &'t str,
    text: &'t Text<'t>,
    /// What is visited.
    whole: &'t Inserted,
    insertions: Insertions,
}

impl Loops<'_> {
    fn note(&mut self, start: u32, body: &Statement<'_>) {
        let original = |at: u32| self.whole.original(at as usize);
        let Position { line, column } = self.text.position(original(start));
        let place = serde_json::Value::from(format!("{}:{line}:{column}", self.path));
        let note = format!("{LOOP_PLACE}={place};");
        let (start, end) = (original(body.span().start), original(body.span().end));
        match body {
            Statement::BlockStatement(_) => self.insertions.insert(start + 1, note),
            _ => {
                self.insertions.insert(start, format!("{{{note}"));
                self.insertions.insert(end, "\n}");
            }
        }
    }
}

impl<'a> Visit<'a> for Loops<'_> {
    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.note(it.span.start, &it.body);
        walk::walk_for_statement(self, it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.note(it.span.start, &it.body);
        walk::walk_for_in_statement(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.note(it.span.start, &it.body);
        walk::walk_for_of_statement(self, it);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.note(it.span.start, &it.body);
        walk::walk_while_statement(self, it);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.note(it.span.start, &it.body);
        walk::walk_do_while_statement(self, it);
    }
}

/// Removes the types, and prints the code.
fn generate(
    path: &str,
    kind: SourceType,
    inserted: &Inserted,
    original: &Text<'_>,
) -> Result<Transpiled, Vec<SyntaxError>> {
    let arena = Allocator::default();
    let text = Text::new(&inserted.text);
    let position = |at: usize| original.position(inserted.original(at));
    let check = |errors: Vec<SyntaxError>| if errors.is_empty() { Ok(()) } else { Err(errors) };
    let parsed = Parser::new(&arena, &inserted.text, kind).parse();
    check(parsed.diagnostics.errors().map(|error| syntax_error(error, position)).collect())?;
    let mut program = parsed.program;
    let analysed = SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    check(analysed.diagnostics.errors().map(|error| syntax_error(error, position)).collect())?;
    let scoping = analysed.semantic.into_scoping();
    let options = TransformOptions::default();
    let transformed = Transformer::new(&arena, Path::new(path), &options).build_with_scoping(scoping, &mut program);
    check(transformed.diagnostics.errors().map(|error| syntax_error(error, position)).collect())?;
    let imports = imports(&program, position);
    let options = CodegenOptions { source_map_path: Some(path.into()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let tokens = printed.map.iter().flat_map(|map| map.get_tokens().collect::<Vec<_>>());
    let map = tokens.map(|token| {
        let code = Position { line: token.get_dst_line() + 1, column: token.get_dst_col() + 1 };
        let there = Position { line: token.get_src_line() + 1, column: token.get_src_col() + 1 };
        (code, position(text.offset(there)))
    });
    let map = SourceMap(map.collect());
    Ok(Transpiled { code: printed.code, imports, map })
}

pub(crate) fn imports(program: &Program<'_>, position: impl Fn(usize) -> Position) -> Vec<Import> {
    let mut found = Vec::new();
    for statement in &program.body {
        let source = match statement {
            Statement::ImportDeclaration(import) => Some(&import.source),
            Statement::ExportFromDeclaration(export) => Some(&export.source),
            Statement::ExportAllDeclaration(export) => Some(&export.source),
            _ => None,
        };
        found.extend(source.map(|source| (source.value.to_string(), source.span.start)));
    }
    let mut dynamic = DynamicImports(Vec::new());
    dynamic.visit_program(program);
    let import = |is_dynamic| {
        let position = &position;
        move |(specifier, at): (String, u32)| Import { specifier, at: position(at as usize), is_dynamic }
    };
    found.into_iter().map(import(false)).chain(dynamic.0.into_iter().map(import(true))).collect()
}

/// The modules that `import("…")` names.
struct DynamicImports(Vec<(String, u32)>);

impl<'a> Visit<'a> for DynamicImports {
    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        if let Expression::StringLiteral(literal) = &it.source {
            self.0.push((literal.value.to_string(), literal.span.start));
        }
        walk::walk_import_expression(self, it);
    }
}

pub(crate) fn syntax_error(diagnostic: &OxcDiagnostic, position: impl Fn(usize) -> Position) -> SyntaxError {
    let at = diagnostic.labels.first().map_or(0, |label| label.offset() as usize);
    let message = diagnostic.message.trim_end_matches('.');
    let hint = diagnostic.help.as_ref().map(ToString::to_string);
    SyntaxError { at: position(at), message: message.to_string(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        let transpiled = transpile("a.ts", source, Role::Tool);
        transpiled.unwrap_or_else(|errors| panic!("{source}: {errors:?}")).code
    }

    #[test]
    fn each_form_of_a_tool_has_a_default_export() {
        for source in [
            "return args.x as number",
            "import { a } from './a.ts'; return a(args.x)",
            "function run(input: object) { return 1 }",
            "async (args: {x: number}) => args.x",
            "(function () { return 1 })",
            "export default function () {}",
            "// nothing\n",
            "const x = 1; // the last line",
        ] {
            let code = code(source);
            assert_eq!(code.matches("export default").count(), 1, "{source}\n{code}");
        }
    }

    #[test]
    fn types_are_removed_and_enums_become_values() {
        let code = code(
            "enum Way { Up = 1 }\ninterface A { x: number }\nconst a = { x: 1 } satisfies A;\nreturn Way.Up + a.x!",
        );
        assert!(!code.contains("interface") && !code.contains("satisfies"), "{code}");
        assert!(code.contains("Way"), "{code}");
    }

    #[test]
    fn imports_of_types_are_not_imports() {
        let source = "import type { A } from './a.ts';\nimport { b } from './b.ts';\nimport { C } from './c.ts';\nconst c: C = b();\nreturn c";
        let transpiled = transpile("a.ts", source, Role::Tool).expect("valid");
        let expected =
            Import { specifier: "./b.ts".to_string(), at: Position { line: 2, column: 19 }, is_dynamic: false };
        assert_eq!(transpiled.imports, [expected]);
    }

    #[test]
    fn errors_name_the_place_in_the_source() {
        let errors = transpile("a.ts", "const a = 1;\nconst b: = 2;\n", Role::Tool).expect_err("invalid");
        assert_eq!(errors[0].at, Position { line: 2, column: 10 });
        // One that is found after the source was wrapped.
        let errors = transpile("a.ts", "let a = 1;\nlet a = 2;", Role::Tool).expect_err("invalid");
        assert_eq!(errors[0].at.line, 1, "{errors:?}");
    }

    #[test]
    fn a_tool_without_a_default_export_is_refused() {
        for source in ["export const a = 1", "function f() {}\nexport { f }", "export * from './a.ts'"] {
            assert!(transpile("a.ts", source, Role::Tool).is_err(), "{source}");
            assert!(transpile("a.ts", source, Role::Module).is_ok(), "{source}");
        }
        assert!(transpile("a.ts", "function f() {}\nexport { f as default }", Role::Tool).is_ok());
    }

    #[test]
    fn the_map_leads_back_to_the_source() {
        let source = "interface A { x: number }\n\nfor (const a of [1]) throw new Error('x' as string)";
        let transpiled = transpile("a.ts", source, Role::Tool).expect("valid");
        let line = transpiled.code.lines().position(|line| line.contains("throw")).expect("thrown");
        let column = transpiled.code.lines().nth(line).and_then(|line| line.find("new Error")).expect("made");
        let there = Position { line: line as u32 + 1, column: column as u32 + 1 };
        assert_eq!(transpiled.map.original(there), Some(Position { line: 3, column: 28 }), "{}", transpiled.code);
    }
}
