//! Recognizes scripts that would do nothing: declarations alone, with a function that nothing calls.

use std::path::Path;

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AwaitExpression, CallExpression, DoWhileStatement,
    Expression, ExpressionStatement, ForInStatement, ForOfStatement, ForStatement, Function, IdentifierReference,
    ImportExpression, NewExpression, Program, ReturnStatement, Statement, TaggedTemplateExpression, ThrowStatement,
    UpdateExpression, WhileStatement,
};
use oxc_ast_visit::Visit;
use oxc_semantic::ScopeFlags;
use oxc_span::GetSpan;

/// What can be called to make a value, without any effect.
const CONSTRUCTORS: [&str; 16] = [
    "Array", "BigInt", "Boolean", "Date", "JSON", "Map", "Math", "Number", "Object", "RegExp", "Set", "String",
    "Symbol", "URL", "WeakMap", "WeakSet",
];
/// Names of functions that are meant to be called, if no function is named like the file.
const ENTRIES: [&str; 6] = ["run", "main", "tool", "handler", "execute", "call"];

/// Why a script does nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Inert {
    /// Where the function is that was probably meant, or the script.
    pub at: usize,
    pub function: Option<String>,
}

/// Whether a script without exports has declarations alone, whose values are made without any effect. `path` is that of its file.
pub fn inert(program: &Program<'_>, path: &str) -> Option<Inert> {
    let is_import = |statement: &Statement<'_>| matches!(statement, Statement::ImportDeclaration(_));
    if !program.body.is_empty() && program.body.iter().all(is_import) {
        // What it imports may not exist, which is reported then.
        return None;
    }
    let functions: Vec<(&str, usize)> = program.body.iter().flat_map(functions).collect();
    let mut acts = Acts { functions: &functions, n_calls: 0, found: false };
    acts.visit_program(program);
    if acts.found {
        return None;
    }
    let start = program.body.first().map_or(0, |statement| statement.span().start as usize);
    let meant = meant(&functions, path);
    Some(Inert { at: meant.map_or(start, |(_, at)| at), function: meant.map(|(name, _)| name.to_string()) })
}

/// The functions that a statement declares, and where.
fn functions<'p>(statement: &'p Statement<'_>) -> Vec<(&'p str, usize)> {
    let declared = match statement {
        Statement::FunctionDeclaration(function) => {
            function.id.iter().map(|id| (id.name.as_str(), id.span.start)).collect::<Vec<_>>()
        }
        Statement::VariableDeclaration(variables) => {
            let functions = variables.declarations.iter().filter(|one| one.init.as_ref().is_some_and(is_function));
            let named = functions.filter_map(|one| Some((one.id.get_binding_identifier()?, one.span.start)));
            named.map(|(id, at)| (id.name.as_str(), at)).collect()
        }
        _ => Vec::new(),
    };
    declared.into_iter().map(|(name, at)| (name, at as usize)).collect()
}

pub fn is_function(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) => true,
        Expression::ParenthesizedExpression(inner) => is_function(&inner.expression),
        _ => false,
    }
}

/// The function that is most likely the tool: named like its file or like an entry, or else the last one, which uses the others.
fn meant<'f>(functions: &[(&'f str, usize)], path: &str) -> Option<(&'f str, usize)> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let file = plain(Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default());
    let named = |wanted: &dyn Fn(&str) -> bool| functions.iter().find(|(name, _)| wanted(&plain(name)));
    let found = named(&|name| name == file).or_else(|| named(&|name| ENTRIES.contains(&name)));
    found.or(functions.last()).copied()
}

/// Looks for anything that has an effect when statements run. What is inside functions has none by itself.
struct Acts<'f> {
    functions: &'f [(&'f str, usize)],
    /// How many calls enclose what is visited. A function that is passed to a call may be called by it.
    n_calls: u32,
    found: bool,
}

impl Acts<'_> {
    fn call<'a>(&mut self, callee: &Expression<'a>, arguments: &[Argument<'a>]) {
        self.found |= !makes_value(callee);
        self.n_calls += 1;
        self.visit_expression(callee);
        arguments.iter().for_each(|argument| self.visit_argument(argument));
        self.n_calls -= 1;
    }
}

/// Whether a call of this only makes a value, such as `new Set()`, `'a b'.split(' ')` or `Object.keys(x)`.
fn makes_value(callee: &Expression<'_>) -> bool {
    match callee {
        Expression::Identifier(name) => CONSTRUCTORS.contains(&name.name.as_str()),
        Expression::StaticMemberExpression(member) => makes_value(&member.object),
        Expression::CallExpression(call) => makes_value(&call.callee),
        Expression::NewExpression(call) => makes_value(&call.callee),
        Expression::ParenthesizedExpression(inner) => makes_value(&inner.expression),
        Expression::ArrayExpression(_)
        | Expression::StringLiteral(_)
        | Expression::TemplateLiteral(_)
        | Expression::RegExpLiteral(_)
        | Expression::NumericLiteral(_) => true,
        _ => false,
    }
}

impl<'a> Visit<'a> for Acts<'_> {
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {
        self.found |= self.n_calls > 0;
    }

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {
        self.found |= self.n_calls > 0;
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.found |= self.functions.iter().any(|(name, _)| *name == it.name.as_str());
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.call(&it.callee, &it.arguments);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.call(&it.callee, &it.arguments);
    }

    fn visit_tagged_template_expression(&mut self, _: &TaggedTemplateExpression<'a>) {
        self.found = true;
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.found = true;
    }

    fn visit_assignment_expression(&mut self, _: &AssignmentExpression<'a>) {
        self.found = true;
    }

    fn visit_update_expression(&mut self, _: &UpdateExpression<'a>) {
        self.found = true;
    }

    fn visit_import_expression(&mut self, _: &ImportExpression<'a>) {
        self.found = true;
    }

    fn visit_expression_statement(&mut self, _: &ExpressionStatement<'a>) {
        self.found = true;
    }

    fn visit_return_statement(&mut self, _: &ReturnStatement<'a>) {
        self.found = true;
    }

    fn visit_throw_statement(&mut self, _: &ThrowStatement<'a>) {
        self.found = true;
    }

    fn visit_for_statement(&mut self, _: &ForStatement<'a>) {
        self.found = true;
    }

    fn visit_for_in_statement(&mut self, _: &ForInStatement<'a>) {
        self.found = true;
    }

    fn visit_for_of_statement(&mut self, _: &ForOfStatement<'a>) {
        self.found = true;
    }

    fn visit_while_statement(&mut self, _: &WhileStatement<'a>) {
        self.found = true;
    }

    fn visit_do_while_statement(&mut self, _: &DoWhileStatement<'a>) {
        self.found = true;
    }
}
