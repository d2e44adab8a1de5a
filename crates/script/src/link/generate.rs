//! From files and what they ask for to the modules of a program.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::commonjs::{self, Required};
use super::files::FileContents;
use super::resolve::ImportKind;
use super::{EMPTY, ERRORS, Edge, LinkError, LinkProblem, Linked, ModuleNode};
use crate::program::{LinkedModule, Program};
use crate::text::Position;

type Nodes = BTreeMap<String, ModuleNode>;

pub fn program(entry: String, nodes: Nodes) -> Result<Linked, Vec<LinkError>> {
    let paths = Paths::new(&entry, &nodes);
    let errors = paths.errors(&nodes);
    if !errors.is_empty() {
        return Err(errors);
    }
    let unusable = unusable(&nodes, &paths);
    let mut generator = Generator { nodes: &nodes, unusable: &unusable, modules: BTreeMap::new() };
    nodes.iter().filter(|(id, _)| !unusable.contains_key(*id)).for_each(|(id, node)| generator.add(id, node));
    let modules = reachable(&entry, generator.modules);
    let is_file = |id: &String| modules.contains_key(id) && id != EMPTY;
    let files = nodes.into_iter().filter(|(id, _)| is_file(id)).map(|(id, node)| (id, node.path)).collect();
    Ok(Linked { program: Program::new(entry, modules), files })
}

/// How each module is reached from the entry.
struct Paths<'n> {
    /// The import of each module that leads to the entry.
    parents: HashMap<&'n str, (&'n str, Position)>,
    /// The modules that the program cannot do without, nearest first.
    needed: Vec<&'n str>,
}

impl<'n> Paths<'n> {
    fn new(entry: &'n str, nodes: &'n Nodes) -> Paths<'n> {
        let mut paths = Paths { parents: HashMap::new(), needed: vec![entry] };
        let mut seen = HashSet::from([entry]);
        let mut queue = VecDeque::from([entry]);
        while let Some(id) = queue.pop_front() {
            for (target, edge) in targets(nodes, id).filter(|(_, edge)| edge.is_strict) {
                if seen.insert(target) {
                    paths.parents.insert(target, (id, nodes[id].place(edge.at)));
                    paths.needed.push(target);
                    queue.push_back(target);
                }
            }
        }
        let mut queue: VecDeque<&str> = paths.needed.iter().copied().collect();
        while let Some(id) = queue.pop_front() {
            for (target, edge) in targets(nodes, id) {
                if seen.insert(target) {
                    paths.parents.insert(target, (id, nodes[id].place(edge.at)));
                    queue.push_back(target);
                }
            }
        }
        paths
    }

    /// What is wrong with the modules that the program cannot do without.
    fn errors(&self, nodes: &Nodes) -> Vec<LinkError> {
        let of_node = |id: &'n str| {
            let node = &nodes[id];
            let own = node.contents.as_ref().err().into_iter().flatten();
            let missing = node.edges.iter().filter(|edge| edge.is_strict).filter_map(|edge| edge.target.as_ref().err());
            own.chain(missing).map(move |problem| self.error(id, node, problem)).collect::<Vec<_>>()
        };
        self.needed.iter().flat_map(|id| of_node(id)).take(ERRORS).collect()
    }

    fn error(&self, id: &str, node: &ModuleNode, problem: &LinkProblem) -> LinkError {
        LinkError {
            module: id.to_string(),
            at: problem.at.map(|at| node.place(at)),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            chain: self.chain(id),
        }
    }

    fn chain(&self, id: &str) -> Vec<String> {
        let parent = |id: &&str| self.parents.get(id).map(|(parent, _)| *parent);
        let place = |id: &str| {
            let (parent, Position { line, column }) = self.parents.get(id)?;
            Some(format!("{parent}:{line}:{column}"))
        };
        std::iter::successors(Some(id), parent).filter_map(place).collect()
    }
}

impl ModuleNode {
    fn place(&self, at: Position) -> Position {
        self.offset.map_or(at, |by| by.apply(at))
    }
}

fn targets<'n>(nodes: &'n Nodes, id: &str) -> impl Iterator<Item = (&'n str, &'n Edge)> {
    nodes[id].edges.iter().filter_map(|edge| Some((edge.target.as_ref().ok()?.as_str(), edge)))
}

/// The modules that cannot be loaded, and why: they are broken, or need one that is.
fn unusable(nodes: &Nodes, paths: &Paths<'_>) -> HashMap<String, String> {
    let mut unusable: HashMap<String, String> = HashMap::new();
    loop {
        let mut new = Vec::new();
        for (id, node) in nodes.iter().filter(|(id, _)| !unusable.contains_key(*id)) {
            let own = node.contents.as_ref().err().and_then(|problems| problems.first());
            let needed = || node.edges.iter().filter(|edge| edge.is_strict);
            let missing = || needed().find_map(|edge| edge.target.as_ref().err());
            let inherited = || needed().find_map(|edge| unusable.get(edge.target.as_ref().ok()?).cloned());
            let reason = own.or_else(missing).map(|problem| paths.error(id, node, problem).to_string());
            new.extend(reason.or_else(inherited).map(|reason| (id.clone(), reason)));
        }
        if new.is_empty() {
            return unusable;
        }
        unusable.extend(new);
    }
}

