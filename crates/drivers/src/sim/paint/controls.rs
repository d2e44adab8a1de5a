//! The elements of an app.

use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Rect;

use super::ScenePainter;
use super::theme::mix;
use crate::sim::app::{Colour, Look, Role};
use crate::sim::layout::Placed;
use crate::sim::text::{Face, SizedFont};

impl ScenePainter {
    pub fn element(&mut self, placed: &Placed<'_>, role: Role) {
        match role {
            Role::Text | Role::Heading => self.paragraph(placed, self.ink(placed)),
            Role::Button => self.button(placed),
            Role::Link => self.write(placed, placed.frame.left, self.colour_or(placed, self.theme.accent)),
            Role::Field => self.field(placed),
            Role::Switch => self.switch(placed),
            Role::Checkbox => self.checkbox(placed),
            Role::Image => self.image(placed),
            Role::Icon => self.icon(placed),
            Role::Card => self.card(placed),
            Role::Tab => self.tab(placed),
            Role::Spinner => self.spinner(placed),
            Role::Divider => self.canvas.fill(placed.frame, 0.0, self.theme.outline),
            Role::Row if placed.row.is_some_and(|row| row > 0) => {
                let line = Rect { bottom: placed.frame.top + self.metrics.px(0.75).max(1), ..placed.frame };
                self.canvas.fill(line, 0.0, mix(self.theme.outline, self.theme.background, 0.6));
            }
            Role::Row | Role::Column | Role::List => {}
        }
    }

    fn colour_or(&self, placed: &Placed<'_>, other: Colour) -> Colour {
        let colour = placed.colour.unwrap_or(other);
        if placed.is_enabled { colour } else { mix(colour, self.theme.background, 0.4) }
    }

    fn ink(&self, placed: &Placed<'_>) -> Colour {
        let ink = match placed.look {
            Look::Quiet | Look::Small => self.theme.quiet,
            Look::Danger => self.theme.danger,
            _ => self.theme.ink,
        };
        self.colour_or(placed, ink)
    }

    /// The baseline of a line of text that is vertically centred in a frame.
    pub fn baseline(&self, frame: Rect, font: SizedFont) -> f32 {
        frame.top as f32 + frame.height() as f32 / 2.0 + font.size * 0.355
    }

    pub fn paragraph(&mut self, placed: &Placed<'_>, colour: Colour) {
        let mut y = placed.frame.top as f32 + placed.font.size * 1.03;
        for line in &placed.lines {
            self.canvas.text(placed.frame.left as f32, y, placed.font, line, colour);
            y += placed.font.line_height();
        }
    }

    fn write(&mut self, placed: &Placed<'_>, left: i32, colour: Colour) {
        let room = (placed.frame.right - left) as f32;
        let text = placed.font.shorten(&placed.text, room);
        self.canvas.text(left as f32, self.baseline(placed.frame, placed.font), placed.font, &text, colour);
    }

    pub fn write_centred(&mut self, frame: Rect, font: SizedFont, text: &str, colour: Colour) {
        let text = font.shorten(text, frame.width() as f32);
        let left = frame.left as f32 + (frame.width() as f32 - font.width(&text)) / 2.0;
        self.canvas.text(left, self.baseline(frame, font), font, &text, colour);
    }

    fn button(&mut self, placed: &Placed<'_>) {
        let theme = &self.theme;
        let (fill, ink) = match placed.look {
            Look::Primary => (placed.colour.unwrap_or(theme.accent), theme.on_accent),
            Look::Danger => (mix(theme.danger, theme.background, 0.12), theme.danger),
            Look::Quiet => (theme.background, theme.accent),
            _ => (theme.tint, placed.colour.unwrap_or(theme.accent)),
        };
        let (fill, ink) = if placed.is_enabled {
            (fill, ink)
        } else {
            (mix(theme.ink, theme.background, 0.1), mix(theme.ink, theme.background, 0.4))
        };
        let radius = self.metrics.px(self.theme.button) as f32;
        self.canvas.fill(placed.frame, radius, fill);
        self.write_centred(placed.frame, placed.font, &placed.text, ink);
    }

    fn field(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        let frame = placed.frame;
        let radius = px(self.theme.field) as f32;
        let (colour, width) =
            if placed.is_focused { (self.theme.accent, px(2.0)) } else { (self.theme.outline, px(1.0)) };
        self.canvas.fill(frame, radius, self.theme.surface);
        let inset = width.max(1) / 2;
        let edge =
            Rect::new(frame.left + inset, frame.top + inset, frame.width() - 2 * inset, frame.height() - 2 * inset);
        self.canvas.outline(edge, radius, width as f32, colour);
        let hint = placed.hint.as_deref().unwrap_or_default();
        let left = (frame.left + px(16.0)) as f32;
        let room = (frame.width() - px(32.0)) as f32;
        let is_raised = placed.is_focused || !placed.text.is_empty();
        if !is_raised || hint.is_empty() {
            let y = self.baseline(frame, placed.font);
            let (text, ink) =
                if is_raised { (placed.text.as_str(), self.ink(placed)) } else { (hint, self.theme.quiet) };
            self.canvas.text(left, y, placed.font, &placed.font.shorten(text, room), ink);
            return;
        }
        // The hint moves up for the text, and stays readable above it.
        let small = self.metrics.type_at(Face::Regular, 12.0);
        let hint_ink = if placed.is_focused { self.theme.accent } else { self.theme.quiet };
        self.canvas.text(left, (frame.top + px(19.0)) as f32, small, hint, hint_ink);
        let y = (frame.bottom - px(14.0)) as f32;
        let width = self.canvas.text(left, y, placed.font, &placed.font.shorten(&placed.text, room), self.ink(placed));
        if placed.is_focused {
            let caret = Rect::new((left + width) as i32 + px(1.0), y as i32 - px(15.0), px(2.0), px(19.0));
            self.canvas.fill(caret, 0.0, self.theme.accent);
        }
    }

