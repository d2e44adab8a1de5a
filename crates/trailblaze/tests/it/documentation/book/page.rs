//! What a page asks for, in its order.

use std::mem::take;

#[derive(Debug)]
pub struct Page {
    pub items: Vec<Item>,
}

/// Something on a page that is carried out, and its line.
#[derive(Debug)]
pub struct Item {
    pub line: usize,
    pub action: Action,
}

#[derive(Debug)]
pub enum Action {
    /// Runs commands.
    Run { script: String, exit: i32 },
    /// Writes a file.
    Write { path: String, text: String },
    /// Looks for these lines in the output of the last commands.
    Output { lines: Vec<String> },
}

/// What comments say about the next block.
#[derive(Default)]
struct Notes {
    line: usize,
    path: Option<String>,
    exit: Option<i32>,
    is_output: bool,
    is_not_run: bool,
}

impl Page {
    /// Fails with a line and what is wrong there.
    pub fn read(text: &str) -> Result<Page, String> {
        let mut items = Vec::new();
        let mut notes = Notes::default();
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        while let Some((number, line)) = lines.next() {
            let Some(fence) = fence(line) else {
                match directive(line) {
                    Some(("setup", commands)) => {
                        items
                            .push(Item { line: number, action: Action::Run { script: commands.to_string(), exit: 0 } });
                    }
                    Some((key, value)) => notes.add(number, key, value)?,
                    None if line.trim().is_empty() || notes.line == 0 => {}
                    None => return Err(format!("{}: no block follows this comment", notes.line)),
                }
                continue;
            };
            let mut body = String::new();
            loop {
                let Some((_, line)) = lines.next() else { return Err(format!("{number}: this block has no end")) };
                if fence.is_closed_by(line) {
                    break;
                }
                // A block within a list is indented as its fence is.
                let indent = line.chars().take(fence.indent).take_while(|c| *c == ' ').count();
                body.push_str(&line[indent..]);
                body.push('\n');
            }
            let has_run = items.iter().any(|item: &Item| matches!(item.action, Action::Run { .. }));
            if let Some(action) = take(&mut notes).apply(number, fence.language, body, has_run)? {
                items.push(Item { line: number, action });
            }
        }
        if notes.line == 0 { Ok(Page { items }) } else { Err(format!("{}: no block follows this comment", notes.line)) }
    }
}

impl Notes {
    fn add(&mut self, line: usize, key: &str, value: &str) -> Result<(), String> {
        self.line = line;
        match key {
            "file" => self.path = Some(value.to_string()),
            "output" => self.is_output = true,
            "exit" => self.exit = Some(value.parse().map_err(|_| format!("{line}: `{value}` is not an exit code"))?),
            _ if value.is_empty() => return Err(format!("{line}: say why it is not run")),
            _ => self.is_not_run = true,
        }
        Ok(())
    }

    fn apply(self, line: usize, language: &str, body: String, has_run: bool) -> Result<Option<Action>, String> {
        if matches!(language, "bash" | "shell" | "console" | "zsh" | "sh-session") {
            return Err(format!("{line}: write `sh` instead of `{language}`"));
        }
        if let Some(path) = self.path {
            return Ok(Some(Action::Write { path, text: body }));
        }
        if self.is_output {
            let lines = body.lines().map(|line| line.trim().to_string()).collect();
            return if has_run {
                Ok(Some(Action::Output { lines }))
            } else {
                Err(format!("{line}: no commands before this output"))
            };
        }
        if language != "sh" {
            return if self.exit.is_some() {
                Err(format!("{line}: only blocks of `sh` have an exit code"))
            } else {
                Ok(None)
            };
        }
        if let Some(prompt) = body.lines().position(|line| line.starts_with("$ ")) {
            return Err(format!("{}: a block of `sh` has no prompts", line + 1 + prompt));
        }
        Ok((!self.is_not_run).then(|| Action::Run { script: body, exit: self.exit.unwrap_or(0) }))
    }
}

/// The start of a fenced block.
struct Fence<'a> {
    indent: usize,
    ticks: usize,
    language: &'a str,
}

fn fence(line: &str) -> Option<Fence<'_>> {
    let start = line.trim_start();
    let rest = start.trim_start_matches('`');
    let ticks = start.len() - rest.len();
    let language = rest.split_whitespace().next().unwrap_or_default();
    (ticks >= 3 && !rest.contains('`')).then_some(Fence { indent: line.len() - start.len(), ticks, language })
}

impl Fence<'_> {
    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.ticks && line.chars().all(|c| c == '`')
    }
}

/// `<!-- exit: 1 -->` is `("exit", "1")`. Other comments are none of ours.
fn directive(line: &str) -> Option<(&str, &str)> {
    let inside = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    let (key, value) = inside.split_once(':').unwrap_or((inside, ""));
    ["file", "exit", "output", "not run", "setup"].contains(&key).then_some((key, value.trim()))
}
