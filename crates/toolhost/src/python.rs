//! Python: which interpreter runs the servers of a project, and what to do about packages that are missing.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::launch::find;

/// The Python of the project's virtual environment.
const OWN_PYTHON: &str = ".venv/bin/python";

/// Resolves a command. A bare name is looked up on PATH, and a path is relative to the project; the Python of the
/// project's virtual environment is preferred over the system's.
pub fn program(command: &str, root: &Path) -> OsString {
    let own = root.join(OWN_PYTHON);
    match command {
        "python" | "python3" if own.exists() => own.into_os_string(),
        command if command.contains('/') => root.join(command).into_os_string(),
        command => command.into(),
    }
}

/// Whether a command is Python, judging by its name.
pub fn is_python(command: &str) -> bool {
    Path::new(command).file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
}

/// The commands that install Python packages for a project, in order; `what` is the argument to pip. They use a virtual
/// environment in the project, because many systems refuse installs into their own Python. `uv` is used where it is on the `path`,
/// because it is several times as fast, and in an environment that it made, because pip is not in there.
pub fn python_install(root: &Path, path: &OsStr, what: &str) -> Vec<String> {
    let with_uv = format!("uv pip install {what}");
    if !root.join(OWN_PYTHON).exists() {
        return match find(path, "uv") {
            Some(_) => vec!["uv venv".to_string(), with_uv],
            None => vec!["python3 -m venv .venv".to_string(), format!("{OWN_PYTHON} -m pip install {what}")],
        };
    }
    let about = std::fs::read_to_string(root.join(".venv/pyvenv.cfg")).unwrap_or_default();
    let is_of_uv = about.lines().any(|line| line.trim_start().starts_with("uv ="));
    vec![if is_of_uv { with_uv } else { format!("{OWN_PYTHON} -m pip install {what}") }]
}

/// What to do about a Python program that failed because a module is missing, judging by its output.
pub fn missing_module(command: &str, root: &Path, path: &OsStr, said: &str) -> Option<String> {
    let (_, after) = said.split_once("ModuleNotFoundError: No module named '")?;
    let module = after.split_once('\'')?.0;
    let is_name = module.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let package = module.split('.').next().filter(|name| is_name && !name.is_empty())?;
    let is_own = matches!(command, "python" | "python3");
    // The files that a project keeps its packages in, and what installs them.
    let kept = [
        ("uv.lock", "pyproject.toml", vec!["uv sync".to_string()]),
        ("requirements.txt", "requirements.txt", python_install(root, path, "-r requirements.txt")),
        ("pyproject.toml", "pyproject.toml", python_install(root, path, "-e .")),
    ];
    let kept = kept.into_iter().find(|(mark, ..)| is_own && root.join(mark).is_file());
    let (add, commands) = match kept {
        Some((_, list, commands)) if is_listed(&root.join(list), package) => (None, commands.join(" && ")),
        Some((_, list, commands)) => (Some(list), commands.join(" && ")),
        None if is_own => (None, python_install(root, path, package).join(" && ")),
        // An explicitly chosen interpreter is kept.
        None if is_python(command) => (None, format!("{command} -m pip install {package}")),
        None => return None,
    };
    let add = add.map(|list| format!("add its package, probably `{package}`, to `{list}`, and ")).unwrap_or_default();
    Some(format!("the Python module `{package}` is not installed; {add}run `{commands}` in `{}`", root.display()))
}

/// Whether a file that lists packages names one.
fn is_listed(list: &Path, package: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let text = plain(&std::fs::read_to_string(list).unwrap_or_default());
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    text.split(|c| !is_part(c)).any(|word| word == plain(package))
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_missing_module_is_added_to_the_packages_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let said = "ModuleNotFoundError: No module named 'acme_sdk.parts'";
        let nowhere = OsStr::new("");
        let check = |command: &str, words: &str| {
            let told = format!("the Python module `acme_sdk` is not installed; {words} in `{}`", root.display());
            assert_eq!(missing_module(command, root, nowhere, said), Some(told));
        };
        let add = |list: &str| format!("add its package, probably `acme_sdk`, to `{list}`, and run");
        check("python3.12", "run `python3.12 -m pip install acme_sdk`");
        write(root.join("pyproject.toml"), "dependencies = ['fastmcp']\n").unwrap();
        let venv = "python3 -m venv .venv && .venv/bin/python -m pip install";
        check("python3", &format!("{} `{venv} -e .`", add("pyproject.toml")));
        write(root.join("requirements.txt"), "fastmcp>=4\nacme\n").unwrap();
        check("python3", &format!("{} `{venv} -r requirements.txt`", add("requirements.txt")));
        write(root.join("requirements.txt"), "fastmcp>=4\nAcme-SDK==1.2\n").unwrap();
        check("python3", &format!("run `{venv} -r requirements.txt`"));
        write(root.join("uv.lock"), "").unwrap();
        check("python3", &format!("{} `uv sync`", add("pyproject.toml")));
        assert_eq!(missing_module("node", root, nowhere, said), None);
    }

    #[test]
    fn uv_is_used_where_it_is_there_and_in_the_environments_that_it_made() {
        let folder = tempfile::tempdir().unwrap();
        let (root, bin) = (folder.path().join("project"), folder.path().join("bin"));
        create_dir_all(&bin).unwrap();
        let commands = || python_install(&root, bin.as_os_str(), "acme");
        assert_eq!(commands(), ["python3 -m venv .venv", ".venv/bin/python -m pip install acme"]);
        symlink("/bin/sh", bin.join("uv")).unwrap();
        assert_eq!(commands(), ["uv venv", "uv pip install acme"]);
        create_dir_all(root.join(".venv/bin")).unwrap();
        write(root.join(OWN_PYTHON), "").unwrap();
        assert_eq!(commands(), [".venv/bin/python -m pip install acme"]);
        write(root.join(".venv/pyvenv.cfg"), "home = /usr/bin\nuv = 0.9.2\n").unwrap();
        assert_eq!(commands(), ["uv pip install acme"]);
    }
}
