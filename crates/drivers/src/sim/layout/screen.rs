//! The whole screen: bars, the body between them, a dialog on top, a toast at the bottom.

use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Rect;

use super::metrics::Metrics;
use super::place::{Placer, Room};
use super::scene::{Placed, PlacedKind, ScrollState};
use crate::sim::app::{AppScreen, Element, Look, Role};
use crate::sim::state::ValueScope;
use crate::sim::text::Face;

/// What is laid out, and on which device.
pub struct View<'a> {
    pub scope: ValueScope<'a>,
    /// How far everything but the bars has drifted.
    pub drift: (i32, i32),
}

/// The key of the body among the scrolling containers.
const BODY: u64 = 1;
const DIALOG: u64 = 2;
const TABS: u64 = 3;

pub fn lay_out<'a>(metrics: Metrics, view: &View<'a>) -> Placed<'a> {
    let placer = Placer { metrics, scope: view.scope };
    let whole = Rect::new(0, 0, metrics.width(), metrics.height());
    let mut root = placer.part(PlacedKind::Screen, whole);
    let screen = view.scope.screen();
    let mut body = Rect { top: metrics.status_bar, ..whole };
    if let Some(bar) = placer.bar(screen, &mut body) {
        root.children.push(bar);
    }
    let tabs = if screen.tabs { placer.tabs(&mut body) } else { None };
    let mut content = placer.body(screen, body, view.scope.shown.is_ready);
    for placed in &mut content.children {
        placed.move_by(view.drift.0, view.drift.1);
    }
    root.children.push(content);
    root.children.extend(tabs);
    if let Some(dialog) = view.scope.dialog() {
        root.children.push(placer.dialog(dialog, whole, view.drift));
    }
    if let Some(text) = &view.scope.shown.toast {
        root.children.push(placer.toast(text, body));
    }
    root.clip(Some(whole));
    root
}

