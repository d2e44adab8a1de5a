//! Which trails a changed file affects, based on the runs so far: a trail that passed has shown which tools it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use trailblaze_protocol::event::Verdict;

use crate::project::loaded::CONFIG_DIR;
use crate::project::source::shown;
use crate::run::job::{Done, Job};
use crate::servers::server_sources::Concerns;
use crate::sessions::hot_swap::is_script;

#[derive(Default)]
pub struct Affected {
    /// The sources of the tools that each trail calls, by the trail's path. `None` if they are not known.
    uses: BTreeMap<String, Option<BTreeSet<String>>>,
    /// The trails that use the steps of each file.
    stretches: BTreeMap<String, BTreeSet<String>>,
    /// All sources that contributed tools to a run.
    contributors: BTreeSet<String>,
    concerns: Concerns,
    /// The tools that each file of a script is part of.
    scripts: BTreeMap<String, BTreeSet<String>>,
}

/// The trails to run again.
#[derive(Debug, PartialEq, Eq)]
pub enum Again {
    All,
    /// By their paths in the project; there may be none.
    Some(BTreeSet<String>),
}

impl Affected {
    /// Notes that these trails are about to run: the tools they use are unknown until they have run.
    pub fn begin(&mut self, jobs: &[Job], concerns: &Concerns) {
        self.concerns = concerns.clone();
        self.uses.extend(jobs.iter().map(|job| (job.trail.source.path.clone(), None)));
        for job in jobs {
            for file in &job.trail.stretch_files {
                let users = self.stretches.entry(file.clone()).or_default();
                users.insert(job.trail.source.path.clone());
            }
        }
    }

    pub fn learn(&mut self, jobs: &[Job], done: &[Done]) {
        let mut known: BTreeMap<&str, Option<BTreeSet<String>>> = BTreeMap::new();
        for done in done {
            let uses = known.entry(&jobs[done.job].trail.source.path).or_insert_with(|| Some(BTreeSet::new()));
            // A failed trail may not have reached all of its calls.
            if !matches!(done.verdict, Verdict::Passed | Verdict::Skipped) {
                *uses = None;
            }
            let tools = done.custom_tools.iter().flat_map(|tool| done.on.iter().filter_map(|on| on.registry.get(tool)));
            if let Some(uses) = uses {
                uses.extend(tools.map(|tool| tool.contributor.label.to_string()));
            }
            let all = || done.on.iter().flat_map(|on| on.registry.tools());
            for (tool, code) in all().filter_map(|tool| Some((tool, tool.code()?))) {
                for file in code.files() {
                    let label = tool.contributor.label.to_string();
                    self.scripts.entry(file.clone()).or_default().insert(label);
                }
            }
            self.contributors.extend(all().map(|tool| tool.contributor.label.to_string()));
        }
        self.uses.extend(known.into_iter().map(|(path, uses)| (path.to_string(), uses)));
    }

    /// Whether a file can affect any trail at all.
    pub fn matters(&self, root: &Path, path: &Path) -> bool {
        !matches!(self.meaning(root, path), ChangeMeaning::Nothing)
    }

    pub fn by(&self, root: &Path, paths: &[PathBuf]) -> Again {
        let mut trails = BTreeSet::new();
        for path in paths {
            match self.meaning(root, path) {
                ChangeMeaning::Nothing => {}
                ChangeMeaning::Trails(of) => trails.extend(of),
                ChangeMeaning::Everything => return Again::All,
                ChangeMeaning::Tools(of) => {
                    let is_user = |uses: &Option<BTreeSet<String>>| {
                        uses.as_ref().is_none_or(|uses| of.iter().any(|label| uses.contains(label)))
                    };
                    trails.extend(self.uses.iter().filter(|(_, uses)| is_user(uses)).map(|(trail, _)| trail.clone()));
                }
            }
        }
        Again::Some(trails)
    }

    fn meaning(&self, root: &Path, path: &Path) -> ChangeMeaning {
        let servers = self.concerns.servers(path);
        if !servers.is_empty() {
            return ChangeMeaning::Tools(servers.iter().map(|(_, name)| format!("server {name}")).collect());
        }
        let name = shown(root, path);
        if name.split('/').any(|part| part == "node_modules") {
            return ChangeMeaning::Nothing;
        }
        match name.as_str() {
            // A run writes effects files itself; they are no reason to rerun a trail.
            name if name.ends_with(".effects.yaml") => ChangeMeaning::Nothing,
            name if name.ends_with(".trail.yaml") || name.ends_with("/trail.yaml") => {
                ChangeMeaning::Trails(BTreeSet::from([name.to_string()]))
            }
            name if self.stretches.contains_key(name) => ChangeMeaning::Trails(self.stretches[name].clone()),
            name if name.starts_with(&format!("{CONFIG_DIR}/tools/")) && self.contributors.contains(name) => {
                ChangeMeaning::Tools(vec![name.to_string()])
            }
            // Rows of trails are in CSV files.
            name if [".yaml", ".yml", ".csv"].iter().any(|ending| name.ends_with(ending)) => ChangeMeaning::Everything,
            name if self.scripts.contains_key(name) => {
                ChangeMeaning::Tools(self.scripts[name].iter().cloned().collect())
            }
            // Before a script could be compiled, its files are not known.
            _ if self.contributors.is_empty() && is_script(path) => ChangeMeaning::Everything,
            _ => ChangeMeaning::Nothing,
        }
    }
}

enum ChangeMeaning {
    Nothing,
    Trails(BTreeSet<String>),
    /// The tools of these contributors.
    Tools(Vec<String>),
    Everything,
}
