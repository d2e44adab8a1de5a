//! A shop of one page, and a cart, with a trail on a real Chromium.

use std::process::Command;

use crate::support::marked::Mark;
use crate::support::{Project, Ran, chromium};

/// A shop of one page, and a cart.
pub struct Shop {
    pub project: Project,
    pub mark: Mark,
}

impl Shop {
    /// On a page of the browser that tests share. `None` where there is no Chromium; CI must have one.
    pub fn open(calls: &str) -> Option<Shop> {
        let shop = Shop::with_own_browser(calls)?;
        shop.device("[{id: web/chromium}]");
        Some(shop)
    }

    /// With a browser that its runs start and end.
    pub fn with_own_browser(calls: &str) -> Option<Shop> {
        chromium::find()?;
        let project = Project::empty()
            .with("trailblaze.yaml", chromium::own("[{id: web/chromium}]"))
            .with("shop.html", include_str!("shop.html"))
            .with("cart.html", include_str!("cart.html"));
        let address = format!("file://{}/shop.html", project.root().display());
        let trail = format!("trail:\n  - step: Shop\n    tools:\n      - openUrl: {{url: '{address}'}}\n{calls}");
        project.write("trails/shop.trail.yaml", trail);
        Some(Shop { project, mark: Mark::new() })
    }

    /// Uses these devices, on the browser that tests share.
    pub fn device(&self, devices: &str) {
        self.project.write("trailblaze.yaml", chromium::devices(devices));
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
        let profiles = ["trailblaze-chromium", "trailblaze-firefox"];
        let is_profile = |path: &std::path::PathBuf| profiles.iter().any(|name| path.to_string_lossy().contains(name));
        assert!(!left.iter().any(is_profile), "{left:?}");
        ran
    }
}

pub fn calls(calls: &[&str]) -> String {
    calls.iter().map(|call| format!("      - {call}\n")).collect()
}
