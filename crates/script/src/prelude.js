// Runs first in every world, and returns the functions that the engine calls. Everything that scripts could replace later, such
// as `JSON.parse`, is taken here once.
(function (post, log, finish, limits) {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply, ownKeys } = Reflect;
  const { defineProperty, freeze, assign, create, is, keys } = Object;
  const { isArray } = Array;
  const { isFinite: finite } = Number;
  const { then } = Promise.prototype;
  const PromiseOf = Promise;
  const ErrorOf = Error;
  const TypeErrorOf = TypeError;
  const MapOf = Map;
  const SetOf = Set;
  const BufferOf = ArrayBuffer;
  const { isView } = ArrayBuffer;
  const text = String;
  const waiting = create(null);
  const LONGEST_STACK = 8_000;
  let nextId = 0;
  let call;

  /** Asks the host, and returns a promise of its answer. */
  function ask(operation, payload) {
    if (call === undefined) {
      throw new ErrorOf(`${operation} cannot be used while a module is loaded; use it in the tool's function`);
    }
    return request(operation, payload);
  }

  function request(operation, payload) {
    const json = stringify(payload);
    // Taken now, because the stack does not go back beyond an `await`.
    const { stack } = new ErrorOf();
    return new PromiseOf((resolve, reject) => {
      const id = ++nextId;
      post(id, operation, json);
      waiting[id] = { resolve, reject, stack };
    });
  }

  class ToolError extends ErrorOf {
    constructor(tool, message, variant) {
      super(message);
      define(this, 'name', 'ToolError');
      define(this, 'tool', tool);
      define(this, 'variant', variant);
    }
  }

  class Failure extends ErrorOf {
    constructor(message, isFatal) {
      super(message);
      define(this, 'name', 'Failure');
      define(this, 'isFatal', isFatal);
    }
  }

  function define(object, name, value) {
    defineProperty(object, name, { value, configurable: true, writable: true, enumerable: false });
  }

  function checkedCall(name, args) {
    if (typeof name !== 'string') {
      throw new TypeErrorOf(`the name of a tool must be a string, got ${describe(name)}`);
    }
    if (args !== undefined && (args === null || typeof args !== 'object' || Array.isArray(args))) {
      throw new TypeErrorOf(`the arguments of \`${name}\` must be an object, got ${describe(args)}`);
    }
    return ask('call', { tool: name, args: args ?? {} });
  }

  function describe(value) {
    return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'string' ? `"${value}"` : typeof value;
  }

  /** A call of a tool. Knows whether anything waits for it: `await` and `Promise.all` ask for `then`. */
  class ToolCall extends PromiseOf {
    static get [Symbol.species]() {
      return PromiseOf;
    }

    #made;

    constructor(executor, made) {
      super(executor);
      this.#made = made;
    }

    then(onFulfilled, onRejected) {
      if (this.#made !== undefined) {
        this.#made.isAwaited = true;
      }
      return apply(then, this, [onFulfilled, onRejected]);
    }
  }

  const toolThen = ToolCall.prototype.then;

  /** Where the author's code waits, from the oldest to the newest. */
  const awaits = create(null);
  let nextAwait = 0;

  /**
   * Called with everything that the author's code awaits, so that a failure, and what never ends, leads back to the `await`. Asks a
   * subclass of `Promise` for its own `then`, as `await` does.
   */
  function awaited(value) {
    if (!(value instanceof PromiseOf)) {
      return value;
    }
    const wait = value instanceof ToolCall ? toolThen : value.constructor === PromiseOf ? then : value.then;
    if (typeof wait !== 'function') {
      return value;
    }
    const id = ++nextAwait;
    const { stack } = new ErrorOf();
    awaits[id] = stack;
    return apply(wait, value, [
      (settled) => {
        delete awaits[id];
        return settled;
      },
      (thrown) => {
        delete awaits[id];
        addCallers(thrown, stack);
        throw thrown;
      },
    ]);
  }

  /** Adds to the stack of an error the functions that waited for what failed. */
  function addCallers(thrown, stack) {
    try {
      const known = thrown instanceof ErrorOf ? text(thrown.stack ?? '') : '';
      if (thrown instanceof ErrorOf && known.length < LONGEST_STACK) {
        define(thrown, 'stack', `${known.trimEnd()}\n${stack}`);
      }
    } catch {
      // It is frozen, or has getters that throw.
    }
  }

  /** The stacks of the places where the author's code waits, the newest last. */
  function openAwaits() {
    return ownKeys(awaits).map((id) => awaits[id]);
  }

  /** Calls a tool; returns its value, or its text if it has none. Throws if it fails. */
  function callTool(name, args) {
    // Taken now, because the stack does not go back beyond an `await`.
    const { stack } = new ErrorOf();
    const made = { tool: name, stack, isAwaited: false, isQuery: false };
    const answered = (async () => {
      const answer = await checkedCall(name, args);
      made.isQuery = answer.isQuery === true;
      if (answer.isError) {
        const error = new ToolError(name, answer.text, answer.variant);
        define(error, 'stack', stack);
        throw error;
      }
      return answer.structured === undefined ? answer.text : answer.structured;
    })();
    if (call !== undefined) {
      call.made[call.made.length] = made;
    }
    return new ToolCall((resolve, reject) => apply(then, answered, [resolve, reject]), made);
  }

  /** The first query whose answer nothing has waited for: the script went on as if a promise were the answer. */
  function overlooked() {
    const found = call?.made.find(({ isQuery, isAwaited }) => isQuery && !isAwaited);
    return found === undefined ? '' : stringify({ tool: found.tool, stack: found.stack });
  }

  /** Calls a tool; returns what happened, whether it failed or not. */
  async function execute(name, args) {
    const { isError, text, variant, structured } = await checkedCall(name, args);
    return { isError, message: text, text, variant, structured, content: [{ type: 'text', text }] };
  }

  const tools = new Proxy(freeze(create(null)), {
    get: (_, name) => (typeof name === 'string' && name !== 'then' ? (args) => callTool(name, args) : undefined),
    has: (_, name) => typeof name === 'string',
  });

  const memory = freeze({
    get: (key) => (key in call.memory ? copy(call.memory[key]) : undefined),
    has: (key) => key in call.memory,
    keys: () => ownKeys(call.memory),
    set(key, value) {
      refuseReserved(key);
      const lost = unlikeJson(value, '', []);
      if (lost !== undefined) {
        throw new TypeErrorOf(`\`${key}\` cannot be remembered: ${lost}`);
      }
      const json = stringify(value);
      if (json === undefined) {
        throw new TypeErrorOf(`\`${key}\` cannot be remembered: JSON has no ${typeof value}`);
      }
      call.memory[key] = parse(json);
      call.set[key] = parse(json);
      delete call.deleted[key];
    },
    delete(key) {
      refuseReserved(key);
      const wasThere = key in call.memory;
      delete call.memory[key];
      delete call.set[key];
      if (wasThere) {
        call.deleted[key] = true;
      }
      return wasThere;
    },
  });

  /** Trailblaze sets these names itself, and would refuse the result. */
  function refuseReserved(key) {
    const name = text(key);
    const prefix = ['target.', 'args.'].find((reserved) => name.startsWith(reserved));
    if (prefix !== undefined) {
      throw new TypeErrorOf(`\`${name}\` cannot be changed in memory: names that begin with \`${prefix}\` are set by Trailblaze`);
    }
  }

  /** What of a value JSON would lose or refuse, and where; `undefined` if nothing. Fields that are undefined are absent. */
  function unlikeJson(value, path, around) {
    const at = path === '' ? '' : ` at \`${path}\``;
    switch (typeof value) {
      case 'number':
        return finite(value) ? undefined : `it has ${value}${at}, which JSON does not have`;
      case 'bigint':
      case 'function':
      case 'symbol':
        return `it has a ${typeof value}${at}, which JSON does not have`;
      case 'object':
        break;
      default:
        return undefined;
    }
    if (value === null) {
      return undefined;
    }
    if (isView(value) || value instanceof BufferOf) {
      return `it has bytes (${value.constructor.name})${at}, which JSON does not have; use base64 text`;
    }
    if (typeof value.toJSON === 'function') {
      return undefined;
    }
    if (value instanceof MapOf || value instanceof SetOf) {
      const [kind, list] = value instanceof MapOf ? ['Map', 'Object.fromEntries(…)'] : ['Set', '[...set]'];
      return `it has a ${kind}${at}, which JSON does not have; return \`${list}\``;
    }
    for (let i = 0; i < around.length; i++) {
      if (around[i] === value) {
        return `it contains itself${at}`;
      }
    }
    around[around.length] = value;
    const names = isArray(value) ? undefined : keys(value);
    const n = names === undefined ? value.length : names.length;
    for (let i = 0; i < n; i++) {
      const name = names === undefined ? i : names[i];
      const found = unlikeJson(value[name], path === '' ? text(name) : `${path}.${name}`, around);
      if (found !== undefined) {
        return found;
      }
    }
    around.length -= 1;
    return undefined;
  }

  function copy(value) {
    return value === undefined ? undefined : parse(stringify(value));
  }

  /** The screen as a tree, in `root`, and as a list, in `elements`. */
  function screen() {
    const made = { tool: 'screen', stack: new ErrorOf().stack, isAwaited: false, isQuery: true };
    const seen = captureScreen();
    if (call !== undefined) {
      call.made[call.made.length] = made;
    }
    return new ToolCall((resolve, reject) => apply(then, seen, [resolve, reject]), made);
  }

  async function captureScreen() {
    const seen = await callTool('captureScreen');
    const elements = [];
    const walk = (element) => {
      elements[elements.length] = element;
      for (let i = 0; i < (element.children?.length ?? 0); i++) {
        walk(element.children[i]);
      }
    };
    walk(seen.root);
    define(seen, 'elements', elements);
    return seen;
  }

  function fail(message, options) {
    const said = message === undefined || message === null ? '' : text(message);
    const without = 'the tool called `fail` without a message; say what is wrong, as in `fail("no order")`';
    throw new Failure(said === '' ? without : said, options?.fatal === true);
  }

  async function sleep(ms) {
    if (typeof ms !== 'number' || !(ms >= 0)) {
      throw new TypeErrorOf(`sleep takes milliseconds, got ${describe(ms)}`);
    }
    await ask('sleep', { ms });
  }

  function write(level, values) {
    log(level, values.map((value) => (typeof value === 'string' ? value : show(value))).join(' '));
  }

  function show(value) {
    if (value instanceof ErrorOf) {
      return `${value.name}: ${value.message}`;
    }
    try {
      return stringify(value) ?? text(value);
    } catch {
      return text(value);
    }
  }

  const timers = create(null);
  let nextTimer = 0;

  function setTimeout(callback, ms = 0, ...args) {
    if (typeof callback !== 'function') {
      throw new TypeErrorOf(`setTimeout takes a function, got ${describe(callback)}`);
    }
    return startTimer(new ErrorOf().stack, () => apply(callback, undefined, args), ms);
  }

  /** A timer that may be left running, because nothing waits for it. */
  function setBackgroundTimeout(callback, ms) {
    return startTimer('', callback, ms);
  }

  function startTimer(stack, callback, ms) {
    const timer = ++nextTimer;
    timers[timer] = { stack };
    const run = () => {
      if (timer in timers) {
        delete timers[timer];
        callback();
      }
    };
    apply(then, ask('timer', { ms: ms > 0 ? Number(ms) : 0 }), [run]);
    return timer;
  }

  /** The stacks of the timers that have not fired. */
  function openTimers() {
    return ownKeys(timers).map((timer) => timers[timer].stack).filter((stack) => stack !== '');
  }

  function clearTimeout(timer) {
    delete timers[timer];
  }

  const settled = PromiseOf.resolve();

  /** Unlike that of the engine, it does not hide what the function throws: that is a rejection which nothing handles. */
  function queueMicrotask(callback) {
    if (typeof callback !== 'function') {
      throw new TypeErrorOf(`queueMicrotask takes a function, got ${describe(callback)}`);
    }
    apply(then, settled, [() => void callback()]);
  }

  /** Without the grant, code that asks for the time gets an error; dates that are made from a value work. */
  function hideClock() {
    const DateOf = Date;
    const refuse = () => {
      throw new ErrorOf('the clock is not granted; add `clock: true` to `grants:`, or pass the time as a parameter');
    };
    function HiddenDate(...args) {
      return args.length === 0 ? refuse() : Reflect.construct(DateOf, args, new.target === undefined ? DateOf : new.target);
    }
    HiddenDate.prototype = DateOf.prototype;
    define(DateOf.prototype, 'constructor', HiddenDate);
    define(HiddenDate, 'now', refuse);
    define(HiddenDate, 'parse', DateOf.parse);
    define(HiddenDate, 'UTC', DateOf.UTC);
    define(globalThis, 'Date', HiddenDate);
    delete globalThis.performance;
  }

  async function readFile(path) {
    return (await ask('readFile', { path: text(path) })).text;
  }

  async function env(name) {
    return (await ask('env', { name: text(name) })).value;
  }

  async function fetch(url, { method = 'GET', headers = {}, body } = {}) {
    const pairs = ownKeys(headers).map((name) => [name, text(headers[name])]);
    const answer = await ask('fetch', { url: text(url), method: text(method), headers: pairs, body: body === undefined ? undefined : text(body) });
    const names = create(null);
    for (const [name, value] of answer.headers) {
      names[name.toLowerCase()] = value;
    }
    return freeze({
      ok: answer.status >= 200 && answer.status < 300,
      status: answer.status,
      headers: freeze({ get: (name) => names[text(name).toLowerCase()] ?? null, has: (name) => text(name).toLowerCase() in names }),
      text: async () => answer.body,
      json: async () => parse(answer.body),
    });
  }

  const script = {
    callTool, tools, memory, screen, fail, sleep, readFile, env, fetch,
    log: (...values) => write('info', values),
  };
  const trailblaze = { execute, callTool, ToolError };
  const console = {
    log: (...values) => write('info', values),
    info: (...values) => write('info', values),
    debug: (...values) => write('debug', values),
    warn: (...values) => write('warning', values),
    error: (...values) => write('error', values),
  };
  const globals = { ...script, trailblaze, console, ToolError, setTimeout, clearTimeout, queueMicrotask, structuredClone: copy };
  for (const [name, value] of Object.entries(globals)) {
    define(globalThis, name, value);
  }
  define(globalThis, '__trailblaze', freeze({ compile: limits.compile }));
  define(globalThis, '__trailblazeThrown', noteThrown);
  define(globalThis, '__trailblazeAwaited', awaited);
  if (!limits.clock) {
    hideClock();
  }

  function begin(json) {
    const input = parse(json);
    call = { memory: assign(create(null), input.memory), set: create(null), deleted: create(null), made: [] };
    return input;
  }

  /** Finishes the call with what a promise settles to. What has no place in the author's code gets that of the function. */
  function settleWith(promise, toJson, { fileName, lineNumber, columnNumber }) {
    const definition = `    at tool (${fileName}:${lineNumber}:${columnNumber})`;
    apply(then, promise, [
      (value) => {
        let json;
        try {
          json = toJson(value);
        } catch (thrown) {
          return finish(false, stringify({ ...problem(thrown), stack: definition }), definition);
        }
        finish(true, json, definition);
      },
      (thrown) => {
        const found = { ...problem(thrown), forgotten: forgotten(thrown) };
        finish(false, stringify(found.stack === '' ? { ...found, stack: definition } : found), definition);
      },
    ]);
  }

  /** A call that the script did not wait for: code that uses its promise as if it were the answer throws a `TypeError`. */
  function forgotten(thrown) {
    const found = thrown instanceof TypeErrorOf ? call?.made.find(({ isAwaited }) => !isAwaited) : undefined;
    return found === undefined ? undefined : { tool: found.tool, stack: found.stack };
  }

  let lastThrown;

  /** Called with each value that the author's code throws: only an Error knows where. */
  function noteThrown(value) {
    if (!(value instanceof ErrorOf)) {
      lastThrown = { value, stack: new ErrorOf().stack };
    }
    return value;
  }

  /** Where a value was thrown that is no Error. */
  function stackOf(value) {
    return lastThrown !== undefined && is(lastThrown.value, value) ? lastThrown.stack : '';
  }

  function problem(thrown) {
    if (thrown === null && stackOf(null) === '') {
      return { name: '', message: 'it threw null, as the engine does when no memory is left', stack: '' };
    }
    if (thrown instanceof ErrorOf) {
      return {
        name: text(thrown.name), message: text(thrown.message), stack: text(thrown.stack ?? ''),
        ...(thrown instanceof ToolError ? { variant: thrown.variant, tool: thrown.tool } : {}),
        isFailure: thrown instanceof Failure, isFatal: thrown instanceof Failure && thrown.isFatal,
      };
    }
    const shown = typeof thrown === 'object' && thrown !== null ? `: ${show(thrown)}` : '';
    return { name: '', message: `it threw ${describe(thrown)}, which is not an Error${shown}`, stack: stackOf(thrown) };
  }

  /** Runs a tool: the default export of its module. */
  function run(json, tool) {
    const input = begin(json);
    // What an earlier call left waiting is not what this one waits for.
    for (const id of ownKeys(awaits)) {
      delete awaits[id];
    }
    const { args, platform, device } = input;
    for (const [name, value] of [['args', args], ['platform', platform], ['device', device], ['input', { params: args, memory: input.memory }]]) {
      define(globalThis, name, value);
    }
    const context = { ...script, args, platform, device, input: globalThis.input };
    const promise = (async () => await tool(args, context))();
    const toJson = (value) => {
      if (typeof value === 'function' || typeof value === 'symbol') {
        throw new TypeErrorOf(`the result is a ${typeof value}, which JSON does not have`);
      }
      const lost = unlikeJson(value, '', []);
      if (lost !== undefined) {
        throw new TypeErrorOf(`the result cannot be passed on: ${lost}`);
      }
      const changes = { memoryDelta: call.set, memoryDeletions: ownKeys(call.deleted) };
      return stringify({ value, changes });
    };
    settleWith(promise, toJson, tool);
  }

  /** Settles the promise of a request with the host's answer. */
  function settle(id, isError, json) {
    const { resolve, reject, stack } = waiting[id];
    delete waiting[id];
    const value = parse(json);
    if (isError) {
      const error = new ErrorOf(value.message);
      define(error, 'stack', stack);
      reject(error);
    } else {
      resolve(value);
    }
  }

  return { run, settle, begin, request, problem, stackOf, openTimers, overlooked, openAwaits, setBackgroundTimeout };
});