struct Generator<'n> {
    nodes: &'n Nodes,
    unusable: &'n HashMap<String, String>,
    modules: BTreeMap<String, LinkedModule>,
}

impl Generator<'_> {
    fn add(&mut self, id: &str, node: &ModuleNode) {
        let imports = self.imports(node);
        match &node.contents {
            Ok(FileContents::Module { code, map, .. }) => {
                let module = LinkedModule { code: code.clone(), map: map.clone(), imports, offset: node.offset };
                self.modules.insert(id.to_string(), module);
            }
            Ok(FileContents::Json { text }) => {
                // Not as a literal, in which `__proto__` has a meaning.
                let code = format!("export default JSON.parse({});\n", commonjs::quoted(text));
                self.modules.insert(id.to_string(), commonjs::generated(code, imports));
            }
            Ok(FileContents::CommonJs { source, .. }) => {
                let code = commonjs::function(source);
                self.modules.insert(id.to_string(), LinkedModule { code, map: None, imports, offset: None });
                let names = self.names(id, &mut BTreeSet::new());
                self.modules.insert(commonjs::require_id(id), commonjs::definition(id, &self.requires(node)));
                self.modules.insert(commonjs::import_id(id), commonjs::face(id, &names));
                self.modules.entry(commonjs::REGISTRY.to_string()).or_insert_with(commonjs::registry);
            }
            Err(_) => {}
        }
    }

    /// What the imports of a module mean.
    fn imports(&mut self, node: &ModuleNode) -> BTreeMap<String, String> {
        let imports = node.edges.iter().filter(|edge| edge.asked == ImportKind::Import);
        let meanings: Vec<_> = imports.map(|edge| (edge.specifier.clone(), self.required(edge))).collect();
        let meaning = |(specifier, required)| {
            let id = match required {
                Required::CommonJs(id) => commonjs::import_id(&id),
                Required::Module(id) | Required::Json(id) => id,
                Required::Missing(message) => self.missing(&message),
            };
            (specifier, id)
        };
        meanings.into_iter().map(meaning).collect()
    }

    /// A module that throws.
    fn missing(&mut self, message: &str) -> String {
        let code = format!("throw new Error({});\n", commonjs::quoted(message));
        let n_missing = self.modules.iter().filter(|(id, _)| id.starts_with("trailblaze:missing/")).count();
        let same = self.modules.iter().find(|(_, module)| module.code == code).map(|(id, _)| id.clone());
        same.unwrap_or_else(|| {
            let id = format!("trailblaze:missing/{n_missing}");
            self.modules.insert(id.clone(), commonjs::generated(code, BTreeMap::new()));
            id
        })
    }

    fn requires(&self, node: &ModuleNode) -> BTreeMap<String, Required> {
        let requires = node.edges.iter().filter(|edge| edge.asked == ImportKind::Require);
        requires.map(|edge| (edge.specifier.clone(), self.required(edge))).collect()
    }

    fn required(&self, edge: &Edge) -> Required {
        let target = match &edge.target {
            Ok(target) => target.clone(),
            Err(problem) => return Required::Missing(problem.message.clone()),
        };
        if let Some(reason) = self.unusable.get(&target) {
            return Required::Missing(reason.clone());
        }
        match self.nodes.get(&target).map(|node| &node.contents) {
            Some(Ok(FileContents::CommonJs { .. })) => Required::CommonJs(target),
            Some(Ok(FileContents::Json { .. })) => Required::Json(target),
            _ => Required::Module(target),
        }
    }

    /// The names that a CommonJS module exports, with those of the modules that it exports.
    fn names(&self, id: &str, seen: &mut BTreeSet<String>) -> BTreeSet<String> {
        let Some(ModuleNode { contents: Ok(FileContents::CommonJs { found, .. }), edges, .. }) = self.nodes.get(id)
        else {
            return BTreeSet::new();
        };
        if !seen.insert(id.to_string()) {
            return BTreeSet::new();
        }
        let mut names = found.exports.clone();
        for edge in edges.iter().filter(|edge| edge.asked == ImportKind::Require) {
            if let Some(target) = edge.target.as_ref().ok().filter(|_| found.reexports.contains(&edge.specifier)) {
                names.extend(self.names(target, seen));
            }
        }
        names
    }
}

/// The modules that the entry leads to.
fn reachable(entry: &str, mut modules: BTreeMap<String, LinkedModule>) -> BTreeMap<String, LinkedModule> {
    let mut reached = BTreeMap::new();
    let mut queue = vec![entry.to_string()];
    while let Some(id) = queue.pop() {
        if let Some(module) = modules.remove(&id) {
            queue.extend(module.imports.values().cloned());
            reached.insert(id, module);
        }
    }
    reached
}
