//! From a script, in TypeScript or JavaScript, to the JavaScript module that the engine runs.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    AwaitExpression, DoWhileStatement, ExportSpecifier, Expression, ForInStatement, ForOfStatement, ForStatement,
    ImportDeclaration, ImportExpression, Program, Statement, ThrowStatement, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan, SourceType};
use oxc_transformer::{TransformOptions, Transformer};
use serde::{Deserialize, Serialize};

use crate::error::is_in_package;
use crate::inert::{Inert, inert, is_function};
use crate::nesting::too_deep;
use crate::text::{Inserted, Insertions, Position, Text};

/// The largest source, in bytes.
pub const SOURCE_BYTES: usize = 2 << 20;
/// The stack of the thread that parses. The parser is recursive; `nesting` limits how deep it goes.
const STACK_BYTES: usize = 256 << 20;
/// The package that defines tools.
const SCRIPTING: &str = "@trailblaze/scripting";
/// The function that every value passes through that a `throw` throws, unless it is made there.
const THROWN: &str = "__trailblazeThrown";
/// The function that everything passes through that the author's code awaits.
const AWAITED: &str = "__trailblazeAwaited";
/// The variable that holds the place of the loop that was entered last.
pub const LOOP_PLACE: &str = "__trailblazeLoop";

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceRole {
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
pub fn transpile(path: &str, source: &str, role: SourceRole) -> Result<Transpiled, Vec<SyntaxError>> {
    with_deep_stack(source, || on_this_stack(path, source, role))
}

/// Parses a source on a thread with a stack that is large enough, unless the source is too large or nested too deeply.
pub fn with_deep_stack<T: Send>(
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

fn on_this_stack(path: &str, source: &str, role: SourceRole) -> Result<Transpiled, Vec<SyntaxError>> {
    let kind = match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some("js" | "mjs" | "cjs") => SourceType::mjs(),
        _ => SourceType::ts().with_module(true),
    };
    let arena = Allocator::default();
    let text = Text::new(source);
    let options = ParseOptions { allow_return_outside_function: role == SourceRole::Tool, ..ParseOptions::default() };
    let mut insertions = Insertions::default();
    let is_unnamed = role == SourceRole::Tool && is_unnamed_function(source);
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
    if role == SourceRole::Tool && !is_unnamed {
        if let Some(at) = no_default_export(&parsed.program) {
            let message = "the script has exports, but no default one, which is the tool".to_string();
            let hint = Some("write `export default` before the tool's function".to_string());
            return Err(vec![SyntaxError { at: position(at), message, hint }]);
        }
        if !has_exports(&parsed.program) && tool_function(&parsed.program).is_none() {
            let toolset = toolset(&parsed.program).map(|at| is_toolset(position(at)));
            let nothing = || inert(&parsed.program, path).map(|inert| does_nothing(&inert, position));
            if let Some(error) = toolset.or_else(nothing) {
                return Err(vec![error]);
            }
        }
    }
    let mut places = Places { path, text: &text, whole: &whole, insertions };
    places.visit_program(&parsed.program);
    // Last, because what encloses the others ends after those that end at the same place.
    if role == SourceRole::Tool && !is_unnamed {
        make_default_export(&parsed.program, source, &mut places.insertions);
    }
    let inserted = places.insertions.apply(source);
    generate(path, kind, &inserted, &text)
}

/// Where a script imports what defines and serves tools. It would do so when it is called, and nothing would call them.
fn toolset(program: &Program<'_>) -> Option<usize> {
    let mut imports = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(import) => Some(import),
        _ => None,
    });
    let serves = |import: &ImportDeclaration<'_>| {
        let mut names = import.specifiers.iter().flatten().map(|specifier| specifier.name());
        names.any(|name| ["tool", "run", "Server"].contains(&name.as_str()))
    };
    let is_value = |import: &ImportDeclaration<'_>| import.import_kind.is_value() && import.source.value == SCRIPTING;
    imports.find(|import| is_value(import) && serves(import)).map(|import| import.span.start as usize)
}

fn is_toolset(at: Position) -> SyntaxError {
    let message = format!("the script defines tools with {SCRIPTING}, but it is one tool itself");
    let hint = "name the file as `script:` of an entry of `mcpServers:`, or export the tool's function: \
                `export default async (args, { tools }) => { … }`";
    SyntaxError { at, message, hint: Some(hint.to_string()) }
}

