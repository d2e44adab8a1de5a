//! The projects of clients, read in the environment that each client sent.

use std::path::Path;
use std::sync::Arc;

use super::log::Log;
use crate::output::words::count;
use crate::project::compiled_in::CompiledIn;
use crate::project::environment::Environment;
use crate::project::loaded::{Loaded, find_root};
use crate::run::preflight::n_errors;
use crate::sessions::host::SessionHost;
use crate::sessions::service::{AllowedSecrets, ClientPlace, ServiceError};

/// What every project of the daemon shares.
pub struct Projects {
    pub host: SessionHost,
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

/// Where the secrets that an agent names may be typed. Refuses those that neither the project nor the person allows, whether or not
/// there are such variables.
pub fn agent_limits(
    loaded: &Loaded,
    named: &[String],
    allowed: &AllowedSecrets,
) -> Result<Vec<(String, Vec<String>)>, ServiceError> {
    let Some(allowed) = allowed else { return Ok(Vec::new()) };
    let find = |name: &String| {
        let mut known = allowed.iter().chain(&loaded.project.secrets.0).filter(|(known, _)| known == name).peekable();
        known.peek()?;
        // The person's word is as good as the project's.
        Some((name.clone(), known.flat_map(|(_, origins)| origins.clone()).collect()))
    };
    let limits = named.iter().map(|name| {
        find(name).ok_or_else(|| {
            let hint = "the project allows one with `secrets:` in trailblaze.yaml, and a person with `--allow-secret`";
            ServiceError::invalid(format!("`{name}` is not a secret that agents may use here")).with_hint(hint)
        })
    });
    limits.collect()
}
