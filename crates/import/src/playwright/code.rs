//! The parts of a test file that matter here, as a small tree without the parser's lifetimes.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, ArrowFunctionBody, BindingPattern, BindingProperty, Declaration, Expression,
    ForStatementLeft, FormalParameter, FormalParameters, FunctionBody, ObjectPropertyKind, PropertyKey, Statement,
    VariableDeclaration,
};
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType};

/// An expression, and its bytes in the file.
#[derive(Debug, Clone)]
pub struct TestCode {
    pub start: usize,
    pub end: usize,
    pub kind: CodeKind,
}

#[derive(Debug, Clone)]
pub enum CodeKind {
    Text(String),
    /// The texts between the values, one more than these.
    Template(Vec<String>, Vec<TestCode>),
    Number(f64),
    Flag(bool),
    Pattern {
        source: String,
        flags: String,
    },
    Object(Vec<(String, TestCode)>),
    List(Vec<TestCode>),
    Name(String),
    Member(Box<TestCode>, String),
    Call(Box<TestCode>, Vec<TestCode>),
    Function(Box<CodeFunction>),
    Await(Box<TestCode>),
    Sum(Box<TestCode>, Box<TestCode>),
    Other,
}

#[derive(Debug, Clone)]
pub struct CodeFunction {
    pub params: Vec<CodeParam>,
    pub body: Vec<CodeStatement>,
}

#[derive(Debug, Clone)]
pub enum CodeParam {
    Name(ParamBinding),
    /// `{ page, name: who = 'Ada' }`, by the names of the fields.
    Fields(Vec<(String, ParamBinding)>),
    Other,
}

/// A name in a function, and the value that it has if none is given.
#[derive(Debug, Clone)]
pub struct ParamBinding {
    pub name: String,
    pub default: Option<TestCode>,
}

#[derive(Debug, Clone)]
pub struct CodeStatement {
    pub start: usize,
    pub end: usize,
    pub kind: StatementKind,
}

#[derive(Debug, Clone)]
pub enum StatementKind {
    Expression(TestCode),
    /// `const name = value;`, for each name.
    Const(Vec<(Option<String>, Option<TestCode>)>),
    Function(String, Box<CodeFunction>),
    ForOf {
        name: Option<String>,
        list: TestCode,
        body: Vec<CodeStatement>,
    },
    /// Imports, types, and other statements that do nothing.
    Nothing,
    /// `if`, `while`, `try` and others, by their first word.
    Other(&'static str),
}

/// Parses a file. An error is a byte and a message.
pub fn parse(path: &str, text: &str) -> Result<Vec<CodeStatement>, (usize, String)> {
    let kind = match path.rsplit('.').next() {
        Some("js" | "mjs" | "cjs") => SourceType::mjs(),
        Some("tsx" | "jsx") => SourceType::tsx(),
        _ => SourceType::ts().with_module(true),
    };
    let arena = Allocator::default();
    let parsed = Parser::new(&arena, text, kind).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        let at = error.labels.first().map_or(0, |label| label.offset() as usize);
        return Err((at, error.message.to_string()));
    }
    Ok(statements(&parsed.program.body))
}

