//! The `sim:` section of a project, and the flags that change it.

use std::path::Path;
use std::sync::Arc;

use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Node, Problem, Problems, Source, Spanned};
use trailblaze_drivers::sim::{App, Faults, demo_app};

table! {
    /// Simulated devices.
    pub struct SimSection {
        /// The apps that are installed, as paths from the project's root.
        "apps" => apps: Vec<Spanned<String>> = Vec::new(),
        /// Latency and faults.
        "faults" => faults: Faults = Faults::default(),
    }
}

/// What every simulated device of a run gets.
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
    /// Reads the section and the apps that it names. Without apps there is the one that is built in.
    pub fn load(root: &Path, node: &Node, project: &Arc<Source>, found: &mut Vec<Problem>) -> SimSetup {
        let mut problems = Problems::new(project);
        let section = SimSection::decode(node, &mut problems);
        let mut apps = Vec::new();
        for path in section.iter().flat_map(|section| &section.apps) {
            match std::fs::read_to_string(root.join(&path.value)) {
                Ok(text) => {
                    let source = Source::new(path.value.as_str(), text);
                    let mut app_problems = Problems::new(&source);
                    apps.extend(App::read(&source, &mut app_problems).map(Arc::new));
                    found.extend(app_problems.into_vec());
                }
                Err(error) => problems.error(path.span, format!("cannot read the app {}: {error}", path.value)),
            }
        }
        found.extend(problems.into_vec());
        if apps.is_empty() {
            apps.push(demo_app());
        }
        SimSetup { apps, faults: section.map(|section| section.faults).unwrap_or_default() }
    }
}
