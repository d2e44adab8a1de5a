//! Descriptions of elements in the format of a snapshot, so that its lines can be used as input: `button "Pay"`.

use trailblaze_protocol::geometry::Point;

use super::search::is_folded_equal;
use super::whereabouts::{Around, container_label, headings_above};
use crate::screen::{Field, Node, fold};
use crate::selector::Outline;
use crate::snapshot::{has_mark, shown_label, shown_row};

/// A line of a snapshot or part of one: a role, a name, marks such as `[id=pay]` or `[checked]`; or a CSS selector and a
/// text; and what it is in, as in an error about several matches. All given parts must match.
///
/// The name may be any part of what a snapshot shows, ignoring case. Elements with exactly this name are preferred to those
/// that differ in case, and these to those that merely contain it.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementDescription {
    written: String,
    pub role: Option<String>,
    pub css: Option<String>,
    pub name: Option<String>,
    pub id: Option<String>,
    /// A single word without quotes: a role if any element on the screen has it, otherwise a name.
    pub may_be_role: bool,
    /// Marks as printed in a snapshot, without brackets.
    marks: Vec<String>,
    around: Option<Around>,
    /// The center of the element.
    at: Option<Point>,
}

/// Why a text is not a description of an element.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoDescription {
    #[error("it is empty")]
    Empty,
    #[error(
        "`[{0}]` is not a mark of a snapshot; marks are [id=ID], [checked], [unchecked], [selected], [focused], \
         [disabled] and the like\nhint: put a name that has brackets in quotes"
    )]
    UnknownMark(String),
    #[error(
        "`{0}` is not understood there; a name in quotes may be followed by marks such as [checked], and by \
         `in ROLE \"NAME\"` or `under heading \"NAME\"`"
    )]
    NotUnderstood(String),
}

/// Marks that are one word, and the prefixes of other marks.
const MARKS: [&str; 7] = ["selected", "focused", "disabled", "checked", "unchecked", "password", "heading"];
const MARKS_WITH_VALUE: [&str; 6] = ["id=", "css=", "level=", "value: ", "state: ", "options: "];

impl ElementDescription {
    pub fn parse(text: &str) -> Result<ElementDescription, NoDescription> {
        let written = text.trim();
        if written.is_empty() {
            return Err(NoDescription::Empty);
        }
        let mut description = ElementDescription {
            written: written.to_string(),
            role: None,
            css: None,
            name: None,
            id: None,
            may_be_role: false,
            marks: Vec::new(),
            around: None,
            at: None,
        };
        if let Some(css) = written.strip_prefix("css=") {
            let (css, name) = css.split_at(css_end(css));
            description.css = Some(css.trim().to_string());
            let (name, rest) = unquote(name).unwrap_or_default();
            description.name = named(&name);
            description.read_marks_and_place(rest)?;
            return Ok(description);
        }
        // A row of a table is printed without its role.
        if is_row(written) {
            description.name = named(written);
            return Ok(description);
        }
        // Headings and list items are printed without their roles.
        if let Some((role, words)) = reading(written) {
            let (name, rest) = unquote(words).unwrap_or((words.to_string(), ""));
            description.role = Some(role.to_string());
            description.name = named(&name);
            description.read_marks_and_place(rest)?;
            return Ok(description);
        }
        // The line of an off-screen field starts with how to scroll to it.
        let line =
            written.strip_prefix("(scroll ").and_then(|rest| rest.split_once(") ")).map_or(written, |(_, line)| line);
        // The first bracket outside of quotes starts the marks, such as `[id=pay]` or `[state: "On"]`.
        let bracket = if line.starts_with('[') { 0 } else { line.find(" [").unwrap_or(line.len()) };
        let opening = line[..bracket].match_indices('"').map(|(at, _)| at);
        let opening = opening.into_iter().find(|at| *at == 0 || line[..*at].ends_with(char::is_whitespace));
        let (head, rest) = line.split_at(opening.unwrap_or(bracket));
        let head = head.trim();
        // `button in listitem "Mug"` has no name.
        let place = opening.and_then(|_| place_in(head));
        match (opening, place) {
            (Some(_), Some(at)) => {
                description.role = named(&head[..at]);
                description.read_marks_and_place(&line[at..])?;
            }
            (Some(_), None) => {
                let (name, rest) = unquote(rest).unwrap_or_default();
                description.name = named(&name);
                description.role = named(head);
                description.read_marks_and_place(rest)?;
            }
            // The heading of a group ends with a colon, and a text that does so is printed in quotes.
            (None, _) if rest.is_empty() => {
                description.may_be_role = true;
                description.name = named(head.strip_suffix(':').unwrap_or(head));
            }
            (None, _) => {
                description.role = named(head);
                description.read_marks_and_place(rest)?;
            }
        }
        Ok(description)
    }

