//! Servers that are built before they are started: a jar of a Maven project, or a program of a Cargo project. Finds builds that
//! are missing or older than their sources.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trailblaze_core::config::ToolServerConfig;
use trailblaze_core::nearest::misspelled;

/// A file that a server is started from and that is built from sources in the project.
#[derive(Debug, Clone)]
pub struct ServerBuild {
    /// As its entry names it.
    file: String,
    /// The folder that the file's path starts at.
    dir: PathBuf,
    sources: PathBuf,
    /// The command that builds it; `None` if the project does not say how.
    command: Option<String>,
}

/// A build that is older than its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleBuild {
    pub what: String,
    /// When the sources were last changed.
    pub changed: SystemTime,
}

impl ServerBuild {
    pub fn of(server: &ToolServerConfig, root: &Path) -> Option<ServerBuild> {
        let dir = server.working_dir.as_ref().map_or_else(|| root.to_path_buf(), |dir| root.join(dir));
        if let Some(file) = server.args.iter().skip_while(|arg| *arg != "-jar").nth(1) {
            let project = file.split_once("target/").map(|(folder, _)| folder.trim_end_matches('/'));
            let project = project.filter(|project| dir.join(project).join("pom.xml").is_file());
            let sources = dir.join(project.unwrap_or_default()).join("src/main");
            let command = project.map(|project| match project {
                "" => "mvn -q package".to_string(),
                project => format!("mvn -q -f {project} package"),
            });
            return Some(ServerBuild { file: file.clone(), dir, sources, command });
        }
        let file = server.command.as_deref()?;
        let project = file.split_once("target/")?.0;
        let manifest = format!("{project}Cargo.toml");
        let release = if file.contains("/release/") { " --release" } else { "" };
        let command = format!("cargo build{release} --manifest-path {manifest}");
        let sources = root.join(project).join("src");
        let is_project = root.join(&manifest).is_file();
        is_project.then(|| ServerBuild {
            file: file.to_string(),
            dir: root.to_path_buf(),
            sources,
            command: Some(command),
        })
    }

    /// The file, as the entry names it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The problem with a build that does not exist.
    pub fn missing(&self) -> Option<String> {
        if self.dir.join(&self.file).exists() {
            return None;
        }
        let meant = self.meant().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        Some(format!("`{}` does not exist{meant}", self.file))
    }

    /// A file beside a build that does not exist, if its name is nearly the same: building would not help then.
    fn meant(&self) -> Option<String> {
        let file = Path::new(&self.file);
        let beside = std::fs::read_dir(self.dir.join(file).parent()?).ok()?.flatten();
        let names: Vec<String> = beside.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let name = file.file_name()?.to_str()?;
        let near = misspelled(name, names.iter().map(String::as_str))?;
        Some(file.with_file_name(near).display().to_string())
    }

    /// The problem with a build that is older than its sources: a server started from it runs old code.
    pub fn stale(&self) -> Option<StaleBuild> {
        self.command.as_ref()?;
        let time = |file: &Path| file.metadata().and_then(|file| file.modified()).ok();
        let built = time(&self.dir.join(&self.file))?;
        let sources = files_below(&self.sources).into_iter().filter_map(|file| Some((time(&file)?, file)));
        let (changed, newest) = sources.max().filter(|(changed, _)| *changed > built)?;
        let newest = newest.strip_prefix(&self.dir).unwrap_or(&newest).display();
        Some(StaleBuild { what: format!("`{}` is older than `{newest}`, so it has old code", self.file), changed })
    }

    /// What to do about a build with a problem. `entry` says where its file is named, as in `at trailblaze.yaml:4:16`.
    pub fn advice(&self, entry: &str) -> String {
        match &self.command {
            _ if self.missing().is_some() && self.meant().is_some() => {
                format!("correct the path {entry}")
            }
            Some(command) => format!("run `{command}` in `{}`", self.dir.display()),
            None => format!("build it, or correct `args` {entry}"),
        }
    }
}

