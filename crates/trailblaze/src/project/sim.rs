//! The `sim:` section of a project, and the flags that override it.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Node, Problem, Problems, Source, Spanned};
use trailblaze_drivers::sim::{App, Faults, demo_app};

use crate::files::is_inside;
use crate::project::source::read_source;

table! {
    /// Simulated devices.
    pub struct SimSection {
        /// The apps that are installed, as paths from the project's root.
        "apps" => apps: Vec<Spanned<String>> = Vec::new(),
        /// Latency and faults.
        "faults" => faults: Faults = Faults::default(),
    }
}

/// Changes to simulated devices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SimOptions {
    /// Seed for jitter, drift and faults; random if not given.
    pub seed: Option<u64>,
    /// Settings of the form `latency=20ms`.
    pub settings: Vec<String>,
}

/// The settings of all simulated devices of a run.
#[derive(Debug, Clone)]
pub struct SimSetup {
    pub apps: Vec<Arc<App>>,
    pub faults: Faults,
}

impl Default for SimSetup {
    fn default() -> SimSetup {
        SimSetup { apps: vec![demo_app()], faults: Faults::default() }
    }
}

impl SimSetup {
    /// Reads the section and the apps that it names. Without apps, the built-in one is used.
    pub fn load(root: &Path, node: &Node, project: &Arc<Source>, found: &mut Vec<Problem>) -> SimSetup {
        let mut problems = Problems::new(project);
        let section = SimSection::decode(node, &mut problems);
        let mut apps = Vec::new();
        for path in section.iter().flat_map(|section| &section.apps) {
            let file = root.join(&path.value);
            // What is wrong in a file is quoted, and the file may be another's.
            if !is_inside(root, &file) {
                problems
                    .error(path.span, format!("the app `{}` is outside of the project; copy it into it", path.value));
                continue;
            }
            if !file.is_file() {
                problems.error(path.span, format!("there is no app `{}`", path.value));
                continue;
            }
            let Some(source) = read_source(root, &file, found) else { continue };
            let mut app_problems = Problems::new(&source);
            apps.extend(App::read(&source, &mut app_problems).map(Arc::new));
            found.extend(app_problems.into_vec());
        }
        found.extend(problems.into_vec());
        if apps.is_empty() {
            apps.push(demo_app());
        }
        SimSetup { apps, faults: section.map(|section| section.faults).unwrap_or_default() }
    }
}
