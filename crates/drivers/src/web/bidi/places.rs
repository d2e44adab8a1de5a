//! Where input goes. What is sent to a tab does not reach frames in other processes: it is sent to the frame itself, with places in it.

use serde_json::{Value, json};

use super::super::backend::{BackendError, FrameId};
use super::super::input::{BrowserInput, MouseInput, MouseKind, Spot, TouchInput};
use super::{BidiSession, tabs, values};

/// The frame that input is sent to, and its corner in the window.
#[derive(Debug, Clone, PartialEq)]
pub struct InputPlace {
    pub frame: FrameId,
    corner: Spot,
}

impl InputPlace {
    fn window(tab: &str) -> InputPlace {
        InputPlace { frame: tab.to_string(), corner: Spot { x: 0.0, y: 0.0 } }
    }

    /// The same input, with places in the frame.
    pub fn within(&self, input: &BrowserInput) -> BrowserInput {
        let moved = |at: Spot| Spot { x: at.x - self.corner.x, y: at.y - self.corner.y };
        match input {
            BrowserInput::Mouse(mouse) => BrowserInput::Mouse(MouseInput { at: moved(mouse.at), ..mouse.clone() }),
            BrowserInput::Touch(touch) => BrowserInput::Touch(match *touch {
                TouchInput::Start(at) => TouchInput::Start(moved(at)),
                TouchInput::Move(at) => TouchInput::Move(moved(at)),
                TouchInput::Hold(at) => TouchInput::Hold(moved(at)),
                TouchInput::Release(at) => TouchInput::Release(moved(at)),
                other => other,
            }),
            BrowserInput::Wheel { at, by, speed } => {
                let Spot { x, y } = moved((*at).into());
                let at = trailblaze_protocol::geometry::Point { x: x.round() as i32, y: y.round() as i32 };
                BrowserInput::Wheel { at, by: *by, speed: *speed }
            }
            other => other.clone(),
        }
    }
}

/// Where a pointer goes first, if it goes anywhere.
fn aimed_at(inputs: &[&BrowserInput]) -> Option<Spot> {
    inputs.iter().find_map(|input| match input {
        BrowserInput::Mouse(MouseInput { kind: MouseKind::Moved, at, .. }) => Some(*at),
        BrowserInput::Touch(TouchInput::Start(at) | TouchInput::Hold(at)) => Some(*at),
        BrowserInput::Wheel { at, .. } => Some((*at).into()),
        _ => None,
    })
}

fn has_pointer(inputs: &[&BrowserInput]) -> bool {
    inputs.iter().any(|input| !matches!(input, BrowserInput::Key(_) | BrowserInput::Text(_)))
}

impl BidiSession {
    /// Where input goes that arrives together: where the pointer goes or went last, or to what has the focus.
    pub(super) async fn place_of(&self, tab: &str, inputs: &[&BrowserInput]) -> Result<InputPlace, BackendError> {
        if !self.known.lock().has_foreign_frames(tab) {
            return Ok(InputPlace::window(tab));
        }
        let place = match (aimed_at(inputs), has_pointer(inputs)) {
            (Some(at), _) => self.locate(tab, Some(at)).await?,
            (None, false) => return self.locate(tab, None).await,
            (None, true) => {
                let known = self.known.lock();
                let last = known.pointed_at.clone().filter(|last| known.frames.contains_key(&last.frame));
                return Ok(last.unwrap_or_else(|| InputPlace::window(tab)));
            }
        };
        self.known.lock().pointed_at = Some(place.clone());
        Ok(place)
    }

    async fn locate(&self, tab: &str, at: Option<Spot>) -> Result<InputPlace, BackendError> {
        let mut place = InputPlace::window(tab);
        for _ in 0..tabs::DEPTH {
            let point = at.map(|at| json!([at.x - place.corner.x, at.y - place.corner.y])).unwrap_or_default();
            let expression = format!("({})({point})", include_str!("locate.js"));
            let answer = self.evaluate_in(&place.frame, &expression).await?;
            let Some(frame) = answer.pointer("/result/value/0/value/context").and_then(Value::as_str) else {
                values::value_of(&answer)?;
                break;
            };
            let side = |pointer| answer.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
            let (left, top) = (side("/result/value/1/value"), side("/result/value/2/value"));
            place.corner = Spot { x: place.corner.x + left, y: place.corner.y + top };
            frame.clone_into(&mut place.frame);
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_in_the_frame() {
        let place = InputPlace { frame: "f".to_string(), corner: Spot { x: 10.0, y: 20.5 } };
        let at = Spot { x: 15.0, y: 30.0 };
        let start = place.within(&BrowserInput::Touch(TouchInput::Start(at)));
        assert_eq!(start, BrowserInput::Touch(TouchInput::Start(Spot { x: 5.0, y: 9.5 })));
        assert_eq!(aimed_at(&[&start]), Some(Spot { x: 5.0, y: 9.5 }));
        assert!(has_pointer(&[&start]) && aimed_at(&[&BrowserInput::Touch(TouchInput::End)]).is_none());
    }
}
