// The clock of a document, in the page's own world. Runs before its scripts, and again whenever the clock is changed.
((state) => {
  const key = Symbol.for('trailblaze.clock');
  if (globalThis[key]) {
    globalThis[key].apply(state);
    return;
  }
  if (!state) return;

  // The most timers that run in one advance.
  const MOST = 10000;
  const names = ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'requestAnimationFrame',
    'cancelAnimationFrame', 'requestIdleCallback', 'cancelIdleCallback'];
  const real = {};
  for (const name of names) real[name] = globalThis[name];
  const realNow = () => real.Date.now();
  const realPerformance = performance.now.bind(performance);
  const later = (callback, millis) => real.setTimeout.call(globalThis, callback, millis);
  const channel = new MessageChannel();

  let { mode, time, since } = state;
  // The time of the timer that is running.
  let held = null;
  let advancing = Promise.resolve();
  let lastId = 1e9;
  let planned = null;
  const timers = new Map();

  const now = () => held ?? (mode === 'RUNNING' ? time + realNow() - since : time);
  const startedAt = now() - realPerformance();
  const isReal = () => mode === 'FIXED';

  // The timer that is due first; of several, the one that was set first.
  const next = () => {
    let first = null;
    for (const timer of timers.values()) if (!first || timer.at < first.at) first = timer;
    return first;
  };

  const run = (timer) => {
    if (timer.every === null) timers.delete(timer.id);
    else timer.at += timer.every;
    try {
      if (typeof timer.callback === 'function') timer.callback.apply(globalThis, timer.args());
      else (0, eval)(String(timer.callback));
    } catch (error) {
      reportError(error);
    }
  };

  // Waits in real time for the timer that is due first. One that is due already runs even while the clock stands still.
  const plan = () => {
    if (planned !== null) real.clearTimeout.call(globalThis, planned);
    planned = null;
    const first = next();
    if (!first || (mode === 'PAUSED' && first.at > now())) return;
    planned = later(() => {
      planned = null;
      const due = [...timers.values()].filter((timer) => timer.at <= now()).sort((a, b) => a.at - b.at);
      for (const timer of due) if (timers.has(timer.id)) run(timer);
      plan();
    }, Math.max(0, Math.min(first.at - now(), 2 ** 30)));
  };

  const add = (callback, delay, args, isRepeated) => {
    const millis = Math.max(isRepeated ? 1 : 0, Number(delay) || 0);
    const id = ++lastId;
    timers.set(id, { id, at: now() + millis, every: isRepeated ? millis : null, callback, args: () => args });
    if (held === null) plan();
    return id;
  };

  const remove = (name) => (id) => {
    if (!timers.delete(id)) real[name].call(globalThis, id);
  };

  function ClockDate(...given) {
    if (!new.target) return new real.Date(now()).toString();
    return Reflect.construct(real.Date, given.length ? given : [now()], new.target);
  }
  Object.setPrototypeOf(ClockDate, real.Date);
  ClockDate.prototype = real.Date.prototype;
  ClockDate.now = () => Math.floor(now());
  Object.defineProperty(ClockDate, 'name', { value: 'Date' });

  const ours = {
    Date: ClockDate,
    setTimeout: (callback, delay, ...args) =>
      isReal() ? real.setTimeout.call(globalThis, callback, delay, ...args) : add(callback, delay, args, false),
    setInterval: (callback, delay, ...args) =>
      isReal() ? real.setInterval.call(globalThis, callback, delay, ...args) : add(callback, delay, args, true),
    clearTimeout: remove('clearTimeout'),
    clearInterval: remove('clearInterval'),
    requestAnimationFrame: (callback) => {
      if (mode === 'PAUSED') return add(() => callback(now() - startedAt), 16, [], false);
      return real.requestAnimationFrame.call(globalThis, (at) => callback(isReal() ? at : now() - startedAt));
    },
    cancelAnimationFrame: remove('cancelAnimationFrame'),
    requestIdleCallback: (callback, options) => {
      if (mode !== 'PAUSED') return real.requestIdleCallback.call(globalThis, callback, options);
      return add(() => callback({ didTimeout: false, timeRemaining: () => 50 }), 0, [], false);
    },
    cancelIdleCallback: remove('cancelIdleCallback'),
  };

  // Lets promises settle, and what waits for messages.
  const pause = () => new Promise((done) => {
    channel.port1.onmessage = done;
    channel.port2.postMessage(null);
  });

  const advance = async (to) => {
    if (mode !== 'FIXED') {
      for (let n = 0; ; n++) {
        const first = next();
        if (!first || first.at > to.time) break;
        if (n === MOST) throw new Error(`more than ${MOST} timers are due in this time; advance the clock by less`);
        held = Math.max(first.at, now());
        run(first);
        await pause();
      }
    }
    held = null;
    ({ mode, time, since } = to);
    plan();
  };

  const install = () => {
    for (const name of names) globalThis[name] = ours[name];
    performance.now = () => (isReal() ? realPerformance() : now() - startedAt);
  };

  const restore = () => {
    for (const name of names) globalThis[name] = real[name];
    delete performance.now;
    delete globalThis[key];
    if (planned !== null) real.clearTimeout.call(globalThis, planned);
    for (const timer of timers.values()) {
      const wait = () => later(() => {
        if (!timers.has(timer.id)) return;
        run(timer);
        if (timer.every !== null) wait();
      }, timer.every ?? Math.max(0, timer.at - now()));
      wait();
    }
  };

  Object.defineProperty(globalThis, key, {
    configurable: true,
    value: {
      apply: (to) => {
        if (!to) return restore();
        if (to.isAdvance) {
          advancing = advancing.catch(() => {}).then(() => advance(to)).finally(() => (held = null));
          // Whoever waits for it learns of the error.
          advancing.catch(() => {});
          return;
        }
        ({ mode, time, since } = to);
        plan();
      },
      advanced: () => advancing.then(() => null),
    },
  });
  install();
})(/* state */);
