//! Finds the lines of an expected tree on a screen.

use std::collections::HashMap;
use std::ops::Range;

use super::shown::ShownTree;
use super::{ExpectedItem, ExpectedWords};
use crate::selector::Patience;
use crate::snapshot::has_mark;

/// How many lines of what is there instead are shown.
const SHOWN: usize = 12;
/// How many elements are examined to find the line that is told: nested alike, they could be combined in very many ways.
const EXAMINED: usize = 1000;

/// Why a screen is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeMismatch {
    /// The line of the expected tree that nothing fits, from 1.
    pub line: usize,
    pub written: String,
    /// What was found around it, what is missing, and what is there instead, as lines with a space, `-` or `+`.
    pub difference: String,
}

pub fn compare(items: &[ExpectedItem], shown: &ShownTree<'_>) -> Result<(), TreeMismatch> {
    let mut search = Search { items, shown, known: HashMap::new(), patience: Patience::default(), left: EXAMINED };
    let failed = match search.find_all(0..items.len(), 0..shown.elements.len()) {
        Ok(_) => return Ok(()),
        Err(failed) => search.innermost(failed),
    };
    Err(search.told(&failed))
}

struct Search<'s> {
    items: &'s [ExpectedItem],
    shown: &'s ShownTree<'s>,
    /// Whether an item, with all beneath it, fits an element.
    known: HashMap<(usize, usize), bool>,
    patience: Patience,
    /// How many elements may still be examined for the words of a failure.
    left: usize,
}

/// An item that nothing fits.
struct Unmet {
    item: usize,
    /// Where it was searched for.
    within: Range<usize>,
    /// The items before it that are beneath the same parent, with what they fit.
    met: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// The items that are next to each other in a range.
    fn siblings(&self, items: Range<usize>) -> Vec<usize> {
        let first = Some(items.start).filter(|first| *first < items.end);
        std::iter::successors(first, |item| Some(self.items[*item].end).filter(|next| *next < items.end)).collect()
    }

    /// Finds the items of a range in this order. Each takes the element that ends first, which leaves most for the next.
    fn find_all(&mut self, items: Range<usize>, within: Range<usize>) -> Result<(), Unmet> {
        let (mut from, mut met) = (within.start, Vec::new());
        for item in self.siblings(items) {
            let mut best: Option<usize> = None;
            for at in from..within.end {
                let end = self.shown.elements[at].end;
                // Nothing that comes later ends before this one.
                if best.is_some_and(|best| self.shown.elements[best].end <= at) {
                    break;
                }
                let is_better = best.is_none_or(|best| end < self.shown.elements[best].end);
                if end <= within.end && is_better && self.fits(item, at) {
                    best = Some(at);
                }
            }
            let Some(best) = best else { return Err(Unmet { item, within: from..within.end, met }) };
            met.push((item, best));
            from = self.shown.elements[best].end;
        }
        Ok(())
    }

    /// Whether an item, with all beneath it, fits an element.
    fn fits(&mut self, item: usize, at: usize) -> bool {
        if let Some(known) = self.known.get(&(item, at)) {
            return *known;
        }
        let fits = self.fits_alone(item, at) && self.find_all(item + 1..self.items[item].end, self.inside(at)).is_ok();
        self.known.insert((item, at), fits);
        fits
    }

    fn inside(&self, at: usize) -> Range<usize> {
        at + 1..self.shown.elements[at].end
    }

    fn fits_alone(&mut self, item: usize, at: usize) -> bool {
        let (item, element) = (&self.items[item], &self.shown.elements[at]);
        item.role.as_deref().is_none_or(|role| element.has_role(role))
            && item.marks.iter().all(|mark| has_mark(element.node, mark))
            && item.name.as_ref().is_none_or(|name| fits_any(&mut self.patience, name, &element.names))
            && item.text.as_ref().is_none_or(|text| fits_any(&mut self.patience, text, &element.texts))
    }

    /// The line that does not fit: if an element fits an item but lacks what is beneath it, the item beneath that comes last.
    fn innermost(&mut self, unmet: Unmet) -> Unmet {
        let mut best: Option<Unmet> = None;
        for at in unmet.within.clone() {
            if self.left == 0 || !self.fits_alone(unmet.item, at) {
                continue;
            }
            self.left -= 1;
            let beneath = unmet.item + 1..self.items[unmet.item].end;
            if let Err(inner) = self.find_all(beneath, self.inside(at)) {
                let inner = self.innermost(inner);
                if best.as_ref().is_none_or(|best| inner.item > best.item) {
                    best = Some(inner);
                }
            }
        }
        best.unwrap_or(unmet)
    }

    fn told(&self, unmet: &Unmet) -> TreeMismatch {
        let item = &self.items[unmet.item];
        let parents = (0..unmet.item).filter(|at| self.items[*at].end > unmet.item);
        let expected = |sign: char, at: usize| {
            let item = &self.items[at];
            format!("{sign} {}{}", "  ".repeat(item.depth), item.written)
        };
        let mut lines: Vec<String> = parents.map(|at| expected(' ', at)).collect();
        lines.extend(unmet.met.iter().map(|(at, _)| expected(' ', *at)));
        lines.push(expected('-', unmet.item));
        // What is there is indented as if it were beneath the same line.
        let depth = unmet.within.clone().map(|at| self.shown.elements[at].depth).min().unwrap_or_default();
        let seen: Vec<String> = unmet.within.clone().filter_map(|at| self.shown.indented(at)).collect();
        let cut = |line: &String| line.get(depth * 2..).unwrap_or_default().to_string();
        let indent = "  ".repeat(item.depth);
        lines.extend(seen.iter().take(SHOWN).map(|line| format!("+ {indent}{}", cut(line))));
        match seen.len() {
            0 if !unmet.met.is_empty() => lines.push(format!("+ {indent}(nothing else)")),
            0 => lines.push(format!("+ {indent}(nothing)")),
            n if n > SHOWN => lines.push(format!("+ {indent}… and {} more", n - SHOWN)),
            _ => {}
        }
        TreeMismatch { line: item.line, written: item.written.clone(), difference: lines.join("\n") }
    }
}

fn fits_any(patience: &mut Patience, words: &ExpectedWords, texts: &[String]) -> bool {
    texts.iter().any(|text| match words {
        ExpectedWords::Is(wanted) => wanted == text,
        ExpectedWords::Matches(pattern) => pattern.matches_within(patience, text),
    })
}