/// The files of a folder and of those in it, as far as a source tree goes.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    const MOST: usize = 10_000;
    let (mut folders, mut files) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop().filter(|_| files.len() < MOST) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST) {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::fs::{File, create_dir_all, write};
    use std::time::{Duration, SystemTime};

    use trailblaze_core::yaml::{Problems, Source, decode};

    use super::*;

    const ENTRY: &str = "at a.yaml:1:2";

    fn build(root: &Path, entry: &str) -> Option<ServerBuild> {
        let yaml = Source::new("a.yaml", entry);
        let server: ToolServerConfig = decode(&yaml, &mut Problems::new(&yaml)).unwrap();
        ServerBuild::of(&server, root)
    }

    fn touched(file: &Path, age: u64) {
        let at = SystemTime::now() - Duration::from_secs(age);
        File::options().write(true).open(file).unwrap().set_modified(at).unwrap();
    }

    #[test]
    fn a_build_that_is_missing_or_older_than_its_sources_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        create_dir_all(root.join("tools/target/debug")).unwrap();
        create_dir_all(root.join("tools/src/main/kotlin")).unwrap();
        let source = root.join("tools/src/main/kotlin/Tools.kt");
        write(&source, "").unwrap();
        write(root.join("tools/pom.xml"), "").unwrap();
        write(root.join("tools/Cargo.toml"), "").unwrap();
        for (file, entry, command) in [
            (
                "tools/target/tools.jar",
                "command: java\nargs: [-jar, tools/target/tools.jar]\n",
                "mvn -q -f tools package",
            ),
            (
                "tools/target/debug/tools",
                "command: tools/target/debug/tools\n",
                "cargo build --manifest-path tools/Cargo.toml",
            ),
        ] {
            let build = build(root, entry).unwrap();
            assert_eq!(build.missing(), Some(format!("`{file}` does not exist")));
            assert_eq!(build.stale(), None);
            assert_eq!(build.advice(ENTRY), format!("run `{command}` in `{}`", root.display()));
            write(root.join(file), "").unwrap();
            touched(&source, 20);
            touched(&root.join(file), 10);
            assert_eq!((build.missing(), build.stale()), (None, None));
            touched(&source, 5);
            let stale = "is older than `tools/src/main/kotlin/Tools.kt`, so it has old code";
            assert_eq!(build.stale().map(|stale| stale.what), Some(format!("`{file}` {stale}")));
        }
    }

    #[test]
    fn a_path_that_is_misspelled_is_told_with_the_one_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        create_dir_all(folder.path().join("tools/target/debug")).unwrap();
        write(folder.path().join("tools/Cargo.toml"), "").unwrap();
        write(folder.path().join("tools/target/debug/rust-tools"), "").unwrap();
        let build = build(folder.path(), "command: tools/target/debug/rust-tolls\n").unwrap();
        let missing = "`tools/target/debug/rust-tolls` does not exist; did you mean `tools/target/debug/rust-tools`?";
        assert_eq!(build.missing().as_deref(), Some(missing));
        assert_eq!(build.advice(ENTRY), "correct the path at a.yaml:1:2");
    }

    #[test]
    fn a_jar_of_no_project_can_only_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let build_of = |entry: &str| build(folder.path(), entry);
        let jar = build_of("command: java\nargs: [-jar, acme.jar]\n").unwrap();
        assert_eq!(jar.missing(), Some("`acme.jar` does not exist".to_string()));
        assert_eq!(jar.advice(ENTRY), "build it, or correct `args` at a.yaml:1:2");
        write(folder.path().join("acme.jar"), "").unwrap();
        assert_eq!((jar.missing(), jar.stale()), (None, None));
        assert!(build_of("command: target/debug/acme\n").is_none());
        assert!(build_of("command: python3\nargs: [acme.py]\n").is_none());
    }
}
