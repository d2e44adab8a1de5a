//! One file of a program: read, and made a module of.

use std::io::Read;
use std::path::Path;

use super::LinkProblem;
use super::resolve::ImportKind;
use super::scan::{CommonJs, Scanned, scan};
use crate::text::Position;
use crate::transpile::{Import, SOURCE_BYTES, SourceMap, SourceRole, SyntaxError, Transpiled, transpile};

pub struct File<'f> {
    pub id: &'f str,
    pub path: &'f Path,
    /// Whether it belongs to a package, and not to the project.
    pub is_package: bool,
    pub role: SourceRole,
}

/// What is in a file.
#[derive(Debug)]
pub enum FileContents {
    Module {
        code: String,
        /// `None` if the code is the source.
        map: Option<SourceMap>,
        imports: Vec<Import>,
    },
    CommonJs {
        source: String,
        found: CommonJs,
    },
    Json {
        text: String,
    },
}

/// Something that a file asks for.
pub struct ModuleRequest {
    pub specifier: String,
    pub asked: ImportKind,
    pub at: Position,
    /// Whether the module cannot do without it, whatever it is.
    pub is_strict: bool,
    /// Whether the module can do without it, whatever it is.
    pub is_optional: bool,
}

impl FileContents {
    pub fn n_bytes(&self) -> usize {
        match self {
            FileContents::Module { code, .. } => code.len(),
            FileContents::CommonJs { source, .. } => source.len(),
            FileContents::Json { text } => text.len(),
        }
    }

    pub fn requests(&self) -> Vec<ModuleRequest> {
        let import = |import: &Import| ModuleRequest {
            specifier: import.specifier.clone(),
            asked: ImportKind::Import,
            at: import.at,
            is_strict: !import.is_dynamic,
            is_optional: false,
        };
        match self {
            FileContents::Module { imports, .. } => imports.iter().map(import).collect(),
            FileContents::CommonJs { found, .. } => {
                let requires = found.requires.iter().map(|require| ModuleRequest {
                    specifier: require.specifier.clone(),
                    asked: ImportKind::Require,
                    at: require.at,
                    is_strict: !require.is_optional,
                    is_optional: require.is_optional,
                });
                requires.chain(found.imports.iter().map(import)).collect()
            }
            FileContents::Json { .. } => Vec::new(),
        }
    }
}

impl File<'_> {
    pub fn read(&self) -> Result<FileContents, Vec<LinkProblem>> {
        self.text().map_err(|message| vec![LinkProblem::new(None, message)]).and_then(|source| self.of_source(source))
    }

    fn text(&self) -> Result<String, FileRefusal> {
        let file = std::fs::File::open(self.path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(FileRefusal::NotAFile);
        }
        if metadata.len() > SOURCE_BYTES as u64 {
            return Err(FileRefusal::TooLarge(metadata.len()));
        }
        let mut text = String::new();
        // It may have grown since.
        file.take(SOURCE_BYTES as u64 + 1).read_to_string(&mut text)?;
        Ok(text)
    }

    pub fn of_source(&self, source: String) -> Result<FileContents, Vec<LinkProblem>> {
        let ending = self.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending {
            // The source of a tool may be a part of any file.
            _ if self.role == SourceRole::Tool => self.transpiled(&source),
            "ts" | "mts" | "cts" => self.transpiled(&source),
            "json" => json(source),
            "js" | "mjs" | "cjs" => self.javascript(source),
            "node" => Err(refused("a native addon cannot be imported: the engine runs JavaScript only")),
            "wasm" => Err(refused("WebAssembly cannot be imported: the engine runs JavaScript only")),
            _ => Err(refused("only files that end in .ts, .mts, .js, .mjs, .cjs or .json can be imported")),
        }
    }

    fn javascript(&self, source: String) -> Result<FileContents, Vec<LinkProblem>> {
        match scan(&source).map_err(problems)? {
            Scanned::CommonJs(found) => Ok(FileContents::CommonJs { source, found }),
            Scanned::Plain if self.is_commonjs() => Ok(FileContents::CommonJs { source, found: CommonJs::default() }),
            Scanned::Module { imports } if self.is_package => {
                Ok(FileContents::Module { code: source, map: None, imports })
            }
            Scanned::Plain if self.is_package => {
                Ok(FileContents::Module { code: source, map: None, imports: Vec::new() })
            }
            Scanned::Module { .. } | Scanned::Plain => self.transpiled(&source),
        }
    }

    /// Whether Node takes the file for CommonJS, if nothing in it tells.
    fn is_commonjs(&self) -> bool {
        match self.path.extension().and_then(|ending| ending.to_str()) {
            Some("cjs") => true,
            Some("js") if self.is_package => {
                let packages = self.path.ancestors().skip(1).map(|folder| folder.join("package.json"));
                let nearest = packages.into_iter().find_map(|package| std::fs::read(package).ok());
                let package = nearest.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
                package.is_none_or(|package| package["type"] != "module")
            }
            _ => false,
        }
    }

    fn transpiled(&self, source: &str) -> Result<FileContents, Vec<LinkProblem>> {
        let Transpiled { code, imports, map } = transpile(self.id, source, self.role).map_err(problems)?;
        Ok(FileContents::Module { code, map: Some(map), imports })
    }
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
enum FileRefusal {
    #[error("it is not a file")]
    NotAFile,
    #[error("it has {0} bytes; the limit is {SOURCE_BYTES}")]
    TooLarge(u64),
    #[error("it cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

impl From<FileRefusal> for String {
    fn from(refusal: FileRefusal) -> String {
        refusal.to_string()
    }
}

fn json(text: String) -> Result<FileContents, Vec<LinkProblem>> {
    let text = text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_string);
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Ok(FileContents::Json { text }),
        Err(error) => {
            let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).max(1);
            let at = Position { line: count(error.line()), column: count(error.column()) };
            Err(vec![LinkProblem::new(Some(at), format!("it is not valid JSON: {error}"))])
        }
    }
}

fn refused(message: &str) -> Vec<LinkProblem> {
    vec![LinkProblem::new(None, message)]
}

fn problems(errors: Vec<SyntaxError>) -> Vec<LinkProblem> {
    errors
        .into_iter()
        .map(|error| LinkProblem { at: Some(error.at), message: error.message, hint: error.hint })
        .collect()
}
