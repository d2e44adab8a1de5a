//! A program: the modules of a script, linked, so that the engine reads no files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::Position;
use crate::transpile::{SourceMap, SourceRole, SyntaxError, Transpiled, transpile};

/// The modules of a script by their ids. It can be saved and loaded again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    entry: String,
    modules: BTreeMap<String, LinkedModule>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkedModule {
    pub code: String,
    /// `None` if the code is the source.
    pub map: Option<SourceMap>,
    /// What its imports mean: the ids of modules.
    pub imports: BTreeMap<String, String>,
    /// Where the source starts in the file that it is part of, if it is part of one.
    pub offset: Option<SourceOffset>,
}

/// A source inside another file, such as a block of a YAML file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceOffset {
    /// How many lines come before it.
    pub lines: u32,
    /// By how many columns each line is indented.
    pub columns: u32,
}

impl SourceOffset {
    pub fn apply(self, at: Position) -> Position {
        Position { line: at.line + self.lines, column: at.column + self.columns }
    }
}

impl Program {
    pub fn new(entry: String, modules: BTreeMap<String, LinkedModule>) -> Program {
        Program { entry, modules }
    }

    /// A program of a single source without imports.
    pub fn single(path: &str, source: &str, offset: Option<SourceOffset>) -> Result<Program, Vec<SyntaxError>> {
        let place = |error: SyntaxError| SyntaxError { at: offset.map_or(error.at, |by| by.apply(error.at)), ..error };
        let transpiled = transpile(path, source, SourceRole::Tool);
        let transpiled = transpiled.map_err(|errors| errors.into_iter().map(place).collect::<Vec<_>>())?;
        let Transpiled { code, map, .. } = transpiled;
        let module = LinkedModule { code, map: Some(map), imports: BTreeMap::new(), offset };
        Ok(Program::new(path.to_string(), BTreeMap::from([(path.to_string(), module)])))
    }

    /// The same with ids that start with a prefix, such as a folder.
    pub fn with_prefix(self, prefix: &str) -> Program {
        let renamed = |id: String| format!("{prefix}{id}");
        let module = |(id, module): (String, LinkedModule)| {
            let imports = module.imports.into_iter().map(|(specifier, id)| (specifier, renamed(id))).collect();
            (renamed(id), LinkedModule { imports, ..module })
        };
        Program { entry: renamed(self.entry), modules: self.modules.into_iter().map(module).collect() }
    }

    pub fn entry(&self) -> &str {
        &self.entry
    }

    pub fn code(&self, module: &str) -> Option<&str> {
        self.modules.get(module).map(|module| module.code.as_str())
    }

    pub fn modules(&self) -> impl Iterator<Item = (&str, &LinkedModule)> {
        self.modules.iter().map(|(id, module)| (id.as_str(), module))
    }

    /// The module that an import means.
    pub fn resolve(&self, base: &str, specifier: &str) -> Option<&str> {
        self.modules.get(base)?.imports.get(specifier).map(String::as_str)
    }

    /// Where a place of the code is in the source.
    pub fn original(&self, module: &str, code: Position) -> Option<Position> {
        let module = self.modules.get(module)?;
        let at = match &module.map {
            Some(map) => map.original(code)?,
            None => code,
        };
        Some(module.offset.map_or(at, |by| by.apply(at)))
    }

    /// A place of a source, `module:line:column`, as it is in the file that contains the source.
    pub fn place(&self, place: &str) -> Option<String> {
        let (rest, column) = place.rsplit_once(':')?;
        let (id, line) = rest.rsplit_once(':')?;
        let at = Position { line: line.parse().ok()?, column: column.parse().ok()? };
        // The id may have got a prefix since.
        let mut modules = self.modules.iter();
        let (id, module) =
            modules.find(|(own, _)| own.strip_suffix(id).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))?;
        let at = module.offset.map_or(at, |by| by.apply(at));
        Some(format!("{id}:{}:{}", at.line, at.column))
    }
}
