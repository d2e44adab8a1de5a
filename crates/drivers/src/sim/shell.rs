//! The few shell commands that a simulated Android device supports.

use tokio::time::Instant;
use trailblaze_core::driver::{Key, ShellOutput};
use trailblaze_protocol::geometry::Point;

use super::device::SimDevice;

/// The output of a command, or its exit code and error message.
type ShellRun = Result<String, (i32, String)>;

impl SimDevice {
    pub fn shell(&mut self, command: &str, now: Instant) -> ShellOutput {
        let words: Vec<&str> = command.split_whitespace().collect();
        match self.run_command(&words, now) {
            Ok(stdout) => ShellOutput { stdout, ..ShellOutput::default() },
            Err((exit_code, stderr)) => ShellOutput { exit_code, stderr, ..ShellOutput::default() },
        }
    }

    fn run_command(&mut self, words: &[&str], now: Instant) -> ShellRun {
        match words {
            ["getprop", "ro.product.model"] => Ok("Trailblaze Sim\n".to_string()),
            ["getprop", "ro.build.version.release"] => Ok("16\n".to_string()),
            ["getprop", _] => Ok("\n".to_string()),
            ["pm", "list", "packages", ..] => Ok(self.ids().iter().map(|id| format!("package:{id}\n")).collect()),
            ["pm", "clear", app] => {
                let idx = self.app(app).map_err(|error| (1, error.to_string()))?;
                self.stop(idx, now);
                self.apps[idx].state.clear();
                Ok("Success\n".to_string())
            }
            ["am", "force-stop", app] => {
                let idx = self.app(app).map_err(|error| (1, error.to_string()))?;
                self.stop(idx, now);
                Ok(String::new())
            }
            ["input", "tap", x, y] => {
                let point = |text: &str| text.parse().map_err(|_| (1, format!("`{text}` is not a number")));
                self.tap(Point { x: point(x)?, y: point(y)? }, now);
                Ok(String::new())
            }
            ["input", "text", text @ ..] => {
                // The real command uses `%s` for a space.
                let text = text.join(" ").trim_matches(['"', '\'']).replace("%s", " ");
                self.input_text(&text, now).map_err(|error| (1, error.to_string()))?;
                Ok(String::new())
            }
            ["input", "keyevent", code] => {
                let key = key(code).ok_or_else(|| (1, format!("unknown key `{code}`")))?;
                self.press(key, now).map_err(|error| (1, error.to_string()))?;
                Ok(String::new())
            }
            [name, ..] => Err((127, format!("{name}: not found on a simulated device"))),
            [] => Ok(String::new()),
        }
    }
}

fn key(code: &str) -> Option<Key> {
    match code.trim_start_matches("KEYCODE_") {
        "BACK" | "4" => Some(Key::Back),
        "HOME" | "3" => Some(Key::Home),
        "ENTER" | "66" => Some(Key::Enter),
        "DEL" | "67" => Some(Key::Backspace),
        _ => None,
    }
}
