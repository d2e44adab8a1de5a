//! The environment of the process: variables, the current folder, the command line, and the tools that are compiled into the
//! program. Read once, when the program starts, and passed on as a value, so that nothing below the command line depends on the
//! process.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use trailblaze_http::ProxySettings;

use crate::project::compiled_in::CompiledIn;

#[derive(Debug, Default)]
pub struct Environment {
    variables: HashMap<OsString, OsString>,
    current_dir: PathBuf,
    command_line: Vec<String>,
    program: Option<PathBuf>,
    compiled_in: CompiledIn,
}

impl Environment {
    /// The environment of this process. Only `main` calls it.
    pub fn of_process() -> Environment {
        Environment {
            variables: std::env::vars_os().collect(),
            current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            command_line: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            program: std::env::current_exe().ok(),
            compiled_in: CompiledIn::default(),
        }
    }

    pub fn with(self, compiled_in: CompiledIn) -> Environment {
        Environment { compiled_in, ..self }
    }

    /// The environment of a client of this process.
    pub fn of_client(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        current_dir: PathBuf,
        command_line: Vec<String>,
        compiled_in: CompiledIn,
    ) -> Environment {
        Environment {
            variables: variables.into_iter().collect(),
            current_dir,
            command_line,
            program: None,
            compiled_in,
        }
    }

    /// All variables.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The tools that are compiled into the program besides the built-in ones.
    pub fn compiled_in(&self) -> &CompiledIn {
        &self.compiled_in
    }

    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// A variable whose value is Unicode.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name)?.to_str()
    }

    /// The proxies to other machines; the variables are in upper or in lower case.
    pub fn proxies(&self) -> ProxySettings {
        let value = |name: &str| {
            let lower = name.to_ascii_lowercase();
            self.text(name).or_else(|| self.text(&lower)).unwrap_or_default().to_string()
        };
        ProxySettings {
            https: value("HTTPS_PROXY"),
            http: value("HTTP_PROXY"),
            all: value("ALL_PROXY"),
            no: value("NO_PROXY"),
        }
    }

    /// The folders that are searched for programs.
    pub fn path(&self) -> &OsStr {
        self.var("PATH").unwrap_or_default()
    }

    /// The program that a shell would start by this name.
    pub fn find_program(&self, name: &OsStr) -> Option<PathBuf> {
        let places = std::env::split_paths(self.path()).map(|folder| self.absolute(&folder).join(name));
        places.into_iter().find(|place| is_program(place))
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        self.var("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }

    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Resolves a path given by the user, relative to the current folder.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        let joined = self.current_dir.join(path);
        std::path::absolute(&joined).unwrap_or(joined)
    }

    /// The file of the program that is running.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The program and its arguments.
    pub fn command_line(&self) -> &[String] {
        &self.command_line
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
