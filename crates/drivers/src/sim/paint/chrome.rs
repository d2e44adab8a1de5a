//! What every screen has around its elements: bars, scrim, toast, scroll position.

use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Rect;

use super::ScenePainter;
use super::theme::mix;
use crate::sim::app::Colour;
use crate::sim::layout::{Placed, PlacedKind};
use crate::sim::text::Face;

impl ScenePainter {
    pub fn part(&mut self, placed: &Placed<'_>) {
        match placed.what {
            PlacedKind::Title => self.paragraph(placed, self.theme.ink),
            PlacedKind::Up => self.up(placed),
            PlacedKind::Bar => {
                self.canvas.fill(placed.frame, 0.0, self.theme.bar);
                if self.metrics.platform != Platform::Android {
                    self.edge(Rect { top: placed.frame.bottom - self.metrics.px(0.75).max(1), ..placed.frame });
                }
            }
            PlacedKind::Tabs => {
                self.canvas.fill(placed.frame, 0.0, self.theme.bar);
                let line = self.metrics.px(0.75).max(1);
                let Rect { top, bottom, .. } = placed.frame;
                let top = if self.metrics.has_tabs_on_top() { bottom - line } else { top };
                self.edge(Rect { top, bottom: top + line, ..placed.frame });
            }
            PlacedKind::Scrim => self.canvas.darken(),
            PlacedKind::Dialog => {
                let radius = self.metrics.px(self.theme.card + 6.0) as f32;
                self.canvas.fill(placed.frame, radius, self.theme.surface);
            }
            PlacedKind::Toast => {
                let radius = placed.frame.height() as f32 / 2.0;
                self.canvas.fill(placed.frame, radius, Colour::rgb(0x323036));
                self.write_centred(placed.frame, placed.font, &placed.text, Colour::rgb(0xf5eff7));
            }
            PlacedKind::Screen | PlacedKind::Body | PlacedKind::Element(_) => {}
        }
    }

    fn edge(&mut self, line: Rect) {
        self.canvas.fill(line, 0.0, mix(self.theme.outline, self.theme.bar, 0.7));
    }

    fn up(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units) as f32;
        if !placed.text.is_empty() {
            let left = placed.frame.left as f32 + px(14.0);
            self.canvas.text(
                left,
                self.baseline(placed.frame, placed.font),
                placed.font,
                &placed.text,
                self.theme.accent,
            );
            return;
        }
        let centre = placed.frame.center();
        let (x, y) = (centre.x as f32, centre.y as f32);
        let (ink, width) = (self.theme.ink, px(2.0));
        self.canvas.line(&[(x + px(8.0), y), (x - px(7.0), y)], width, ink);
        self.canvas.line(&[(x, y - px(8.0)), (x - px(8.0), y), (x, y + px(8.0))], width, ink);
    }

    pub fn tab(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        let frame = placed.frame;
        let ink = if placed.is_selected { self.theme.accent } else { self.theme.quiet };
        if self.metrics.has_tabs_on_top() {
            self.write_centred(frame, placed.font, &placed.text, ink);
            if placed.is_selected {
                let line = Rect {
                    top: frame.bottom - px(3.0),
                    left: frame.left + px(16.0),
                    right: frame.right - px(16.0),
                    ..frame
                };
                self.canvas.fill(line, px(1.5) as f32, self.theme.accent);
            }
            return;
        }
        // A pill in place of the icon that a real app has.
        let centre = frame.center();
        let (width, height) = (px(56.0), px(28.0));
        let pill = Rect::new(centre.x - width / 2, frame.top + px(10.0), width, height);
        if placed.is_selected {
            self.canvas.fill(pill, height as f32 / 2.0, mix(self.theme.accent, self.theme.bar, 0.16));
        }
        let dot = px(12.0);
        let mark = Rect::new(centre.x - dot / 2, pill.center().y - dot / 2, dot, dot);
        if placed.is_selected {
            self.canvas.fill(mark, px(4.0) as f32, ink);
        } else {
            self.canvas.outline(mark, px(4.0) as f32, px(1.8) as f32, ink);
        }
        let label = Rect::new(frame.left, pill.bottom + px(2.0), frame.width(), px(20.0));
        self.write_centred(label, placed.font, &placed.text, ink);
    }

    pub fn scroll_bar(&mut self, placed: &Placed<'_>) {
        let Some(scroll) = placed.scroll else { return };
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        let frame = placed.frame;
        let length = (frame.height() as i64 * frame.height() as i64 / i64::from(scroll.content.max(1))) as i32;
        let travel = frame.height() - length;
        let top =
            frame.top + (i64::from(travel) * i64::from(scroll.offset) / i64::from(placed.scroll_end().max(1))) as i32;
        let right = (frame.right + px(10.0)).min(self.metrics.width() - px(3.0));
        let thumb = Rect { left: right - px(3.0), top, right, bottom: top + length };
        self.canvas.fill_through(thumb, px(1.5) as f32, self.theme.ink, 0.25);
    }

    /// The clock and the battery of a phone; the frame of a window elsewhere.
    pub fn status_bar(&mut self, background: Colour, caption: &str) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        let frame = Rect::new(0, 0, metrics.width(), metrics.status_bar);
        self.canvas.clip = frame;
        let font = metrics.type_at(Face::Medium, 13.0);
        let baseline = self.baseline(frame, font);
        if metrics.platform.is_mobile() {
            self.canvas.fill(frame, 0.0, background);
            self.canvas.text(px(22.0) as f32, baseline, font, "9:41", self.theme.ink);
            let middle = frame.center().y;
            let battery = Rect::new(frame.right - px(44.0), middle - px(5.0), px(22.0), px(11.0));
            self.canvas.outline(battery, px(3.0) as f32, px(1.0) as f32, self.theme.quiet);
            let charge = Rect::new(battery.left + px(2.0), battery.top + px(2.0), px(15.0), px(7.0));
            self.canvas.fill(charge, px(1.5) as f32, self.theme.ink);
            return;
        }
        self.canvas.fill(frame, 0.0, Colour::rgb(0xe6e7ec));
        let colours = [0xff5f57, 0xfebc2e, 0x28c840];
        for (idx, colour) in colours.into_iter().enumerate() {
            let disc = Rect::new(px(14.0) + px(20.0) * idx as i32, frame.center().y - px(6.0), px(12.0), px(12.0));
            self.canvas.fill(disc, px(6.0) as f32, Colour::rgb(colour));
        }
        let font = metrics.type_at(Face::Regular, 13.0);
        let field =
            Rect { left: px(90.0), top: px(5.0), right: frame.right - px(90.0), bottom: frame.bottom - px(5.0) };
        if metrics.platform == Platform::Web {
            self.canvas.fill(field, px(13.0) as f32, self.theme.surface);
        }
        self.write_centred(field, font, caption, self.theme.quiet);
    }
}
