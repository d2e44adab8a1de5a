//! Commands that reach the real Android framework, where that is the body of the phone.

use super::CommandOutput;
use crate::framework::{ACTIVITY, PACKAGE, ask, gesture};
use crate::wire::ShellFrame;

/// What a command answers; `None` if it has nothing to do with the framework.
pub async fn answer(name: &str, words: &[&str]) -> Option<CommandOutput> {
    let done = match (name, words) {
        ("uiautomator", ["dump", file]) => ask(b'D', &[]).await.map(|tree| {
            CommandOutput::ok()
                .frame(ShellFrame::QuietFile((*file).to_string(), tree))
                .out(format!("UI hierchary dumped to: {file}\n"))
        }),
        ("screencap", ["-p"]) => ask(b'P', &[]).await.map(|picture| CommandOutput::ok().out(picture)),
        ("input", ["tap", x, y]) => {
            let (x, y) = (number(x)?, number(y)?);
            ask(b'G', &gesture(50, 0, [x, y, x, y])).await.map(|_| CommandOutput::ok())
        }
        ("input", ["swipe", x, y, to_x, to_y, duration]) => {
            let way = [number(x)?, number(y)?, number(to_x)?, number(to_y)?];
            let duration = u32::try_from(number(duration)?).ok()?;
            let is_still = (way[0], way[1]) == (way[2], way[3]);
            let (rest, duration) = if is_still { (duration, 0) } else { (0, duration) };
            ask(b'G', &gesture(rest, duration, way)).await.map(|_| CommandOutput::ok())
        }
        ("input", ["text", text]) => ask(b'I', text.replace("%s", " ").as_bytes()).await.map(|_| CommandOutput::ok()),
        ("input", ["keyevent", keys @ ..]) => ask(b'K', keys.join(" ").as_bytes()).await.map(|_| CommandOutput::ok()),
        ("am", ["start", rest @ ..]) => {
            let at = rest.iter().position(|word| *word == "-n")?;
            let component = *rest.get(at + 1)?;
            ask(b'S', component.as_bytes())
                .await
                .map(|_| CommandOutput::line(format!("Starting: Intent {{ cmp={component} }}")))
        }
        ("am", ["force-stop", PACKAGE]) => ask(b'X', &[]).await.map(|_| CommandOutput::ok()),
        ("pm", ["path", PACKAGE]) => Ok(CommandOutput::line("package:/data/app/apidemos/base.apk")),
        ("cmd", ["package", "resolve-activity", .., PACKAGE]) => Ok(CommandOutput::line(ACTIVITY)),
        _ => return None,
    };
    Some(done.unwrap_or_else(|why| CommandOutput::exception(name, why)))
}

fn number(text: &str) -> Option<i32> {
    text.parse::<f32>().ok().map(|number| number as i32)
}
