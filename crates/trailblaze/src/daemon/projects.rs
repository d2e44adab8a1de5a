//! The projects of clients, read in the environment that each client sent.

use std::path::Path;
use std::sync::Arc;

use super::log::Log;
use crate::output::words::count;
use crate::project::compiled_in::CompiledIn;
use crate::project::environment::Environment;
use crate::project::loaded::{Loaded, find_root};
use crate::run::preflight::n_errors;
use crate::sessions::host::Host;
use crate::sessions::service::{ClientPlace, ServiceError};

/// What every project of the daemon shares.
pub struct Projects {
    pub host: Host,
    pub log: Log,
    /// The tools that are compiled into the program.
    pub compiled_in: CompiledIn,
}

impl Projects {
    /// The project of a client.
    pub fn load(&self, client: &ClientPlace) -> Result<Arc<Loaded>, ServiceError> {
        let variables = client.variables.iter().map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::of_client(
            variables,
            client.current_dir.clone(),
            client.command.clone(),
            self.compiled_in.clone(),
        );
        let environment = Arc::new(environment);
        let root = match &client.project {
            Some(project) => environment.absolute(project),
            None if client.current_dir.as_os_str().is_empty() => {
                return Err(ServiceError::invalid("no project is known here")
                    .with_hint("name the project's folder with `project`"));
            }
            None => find_root(Path::new("."), &environment),
        };
        if !root.is_dir() {
            return Err(ServiceError::invalid(format!("no such folder: `{}`", root.display())));
        }
        let loaded = Loaded::read(&root, &environment).map_err(|error| ServiceError::invalid(error.to_string()))?;
        Ok(Arc::new(loaded))
    }
}

/// Fails if the files of a project have errors.
pub fn sound(loaded: &Loaded) -> Result<(), ServiceError> {
    if !loaded.has_errors() {
        return Ok(());
    }
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    let text = format!("the project has {}:\n{}", count(n_errors(&loaded.problems), "problem"), problems.join("\n"));
    Err(ServiceError::invalid(text))
}