    fn switch(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        self.write(placed, placed.frame.left, self.ink(placed));
        let is_on = placed.checked == Some(true);
        let (width, height) = (px(50.0), px(30.0));
        let top = placed.frame.top + (placed.frame.height() - height) / 2;
        let track = Rect::new(placed.frame.right - width, top, width, height);
        let on = if self.metrics.platform == Platform::Ios { Colour::rgb(0x34c759) } else { self.theme.accent };
        let fill = if is_on { on } else { self.theme.outline };
        self.canvas.fill(track, height as f32 / 2.0, fill);
        let knob = px(24.0);
        let left = if is_on { track.right - knob - px(3.0) } else { track.left + px(3.0) };
        self.canvas.fill(Rect::new(left, top + px(3.0), knob, knob), knob as f32 / 2.0, self.theme.surface);
    }

    fn checkbox(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        let side = px(22.0);
        let top = placed.frame.top + (placed.frame.height() - side) / 2;
        let mark = Rect::new(placed.frame.left, top, side, side);
        if placed.checked == Some(true) {
            self.canvas.fill(mark, px(5.0) as f32, self.theme.accent);
            let at = |x: f32, y: f32| (mark.left as f32 + side as f32 * x, mark.top as f32 + side as f32 * y);
            self.canvas.line(&[at(0.24, 0.52), at(0.43, 0.7), at(0.77, 0.32)], px(2.2) as f32, self.theme.on_accent);
        } else {
            self.canvas.outline(mark, px(5.0) as f32, px(2.0) as f32, self.theme.quiet);
        }
        self.write(placed, mark.right + px(14.0), self.ink(placed));
    }

    /// A disc with an initial for an avatar; a coin for a picture without text.
    fn image(&mut self, placed: &Placed<'_>) {
        let side = placed.frame.height().min(placed.frame.width());
        let disc = Rect::new(placed.frame.left, placed.frame.top, side, side);
        let colour = placed.colour.unwrap_or_else(|| match placed.text.is_empty() {
            true => self.theme.accent,
            false => hue(&placed.text),
        });
        let words = if placed.text.is_empty() { placed.label.as_deref().unwrap_or_default() } else { &placed.text };
        let initial: String = words.chars().take(1).collect();
        let is_avatar = !placed.text.is_empty();
        let radius = if is_avatar { side as f32 / 2.0 } else { side as f32 * 0.28 };
        let (fill, ink) =
            if is_avatar { (mix(colour, self.theme.background, 0.18), colour) } else { (colour, self.theme.on_accent) };
        self.canvas.fill(disc, radius, fill);
        let font = SizedFont { face: Face::Medium, size: side as f32 * 0.44 };
        self.write_centred(disc, font, &initial, ink);
    }

    fn icon(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        let side = px(56.0);
        let top = placed.frame.top + (placed.frame.height() - side) / 2;
        let tile = Rect::new(placed.frame.left, top, side, side);
        let colour = placed.colour.unwrap_or_else(|| hue(&placed.text));
        self.canvas.fill(tile, px(16.0) as f32, colour);
        let initial: String = placed.text.chars().take(1).collect();
        let font = self.metrics.type_at(Face::Medium, 26.0);
        self.write_centred(tile, font, &initial, self.theme.on_accent);
        self.write(placed, tile.right + px(16.0), self.theme.ink);
    }

    fn card(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units);
        let radius = px(self.theme.card) as f32;
        let Rect { left, top, right, bottom } = placed.frame;
        if placed.look == Look::Primary {
            self.canvas.fill(placed.frame, radius, self.theme.tint);
            return;
        }
        let shadow = Rect { left, top: top + px(1.5), right, bottom: bottom + px(1.5) };
        self.canvas.fill_through(shadow, radius, self.theme.ink, 0.08);
        self.canvas.fill(placed.frame, radius, self.theme.surface);
    }

    fn spinner(&mut self, placed: &Placed<'_>) {
        let metrics = self.metrics;
        let px = |units: f32| metrics.px(units) as f32;
        let centre = placed.frame.center();
        let radius = px(18.0);
        let arc = |from: f32, to: f32| -> Vec<(f32, f32)> {
            let steps = 28;
            let angle = |step: i32| (from + (to - from) * step as f32 / steps as f32) * std::f32::consts::TAU;
            let at = |turn: f32| (centre.x as f32 + radius * turn.sin(), centre.y as f32 - radius * turn.cos());
            (0..=steps).map(|step| at(angle(step))).collect()
        };
        self.canvas.line(&arc(0.0, 1.0), px(4.0), self.theme.tint);
        self.canvas.line(&arc(0.0, 0.3), px(4.0), self.theme.accent);
    }
}

/// A colour derived from a name.
fn hue(name: &str) -> Colour {
    const HUES: [u32; 7] = [0x5b4bd6, 0x00796b, 0xc2185b, 0xe8710a, 0x0b57d0, 0x188038, 0x7b5800];
    let sum: usize = name.bytes().map(usize::from).sum();
    Colour::rgb(HUES[sum % HUES.len()])
}