    /// Changes every text to search for, but not how the description is written in messages.
    pub(crate) fn for_each_text(&mut self, change: &impl Fn(&mut String)) {
        let ElementDescription { written: _, role, css, name, id, may_be_role: _, marks, around, at: _ } = self;
        [role, css, name, id].into_iter().flatten().chain(marks).for_each(change);
        match around {
            Some(Around::Container { role, name }) => std::iter::once(role).chain(name).for_each(change),
            Some(Around::Heading { name }) => change(name),
            None => {}
        }
    }

    /// Reads the marks and the place after a name.
    fn read_marks_and_place(&mut self, text: &str) -> Result<(), NoDescription> {
        let mut rest = text.trim();
        while !rest.is_empty() && rest != ":" {
            let unclear = || NoDescription::NotUnderstood(rest.to_string());
            let after = if let Some(inner) = rest.strip_prefix('[') {
                let (mark, after) = split_mark(inner).ok_or_else(unclear)?;
                self.read_mark(mark)?;
                after
            } else if let (Some(words), None) = (rest.strip_prefix("in "), &self.around) {
                let end = words.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(words.len());
                let (role, after) = words.split_at(end);
                let (name, after) =
                    unquote(after.trim_start()).map_or((None, after), |(name, after)| (named(&name), after));
                self.around = Some(Around::Container { role: role.to_string(), name });
                after
            } else if let (Some(words), None) = (rest.strip_prefix("under heading "), &self.around) {
                let (name, after) = unquote(words.trim_start()).ok_or_else(unclear)?;
                self.around = Some(Around::Heading { name });
                after
            } else if let (Some(place), None) = (rest.strip_prefix("at "), self.at) {
                self.at = Some(point(place).ok_or_else(unclear)?);
                ""
            } else {
                return Err(unclear());
            };
            rest = after.trim();
        }
        Ok(())
    }

    fn read_mark(&mut self, mark: &str) -> Result<(), NoDescription> {
        let value = |prefix: &str| {
            let value = mark.strip_prefix(prefix)?;
            Some(unquote(value).map_or(value.to_string(), |(value, _)| value))
        };
        if let Some(id) = value("id=") {
            self.id = Some(id);
        } else if let Some(css) = value("css=") {
            self.css = Some(css);
        } else if is_mark(mark) {
            self.marks.push(fold(mark));
        } else {
            return Err(NoDescription::UnknownMark(mark.to_string()));
        }
        Ok(())
    }

    /// Whether a match depends on other elements: on ancestors, headings or descendants.
    pub fn depends_on_others(&self) -> bool {
        self.around.is_some() || self.marks.iter().any(|mark| is_count(mark))
    }

    /// Whether this is how a snapshot prints the element: the same role, and all of its name.
    pub fn is_of(&self, root: &Node, node: u64) -> bool {
        let outline = Outline::new(root);
        let Some(place) = outline.find(node) else { return false };
        let node = outline.node(place);
        // The value of a field may have changed since.
        let label = node.label().map(fold).unwrap_or_default();
        let is_valued = node.is_editable() || node.props.text(Field::Value).is_some();
        let is_label = |name: &str| {
            is_valued
                && (label.is_empty()
                    || name.strip_prefix(&label).is_some_and(|rest| rest.is_empty() || rest.starts_with(": ")))
        };
        let has_name =
            |name: &str| is_label(name) || fit(&outline, place, &Name::new(name)).is_some_and(|fit| fit < Fit::Part);
        let is_named = match self.name.as_deref() {
            Some(word) if self.may_be_role => is_a(node, word) || has_name(word),
            name => name.is_none_or(has_name),
        };
        is_named
            && self.role.as_deref().is_none_or(|role| is_a(node, role))
            && self.id.as_deref().is_none_or(|id| node.short_id().is_some_and(|own| is_folded_equal(own, id)))
    }

