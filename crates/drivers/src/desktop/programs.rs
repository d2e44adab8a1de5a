//! Programs: where they are, and how an installed one is started.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a session of our own needs, and the package of Debian that has it.
pub const SESSION_PROGRAMS: [(&str, &str); 2] = [("Xvfb", "xvfb"), ("dbus-daemon", "dbus")];

/// The files of at-spi2-core that start the accessibility bus.
const BUS_SERVICE: &str = "dbus-1/services/org.a11y.Bus.service";

/// Where programs and descriptions of programs are.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// In the format of PATH.
    pub path: OsString,
    /// The folders with data of programs: `/usr/share`.
    pub data: Vec<PathBuf>,
}

/// How to start a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCommand {
    pub words: Vec<String>,
    /// The folder to start it in.
    pub dir: Option<PathBuf>,
}

impl Programs {
    pub fn new(path: &OsStr, data_dirs: Option<&OsStr>, home: Option<&OsStr>) -> Programs {
        let shared = data_dirs.filter(|dirs| !dirs.is_empty()).unwrap_or(OsStr::new("/usr/local/share:/usr/share"));
        let own = home.map(|home| Path::new(home).join(".local/share"));
        Programs { path: path.to_os_string(), data: own.into_iter().chain(std::env::split_paths(shared)).collect() }
    }

    pub fn find(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.path).map(|folder| folder.join(name)).find(|place| place.is_file())
    }

    /// The packages of those programs that are not there.
    pub fn missing(&self, programs: &[(&'static str, &'static str)]) -> Vec<&'static str> {
        let programs = programs.iter().filter(|(name, _)| self.find(name).is_none()).map(|(_, package)| *package);
        let has_bus = self.data.iter().any(|folder| folder.join(BUS_SERVICE).is_file());
        programs.chain((!has_bus).then_some("at-spi2-core")).collect()
    }

    /// How to start an app: by the id of its `.desktop` file, or by a command line.
    pub fn command(&self, app: &str) -> Result<ProgramCommand, String> {
        let id = app.strip_suffix(".desktop").unwrap_or(app);
        let is_id = !id.is_empty() && !id.contains(['/', ' ']);
        let file = is_id.then(|| self.data.iter().map(|folder| folder.join(format!("applications/{id}.desktop"))));
        if let Some(file) = file.into_iter().flatten().find(|file| file.is_file()) {
            let text = std::fs::read_to_string(&file).map_err(|error| format!("`{}`: {error}", file.display()))?;
            return read_entry(&text).map_err(|why| format!("`{}` {why}", file.display()));
        }
        let words = shlex::split(app).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| format!("`{app}` is not a command line: a quote is open"))?;
        let program = &words[0];
        let is_there = if program.contains('/') { Path::new(program).is_file() } else { self.find(program).is_some() };
        match is_there {
            true => Ok(ProgramCommand { words, dir: None }),
            false => Err(format!(
                "there is no program `{program}`, and no file `{id}.desktop`; install it, or write the whole command line"
            )),
        }
    }
}

/// Reads how to start the program of a `.desktop` file.
fn read_entry(text: &str) -> Result<ProgramCommand, String> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "[Desktop Entry]").skip(1);
    let entry: Vec<(&str, &str)> =
        lines.by_ref().take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('=')).collect();
    let value = |name: &str| entry.iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
    let exec = value("Exec").ok_or("has no line `Exec=`, so that it cannot be started")?;
    let words = shlex::split(exec).ok_or("has a line `Exec=` with an open quote")?;
    // Codes stand for files to open, which there are none of.
    let is_code = |word: &String| word.len() == 2 && word.starts_with('%') && word != "%%";
    let words: Vec<String> =
        words.into_iter().filter(|word| !is_code(word)).map(|word| word.replace("%%", "%")).collect();
    if words.is_empty() {
        return Err("has an empty line `Exec=`".to_string());
    }
    Ok(ProgramCommand { words, dir: value("Path").filter(|path| !path.is_empty()).map(PathBuf::from) })
}

/// What to say if packages are missing.
pub fn missing_parts(packages: &[&str]) -> String {
    format!("parts of a desktop are missing; install them: `apt-get install {}`", packages.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desktop_file_says_how_to_start_a_program() {
        let read = |exec: &str| {
            let text = format!(
                "# comment\n[Desktop Entry]\nName=Editor\nExec={exec}\nPath=/srv\n[Desktop Action x]\nExec=no\n"
            );
            read_entry(&text).map(|command| command.words)
        };
        assert_eq!(read("editor --new %F"), Ok(vec!["editor".to_string(), "--new".to_string()]));
        assert_eq!(read(r#""/opt/my editor" %u 100%%"#), Ok(vec!["/opt/my editor".to_string(), "100%".to_string()]));
        assert_eq!(read("%U"), Err("has an empty line `Exec=`".to_string()));
        assert_eq!(read("\"open"), Err("has a line `Exec=` with an open quote".to_string()));
        assert!(read_entry("[Desktop Entry]\nName=x").is_err());
        assert_eq!(
            read_entry("[Desktop Entry]\nExec=a\nPath=/srv").map(|command| command.dir),
            Ok(Some("/srv".into()))
        );
    }

    #[test]
    fn an_app_that_is_not_there_is_named() {
        let programs = Programs::new(OsStr::new("/nowhere"), Some(OsStr::new("/nowhere")), None);
        let why = programs.command("mousepad --x").expect_err("it is not there");
        assert!(why.starts_with("there is no program `mousepad`, and no file `mousepad --x.desktop`"), "{why}");
        assert!(programs.command("a 'b").expect_err("a quote is open").contains("a quote is open"));
        assert_eq!(programs.missing(&SESSION_PROGRAMS), ["xvfb", "dbus", "at-spi2-core"]);
    }
}
