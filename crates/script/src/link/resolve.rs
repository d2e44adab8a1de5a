//! Which file an import means.

use std::path::{Path, PathBuf};

use oxc_resolver::{ResolveError, ResolveOptions, Resolver};

use super::normalized;

/// The endings that are tried, in this order.
const ENDINGS: [&str; 5] = [".ts", ".mts", ".js", ".mjs", ".json"];

pub struct Finder {
    imports: Resolver,
    requires: Resolver,
    /// Recognises the modules of Node.
    builtins: Resolver,
    /// Packages are not looked for above this folder.
    ceiling: PathBuf,
}

/// How a module is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    Import,
    Require,
}

/// The folder that a file belongs to: the project, or a package. Its relative imports stay in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    pub folder: PathBuf,
    /// The name of the package; `None` for the project.
    pub package: Option<String>,
}

/// A file that was found.
#[derive(Debug)]
pub struct FoundModule {
    /// Without links.
    pub path: PathBuf,
    pub area: Area,
}

/// Why a file was not found.
#[derive(Debug, PartialEq)]
pub enum Missing {
    /// The package does without it where there is no Node.
    LeftOut,
    /// A module of Node.
    Builtin,
    /// An address or another scheme, such as `https:`.
    Scheme(String),
    Outside,
    /// No such file; what was tried.
    File(Vec<PathBuf>),
    /// No such package.
    Package(String),
    /// The package is installed above the project only.
    Above(String, PathBuf),
    /// The package exists, but not this part of it; why.
    Part(String, String),
    Other(String),
}

impl Finder {
    /// `root` is the folder of the scripts.
    pub fn new(root: &Path) -> Finder {
        let options = |conditions: &[&str], main: &[&str]| ResolveOptions {
            condition_names: conditions.iter().map(ToString::to_string).collect(),
            main_fields: main.iter().map(ToString::to_string).collect(),
            extensions: ENDINGS.iter().chain(&[".cjs"]).map(ToString::to_string).collect(),
            extension_alias: [(".js", &[".ts", ".js"][..]), (".mjs", &[".mts", ".mjs"]), (".cjs", &[".cts", ".cjs"])]
                .map(|(ending, others)| (ending.to_string(), others.iter().map(ToString::to_string).collect()))
                .into(),
            // Says which files a package does without where there is no Node.
            alias_fields: vec![vec!["browser".to_string()]],
            node_path: false,
            ..ResolveOptions::default()
        };
        let imports = options(&["trailblaze", "import", "module", "default"], &["module", "main"]);
        let builtins = ResolveOptions { builtin_modules: true, ..imports.clone() };
        let imports = Resolver::new(imports);
        let requires = imports.clone_with_options(options(&["trailblaze", "require", "default"], &["main", "module"]));
        let builtins = imports.clone_with_options(builtins);
        Finder { imports, requires, builtins, ceiling: ceiling(root) }
    }

    /// Finds what a file in `folder`, which belongs to `area`, asks for.
    pub fn find(&self, folder: &Path, area: &Area, specifier: &str, asked: ImportKind) -> Result<FoundModule, Missing> {
        match scheme(specifier) {
            Some("node" | "bun") => return Err(Missing::Builtin),
            Some(scheme) => return Err(Missing::Scheme(scheme.to_string())),
            None => {}
        }
        let is_path = is_path(specifier);
        if is_path && !stays_inside(folder, specifier, &area.folder) {
            return Err(Missing::Outside);
        }
        let resolver = if asked == ImportKind::Import { &self.imports } else { &self.requires };
        let path = match resolver.resolve(folder, specifier) {
            Ok(found) => found.path().to_path_buf(),
            Err(error) => return Err(self.explained(folder, specifier, is_path, &error)),
        };
        // The resolver follows links, but the last step is checked here again, because everything rests on it.
        let path = path.canonicalize().map_err(|error| Missing::Other(error.to_string()))?;
        let package = if is_path { None } else { package_of(folder, specifier) };
        if let Some(installed) = package.as_ref().and_then(|_| self.above(folder, specifier)) {
            return Err(Missing::Above(package_name(specifier).to_string(), installed));
        }
        match package {
            Some(package) if path.starts_with(&package.folder) => Ok(FoundModule { path, area: package }),
            Some(_) | None if path.starts_with(&area.folder) => Ok(FoundModule { path, area: area.clone() }),
            _ => Err(Missing::Outside),
        }
    }