fn statements(body: &[Statement<'_>]) -> Vec<CodeStatement> {
    body.iter().map(statement).collect()
}

fn statement(statement: &Statement<'_>) -> CodeStatement {
    let span = statement.span();
    let kind = match statement {
        Statement::ExpressionStatement(inner) => StatementKind::Expression(code(&inner.expression)),
        Statement::VariableDeclaration(inner) => constants(inner),
        Statement::FunctionDeclaration(inner) => match (&inner.id, &inner.body) {
            (Some(id), Some(body)) => {
                StatementKind::Function(id.name.to_string(), Box::new(function(&inner.params, body)))
            }
            _ => StatementKind::Nothing,
        },
        Statement::ExportDeclaration(inner) => match &inner.declaration {
            Declaration::VariableDeclaration(inner) => constants(inner),
            Declaration::FunctionDeclaration(inner) => match (&inner.id, &inner.body) {
                (Some(id), Some(body)) => {
                    StatementKind::Function(id.name.to_string(), Box::new(function(&inner.params, body)))
                }
                _ => StatementKind::Nothing,
            },
            Declaration::ClassDeclaration(_) => StatementKind::Other("class"),
            _ => StatementKind::Nothing,
        },
        Statement::ForOfStatement(inner) => {
            let name = match &inner.left {
                ForStatementLeft::VariableDeclaration(declared) => {
                    declared.declarations.first().and_then(|first| bound(&first.id))
                }
                _ => None,
            };
            let body = match &inner.body {
                Statement::BlockStatement(block) => statements(&block.body),
                other => vec![self::statement(other)],
            };
            StatementKind::ForOf { name, list: code(&inner.right), body }
        }
        Statement::ImportDeclaration(_)
        | Statement::EmptyStatement(_)
        | Statement::ExportAllDeclaration(_)
        | Statement::ExportNamedDeclaration(_)
        | Statement::ExportFromDeclaration(_)
        | Statement::TSTypeAliasDeclaration(_)
        | Statement::TSInterfaceDeclaration(_) => StatementKind::Nothing,
        Statement::IfStatement(_) => StatementKind::Other("if"),
        Statement::ForStatement(_) | Statement::ForInStatement(_) => StatementKind::Other("for"),
        Statement::WhileStatement(_) | Statement::DoWhileStatement(_) => StatementKind::Other("while"),
        Statement::TryStatement(_) => StatementKind::Other("try"),
        Statement::ReturnStatement(_) => StatementKind::Other("return"),
        Statement::ThrowStatement(_) => StatementKind::Other("throw"),
        Statement::SwitchStatement(_) => StatementKind::Other("switch"),
        Statement::ClassDeclaration(_) => StatementKind::Other("class"),
        Statement::BlockStatement(_) => StatementKind::Other("block"),
        _ => StatementKind::Other("statement"),
    };
    CodeStatement { start: span.start as usize, end: span.end as usize, kind }
}

fn bound(pattern: &BindingPattern<'_>) -> Option<String> {
    match pattern {
        BindingPattern::BindingIdentifier(id) => Some(id.name.to_string()),
        _ => None,
    }
}

fn constants(declared: &VariableDeclaration<'_>) -> StatementKind {
    let one = |one: &oxc_ast::ast::VariableDeclarator<'_>| (bound(&one.id), one.init.as_ref().map(code));
    StatementKind::Const(declared.declarations.iter().map(one).collect())
}

fn function(params: &FormalParameters<'_>, body: &FunctionBody<'_>) -> CodeFunction {
    CodeFunction { params: parameters(params), body: statements(&body.statements) }
}

fn parameters(params: &FormalParameters<'_>) -> Vec<CodeParam> {
    let one = |param: &FormalParameter<'_>| match &param.pattern {
        BindingPattern::BindingIdentifier(id) => {
            let default = param.initializer.as_ref().map(|value| code(value));
            CodeParam::Name(ParamBinding { name: id.name.to_string(), default })
        }
        BindingPattern::ObjectPattern(object) => {
            let field = |property: &BindingProperty<'_>| Some((key(&property.key)?, binding(&property.value)?));
            CodeParam::Fields(object.properties.iter().filter_map(field).collect())
        }
        _ => CodeParam::Other,
    };
    params.items.iter().map(one).collect()
}

fn binding(pattern: &BindingPattern<'_>) -> Option<ParamBinding> {
    match pattern {
        BindingPattern::AssignmentPattern(assigned) => {
            Some(ParamBinding { name: bound(&assigned.left)?, default: Some(code(&assigned.right)) })
        }
        pattern => Some(ParamBinding { name: bound(pattern)?, default: None }),
    }
}

fn key(key: &PropertyKey<'_>) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(id) => Some(id.name.to_string()),
        PropertyKey::StringLiteral(text) => Some(text.value.to_string()),
        _ => None,
    }
}