    /// The elements that match best.
    pub(super) fn matching(&self, outline: &Outline<'_>) -> Vec<usize> {
        let is_role = |word: &str| outline.places().any(|place| is_a(outline.node(place), word));
        let (role, name) = match (self.role.as_deref(), self.name.as_deref()) {
            (None, Some(word)) if self.may_be_role && is_role(word) => (Some(word), None),
            both => both,
        };
        let fits = outline.places().filter(|place| {
            let node = outline.node(*place);
            role.is_none_or(|role| is_a(node, role))
                && self.css.as_deref().is_none_or(|css| node.props.text(Field::CssSelector) == Some(css))
                && self.id.as_deref().is_none_or(|id| node.short_id().is_some_and(|own| is_folded_equal(own, id)))
                && self.marks.iter().all(|mark| has_mark(node, mark))
                && self.at.is_none_or(|at| node.bounds.is_some_and(|bounds| bounds.center() == at))
        });
        let name = name.map(Name::new);
        let fits: Vec<(Fit, Fit, usize)> = fits
            .filter_map(|place| {
                let own = name.as_ref().map_or(Some(Fit::Whole), |name| fit(outline, place, name))?;
                let around =
                    self.around.as_ref().map_or(Some(Fit::Whole), |around| fit_around(outline, place, around))?;
                Some((around, own, place))
            })
            .collect();
        let best = fits.iter().map(|(around, own, _)| (*around, *own)).min();
        fits.into_iter().filter(|(around, own, _)| Some((*around, *own)) == best).map(|(.., place)| place).collect()
    }
}

/// Snapshots print `element` for one without class and name.
fn is_a(node: &Node, role: &str) -> bool {
    fold(node.class().unwrap_or("element")).eq_ignore_ascii_case(role)
}

/// Prints the description as written.
impl std::fmt::Display for ElementDescription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.written)
    }
}

/// How well a name matches, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Whole,
    /// It is the element's text, but not its name.
    WholeText,
    WholeInOtherCase,
    Part,
}

/// A name to search for, prepared once for all nodes.
struct Name {
    folded: String,
    lower: String,
}

impl Name {
    fn new(name: &str) -> Name {
        let folded = fold(name);
        Name { lower: folded.to_lowercase(), folded }
    }

    fn fit(&self, own: &str) -> Option<Fit> {
        if is_folded_equal(own, &self.folded) {
            return Some(Fit::Whole);
        }
        let own = fold(own).to_lowercase();
        if own == self.lower {
            return Some(Fit::WholeInOtherCase);
        }
        // Messages shorten long names.
        let is_cut = || self.lower.strip_suffix('…').is_some_and(|begin| own.starts_with(begin));
        (own.contains(&self.lower) || is_cut()).then_some(Fit::Part)
    }
}

fn fit(outline: &Outline<'_>, place: usize, name: &Name) -> Option<Fit> {
    let node = outline.node(place);
    let text = node.text().filter(|_| !node.is_password());
    let (shown, row) = (shown_label(outline, place), shown_row(node));
    let names = [shown.as_deref(), row.as_deref(), node.label()];
    let by_name = names.into_iter().flatten().filter_map(|own| name.fit(own)).min();
    let by_text = text.and_then(|text| name.fit(text)).map(|fit| fit.max(Fit::WholeText));
    by_name.into_iter().chain(by_text).min()
}

/// How well the surroundings of an element match.
fn fit_around(outline: &Outline<'_>, place: usize, around: &Around) -> Option<Fit> {
    match around {
        Around::Container { role, name } => {
            let name = name.as_deref().map(Name::new);
            let own = shown_label(outline, place);
            let fit_one = |container: usize| match &name {
                None => Some(Fit::Whole),
                Some(name) => {
                    let label = container_label(outline, container, own.as_deref());
                    [fit(outline, container, name), label.and_then(|label| name.fit(&label))]
                        .into_iter()
                        .flatten()
                        .min()
                }
            };
            let containers = outline.ancestors(place).filter(|container| is_a(outline.node(*container), role));
            containers.filter_map(fit_one).min()
        }
        Around::Heading { name } => {
            let name = Name::new(name);
            headings_above(outline, place).filter_map(|heading| fit(outline, heading, &name)).min()
        }
    }
}

