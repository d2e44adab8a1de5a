//! YAML values with their places in the file.

use std::sync::Arc;

/// The text of a file. All spans refer to one.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The path, as shown to the user.
    pub path: String,
    pub text: String,
}

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { path: path.into(), text: text.into() })
    }
}

/// A range of bytes of a file, and the line and column (both from 1) where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    /// Single or double quoted.
    Quoted,
    /// A `|` or `>` block.
    Block,
}

#[derive(Debug, Clone, PartialEq)]
pub enum YamlKind {
    Scalar {
        raw: String,
        style: Style,
        /// The suffix of a core-schema tag: `int` for `!!int`.
        tag: Option<String>,
    },
    Seq(Vec<YamlNode>),
    /// Entries in file order; keys are scalars and unique.
    Map(Vec<(YamlNode, YamlNode)>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct YamlNode {
    pub span: Span,
    pub kind: YamlKind,
}

impl YamlNode {
    /// The raw text of a scalar, regardless of its type.
    pub fn raw(&self) -> Option<&str> {
        match &self.kind {
            YamlKind::Scalar { raw, .. } => Some(raw),
            _ => None,
        }
    }

    /// Whether the value is empty: `key:` or `key: null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, YamlKind::Scalar { raw, style: Style::Plain, tag: None } if super::scalar::is_null(raw))
    }

    pub fn entries(&self) -> Option<&[(YamlNode, YamlNode)]> {
        match &self.kind {
            YamlKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn items(&self) -> Option<&[YamlNode]> {
        match &self.kind {
            YamlKind::Seq(items) => Some(items),
            _ => None,
        }
    }

    pub fn get(&self, key: &str) -> Option<&YamlNode> {
        self.entries()?.iter().find(|(name, _)| name.raw() == Some(key)).map(|(_, value)| value)
    }

    /// Visits the value and all nested values, but not keys.
    pub fn walk<'n>(&'n self, visit: &mut impl FnMut(&'n YamlNode)) {
        visit(self);
        match &self.kind {
            YamlKind::Scalar { .. } => {}
            YamlKind::Seq(items) => items.iter().for_each(|item| item.walk(visit)),
            YamlKind::Map(entries) => entries.iter().for_each(|(_, value)| value.walk(visit)),
        }
    }

    /// What sort of value it is, for messages.
    pub fn noun(&self) -> &'static str {
        match &self.kind {
            YamlKind::Scalar { .. } if self.is_null() => "nothing",
            YamlKind::Scalar { style: Style::Quoted | Style::Block, .. } => "a text",
            YamlKind::Scalar { .. } => "a single value",
            YamlKind::Seq(_) => "a list",
            YamlKind::Map(_) => "a mapping",
        }
    }
}
