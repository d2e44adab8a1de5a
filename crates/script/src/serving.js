// Runs after the prelude in a world that serves tools, and returns the functions that the engine calls. The modules of the program
// say what they serve with `__trailblaze.serve({ list, call })`.
(function ({ begin: open, request, problem, stackOf, openTimers, setBackgroundTimeout }, { compile, done, random, variables, script, polyfills, placeOf, ownPlaceOf, unhandled, takeUnhandled }) {
  const { parse, stringify } = JSON;
  const { then } = Promise.prototype;
  const { apply } = Reflect;
  const calls = new Map();
  /** The ids of the calls that have names. */
  const names = new Map();
  let server;

  function define(object, name, value) {
    Object.defineProperty(object, name, { value, configurable: true, writable: true, enumerable: false });
  }

  const standIns = polyfills({ random, variables, script, setBackgroundTimeout });
  for (const name of Object.keys(standIns)) {
    define(globalThis, name, standIns[name]);
  }

  define(globalThis, '__trailblaze', Object.freeze({
    compile,
    serve(tools) {
      if (server !== undefined) {
        throw new Error('the tools are served twice; call `run()` once');
      }
      server = tools;
    },
    /** Asks the host, on behalf of a call: its id or its name. */
    request(call, operation, payload) {
      const id = typeof call === 'string' ? names.get(call) : call;
      if (id === undefined) {
        throw new Error('the call has ended');
      }
      return request(operation, { call: id, payload });
    },
    placeOf: (stack) => placeOf(stack) ?? undefined,
    stackOf,
    openTimers: () => openTimers().map((stack) => ownPlaceOf(stack)).filter((place) => typeof place === 'string'),
    unhandled: () => parse(unhandled()),
    takeUnhandled,
  }));

  /** Starts a call; `done` is called with its result. */
  function begin(id, json) {
    if (calls.size === 0) {
      open('{}');
    }
    const { method, params, name } = parse(json);
    const controller = new AbortController();
    calls.set(id, controller);
    names.set(name, id);
    const finish = (isSuccess, value) => {
      calls.delete(id);
      names.delete(name);
      let text;
      try {
        text = stringify(value) ?? 'null';
      } catch (thrown) {
        isSuccess = false;
        text = stringify(problem(thrown));
      }
      done(id, isSuccess, text);
    };
    const answer = (async () => server[method](params, { id, signal: controller.signal }))();
    apply(then, answer, [(value) => finish(true, value), (thrown) => finish(false, problem(thrown))]);
  }

  function cancel(id) {
    calls.get(id)?.abort();
  }

  return { begin, cancel, isServing: () => server !== undefined };
});
