//! Places elements in columns and rows.

use trailblaze_protocol::geometry::Rect;

use super::metrics::Metrics;
use super::scene::{Placed, PlacedKind, ScrollState};
use crate::sim::app::{Element, Item, Look, Role};
use crate::sim::state::ValueScope;

/// The space for elements.
#[derive(Clone, Copy)]
pub struct Room {
    pub left: i32,
    pub top: i32,
    pub width: i32,
    pub gap: i32,
}

/// An element to place, with everything that decides its size.
pub struct Wanted<'a> {
    pub element: &'a Element,
    pub item: Option<&'a Item>,
    pub row: Option<usize>,
    pub role: Role,
    pub text: String,
    pub is_in_row: bool,
    /// Its place in the file, the key for its scroll offset.
    pub key: u64,
}

impl Wanted<'_> {
    pub fn look(&self) -> Look {
        self.element.look
    }
}

pub struct Placer<'a> {
    pub metrics: Metrics,
    pub scope: ValueScope<'a>,
}

impl<'a> Placer<'a> {
    /// Places elements in a column.
    pub fn column(&self, elements: &'a [Element], item: Option<&'a Item>, key: u64, room: Room) -> Vec<Placed<'a>> {
        let mut top = room.top;
        let mut column = Vec::new();
        for wanted in self.wanted(elements, item, key) {
            let placed = self.place(wanted, Room { top, ..room });
            top = placed.frame.bottom + room.gap;
            column.push(placed);
        }
        column
    }

    /// The elements that are shown, with repeated ones once for each row of their list.
    fn wanted(&self, elements: &'a [Element], item: Option<&'a Item>, key: u64) -> Vec<Wanted<'a>> {
        let mut wanted = Vec::new();
        for (idx, element) in elements.iter().enumerate() {
            if !element.is_on(self.metrics.platform) {
                continue;
            }
            let rows: Vec<(Option<&'a Item>, Option<usize>)> = match &element.repeat {
                Some(list) => {
                    let items = self.scope.list(&list.value).iter().enumerate();
                    items.map(|(row, item)| (Some(item), Some(row))).collect()
                }
                None => vec![(item, None)],
            };
            for (item, row) in rows {
                let scope = ValueScope { item, ..self.scope };
                if scope.all(&element.when) && !scope.any(&element.unless) {
                    let role = element.role_on(self.metrics.platform);
                    let text = element.text_on(self.metrics.platform).map_or(String::new(), |text| scope.fill(text));
                    let key = key.wrapping_mul(1009).wrapping_add(1 + idx as u64 + row.unwrap_or(0) as u64 * 37);
                    wanted.push(Wanted { element, item, row, role, text, is_in_row: false, key });
                }
            }
        }
        wanted
    }

    fn place(&self, wanted: Wanted<'a>, room: Room) -> Placed<'a> {
        let px = |units| self.metrics.px(units);
        match wanted.role {
            Role::Row => self.place_row(wanted, room),
            Role::List => {
                let frame = Rect::new(room.left, room.top, room.width, 0);
                let (item, key) = (wanted.item, wanted.key);
                let children = self.column(&wanted.element.elements.0, item, key, Room { gap: 0, ..room });
                let mut placed = self.enclose(wanted, frame, children, 0);
                let offset = self.scope.shown.scrolls.get(&key).copied().unwrap_or(0);
                placed.scroll = Some(ScrollState { key, offset, content: placed.frame.height() });
                placed
            }
            Role::Card | Role::Column => {
                let padding = if wanted.role == Role::Card { px(16.0) } else { 0 };
                let gap = if wanted.role == Role::Card { px(8.0) } else { px(2.0) };
                let inner =
                    Room { left: room.left + padding, top: room.top + padding, width: room.width - 2 * padding, gap };
                let children = self.column(&wanted.element.elements.0, wanted.item, wanted.key, inner);
                self.enclose(wanted, Rect::new(room.left, room.top, room.width, 0), children, padding)
            }
            _ => {
                let font = self.metrics.type_of(wanted.role, wanted.look());
                let lines = match wanted.role {
                    Role::Text | Role::Heading => font.wrap(&wanted.text, room.width as f32),
                    _ => vec![wanted.text.clone()],
                };
                let height = self.metrics.height_of(&wanted, lines.len());
                let width = match wanted.role {
                    // Only as wide as their text, so that a touch next to them misses.
                    Role::Link => self.metrics.natural_width(&wanted).min(room.width),
                    _ => room.width,
                };
                let mut placed = self.describe(wanted, Rect::new(room.left, room.top, width, height));
                placed.lines = lines;
                placed
            }
        }
    }

    fn place_row(&self, wanted: Wanted<'a>, room: Room) -> Placed<'a> {
        let px = |units| self.metrics.px(units);
        let gap = px(12.0);
        let mut cells = self.wanted(&wanted.element.elements.0, wanted.item, wanted.key);
        for cell in &mut cells {
            cell.is_in_row = true;
        }
        let widths = self.share(&cells, room.width, gap);
        let mut left = room.left;
        let mut children = Vec::new();
        let spare = (room.width - widths.iter().sum::<i32>() - gap * (cells.len() as i32 - 1)).max(0);
        // Unused width goes between the cells, so that the last one ends at the right edge.
        let between = if cells.len() > 1 { spare / (cells.len() as i32 - 1) } else { 0 };
        for (cell, width) in cells.into_iter().zip(widths) {
            let placed = self.place(cell, Room { left, top: room.top, width, gap: px(2.0) });
            left += width + gap + between;
            children.push(placed);
        }
        let tallest = children.iter().map(|child| child.frame.height()).max().unwrap_or(0);
        let is_item = wanted.row.is_some() || !wanted.element.tap.is_empty();
        let height = if is_item { (tallest + px(20.0)).max(px(60.0)) } else { tallest };
        for child in &mut children {
            child.move_by(0, (height - child.frame.height()) / 2);
        }
        let mut placed = self.describe(wanted, Rect::new(room.left, room.top, room.width, height));
        placed.children = children;
        placed
    }

    /// How the cells of a row share its width.
    fn share(&self, cells: &[Wanted<'a>], width: i32, gap: i32) -> Vec<i32> {
        if cells.is_empty() {
            return Vec::new();
        }
        let inner = (width - gap * (cells.len() as i32 - 1)).max(0);
        if cells.iter().all(|cell| cell.role == Role::Button) {
            return vec![inner / cells.len() as i32; cells.len()];
        }
        let natural: Vec<i32> = cells.iter().map(|cell| self.metrics.natural_width(cell)).collect();
        let stretching = cells.iter().filter(|cell| cell.role.stretches()).count() as i32;
        let fixed: i32 =
            natural.iter().zip(cells).filter(|(_, cell)| !cell.role.stretches()).map(|(width, _)| width).sum();
        if stretching > 0 {
            let each = ((inner - fixed) / stretching).max(0);
            return natural.iter().zip(cells).map(|(w, cell)| if cell.role.stretches() { each } else { *w }).collect();
        }
        if fixed <= inner {
            return natural;
        }
        natural.iter().map(|width| width * inner / fixed).collect()
    }

    /// A container as tall as its contents.
    fn enclose(&self, wanted: Wanted<'a>, frame: Rect, children: Vec<Placed<'a>>, padding: i32) -> Placed<'a> {
        let bottom = children.last().map_or(frame.top + padding, |child| child.frame.bottom) + padding;
        let mut placed = self.describe(wanted, Rect { bottom, ..frame });
        placed.children = children;
        placed
    }

    fn describe(&self, wanted: Wanted<'a>, frame: Rect) -> Placed<'a> {
        let Wanted { element, item, row, role, text, .. } = wanted;
        let platform = self.metrics.platform;
        let scope = ValueScope { item, ..self.scope };
        let id = element.id.as_ref().map(|id| scope.fill(&id.value));
        let value = id.as_deref().map_or("", |id| scope.value(id));
        let leads_here = role == Role::Tab && element.tap.lead_to(scope.screen_name());
        let is_selected = leads_here || (!element.selected_when.is_empty() && scope.all(&element.selected_when));
        let mut placed = Placed::part(PlacedKind::Element(role), self.metrics.type_of(role, element.look), frame);
        placed.text = match role {
            Role::Field if element.password => "•".repeat(value.chars().count()),
            Role::Field => value.to_string(),
            _ => text,
        };
        placed.element = Some(element);
        placed.item = item;
        placed.row = row;
        placed.label = element.label_on(platform).map(|label| scope.fill(label));
        placed.hint = element.hint_on(platform).map(|hint| scope.fill(hint));
        placed.look = element.look;
        placed.colour = element.colour;
        placed.is_enabled = scope.all(&element.enabled_when) && !scope.any(&element.disabled_when);
        placed.checked = role.is_toggle().then_some(value == "true");
        placed.is_selected = is_selected;
        placed.is_focused = role == Role::Field && id.is_some() && id == self.scope.shown.focus;
        placed.is_password = element.password;
        placed.id = id;
        placed
    }
}
