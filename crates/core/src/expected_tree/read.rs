//! Reads the text of an expected tree.

use super::{ExpectedItem, ExpectedWords};
use crate::query::is_mark;
use crate::screen::fold;
use crate::selector::{Case, Pattern};
use crate::template;

/// The most lines.
const LINES: usize = 1000;
/// The deepest nesting.
const DEPTH: usize = 50;
/// The roles that people write by hand.
const COMMON_ROLES: &[&str] = &[
    "alert",
    "alertdialog",
    "article",
    "banner",
    "button",
    "cell",
    "checkbox",
    "columnheader",
    "combobox",
    "complementary",
    "contentinfo",
    "dialog",
    "figure",
    "form",
    "generic",
    "grid",
    "gridcell",
    "group",
    "heading",
    "img",
    "link",
    "list",
    "listbox",
    "listitem",
    "main",
    "menu",
    "menubar",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "navigation",
    "option",
    "paragraph",
    "progressbar",
    "radio",
    "radiogroup",
    "region",
    "row",
    "rowgroup",
    "rowheader",
    "search",
    "searchbox",
    "separator",
    "slider",
    "spinbutton",
    "status",
    "switch",
    "tab",
    "table",
    "tablist",
    "tabpanel",
    "text",
    "textbox",
    "toolbar",
    "tooltip",
    "tree",
    "treeitem",
];

/// What is wrong with the text of an expected tree, and where: line and column, from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct TreeSyntaxError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

pub fn read(text: &str) -> Result<Vec<ExpectedItem>, TreeSyntaxError> {
    let mut items: Vec<ExpectedItem> = Vec::new();
    // The indentation of the items that the next line may be beneath or beside.
    let mut open: Vec<usize> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        let words = line.trim_start();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        let error = |column: usize, message: String| TreeSyntaxError { line: number, column, message };
        let indent = line.len() - words.len();
        if let Some(tab) = line[..indent].find(|c| c != ' ') {
            return Err(error(tab + 1, "indent with spaces only".to_string()));
        }
        let Some(item) = words.strip_prefix("- ").or((words == "-").then_some("")) else {
            return Err(error(indent + 1, "each line starts with `- `, as in `- button \"Pay\"`".to_string()));
        };
        while open.last().is_some_and(|last| indent < *last) {
            open.pop();
        }
        match open.last() {
            Some(last) if indent == *last => {}
            // A line further in is beneath the one before it; one further out must be beside an earlier one.
            _ if items.last().is_none_or(|last| is_beneath(last, indent, &open)) => open.push(indent),
            _ => {
                return Err(error(indent + 1, "this indentation is that of no line above it".to_string()));
            }
        }
        if open.len() > DEPTH || items.len() >= LINES {
            return Err(error(indent + 1, format!("a tree has at most {LINES} lines and {DEPTH} levels")));
        }
        let mut reader = LineReader { line: words, at: words.len() - item.len() };
        let item = reader.item(number, open.len() - 1);
        items.push(item.map_err(|(at, message)| error(indent + column_of(words, at), message))?);
    }
    if items.is_empty() {
        let message = "the tree is empty; write lines such as `- button \"Pay\"`".to_string();
        return Err(TreeSyntaxError { line: 1, column: 1, message });
    }
    for at in 0..items.len() {
        let beneath = items[at + 1..].iter().take_while(|item| item.depth > items[at].depth).count();
        items[at].end = at + 1 + beneath;
    }
    Ok(items)
}

/// Whether a line of this indentation, which no open item has, is beneath the last item.
fn is_beneath(last: &ExpectedItem, indent: usize, open: &[usize]) -> bool {
    open.len() == last.depth + 1 && open.last().is_some_and(|own| indent > *own)
}

/// What is wrong with words in the place of a role: a name without quotes, or a misspelt role. Classes of apps are roles, too.
fn misread(role: &str) -> Option<String> {
    let (first, rest) = role.split_once(' ').unwrap_or((role, ""));
    if COMMON_ROLES.contains(&first) && rest.starts_with(char::is_uppercase) {
        return Some(format!("put the name in quotes: `- {first} \"{rest}\"`"));
    }
    let is_lower = role.len() > 4 && role.chars().all(|c| c.is_ascii_lowercase());
    if !is_lower || COMMON_ROLES.contains(&role) {
        return None;
    }
    let is_near = |known: &&&str| known[..1] == role[..1] && strsim::osa_distance(known, role) <= 2;
    let known = COMMON_ROLES.iter().find(is_near)?;
    Some(format!("there is no role `{role}`; did you mean `{known}`?"))
}

/// The column of a byte of a line, from 1.
fn column_of(line: &str, at: usize) -> usize {
    line.get(..at).unwrap_or(line).chars().count() + 1
}

/// A mistake, and the byte where it is.
type Mistake = (usize, String);

/// Reads one line from its dash on.
struct LineReader<'t> {
    line: &'t str,
    /// How many bytes were read.
    at: usize,
}

impl<'t> LineReader<'t> {
    fn rest(&self) -> &'t str {
        &self.line[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.line.len() - self.rest().trim_start().len();
    }