    /// Where a package is installed, if that is above the project. A package that is a link may be elsewhere, and uses what is
    /// installed there.
    fn above(&self, folder: &Path, specifier: &str) -> Option<PathBuf> {
        let name = package_name(specifier);
        let has_it = |above: &&Path| above.join("node_modules").join(name).exists();
        let above = folder.ancestors().find(has_it).filter(|above| !above.starts_with(&self.ceiling))?;
        folder.starts_with(&self.ceiling).then(|| above.join("node_modules").join(name))
    }

    fn explained(&self, folder: &Path, specifier: &str, is_path: bool, error: &ResolveError) -> Missing {
        if !is_path && let Err(ResolveError::Builtin { .. }) = self.builtins.resolve(folder, specifier) {
            return Missing::Builtin;
        }
        match (error, is_path) {
            (ResolveError::Ignored(_), _) => Missing::LeftOut,
            (ResolveError::NotFound(_) | ResolveError::ExtensionAlias(..), true) => {
                Missing::File(tried(&folder.join(specifier)))
            }
            (ResolveError::NotFound(_), false) if !specifier.starts_with('#') => {
                let name = package_name(specifier).to_string();
                match package_of(folder, specifier) {
                    Some(_) => Missing::Part(name, "it has no such file".to_string()),
                    None => Missing::Package(name),
                }
            }
            (ResolveError::PackagePathNotExported { .. }, _) => {
                let reason = "its package.json does not export it to `import`".to_string();
                Missing::Part(package_name(specifier).to_string(), reason)
            }
            (error, _) => Missing::Other(error.to_string()),
        }
    }
}

/// Whether a specifier is a path, and not the name of a package.
fn is_path(specifier: &str) -> bool {
    specifier.starts_with(['.', '/', '\\']) || Path::new(specifier).is_absolute()
}

fn scheme(specifier: &str) -> Option<&str> {
    let (scheme, _) = specifier.split_once(':')?;
    let is_scheme = scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

/// Whether a path stays inside a folder, as it is written.
fn stays_inside(folder: &Path, specifier: &str, area: &Path) -> bool {
    normalized(&folder.join(specifier)).starts_with(area)
}

/// What is tried for a path that was not found.
fn tried(path: &Path) -> Vec<PathBuf> {
    let with = |ending: &str| {
        let mut whole = path.as_os_str().to_os_string();
        whole.push(ending);
        PathBuf::from(whole)
    };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("js") => vec![path.with_extension("ts"), path.to_path_buf()],
        Some("mjs") => vec![path.with_extension("mts"), path.to_path_buf()],
        Some("ts" | "mts" | "json" | "cjs") => vec![path.to_path_buf()],
        _ => ENDINGS.iter().map(|ending| with(ending)).chain([path.join("index.ts"), path.join("index.js")]).collect(),
    }
}

/// The package that a specifier names, such as `@a/b` for `@a/b/c`.
pub fn package_name(specifier: &str) -> &str {
    let n_parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(n_parts - 1).map_or(specifier.len(), |(at, _)| at);
    &specifier[..end]
}

/// The folder of a package, in the nearest `node_modules` that has it. Links are followed: a package of a workspace is elsewhere.
fn package_of(folder: &Path, specifier: &str) -> Option<Area> {
    let name = package_name(specifier);
    let found = folder.ancestors().find_map(|above| above.join("node_modules").join(name).canonicalize().ok())?;
    found.is_dir().then(|| Area { folder: found, package: Some(name.to_string()) })
}

/// The folder that packages may be installed in, or in a folder inside it: the repository, whose packages are often at its root; else
/// the project; else the folder of the scripts.
fn ceiling(root: &Path) -> PathBuf {
    let with = |name: &str| root.ancestors().find(|above| above.join(name).exists());
    with(".git").or_else(|| with("trailblaze.yaml")).unwrap_or(root).to_path_buf()
}