impl<'a> Placer<'a> {
    fn part(&self, what: PlacedKind, frame: Rect) -> Placed<'a> {
        Placed::part(what, self.metrics.type_of(Role::Text, Look::Plain), frame)
    }

    /// The bar with the title and, on a phone, the back button. Takes its height from `body`.
    fn bar(&self, screen: &'a AppScreen, body: &mut Rect) -> Option<Placed<'a>> {
        let metrics = &self.metrics;
        let px = |units| metrics.px(units);
        let title = self.scope.fill(screen.title.as_deref()?);
        let frame = Rect { bottom: body.top + metrics.bar, ..*body };
        body.top = frame.bottom;
        let mut bar = self.part(PlacedKind::Bar, frame);
        let can_go_back = self.scope.shown.screens.len() > 1 && metrics.platform.is_mobile();
        if can_go_back {
            let is_ios = metrics.platform == Platform::Ios;
            let width = if is_ios { px(88.0) } else { px(56.0) };
            let mut up = self.part(PlacedKind::Up, Rect { right: frame.left + width, ..frame });
            up.id = is_ios.then(|| "back".to_string());
            up.text = if is_ios { "‹ Back".to_string() } else { String::new() };
            up.label = Some(if is_ios { "Back".to_string() } else { "Navigate up".to_string() });
            bar.children.push(up);
        }
        let font = metrics.type_at(Face::Medium, if metrics.platform == Platform::Ios { 17.0 } else { 20.0 });
        let width = font.width(&title).ceil() as i32;
        let left = match metrics.platform {
            Platform::Ios => (frame.width() - width) / 2,
            Platform::Android if can_go_back => px(60.0),
            Platform::Android => px(20.0),
            Platform::Web | Platform::Desktop => (frame.width() - metrics.column) / 2 + px(20.0),
        };
        let height = font.line_height().ceil() as i32;
        let top = frame.top + (frame.height() - height) / 2;
        let mut placed = Placed::part(PlacedKind::Title, font, Rect::new(left, top, width, height));
        placed.text = title.clone();
        placed.lines = vec![title];
        bar.children.push(placed);
        Some(bar)
    }

    /// The tab bar: at the bottom on a phone, beneath the title elsewhere.
    fn tabs(&self, body: &mut Rect) -> Option<Placed<'a>> {
        let metrics = &self.metrics;
        let here = |element: &&Element| element.is_on(metrics.platform);
        let count = self.scope.app.tabs.0.iter().filter(here).count() as i32;
        if count == 0 {
            return None;
        }
        let mut frame = if metrics.has_tabs_on_top() {
            let frame = Rect { bottom: body.top + metrics.tabs, ..*body };
            body.top = frame.bottom;
            frame
        } else {
            let frame = Rect { top: body.bottom - metrics.tabs, ..*body };
            body.bottom = frame.top;
            frame
        };
        let mut bar = self.part(PlacedKind::Tabs, frame);
        if metrics.has_tabs_on_top() {
            // The line under a tab is narrower than the tab, and aligns with the column.
            let left = (metrics.width() - metrics.column) / 2 + metrics.px(4.0);
            frame = Rect { left, right: left + metrics.px(120.0) * count, ..frame };
        }
        let width = frame.width() / count;
        let room = Room { left: frame.left, top: frame.top, width, gap: 0 };
        bar.children = self.column(&self.scope.app.tabs.0, None, TABS, room);
        for (idx, tab) in bar.children.iter_mut().enumerate() {
            tab.frame = Rect::new(frame.left + width * idx as i32, frame.top, width, frame.height());
        }
        Some(bar)
    }

    /// The area between the bars. If there is not enough room, a list shrinks; without a list, all of it scrolls.
    fn body(&self, screen: &'a AppScreen, frame: Rect, is_ready: bool) -> Placed<'a> {
        let px = |units| self.metrics.px(units);
        let mut body = self.part(PlacedKind::Body, frame);
        if !is_ready {
            return body;
        }
        let margin = px(20.0);
        let width = frame.width().min(self.metrics.column) - 2 * margin;
        let left = frame.left + (frame.width() - width) / 2;
        let room = Room { left, top: frame.top + px(16.0), width, gap: px(14.0) };
        body.children = self.column(&screen.elements.0, None, BODY, room);
        let bottom = |body: &Placed<'_>| body.children.last().map_or(frame.top, |last| last.frame.bottom) + px(16.0);
        let overflow = bottom(&body) - frame.bottom;
        if overflow > 0 {
            self.give_way(&mut body.children, overflow);
        }
        let content = bottom(&body) - frame.top;
        let end = (content - frame.height()).max(0);
        let offset = self.scope.shown.scrolls.get(&BODY).copied().unwrap_or(0).clamp(0, end);
        for child in &mut body.children {
            child.move_by(0, -offset);
        }
        body.scroll = Some(ScrollState { key: BODY, offset, content });
        body
    }

    /// Shrinks the first list by up to `overflow`, and scrolls its contents.
    fn give_way(&self, column: &mut [Placed<'a>], overflow: i32) {
        let Some(idx) = column.iter().position(|placed| placed.what == PlacedKind::Element(Role::List)) else { return };
        let list = &mut column[idx];
        let least = self.metrics.px(140.0).min(list.frame.height());
        let less = overflow.min(list.frame.height() - least);
        list.frame.bottom -= less;
        let end = list.scroll_end();
        if let Some(scroll) = &mut list.scroll {
            scroll.offset = scroll.offset.clamp(0, end);
            let offset = scroll.offset;
            for child in &mut list.children {
                child.move_by(0, -offset);
            }
        }
        for below in &mut column[idx + 1..] {
            below.move_by(0, -less);
        }
    }

    fn dialog(&self, dialog: &'a AppScreen, whole: Rect, drift: (i32, i32)) -> Placed<'a> {
        let px = |units| self.metrics.px(units);
        let mut scrim = self.part(PlacedKind::Scrim, whole);
        let width = px(330.0).min(whole.width() - px(48.0));
        let left = (whole.width() - width) / 2;
        let padding = px(24.0);
        let mut panel = self.part(PlacedKind::Dialog, Rect::new(left, 0, width, 0));
        let mut room = Room { left: left + padding, top: padding, width: width - 2 * padding, gap: px(14.0) };
        if let Some(title) = &dialog.title {
            let font = self.metrics.type_at(Face::Medium, 20.0);
            let text = self.scope.fill(title);
            let lines = font.wrap(&text, room.width as f32);
            let height = (font.line_height() * lines.len() as f32).ceil() as i32;
            let mut placed = Placed::part(PlacedKind::Title, font, Rect::new(room.left, room.top, room.width, height));
            placed.text = text.clone();
            placed.lines = lines;
            panel.text = text;
            room.top = placed.frame.bottom + room.gap;
            panel.children.push(placed);
        }
        panel.children.extend(self.column(&dialog.elements.0, None, DIALOG, room));
        let height = panel.children.last().map_or(0, |child| child.frame.bottom) + padding;
        panel.frame.bottom = height;
        panel.move_by(drift.0, (whole.height() - height) / 2 + drift.1);
        scrim.children.push(panel);
        scrim
    }

    fn toast(&self, text: &str, body: Rect) -> Placed<'a> {
        let px = |units| self.metrics.px(units);
        let font = self.metrics.type_at(Face::Regular, 14.0);
        let width = (font.width(text).ceil() as i32 + px(40.0)).min(body.width() - px(32.0));
        let left = body.left + (body.width() - width) / 2;
        let frame = Rect::new(left, body.bottom - px(76.0), width, px(48.0));
        let mut toast = Placed::part(PlacedKind::Toast, font, frame);
        toast.text = text.to_string();
        toast.lines = vec![text.to_string()];
        toast
    }
}