/// Whether this is a row of a table, some of whose cells are quoted. Only marks have bars outside of quotes otherwise.
fn is_row(line: &str) -> bool {
    let mut rest = line;
    let mut has_quotes = false;
    while let Some(at) = rest.find(['"', '[', '|']) {
        if let Some((_, after)) = unquote(&rest[at..]) {
            has_quotes = true;
            rest = after;
        } else if rest[at..].starts_with("| ") && rest[..at].ends_with(' ') {
            return has_quotes || rest[at..].contains('"');
        } else if rest[at..].starts_with('[') {
            return false;
        } else {
            rest = &rest[at + 1..];
        }
    }
    false
}

/// The role and the text of a line without a ref.
fn reading(line: &str) -> Option<(&'static str, &str)> {
    if let Some(words) = line.strip_prefix('•') {
        return Some(("listitem", words.trim()));
    }
    let words = line.trim_start_matches('#');
    let is_heading = words.len() < line.len() && words.starts_with(' ');
    is_heading.then(|| ("heading", words.trim()))
}

/// The quoted text at the start, and the rest. An unclosed quote ends with the line.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?.chars();
    let mut words = String::new();
    while let Some(char) = rest.next() {
        match char {
            '"' => break,
            '\\' => words.extend(rest.next()),
            char => words.push(char),
        }
    }
    Some((words, rest.as_str()))
}

fn named(text: &str) -> Option<String> {
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

/// The start of a place at the end of these words: `in listitem` in `button in listitem`.
fn place_in(words: &str) -> Option<usize> {
    let begin = |word: &str| match words.rfind(&format!(" {word}")) {
        Some(at) => Some(at + 1),
        None => words.starts_with(word).then_some(0),
    };
    let is_role =
        |at: &usize| !words[at + 3..].trim().is_empty() && !words[at + 3..].trim().contains(char::is_whitespace);
    begin("under heading").filter(|at| words[*at..] == *"under heading").or_else(|| begin("in ").filter(is_role))
}

/// The mark at the start of the text, after its bracket, and the rest. It ends at the first bracket that is followed by a
/// space or nothing, unless its value is quoted.
fn split_mark(text: &str) -> Option<(&str, &str)> {
    let value = MARKS_WITH_VALUE.iter().find(|begin| text.starts_with(**begin)).map_or(0, |begin| begin.len());
    let quoted = unquote(&text[value..]).filter(|(_, rest)| value > 0 && rest.starts_with(']'));
    let from = quoted.map_or(0, |(_, rest)| text.len() - rest.len());
    let is_end = |at: &usize| matches!(text[at + 1..].chars().next(), None | Some(' ')) || &text[at + 1..] == ":";
    let end = text.match_indices(']').map(|(at, _)| at).filter(|at| *at >= from).find(is_end)?;
    Some((&text[..end], &text[end + 1..]))
}

/// Whether this is a mark of a snapshot, without its brackets.
pub(crate) fn is_mark(mark: &str) -> bool {
    MARKS.contains(&mark) || MARKS_WITH_VALUE.iter().any(|begin| mark.starts_with(begin)) || is_count(mark)
}

/// `2 items`, as in the heading of a list.
fn is_count(mark: &str) -> bool {
    let count = mark.strip_suffix(" items").or_else(|| mark.strip_suffix(" item"));
    count.is_some_and(|count| !count.is_empty() && count.chars().all(|c| c.is_ascii_digit()))
}

fn point(text: &str) -> Option<Point> {
    let (x, y) = text.split_once(',')?;
    Some(Point { x: x.trim().parse().ok()?, y: y.trim().parse().ok()? })
}

/// Where a CSS selector ends and a quoted text starts. Within a selector, quotes only occur in brackets.
fn css_end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (_, '\\') => drop(chars.next()),
            (Some(open), char) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '"') if depth == 0 => return at,
            (None, '"' | '\'') => quote = Some(char),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
