// The CommonJS modules of a program, each of which runs when it is first required.
const compile = globalThis.__trailblaze.compile;
const modules = new Map();

/** Says what the `require`s of a module mean. */
export function define(id, requires) {
  modules.set(id, { requires: new Map(requires), module: undefined });
}

/** Runs a module, unless it ran before, and returns its exports. */
export function load(id) {
  const entry = modules.get(id);
  if (entry.module !== undefined) {
    // In a cycle: what it has exported so far.
    return entry.module.exports;
  }
  const module = { id, exports: {}, loaded: false, children: [], paths: [] };
  entry.module = module;
  const require = (specifier) => {
    const required = entry.requires.get(specifier);
    if (required?.id !== undefined) {
      return load(required.id);
    }
    if (required?.value !== undefined) {
      return required.value();
    }
    const error = new Error(required?.missing ?? `\`${specifier}\` cannot be required: only a text that is in the source can be`);
    error.code = 'MODULE_NOT_FOUND';
    throw error;
  };
  require.resolve = (specifier) => entry.requires.get(specifier)?.id ?? specifier;
  require.cache = {};
  module.require = require;
  try {
    const folder = id.slice(0, Math.max(0, id.lastIndexOf('/')));
    Reflect.apply(compile(id), module.exports, [module.exports, require, module, id, folder]);
  } catch (error) {
    entry.module = undefined;
    throw error;
  }
  module.loaded = true;
  return module.exports;
}
