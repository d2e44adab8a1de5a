//! A shop of one page, and a cart, with a trail on a real Chromium.

use std::process::Command;

use crate::support::marked::Mark;
use crate::support::{Project, Ran, skip};

/// A shop of one page, and a cart.
pub struct Shop {
    pub project: Project,
    pub mark: Mark,
}

impl Shop {
    /// `None` where there is no Chromium; CI must have one.
    pub fn open(calls: &str) -> Option<Shop> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        if !["chromium", "chromium-browser", "google-chrome"].iter().any(is_there) {
            skip::without_part("there is no Chromium; `scripts/parts` installs it");
            return None;
        }
        let project = Project::empty()
            .with("trailblaze.yaml", "devices: [{id: web/chromium}]\n")
            .with("shop.html", include_str!("shop.html"))
            .with("cart.html", include_str!("cart.html"));
        let address = format!("file://{}/shop.html", project.root().display());
        let trail = format!("trail:\n  - step: Shop\n    tools:\n      - openUrl: {{url: '{address}'}}\n{calls}");
        project.write("trails/shop.trail.yaml", trail);
        Some(Shop { project, mark: Mark::new() })
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        let (name, value) = self.mark.variable();
        command.env(name, value);
        command
    }

    /// Runs the trail. No browser is left, whatever happened, and no profile.
    #[track_caller]
    pub fn run(&self, args: &[&str], code: i32) -> Ran {
        let all = [&["run", "--pictures", "off"], args].concat();
        let mut command = self.command(&all);
        let temp = self.project.root().join("temp");
        std::fs::create_dir_all(&temp).expect("a folder");
        let ran = self.project.finish({
            command.env("TMPDIR", &temp);
            command
        });
        let ran = ran.exits(code);
        self.mark.wait_until_none_left_blocking();
        let left: Vec<_> = std::fs::read_dir(&temp).expect("a folder").flatten().map(|entry| entry.path()).collect();
        assert!(!left.iter().any(|path| path.to_string_lossy().contains("trailblaze-chromium")), "{left:?}");
        ran
    }
}

pub fn calls(calls: &[&str]) -> String {
    calls.iter().map(|call| format!("      - {call}\n")).collect()
}
