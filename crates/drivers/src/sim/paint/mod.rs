//! Draws the scene.

mod canvas;
mod chrome;
mod controls;
mod glyphs;
mod theme;

use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::geometry::{Rect, Size};

use super::app::SimApp;
use super::layout::{Metrics, Placed, PlacedKind};
use canvas::Canvas;
use theme::Theme;

/// A picture of an app's scene. `caption` is the title that a browser or window shows.
pub fn picture(scene: &Placed<'_>, metrics: &Metrics, app: &SimApp, caption: &str) -> Picture {
    let theme = Theme::of(metrics.platform, app.accent());
    let canvas = Canvas::new(metrics.size, metrics.picture_scale, theme.background);
    let mut painter = ScenePainter { canvas, theme, metrics: *metrics };
    let has_bar = scene.children.iter().any(|part| part.what == PlacedKind::Bar);
    painter.status_bar(if has_bar { painter.theme.bar } else { painter.theme.background }, caption);
    painter.paint(scene, scene.frame);
    let (size, pixels) = painter.canvas.into_rgba();
    Picture { size, pixels: Pixels::Rgba(pixels.into()) }
}

struct ScenePainter {
    canvas: Canvas,
    theme: Theme,
    metrics: Metrics,
}

impl ScenePainter {
    /// Draws an element and its contents, clipped to `clip`.
    fn paint(&mut self, placed: &Placed<'_>, clip: Rect) {
        if placed.visible.is_none() {
            return;
        }
        self.canvas.clip = clip;
        match placed.what {
            PlacedKind::Element(role) => self.element(placed, role),
            _ => self.part(placed),
        }
        let inner = match placed.scroll {
            Some(_) => placed.frame.intersect(&clip),
            None => Some(clip),
        };
        let Some(inner) = inner else { return };
        for child in &placed.children {
            self.paint(child, inner);
        }
        if placed.can_scroll() {
            self.canvas.clip = clip;
            self.scroll_bar(placed);
        }
    }
}

/// The size of a picture of a screen.
fn scaled(size: Size, scale: f32) -> Size {
    let part = |length: u32| (length as f32 * scale).round() as u32;
    Size { width: part(size.width), height: part(size.height) }
}