/// A script that runs without doing anything would pass, whatever its author meant.
fn does_nothing(inert: &Inert, position: impl Fn(usize) -> Position) -> SyntaxError {
    let (message, hint) = match &inert.function {
        Some(name) => (
            format!("the script does nothing: its function `{name}` is never called"),
            format!("make it the tool: add `export default {name};` at the end"),
        ),
        None => (
            "the script does nothing: it calls no tool and returns nothing".to_string(),
            "write `export default async (args, { tools }) => { … }`, or statements that call tools or `return` a value"
                .to_string(),
        ),
    };
    SyntaxError { at: position(inert.at), message, hint: Some(hint) }
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
    let mut exports = program.body.iter().filter(|one| one.is_module_declaration() && !is_import(one));
    if program.body.iter().any(is_default) {
        return None;
    }
    exports.next().map(|export| export.span().start as usize)
}

fn is_import(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::ImportDeclaration(_))
}

fn has_exports(program: &Program<'_>) -> bool {
    program.body.iter().any(|statement| statement.is_module_declaration() && !is_import(statement))
}

/// The only statement besides imports, if it is a function.
fn tool_function<'p, 'a>(program: &'p Program<'a>) -> Option<&'p Statement<'a>> {
    let mut own = program.body.iter().filter(|statement| !is_import(statement));
    let only = own.next().filter(|_| program.directives.is_empty())?;
    let is_tool = match only {
        Statement::FunctionDeclaration(_) => true,
        Statement::ExpressionStatement(statement) => is_function(&statement.expression),
        _ => false,
    };
    (is_tool && own.next().is_none()).then_some(only)
}

/// Turns a single function, or statements, into a default export.
fn make_default_export(program: &Program<'_>, source: &str, insertions: &mut Insertions) {
    if has_exports(program) {
        return;
    }
    match tool_function(program) {
        // A declaration needs nothing but the words in front of it.
        Some(Statement::FunctionDeclaration(function)) => {
            return insertions.insert(function.span.start as usize, "export default ");
        }
        Some(Statement::ExpressionStatement(statement)) => {
            let span = statement.expression.span();
            insertions.insert(span.start as usize, "export default (");
            return insertions.insert(span.end as usize, ")");
        }
        _ => {}
    }
    let imports = program.body.iter().take_while(|statement| is_import(statement)).last();
    let start = imports.map_or(0, |import| import.span().end as usize);
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

/// Makes each loop note its place when it is entered, because the engine does not know where it was when it is interrupted, each
/// `throw` of a value that may have no stack note where it was thrown, and each `await` of the author's own code where it waits, because
/// the engine's stacks do not go back beyond it. What is inside is visited first, because what ends at the same place must end before
/// what encloses it.
struct Places<'t> {
    path: &'t str,
    text: &'t Text<'t>,
    /// What is visited.
    whole: &'t Inserted,
    insertions: Insertions,
}

impl Places<'_> {
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

    /// Lets the value of an expression pass through a function.
    fn pass_through(&mut self, function: &str, expression: &Expression<'_>) {
        let original = |at: u32| self.whole.original(at as usize);
        let span = expression.span();
        let (start, end) = (original(span.start), original(span.end));
        self.insertions.insert(start, format!("{function}(("));
        self.insertions.insert(end, "))");
    }
}

