//! The package for Python tools, in the version of this build: a project gets a copy, so that its tools and Trailblaze use the
//! same contract.

/// The folder of the copy in a project.
pub const FOLDER: &str = ".trailblaze/python";

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$((
            concat!("src/trailblaze/", $name),
            include_str!(concat!("../../../../sdks/python/src/trailblaze/", $name)),
        )),*]
    };
}

const SOURCES: &[(&str, &str)] = sources![
    "__init__.py",
    "_api.py",
    "_async_calls.py",
    "_blocking_calls.py",
    "_client.py",
    "_clients.py",
    "_context.py",
    "_daemon.py",
    "_duplicates.py",
    "_generated/__init__.py",
    "_generated/blocking.py",
    "_generated/built_in_tools.py",
    "_generated/commands.py",
    "_generated/types.py",
    "_http.py",
    "_late.py",
    "_late_failures.py",
    "_log_messages.py",
    "_middleware.py",
    "_pending_call.py",
    "_place.py",
    "_quiet.py",
    "_registry.py",
    "_returned.py",
    "_sampling.py",
    "_serve.py",
    "_sync_client.py",
    "_target.py",
    "_tasks.py",
    "_unawaited.py",
    "_wire.py",
    "errors.py",
    "py.typed",
    "pytest_plugin.py",
    "result.py",
    "testing.py",
];

/// All files of the copy, by their paths in the project.
pub fn files() -> impl Iterator<Item = (String, &'static str)> {
    let manifest = ("pyproject.toml", include_str!("templates/python.pyproject.toml"));
    std::iter::once(manifest).chain(SOURCES.iter().copied()).map(|(path, text)| (format!("{FOLDER}/{path}"), text))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn every_source_of_the_package_is_copied() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdks/python/src/trailblaze");
        let copied: Vec<&str> = super::SOURCES.iter().map(|(path, _)| *path).collect();
        for folder in ["", "_generated/"] {
            for entry in std::fs::read_dir(package.join(folder)).expect("a folder").flatten() {
                let name = entry.file_name().into_string().expect("a name");
                let path = format!("src/trailblaze/{folder}{name}");
                assert!(!name.ends_with(".py") || copied.contains(&&*path), "{path} is not in the list");
            }
        }
    }
}
