//! Parses text into [`YamlNode`]s, within limits.

use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use super::node::{Source, Span, Style, YamlKind, YamlNode};
use super::place;
use super::problem::Problems;
use crate::limits;
use crate::template;

/// Reads a file with one document. Returns `None` if the file is empty or, if there are problems, invalid.
pub fn read(source: &Arc<Source>, problems: &mut Problems) -> Option<YamlNode> {
    if source.text.len() > limits::FILE_BYTES {
        let message = format!("the file has {} bytes; the limit is {}", source.text.len(), limits::FILE_BYTES);
        problems.error(Span { line: 1, column: 1, ..Span::default() }, message);
        return None;
    }
    let mut reader = EventReader {
        text: &source.text,
        bytes: byte_offsets(&source.text),
        parser: Parser::new_from_str(&source.text),
        anchors: HashMap::new(),
        nodes: 0,
        text_bytes: 0,
        copied: 0,
        read_to: 0,
        n_open: 0,
    };
    reader.document().unwrap_or_else(|Broken { span, message, hint }| {
        match hint {
            Some(hint) => problems.error_with_hint(span, message, hint),
            None => problems.error(span, message),
        }
        None
    })
}

struct Broken {
    span: Span,
    message: String,
    hint: Option<String>,
}

impl Broken {
    fn new(span: Span, message: impl Into<String>) -> Broken {
        Broken { span, message: message.into(), hint: None }
    }

    fn too_deep(span: Span) -> Broken {
        Broken::new(span, format!("the file is nested deeper than {} levels", limits::YAML_DEPTH))
    }

    fn hint(self, hint: impl Into<String>) -> Broken {
        Broken { hint: Some(hint.into()), ..self }
    }
}

struct EventReader<'t> {
    text: &'t str,
    /// The byte offset of each character; `None` if all characters are ASCII.
    bytes: Option<Vec<usize>>,
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// Anchored nodes, each with its size.
    anchors: HashMap<usize, (YamlNode, TreeSize)>,
    /// How many nodes were read, aliases included, and how long their texts are together.
    nodes: usize,
    text_bytes: usize,
    /// How much anchors and aliases copied: nodes and bytes of text.
    copied: usize,
    /// The end of the parser's last event.
    read_to: usize,
    /// How many collections are open there.
    n_open: usize,
}

/// How large a value is, with all that is nested in it.
#[derive(Clone, Copy)]
struct TreeSize {
    nodes: usize,
    text_bytes: usize,
    /// How many levels are beneath it.
    height: usize,
}