impl<'a> Visit<'a> for Places<'_> {
    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        walk::walk_for_statement(self, it);
        self.note(it.span.start, &it.body);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        walk::walk_for_in_statement(self, it);
        self.note(it.span.start, &it.body);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        walk::walk_for_of_statement(self, it);
        self.note(it.span.start, &it.body);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        walk::walk_while_statement(self, it);
        self.note(it.span.start, &it.body);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        walk::walk_do_while_statement(self, it);
        self.note(it.span.start, &it.body);
    }

    fn visit_throw_statement(&mut self, it: &ThrowStatement<'a>) {
        walk::walk_throw_statement(self, it);
        if !matches!(it.argument, Expression::NewExpression(_)) {
            self.pass_through(THROWN, &it.argument);
        }
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        walk::walk_await_expression(self, it);
        if !is_in_package(self.path) {
            self.pass_through(AWAITED, &it.argument);
        }
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
        let transpiled = transpile("a.ts", source, SourceRole::Tool);
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
            "const x = await tools.tap(); // the last line",
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
        let transpiled = transpile("a.ts", source, SourceRole::Tool).expect("valid");
        let expected =
            Import { specifier: "./b.ts".to_string(), at: Position { line: 2, column: 19 }, is_dynamic: false };
        assert_eq!(transpiled.imports, [expected]);
    }

    #[test]
    fn errors_name_the_place_in_the_source() {
        let errors = transpile("a.ts", "const a = 1;\nconst b: = 2;\n", SourceRole::Tool).expect_err("invalid");
        assert_eq!(errors[0].at, Position { line: 2, column: 10 });
        // One that is found after the source was wrapped.
        let errors = transpile("a.ts", "let a = 1;\nlet a = 2;", SourceRole::Tool).expect_err("invalid");
        assert_eq!(errors[0].at.line, 1, "{errors:?}");
    }

    #[test]
    fn what_ends_at_the_same_place_is_nested() {
        for source in ["throw 'a'", "for (;;) throw 'a'", "while (1) for (;;) throw ('a', 'b')", "if (1) throw args\n"]
        {
            let code = code(source);
            assert!(code.contains("throw __trailblazeThrown("), "{source}\n{code}");
        }
        assert!(!code("throw new Error('a')").contains("Thrown"));
    }

    #[test]
    fn a_tool_without_a_default_export_is_refused() {
        for source in ["export const a = 1", "function f() {}\nexport { f }", "export * from './a.ts'"] {
            assert!(transpile("a.ts", source, SourceRole::Tool).is_err(), "{source}");
            assert!(transpile("a.ts", source, SourceRole::Module).is_ok(), "{source}");
        }
        assert!(transpile("a.ts", "function f() {}\nexport { f as default }", SourceRole::Tool).is_ok());
    }

    #[test]
    fn a_script_that_would_do_nothing_is_refused_with_the_function_that_was_meant() {
        for (path, source, function, line) in [
            ("a.ts", "const limit = 3;\nasync function openOrders() { await tools.tap() }", Some("openOrders"), 2),
            ("a.ts", "const openOrders = async (args) => { await tools.tap() };", Some("openOrders"), 1),
            ("openOrders.ts", "function open_orders() {}\nfunction helper() {}", Some("open_orders"), 1),
            ("a.ts", "function main() { helper() }\nfunction helper() {}", Some("main"), 1),
            ("a.ts", "const seen = new Set(['a b'.split(' ')]);\nfunction go() { seen.add(1) }", Some("go"), 2),
            ("a.ts", "import { b } from './b.ts';\ninterface A { x: number }\nclass C { run() { b() } }", None, 1),
            ("a.ts", "// nothing\n", None, 1),
        ] {
            let errors = transpile(path, source, SourceRole::Tool).expect_err(source);
            let told = (errors[0].message.clone(), errors[0].hint.clone().unwrap_or_default());
            assert!(told.0.starts_with("the script does nothing: "), "{source}: {told:?}");
            assert_eq!(errors[0].at.line, line, "{source}");
            if let Some(name) = function {
                assert!(
                    told.0.contains(&format!("`{name}`")) && told.1.contains(&format!("export default {name};")),
                    "{told:?}"
                );
            }
        }
        for source in [
            "function go() {}\ngo()",
            "const go = () => {};\nconst done = go();",
            "const all = [1, 2].map((x) => tools.tap({ x }))",
            "function go() {}\n['a'].forEach(go)",
            "const a = tools.tap()",
            "memory.set('a', 1)",
            "for (;;) {}",
            "if (args.x) { fail('no') }",
            "const a = await 1",
            "throw 1",
            "args.x + 1",
            "import './b.ts'",
        ] {
            assert!(transpile("a.ts", source, SourceRole::Tool).is_ok(), "{source}");
        }
        assert!(transpile("a.ts", "function f() {}\nconst x = 1;", SourceRole::Module).is_ok());
    }

    #[test]
    fn a_toolset_is_no_script() {
        let source = "\nimport { run, tool } from '@trailblaze/scripting';\ntool('a', {}, () => 'a');\n";
        let errors = transpile("a.ts", source, SourceRole::Tool).expect_err("a toolset");
        assert_eq!(errors[0].at, Position { line: 2, column: 1 });
        assert!(errors[0].message.contains("defines tools with @trailblaze/scripting"), "{errors:?}");
        assert!(transpile("a.ts", source, SourceRole::Module).is_ok());
        for source in [
            "import type { tool } from '@trailblaze/scripting';\nreturn 1",
            "import { run } from './run.ts';\nawait run()",
        ] {
            assert!(transpile("a.ts", source, SourceRole::Tool).is_ok(), "{source}");
        }
    }

    #[test]
    fn the_map_leads_back_to_the_source() {
        let source = "interface A { x: number }\n\nfor (const a of [1]) throw new Error('x' as string)";
        let transpiled = transpile("a.ts", source, SourceRole::Tool).expect("valid");
        let line = transpiled.code.lines().position(|line| line.contains("throw")).expect("thrown");
        let column = transpiled.code.lines().nth(line).and_then(|line| line.find("new Error")).expect("made");
        let there = Position { line: line as u32 + 1, column: column as u32 + 1 };
        assert_eq!(transpiled.map.original(there), Some(Position { line: 3, column: 28 }), "{}", transpiled.code);
    }
}
