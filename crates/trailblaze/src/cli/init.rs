//! `trailblaze init`: a new project that is ready to run.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::schema::schema_files;
use super::{Context, Refusal};
use crate::files::check_links;
use crate::output::print;

/// Create a project that is ready to run, on simulated phones or in a browser
#[derive(Args)]
pub struct InitArgs {
    /// The project's folder [default: the current folder]
    dir: Option<PathBuf>,
    /// Create a project for the web app at this address, instead of one for simulated phones
    #[arg(long, value_name = "URL")]
    web: Option<String>,
    /// Write only the missing files; never change existing ones
    #[arg(long)]
    force: bool,
    /// Print the written files as JSON
    #[arg(long)]
    json: bool,
}

/// The files that users edit, by their paths in the project.
const FILES: [(&str, &str); 7] = [
    ("trailblaze.yaml", include_str!("new_project/trailblaze.yaml")),
    ("hello.app.yaml", include_str!("new_project/hello.app.yaml")),
    ("trailblaze-config/targets/hello.yaml", include_str!("new_project/target.yaml")),
    ("trailblaze-config/tools/hello_greet.yaml", include_str!("new_project/tool.yaml")),
    ("trailblaze-config/toolsets/hello.yaml", include_str!("new_project/toolset.yaml")),
    ("trails/hello.trail.yaml", include_str!("new_project/hello.trail.yaml")),
    (".gitignore", include_str!("new_project/gitignore")),
];

/// The same for a web app, whose address is filled in.
const WEB_FILES: [(&str, &str); 4] = [
    ("trailblaze.yaml", include_str!("new_project/web_trailblaze.yaml")),
    ("trailblaze-config/targets/site.yaml", include_str!("new_project/web_target.yaml")),
    ("trails/open.trail.yaml", include_str!("new_project/web_trail.yaml")),
    (".gitignore", include_str!("new_project/gitignore")),
];

/// A web app under test.
struct Site {
    url: String,
    host: String,
}

impl Site {
    fn parse(url: &str) -> Result<Site, Refusal> {
        let rest = ["https://", "http://"].into_iter().find_map(|scheme| url.strip_prefix(scheme));
        let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
        let is_plain = !url.chars().any(|c| c.is_whitespace() || c.is_control());
        match host.filter(|host| is_plain && host.contains(char::is_alphanumeric)) {
            // A name and a password before the host are not part of what the browser shows.
            Some(host) => {
                let host = host.rsplit('@').next().unwrap_or(host);
                // Browsers leave out the port of the scheme.
                let host = [":80", ":443"].into_iter().find_map(|port| host.strip_suffix(port)).unwrap_or(host);
                Ok(Site { url: url.to_string(), host: host.to_ascii_lowercase() })
            }
            None => Err(Refusal::Usage {
                message: format!("`{url}` is not the address of a web app"),
                hint: Some("write it with its scheme, as in --web http://localhost:3000".to_string()),
            }),
        }
    }

    fn filled_in(&self, template: &str) -> String {
        // JSON is YAML, in any place.
        let quoted = |text: &str| json!(text).to_string();
        template.replace("URL_OF_SITE", &quoted(&self.url)).replace("HOST_OF_SITE", &quoted(&self.host))
    }
}

pub fn init(context: &Context, args: InitArgs) -> Result<Exit, Refusal> {
    let base = context.project.clone().unwrap_or_default();
    let root = args.dir.map_or_else(|| base.clone(), |dir| base.join(dir));
    let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
    let site = args.web.as_deref().map(Site::parse).transpose()?;
    let files = files(site.as_ref());
    let (existing, missing): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| is_there(&root.join(path)));
    let blocked: Vec<String> = missing.iter().filter_map(|(path, _)| blocking(&root, path)).collect();
    if let Some(file) = blocked.first() {
        return Err(Refusal::usage(format!("`{file}` is a file, but a folder is needed there")));
    }
    let kept: Vec<&str> = existing.iter().map(|(path, _)| path.as_str()).collect();
    if !kept.is_empty() && !args.force {
        let message = format!("these files exist in `{}`:\n  {}", root.display(), kept.join("\n  "));
        let hint = Some("`--force` writes the missing files and leaves these unchanged".to_string());
        return Err(Refusal::Usage { message, hint });
    }
    let whole_root = existing_folder(&root)?;
    for (path, _) in &missing {
        check_links(&whole_root, &whole_root.join(path)).map_err(|error| Refusal::usage(error.to_string()))?;
    }
    for (path, text) in &missing {
        write_new(&root.join(path), text)
            .map_err(|source| Refusal::Io { what: format!("cannot write `{path}`"), source })?;
    }
    let written: Vec<&str> = missing.iter().map(|(path, _)| path.as_str()).collect();
    if args.json {
        print::json(&json!({"root": root, "written": written, "kept": kept}));
        return Ok(Exit::Passed);
    }
    written.iter().for_each(print::data);
    kept.iter().for_each(|path| print::say(format!("kept {path} unchanged")));
    say_what_is_next(&root, site.as_ref());
    Ok(Exit::Passed)
}

fn files(site: Option<&Site>) -> Vec<(String, String)> {
    let own: Vec<(String, String)> = match site {
        None => FILES.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect(),
        Some(site) => WEB_FILES.iter().map(|(path, text)| (path.to_string(), site.filled_in(text))).collect(),
    };
    own.into_iter().chain(schema_files()).collect()
}

/// Whether anything exists at the path, including a dangling link.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The file that is in the way of a folder on this path.
pub fn blocking(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path);
    let folder = path.ancestors().skip(1).find(|folder| is_there(folder))?;
    let shown = folder.strip_prefix(root).ok().filter(|inside| !inside.as_os_str().is_empty()).unwrap_or(folder);
    (!folder.is_dir()).then(|| shown.display().to_string())
}

/// Creates the project's folder, and returns its path without links: which folder it is, the user decides.
fn existing_folder(root: &Path) -> Result<PathBuf, Refusal> {
    let created = std::fs::create_dir_all(root).and_then(|()| root.canonicalize());
    created.map_err(|source| Refusal::Io { what: format!("cannot create `{}`", root.display()), source })
}

/// Never replaces a file, even one created after the check.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::File::create_new(path)?.write_all(text.as_bytes()).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

fn say_what_is_next(root: &Path, site: Option<&Site>) {
    let record = site.map(|site| format!("trailblaze record --url {}", site.url));
    let mut rows = vec![("trailblaze check", "find mistakes in the files")];
    match &record {
        None => rows.extend([
            ("trailblaze run", "run trails/hello.trail.yaml on two simulated phones"),
            ("trailblaze shell -d android/sim-1", "explore the app, to write the next trail"),
        ]),
        Some(record) => rows.extend([
            ("trailblaze run", "run trails/open.trail.yaml in Chromium"),
            (record.as_str(), "use the app in a window, to record the next trail"),
        ]),
    }
    let go = format!("cd {}", root.display());
    if root != Path::new(".") {
        rows.insert(0, (&go, ""));
    }
    print::say("\nNext:");
    rows.iter().for_each(|(command, about)| print::say(format!("  {command:<34} {about}").trim_end()));
}
