//! Places in a text, and a text with insertions that remembers where everything was.

use serde::{Deserialize, Serialize};

/// A line and a column, both from 1. Columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// A text and where its lines start.
#[derive(Debug)]
pub struct Text<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Text<'t> {
    pub fn new(text: &'t str) -> Text<'t> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Text { text, starts }
    }

    /// The position of a byte.
    pub fn position(&self, at: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= at).max(1) - 1;
        let column = self.text.get(self.starts[line]..at).map_or(0, |before| before.chars().count());
        Position { line: count(line + 1), column: count(column + 1) }
    }

    /// The byte at a position; the end of the line or of the text if there is none.
    pub fn offset(&self, position: Position) -> usize {
        let line = (position.line.max(1) as usize - 1).min(self.starts.len() - 1);
        let start = self.starts[line];
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        let inside = &self.text[start..end];
        let column = position.column.max(1) as usize - 1;
        start + inside.char_indices().nth(column).map_or(inside.len(), |(at, _)| at)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Insertions into a text.
#[derive(Debug, Clone, Default)]
pub struct Insertions(Vec<(usize, String)>);

impl Insertions {
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.0.push((at, text.into()));
    }

    /// The text with all insertions. Those at the same place keep their order.
    pub fn apply(mut self, text: &str) -> Inserted {
        self.0.sort_by_key(|(at, _)| *at);
        let (mut whole, mut done) = (String::with_capacity(text.len() + 64 * self.0.len()), 0);
        let mut added = Vec::with_capacity(self.0.len());
        for (at, insertion) in &self.0 {
            whole.push_str(&text[done..*at]);
            added.push((whole.len(), insertion.len()));
            whole.push_str(insertion);
            done = *at;
        }
        whole.push_str(&text[done..]);
        Inserted { text: whole, added }
    }
}

/// A text with insertions.
#[derive(Debug)]
pub struct Inserted {
    pub text: String,
    /// Where each insertion starts in the new text, and its length.
    added: Vec<(usize, usize)>,
}

impl Inserted {
    /// Where a byte of the new text was in the original one. Inside an insertion: the place of the insertion.
    pub fn original(&self, at: usize) -> usize {
        let before = self.added.iter().take_while(|(start, _)| *start <= at);
        let n_added: usize = before.map(|(start, length)| (at - start).min(*length)).sum();
        at - n_added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_offsets_agree() {
        let text = "eins\nzwölf 🙂 x\n\nende";
        let lines = Text::new(text);
        for (at, _) in text.char_indices() {
            assert_eq!(lines.offset(lines.position(at)), at, "{at}");
        }
        assert_eq!(lines.position(text.find('x').unwrap_or_default()), Position { line: 2, column: 9 });
        assert_eq!(lines.offset(Position { line: 9, column: 9 }), text.len());
    }

    #[test]
    fn what_is_inserted_is_not_counted() {
        let mut insertions = Insertions::default();
        insertions.insert(0, "AB");
        insertions.insert(2, "C");
        insertions.insert(2, "D");
        let inserted = insertions.apply("wxyz");
        assert_eq!(inserted.text, "ABwxCDyz");
        let origins: Vec<usize> = (0..=inserted.text.len()).map(|at| inserted.original(at)).collect();
        assert_eq!(origins, [0, 0, 0, 1, 2, 2, 2, 3, 4]);
    }
}