fn code(expression: &Expression<'_>) -> TestCode {
    let span = expression.span();
    let kind = match expression {
        Expression::StringLiteral(text) => CodeKind::Text(text.value.to_string()),
        Expression::TemplateLiteral(template) => {
            let texts = template
                .quasis
                .iter()
                .map(|part| part.value.cooked.as_ref().map_or_else(|| part.value.raw.to_string(), ToString::to_string));
            CodeKind::Template(texts.collect(), template.expressions.iter().map(code).collect())
        }
        Expression::NumericLiteral(number) => CodeKind::Number(number.value),
        Expression::BooleanLiteral(flag) => CodeKind::Flag(flag.value),
        Expression::NullLiteral(_) => CodeKind::Name("null".to_string()),
        Expression::RegExpLiteral(pattern) => {
            CodeKind::Pattern { source: pattern.regex.pattern.text.to_string(), flags: pattern.regex.flags.to_string() }
        }
        Expression::ObjectExpression(object) => {
            let entries = object.properties.iter().filter_map(|property| match property {
                ObjectPropertyKind::ObjectProperty(property) => Some((key(&property.key)?, code(&property.value))),
                ObjectPropertyKind::SpreadProperty(spread) => Some(("...".to_string(), code(&spread.argument))),
            });
            CodeKind::Object(entries.collect())
        }
        Expression::ArrayExpression(list) => CodeKind::List(list.elements.iter().map(element).collect()),
        Expression::Identifier(id) => CodeKind::Name(id.name.to_string()),
        Expression::StaticMemberExpression(member) => {
            CodeKind::Member(Box::new(code(&member.object)), member.property.name.to_string())
        }
        Expression::CallExpression(call) => {
            CodeKind::Call(Box::new(code(&call.callee)), call.arguments.iter().map(argument).collect())
        }
        Expression::ArrowFunctionExpression(arrow) => {
            let body = match &arrow.body {
                ArrowFunctionBody::FunctionBody(body) => statements(&body.statements),
                other => other.as_expression().map(only).into_iter().collect(),
            };
            CodeKind::Function(Box::new(CodeFunction { params: parameters(&arrow.params), body }))
        }
        Expression::FunctionExpression(inner) => match &inner.body {
            Some(body) => CodeKind::Function(Box::new(function(&inner.params, body))),
            None => CodeKind::Other,
        },
        Expression::AwaitExpression(awaited) => CodeKind::Await(Box::new(code(&awaited.argument))),
        Expression::ParenthesizedExpression(inner) => return code(&inner.expression),
        Expression::TSAsExpression(inner) => return code(&inner.expression),
        Expression::TSNonNullExpression(inner) => return code(&inner.expression),
        Expression::TSSatisfiesExpression(inner) => return code(&inner.expression),
        Expression::BinaryExpression(binary) if binary.operator.as_str() == "+" => {
            CodeKind::Sum(Box::new(code(&binary.left)), Box::new(code(&binary.right)))
        }
        _ => CodeKind::Other,
    };
    TestCode { start: span.start as usize, end: span.end as usize, kind }
}

/// An arrow function without braces.
fn only(expression: &Expression<'_>) -> CodeStatement {
    let span = expression.span();
    let kind = StatementKind::Expression(code(expression));
    CodeStatement { start: span.start as usize, end: span.end as usize, kind }
}

fn element(element: &ArrayExpressionElement<'_>) -> TestCode {
    let span = element.span();
    element.as_expression().map_or(other(span.start, span.end), code)
}

fn argument(argument: &Argument<'_>) -> TestCode {
    let span = argument.span();
    argument.as_expression().map_or(other(span.start, span.end), code)
}

fn other(start: u32, end: u32) -> TestCode {
    TestCode { start: start as usize, end: end as usize, kind: CodeKind::Other }
}

impl TestCode {
    /// Without `await`.
    pub fn awaited(&self) -> &TestCode {
        match &self.kind {
            CodeKind::Await(inner) => inner,
            _ => self,
        }
    }

    pub fn field(&self, name: &str) -> Option<&TestCode> {
        match &self.kind {
            CodeKind::Object(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// `a.b.c` as its names.
    pub fn names(&self) -> Option<Vec<&str>> {
        match &self.kind {
            CodeKind::Name(name) => Some(vec![name]),
            CodeKind::Member(object, property) => {
                let mut names = object.names()?;
                names.push(property);
                Some(names)
            }
            _ => None,
        }
    }
}
