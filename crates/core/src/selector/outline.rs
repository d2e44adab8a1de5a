//! A flattened tree, in which the descendants of a node are a range.

use std::cmp::Reverse;
use std::ops::Range;

use crate::screen::Node;

/// The nodes in document order. The descendants of a node follow it directly.
pub(crate) struct Outline<'a> {
    nodes: Vec<&'a Node>,
    /// The end of each node's range of descendants.
    ends: Vec<usize>,
    parents: Vec<Option<usize>>,
}

impl<'a> Outline<'a> {
    pub fn new(root: &'a Node) -> Outline<'a> {
        let mut outline = Outline { nodes: Vec::new(), ends: Vec::new(), parents: Vec::new() };
        let mut todo: Vec<(&Node, Option<usize>)> = vec![(root, None)];
        while let Some((node, parent)) = todo.pop() {
            let place = outline.nodes.len();
            outline.nodes.push(node);
            outline.parents.push(parent);
            todo.extend(node.children.iter().rev().map(|child| (child, Some(place))));
        }
        outline.ends = (1..=outline.nodes.len()).collect();
        for place in (1..outline.nodes.len()).rev() {
            if let Some(parent) = outline.parents[place] {
                outline.ends[parent] = outline.ends[parent].max(outline.ends[place]);
            }
        }
        outline
    }

    pub fn places(&self) -> Range<usize> {
        0..self.nodes.len()
    }

    pub fn node(&self, place: usize) -> &'a Node {
        self.nodes[place]
    }

    pub fn find(&self, id: u64) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    pub fn beneath(&self, place: usize) -> Range<usize> {
        place + 1..self.ends[place]
    }

    pub fn children(&self, place: usize) -> impl Iterator<Item = usize> {
        let end = self.ends[place];
        let within = move |child: usize| (child < end).then_some(child);
        std::iter::successors(within(place + 1), move |child| within(self.ends[*child]))
    }

    /// The ancestors, closest first.
    pub fn ancestors(&self, place: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[place], |parent| self.parents[*parent])
    }

    /// Top to bottom, then left to right; nodes without bounds come last.
    pub fn sort_for_reading(&self, places: &mut [usize]) {
        places.sort_by_key(|place| {
            let bounds = self.nodes[*place].bounds;
            (Reverse(bounds.is_some()), bounds.map(|bounds| (bounds.top, bounds.left)), *place)
        });
    }
}
