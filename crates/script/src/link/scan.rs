//! What a file of JavaScript is, as far as linking must know: which kind of module, what it needs, and what it exports.

use std::collections::BTreeSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, CallExpression, Expression, Function,
    IdentifierReference, MemberExpression, ObjectPropertyKind, TryStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::ScopeFlags;
use oxc_span::SourceType;

use crate::text::{Position, Text};
use crate::transpile::{Import, SyntaxError, imports, syntax_error, with_deep_stack};

/// A file of JavaScript.
#[derive(Debug)]
pub enum Scanned {
    /// An ES module.
    Module { imports: Vec<Import> },
    /// A module that uses `require`, `module` and `exports`.
    CommonJs(CommonJs),
    /// Neither `import` and `export` nor `require` and `exports`.
    Plain,
}

#[derive(Debug, Default)]
pub struct CommonJs {
    pub requires: Vec<Require>,
    /// The `import()`s, which CommonJS modules can use too.
    pub imports: Vec<Import>,
    /// The names that are exported, as far as they can be seen.
    pub exports: BTreeSet<String>,
    /// The specifiers of modules whose names are exported too.
    pub reexports: BTreeSet<String>,
}

/// A `require("…")`.
#[derive(Debug)]
pub struct Require {
    pub specifier: String,
    pub at: Position,
    /// Whether it is in a function or a `try`, so that it may never happen, or its failure is expected.
    pub is_optional: bool,
}

pub fn scan(source: &str) -> Result<Scanned, Vec<SyntaxError>> {
    with_deep_stack(source, || {
        let arena = Allocator::default();
        let text = Text::new(source);
        let position = |at: usize| text.position(at);
        // A CommonJS module is the body of a function.
        let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
        let parsed = Parser::new(&arena, source, SourceType::unambiguous()).with_options(options).parse();
        let errors: Vec<SyntaxError> = parsed.diagnostics.errors().map(|error| syntax_error(error, position)).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let imports = imports(&parsed.program, position);
        if parsed.program.source_type.is_module() {
            return Ok(Scanned::Module { imports });
        }
        let mut visitor = Visitor { text: &text, n_enclosing: 0, uses_commonjs: false, found: CommonJs::default() };
        visitor.visit_program(&parsed.program);
        if !visitor.uses_commonjs {
            return Ok(if imports.is_empty() { Scanned::Plain } else { Scanned::Module { imports } });
        }
        Ok(Scanned::CommonJs(CommonJs { imports, ..visitor.found }))
    })
}

struct Visitor<'t> {
    text: &'t Text<'t>,
    /// How many functions and `try`s are around the current place.
    n_enclosing: usize,
    uses_commonjs: bool,
    found: CommonJs,
}

impl Visitor<'_> {
    fn export(&mut self, name: &str) {
        self.found.exports.insert(name.to_string());
    }

    /// Notes the names of what `module.exports` is set to.
    fn export_value(&mut self, value: &Expression<'_>) {
        match value.get_inner_expression() {
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    match property {
                        ObjectPropertyKind::ObjectProperty(property) if !property.computed => {
                            if let Some(name) = property.key.static_name() {
                                self.export(&name);
                            }
                        }
                        ObjectPropertyKind::SpreadProperty(spread) => self.reexport(&spread.argument),
                        ObjectPropertyKind::ObjectProperty(_) => {}
                    }
                }
            }
            value => self.reexport(value),
        }
    }

    fn reexport(&mut self, value: &Expression<'_>) {
        if let Expression::CallExpression(call) = value.get_inner_expression()
            && let Some(specifier) = call.common_js_require()
        {
            self.found.reexports.insert(specifier.value.to_string());
        }
    }

    fn enclosed(&mut self, walk: impl FnOnce(&mut Self)) {
        self.n_enclosing += 1;
        walk(self);
        self.n_enclosing -= 1;
    }
}

/// Whether an expression is `exports` or `module.exports`.
fn is_exports(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::Identifier(name) => name.name == "exports",
        expression => expression.as_member_expression().is_some_and(is_module_exports),
    }
}

fn is_module_exports(member: &MemberExpression<'_>) -> bool {
    member.object().is_specific_id("module") && member.static_property_name() == Some("exports")
}

fn is_exports_argument(argument: Option<&Argument<'_>>) -> bool {
    argument.and_then(Argument::as_expression).is_some_and(is_exports)
}

impl<'a> Visit<'a> for Visitor<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.uses_commonjs |= matches!(it.name.as_str(), "require" | "module" | "exports" | "__filename" | "__dirname");
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        match &it.left {
            AssignmentTarget::AssignmentTargetIdentifier(name) if name.name == "exports" => {
                self.export_value(&it.right)
            }
            target => match target.as_simple_assignment_target().and_then(|target| target.as_member_expression()) {
                Some(member) if is_module_exports(member) => self.export_value(&it.right),
                Some(member) if is_exports(member.object()) => {
                    if let Some(name) = member.static_property_name() {
                        self.export(name);
                    }
                }
                _ => {}
            },
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(specifier) = it.common_js_require() {
            let at = self.text.position(specifier.span.start as usize);
            let is_optional = self.n_enclosing > 0;
            self.found.requires.push(Require { specifier: specifier.value.to_string(), at, is_optional });
        }
        let called = match it.callee.get_inner_expression() {
            Expression::Identifier(name) => Some(name.name.as_str()),
            callee => callee.as_member_expression().and_then(MemberExpression::static_property_name),
        };
        let first = it.arguments.first().and_then(Argument::as_expression);
        match called {
            // `Object.defineProperty(exports, "name", …)`
            Some("defineProperty") if is_exports_argument(it.arguments.first()) => {
                if let Some(Argument::StringLiteral(name)) = it.arguments.get(1) {
                    self.export(name.value.as_str());
                }
            }
            // What TypeScript makes of `export * from`.
            Some("__exportStar" | "__export") => first.into_iter().for_each(|first| self.reexport(first)),
            // `Object.assign(exports, {…})`
            Some("assign") if is_exports_argument(it.arguments.first()) => {
                it.arguments.iter().skip(1).filter_map(Argument::as_expression).for_each(|it| self.export_value(it));
            }
            _ => {}
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.enclosed(|visitor| walk::walk_function(visitor, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.enclosed(|visitor| walk::walk_arrow_function_expression(visitor, it));
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.enclosed(|visitor| walk::walk_try_statement(visitor, it));
    }
}