    fn item(&mut self, number: usize, depth: usize) -> Result<ExpectedItem, Mistake> {
        self.skip_spaces();
        let written = self.line.to_string();
        let role = self.role()?;
        let name = self.words()?;
        let mut marks = Vec::new();
        while let Some(mark) = self.mark()? {
            marks.push(mark);
        }
        let text = self.text()?;
        if role.is_none() && name.is_none() && text.is_none() {
            return Err((self.at, "a line needs a role or a name, as in `- button \"Pay\"`".to_string()));
        }
        Ok(ExpectedItem { line: number, written, depth, end: 0, role, name, text, marks })
    }

    /// The words in front of a name, a mark or a colon.
    fn role(&mut self) -> Result<Option<String>, Mistake> {
        let rest = self.rest();
        let is_end = |(at, char): (usize, char)| match char {
            '"' | ':' => true,
            '/' | '[' => at == 0 || rest[..at].ends_with(' '),
            _ => false,
        };
        let end = rest.char_indices().find(|found| is_end(*found)).map_or(rest.len(), |(at, _)| at);
        let role = rest[..end].trim();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
        if let Some(wrong) = role.find(|c| !is_word(c)) {
            let message = format!("`{role}` is no role; put a name in quotes, as in `- button \"Pay\"`");
            return Err((self.at + wrong, message));
        }
        if let Some(message) = misread(role) {
            return Err((self.at, message));
        }
        self.at += end;
        Ok((!role.is_empty()).then(|| role.to_string()))
    }

    /// A text in quotes, or an expression between slashes.
    fn words(&mut self) -> Result<Option<ExpectedWords>, Mistake> {
        self.skip_spaces();
        let rest = self.rest();
        if let Some(inner) = rest.strip_prefix('/') {
            let end = closing_slash(inner)
                .ok_or_else(|| (self.at, "the pattern does not end; write `/` after it".to_string()))?;
            let pattern = self.pattern(&inner[..end])?;
            self.at += end + 2;
            return Ok(Some(pattern));
        }
        let Some(inner) = rest.strip_prefix('"') else { return Ok(None) };
        let (text, end) =
            unquoted(inner).ok_or_else(|| (self.at, "the name does not end; write `\"` after it".to_string()))?;
        self.at += end + 2;
        Ok(Some(ExpectedWords::Is(fold(&text))))
    }

    fn pattern(&self, source: &str) -> Result<ExpectedWords, Mistake> {
        // A slash needs no backslash in our expressions, and a secret is only known by its name.
        let mut plain = source.replace("\\/", "/");
        for token in template::tokens(source) {
            plain = plain.replace(token.raw, &format!("\\Q{}\\E", token.raw));
        }
        let pattern = Pattern::new(plain, Case::Sensitive);
        if pattern.is_invalid() {
            return Err((self.at, format!("`{source}` is not a valid regular expression")));
        }
        Ok(ExpectedWords::Matches(pattern))
    }

    fn mark(&mut self) -> Result<Option<String>, Mistake> {
        self.skip_spaces();
        let Some(inner) = self.rest().strip_prefix('[') else { return Ok(None) };
        let end = inner.find(']').ok_or_else(|| (self.at, "the mark does not end; write `]` after it".to_string()))?;
        let mark = fold(&inner[..end]);
        if !is_mark(&mark) {
            return Err((self.at, format!("`[{mark}]` is no mark of a snapshot, such as [checked] or [disabled]")));
        }
        self.at += end + 2;
        Ok(Some(mark))
    }

    /// What follows the colon at the end.
    fn text(&mut self) -> Result<Option<ExpectedWords>, Mistake> {
        self.skip_spaces();
        if self.rest().is_empty() {
            return Ok(None);
        }
        if !self.rest().starts_with(':') {
            let message = "expected a name in quotes, a mark in brackets, or `:`".to_string();
            return Err((self.at, message));
        }
        self.at += 1;
        self.skip_spaces();
        let rest = self.rest();
        if rest.is_empty() {
            return Ok(None);
        }
        if rest.starts_with('"') || rest.starts_with('/') && rest.len() > 1 && rest.ends_with('/') {
            let words = self.words()?;
            return match self.rest().trim() {
                "" => Ok(words),
                _ => Err((self.at, "nothing may follow the text".to_string())),
            };
        }
        self.at = self.line.len();
        Ok(Some(ExpectedWords::Is(fold(rest))))
    }
}

/// The text up to the closing quote, without its backslashes, and where that quote is.
fn unquoted(inner: &str) -> Option<(String, usize)> {
    let (mut text, mut chars) = (String::new(), inner.char_indices());
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((text, at)),
            '\\' => text.push(chars.next()?.1),
            char => text.push(char),
        }
    }
    None
}

/// The first slash that ends a pattern: it is not escaped, and a mark, a colon or nothing follows.
fn closing_slash(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, char) in text.char_indices() {
        let after = text[at + char.len_utf8()..].trim_start();
        let is_end = after.is_empty() || after.starts_with(['[', ':']);
        if char == '/' && !is_escaped && is_end {
            return Some(at);
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    None
}