fn height(node: &YamlNode) -> usize {
    match &node.kind {
        YamlKind::Scalar { .. } => 0,
        YamlKind::Seq(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        YamlKind::Map(entries) => 1 + entries.iter().map(|(_, value)| height(value)).max().unwrap_or(0),
    }
}

fn byte_offsets(text: &str) -> Option<Vec<usize>> {
    (!text.is_ascii()).then(|| text.char_indices().map(|(byte, _)| byte).collect())
}

/// The anchor and tag before a value; anchors count from 1.
fn n_properties(anchor: usize, has_tag: bool) -> usize {
    usize::from(anchor != 0) + usize::from(has_tag)
}

impl<'t> EventReader<'t> {
    fn document(&mut self) -> Result<Option<YamlNode>, Broken> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(Broken::new(span, "a second document starts here; a file must contain only one"));
                }
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                event => root = Some(self.node(event, span, 0)?),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Broken> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                let span = self.span(span);
                self.read_to = span.end;
                match event {
                    Event::SequenceStart(..) | Event::MappingStart(..) => self.n_open += 1,
                    Event::SequenceEnd | Event::MappingEnd => self.n_open -= 1,
                    _ => {}
                }
                Ok((event, span))
            }
            Some(Err(error)) => Err(self.broken(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<YamlNode, Broken> {
        let (nodes_before, text_before) = (self.nodes, self.text_bytes);
        self.nodes += 1;
        if self.nodes > limits::YAML_NODES {
            return Err(Broken::new(span, format!("the file has more than {} values", limits::YAML_NODES)));
        }
        if depth > limits::YAML_DEPTH {
            return Err(Broken::too_deep(span));
        }
        let (node, anchor) = match event {
            Event::Scalar(raw, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let tag = match tag {
                    Some(tag) if tag.is_yaml_core_schema() => Some(tag.suffix.clone()),
                    Some(tag) => {
                        return Err(Broken::new(
                            span,
                            format!("the tag `{}{}` is not supported", tag.handle, tag.suffix),
                        ));
                    }
                    None => None,
                };
                let span = self.scalar_span(span, &raw, style, n_properties(anchor, tag.is_some()));
                self.text_bytes += raw.len();
                (YamlNode { span, kind: YamlKind::Scalar { raw: raw.into_owned(), style, tag } }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                let span = place::without_properties(self.text, span, n_properties(anchor, tag.is_some()));
                let mut items = Vec::new();
                let end = loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => break end,
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                };
                (YamlNode { span: self.collection_span(span, end, items.last()), kind: YamlKind::Seq(items) }, anchor)
            }
            Event::MappingStart(anchor, tag) => {
                let span = place::without_properties(self.text, span, n_properties(anchor, tag.is_some()));
                let mut entries: Vec<(YamlNode, YamlNode)> = Vec::new();
                let mut names = AnchorNames::default();
                let end = loop {
                    let (event, key_span) = match self.next()? {
                        (Event::MappingEnd, end) => break end,
                        other => other,
                    };
                    let key = self.node(event, key_span, depth + 1)?;
                    let Some(name) = key.raw() else {
                        if let Some(unquoted) = self.unquoted_template(key.span) {
                            return Err(unquoted);
                        }
                        return Err(Broken::new(key.span, format!("a key must be a single value, not {}", key.noun())));
                    };
                    if let Some(line) = names.line_of(name, key.span.line, &entries) {
                        return Err(Broken::new(key.span, format!("the key `{name}` is duplicated"))
                            .hint(format!("the first one is on line {line}; remove one of them")));
                    }
                    let (event, mut value_span) = self.next()?;
                    // The parser reports the first item as the start of a sequence that is not indented.
                    if matches!(event, Event::SequenceStart(..)) {
                        value_span = place::first_dash(self.text, key.span.end, value_span);
                    }
                    let mut value = self.node(event, value_span, depth + 1)?;
                    if value.raw() == Some("") && value.is_null() {
                        value.span = place::unwritten(self.text, key.span.end, value.span);
                    }
                    entries.push((key, value));
                };
                let last = entries.last().map(|(_, value)| value);
                (YamlNode { span: self.collection_span(span, end, last), kind: YamlKind::Map(entries) }, anchor)
            }
            Event::Alias(anchor) => {
                let Some(size) = self.anchors.get(&anchor).map(|(_, size)| *size) else {
                    return Err(Broken::new(span, "the alias refers to an anchor that is not complete here"));
                };
                if depth + size.height > limits::YAML_DEPTH {
                    return Err(Broken::too_deep(span));
                }
                self.nodes += size.nodes;
                self.text_bytes += size.text_bytes;
                self.count_copy(size, span)?;
                return Ok(YamlNode { span, kind: self.anchors[&anchor].0.kind.clone() });
            }
            other => unreachable!("the parser gives no {other:?} inside a document"),
        };
        if anchor != 0 {
            let (nodes, text_bytes) = (self.nodes - nodes_before, self.text_bytes - text_before);
            let size = TreeSize { nodes, text_bytes, height: height(&node) };
            self.count_copy(size, node.span)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        Ok(node)
    }

    /// Counts a copy before it is made, so that a file cannot expand to much more than its size.
    fn count_copy(&mut self, size: TreeSize, span: Span) -> Result<(), Broken> {
        self.copied += size.nodes + size.text_bytes;
        if self.copied > limits::YAML_COPIES + limits::YAML_COPIES_PER_BYTE * self.text.len() {
            let message = "the anchors and aliases make this file many times as large as it is";
            return Err(Broken::new(span, message).hint("write such values out where they are used"));
        }
        Ok(())
    }

    fn span(&self, span: saphyr_parser::Span) -> Span {
        Span {
            start: self.byte(span.start.index()),
            end: self.byte(span.end.index()),
            line: span.start.line(),
            column: span.start.col() + 1,
        }
    }

    fn scalar_span(&self, span: Span, raw: &str, style: Style, n_properties: usize) -> Span {
        // The parser reports the first line as the start of a block scalar, after the properties.
        if style == Style::Block {
            return place::block_span(self.text, span, raw);
        }
        let span = place::without_properties(self.text, span, n_properties);
        let end = match style {
            Style::Plain if raw.is_empty() => span.start,
            Style::Quoted => place::quoted_end(self.text, span.start).unwrap_or(span.end),
            _ => span.end,
        };
        Span { end, ..span }
    }

    fn is_flow(&self, span: Span) -> bool {
        self.text[span.start..].starts_with(['[', '{'])
    }

    /// The parser ends a block collection where the next token starts; our span ends with its last value.
    fn collection_span(&self, start: Span, end: Span, last: Option<&YamlNode>) -> Span {
        let inner_end = last.map_or(start.start, |last| last.span.end.max(start.start));
        let end = match self.is_flow(start) {
            true => place::bracket_end(self.text, inner_end.max(start.start + 1)).unwrap_or(end.end.max(start.end)),
            false if last.is_some() => inner_end.max(start.end),
            false => end.end.max(start.end),
        };
        Span { end, ..start }
    }

    fn byte(&self, index: usize) -> usize {
        match &self.bytes {
            Some(bytes) => bytes.get(index).copied().unwrap_or(self.text.len()),
            None => index.min(self.text.len()),
        }
    }

    fn broken(&self, error: &ScanError) -> Broken {
        let mark = error.marker();
        let start = self.byte(mark.index());
        let span = Span { start, end: start, line: mark.line(), column: mark.col() + 1 };
        // The parser reads brackets ahead and has its own limit.
        let n_more = (limits::YAML_DEPTH + 1).saturating_sub(self.n_open);
        if let Some(deep) = place::nth_bracket(self.text, self.read_to, start, n_more) {
            return Broken::too_deep(Span { end: deep + 1, ..place::moved(self.text, span, deep) });
        }
        // The parser may report the line before the tab that it rejects.
        let tab = [span.line, span.line + 1].into_iter().find_map(|line| {
            let text = self.text.lines().nth(line.saturating_sub(1))?;
            let indent = &text[..text.len() - text.trim_start().len()];
            indent.find('\t').map(|column| (line, column))
        });
        match tab {
            Some((line, column)) => {
                let lines = self.text.split_inclusive('\n').take(line.saturating_sub(1));
                let start = lines.map(str::len).sum::<usize>() + column;
                let span = Span { start, end: start + 1, line, column: column + 1 };
                Broken::new(span, "this line is indented with a tab").hint("use spaces to indent YAML")
            }
            None => self
                .unquoted_template(span)
                .unwrap_or_else(|| Broken::new(span, format!("invalid YAML: {}", error.info()))),
        }
    }

    /// The problem of an unquoted template, if there is one at this place. YAML reads its braces as mappings, so the place
    /// is its first or second character.
    fn unquoted_template(&self, span: Span) -> Option<Broken> {
        [span.start, span.start.checked_sub(1)?].into_iter().find_map(|start| {
            let line = self.text.get(start..)?.lines().next()?;
            let token = template::tokens(line).next().filter(|token| line.starts_with(token.raw))?;
            let at = Span { end: start + token.raw.len(), ..place::moved(self.text, span, start) };
            let message = format!("`{}` must be quoted, because YAML reads an unquoted `{{` as a mapping", token.raw);
            Some(Broken::new(at, message).hint(format!("quote the whole value, as in '{}'", token.raw)))
        })
    }
}

/// The keys of a mapping so far. A few are searched linearly; only many need a hash table.
#[derive(Default)]
struct AnchorNames {
    lines: HashMap<String, usize>,
}

impl AnchorNames {
    const FEW: usize = 16;

    /// Returns the line of an earlier occurrence of the key, or remembers the key.
    fn line_of(&mut self, name: &str, line: usize, entries: &[(YamlNode, YamlNode)]) -> Option<usize> {
        if entries.len() < AnchorNames::FEW {
            return entries.iter().find(|(key, _)| key.raw() == Some(name)).map(|(key, _)| key.span.line);
        }
        if self.lines.is_empty() {
            let noted = |(key, _): &(YamlNode, YamlNode)| (key.raw().unwrap_or_default().to_string(), key.span.line);
            self.lines = entries.iter().map(noted).collect();
        }
        self.lines.insert(name.to_string(), line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_key_is_found_among_few_and_among_many() {
        for n_keys in [1, 15, 16, 17, 100] {
            let keys: String = (0..n_keys).map(|number| format!("k{number}: 1\n")).collect();
            assert!(check(&keys).is_ok(), "{n_keys}");
            for again in [0, n_keys - 1] {
                let place = format!("a.yaml:{}:1: the key `k{again}` is duplicated", n_keys + 1);
                let hint = format!("(the first one is on line {}; remove one of them)", again + 1);
                assert_eq!(refused(&format!("{keys}k{again}: 2\n")), format!("{place} {hint}"));
            }
        }
    }

    fn check(text: &str) -> Result<Option<YamlNode>, Vec<String>> {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        let node = read(&source, &mut problems);
        if problems.has_errors() {
            return Err(problems.into_vec().iter().map(ToString::to_string).collect());
        }
        Ok(node)
    }

    fn refused(text: &str) -> String {
        check(text).expect_err("the text is broken").join("\n")
    }

    #[test]
    fn spans_are_bytes_even_after_non_ascii_text() {
        let text = "title: Zürich\nlist:\n  - 'ä'\n  - b\n";
        let node = check(text).unwrap().unwrap();
        let item = &node.get("list").unwrap().items().unwrap()[1];
        assert_eq!((&text[item.span.start..item.span.end], item.span.line, item.span.column), ("b", 4, 5));
        let list = node.get("list").unwrap();
        assert_eq!(&text[list.span.start..list.span.end], "- 'ä'\n  - b");
    }

    fn shown(text: &str, key: &str) -> (String, usize, usize) {
        let node = check(text).unwrap().unwrap();
        let span = node.get(key).expect("the key is there").span;
        (text[span.start..span.end].to_string(), span.line, span.column)
    }

    #[test]
    fn a_span_contains_only_the_value() {
        let expect = |text: &str, line, column| (text.to_string(), line, column);
        assert_eq!(shown("a: 'it''s'  # why\n", "a"), expect("'it''s'", 1, 4));
        assert_eq!(shown("a: \"\\\" #\"  # why\n", "a"), expect("\"\\\" #\"", 1, 4));
        assert_eq!(shown("a: &x !!map {k: v} # why\n", "a"), expect("{k: v}", 1, 13));
        assert_eq!(shown("a: &x # why\n  k: v\n", "a"), expect("k: v", 2, 3));
        assert_eq!(shown("a: # why\r\n- b\r\n- c:\r\n# end\r\n", "a"), expect("- b\r\n- c:", 2, 1));
        assert_eq!(shown("a:\n- - b\n", "a"), expect("- - b", 2, 1));
        assert_eq!(shown("a: |\n  b\n\n# end\n", "a"), expect("b", 2, 3));
        assert_eq!(shown("a: |+\n  b\n\n# end\n", "a"), expect("b\n\n", 2, 3));
        assert_eq!(shown("a : # why\n\n# end\n", "a"), expect("", 1, 4));
        assert_eq!(shown("{a, b: 1}", "a"), expect("", 1, 3));
    }

    #[test]
    fn invalid_files_are_rejected_with_the_place() {
        let source = Source::new("a.yaml", "a:\r\n\tb: 1\r\n");
        let mut problems = Problems::new(&source);
        assert_eq!(read(&source, &mut problems), None);
        assert_eq!(problems.into_vec()[0].span, Span { start: 4, end: 5, line: 2, column: 1 });
        let tab_below = "a.yaml:2:1: this line is indented with a tab (use spaces to indent YAML)";
        assert_eq!(refused("- step: Pay\n\ttools: []\n"), tab_below);
        assert_eq!(refused("a:\n\tb: 1\n"), "a.yaml:2:1: this line is indented with a tab (use spaces to indent YAML)");
        assert_eq!(
            refused("a: 1\nb: 2\na: 3\n"),
            "a.yaml:3:1: the key `a` is duplicated (the first one is on line 1; remove one of them)"
        );
        assert_eq!(
            refused("a: 1\n---\nb: 2\n"),
            "a.yaml:2:1: a second document starts here; a file must contain only one"
        );
        assert!(refused("a: [1, 2\n").starts_with("a.yaml:2:1: invalid YAML"), "{}", refused("a: [1, 2\n"));
        assert!(refused("a: !thing x\n").contains("tag"));
        assert!(refused("? [a]\n: b\n").contains("a key must be a single value"));
    }

    #[test]
    fn anchors_and_aliases_copy_little_more_than_the_file_has() {
        let too_large = "the anchors and aliases make this file many times as large as it is";
        // Few bytes that expand to many values.
        let mut values = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
        for (name, of) in ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"]) {
            values +=
                &format!("{name}: &{name} [*{of}, *{of}, *{of}, *{of}, *{of}, *{of}, *{of}, *{of}, *{of}, *{of}]\n");
        }
        assert!(refused(&values).contains(too_large), "{}", refused(&values));
        // One long text that is used often.
        let text = format!("a: &a '{}'\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(1_000));
        assert!(refused(&text).contains(too_large), "{}", refused(&text));
        // A large value inside many anchors.
        let anchors: String = (0..90).map(|n| format!("&a{n} [")).collect();
        let nested = format!("a: {anchors}{}{}\n", "xxxx, ".repeat(10_000), "]".repeat(90));
        assert!(refused(&nested).contains(too_large), "{}", refused(&nested));
        // Each alias one level deeper than the last.
        let chain: String = (1..200).map(|n| format!("k{n}: &k{n} [*k{}]\n", n - 1)).collect();
        let deep = refused(&format!("k0: &k0 x\n{chain}"));
        assert_eq!(deep, "a.yaml:101:14: the file is nested deeper than 100 levels");
        // What people write.
        let shared: String = (0..500).map(|n| format!("k{n}: *shared\n")).collect();
        assert!(check(&format!("a: &shared {{user: ada, password: '{}'}}\n{shared}", "x".repeat(40))).is_ok());
    }

    /// Looking back to the start of the line for every value would take minutes.
    #[test]
    fn a_long_line_is_read_once() {
        let n_values = 50_000;
        let values: String = (0..n_values).map(|n| format!("&a{n} !!str {n}, ")).collect();
        let text = format!("é: [{values}]\n");
        let node = check(&text).unwrap().unwrap();
        let last = node.get("é").unwrap().items().unwrap().last().unwrap();
        let before_last = text.find(&format!("{}, ]", n_values - 1)).unwrap();
        assert_eq!((last.span.start, last.span.line), (before_last, 1));
        assert_eq!(last.span.column, text[..before_last].chars().count() + 1);
    }

    #[test]
    fn nesting_and_size_have_limits() {
        assert!(refused(&"[".repeat(200)).contains("nested deeper than 100 levels"));
        // Deeper than the parser's own limit; reported at the place where our limit is exceeded.
        let deep = "a.yaml:2:104: the file is nested deeper than 100 levels";
        assert_eq!(refused(&format!("a: 1\nb: {}", "[".repeat(1000))), deep);
        assert_eq!(refused(&format!("a: 1\nb: {}1{}", "[".repeat(1000), "]".repeat(1000))), deep);
        let maps = refused(&format!("a: 1\nb: {}", "{k: ".repeat(1000)));
        assert_eq!(maps, "a.yaml:2:401: the file is nested deeper than 100 levels");
        assert!(refused(&"x".repeat(limits::FILE_BYTES + 1)).contains("the limit is"));
    }

    #[test]
    fn an_alias_has_the_value_of_its_anchor() {
        let node = check("a: &x {k: v}\nb: *x\n").unwrap().unwrap();
        assert_eq!(node.get("b").unwrap().get("k").unwrap().raw(), Some("v"));
    }
}
