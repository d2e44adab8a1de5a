// What packages expect of a runtime and the engine does not have: small versions of it, for worlds that serve tools.
(function ({ random, variables, script, setBackgroundTimeout }) {
  class Event {
    constructor(type, options = {}) {
      this.type = String(type);
      this.cancelable = options.cancelable === true;
      this.defaultPrevented = false;
      this.target = null;
    }

    preventDefault() {
      this.defaultPrevented = this.cancelable;
    }
  }

  class EventTarget {
    #listeners = new Map();

    addEventListener(type, listener, options) {
      if (listener === null || listener === undefined) {
        return;
      }
      const listeners = this.#listeners.get(type) ?? [];
      if (!listeners.some((known) => known.listener === listener)) {
        listeners.push({ listener, once: typeof options === 'object' && options?.once === true });
      }
      this.#listeners.set(type, listeners);
    }

    removeEventListener(type, listener) {
      const listeners = this.#listeners.get(type) ?? [];
      this.#listeners.set(type, listeners.filter((known) => known.listener !== listener));
    }

    dispatchEvent(event) {
      event.target = this;
      for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
        if (once) {
          this.removeEventListener(event.type, listener);
        }
        typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event);
      }
      return !event.defaultPrevented;
    }
  }

  const ours = Symbol('ours');
  let abortSignal;

  class AbortSignal extends EventTarget {
    #isAborted = false;
    #reason;
    onabort = null;

    constructor(key) {
      if (key !== ours) {
        throw new TypeError('Illegal constructor');
      }
      super();
    }

    get aborted() {
      return this.#isAborted;
    }

    get reason() {
      return this.#reason;
    }

    throwIfAborted() {
      if (this.#isAborted) {
        throw this.#reason;
      }
    }

    static abort(reason) {
      const signal = new AbortSignal(ours);
      abortSignal(signal, reason);
      return signal;
    }

    static timeout(ms) {
      const signal = new AbortSignal(ours);
      setBackgroundTimeout(() => abortSignal(signal, new DOMException('the time is up', 'TimeoutError')), ms);
      return signal;
    }

    static any(signals) {
      const signal = new AbortSignal(ours);
      for (const one of signals) {
        if (one.aborted) {
          abortSignal(signal, one.reason);
          break;
        }
        one.addEventListener('abort', () => abortSignal(signal, one.reason), { once: true });
      }
      return signal;
    }

    static {
      abortSignal = (signal, reason = new DOMException('This operation was aborted', 'AbortError')) => {
        if (!signal.#isAborted) {
          signal.#isAborted = true;
          signal.#reason = reason;
          const event = new Event('abort');
          signal.onabort?.(event);
          signal.dispatchEvent(event);
        }
      };
    }
  }

  class AbortController {
    signal = new AbortSignal(ours);

    abort(reason) {
      abortSignal(this.signal, reason);
    }
  }

  class TextEncoder {
    encoding = 'utf-8';

    encode(text = '') {
      const bytes = unescape(encodeURIComponent(String(text).toWellFormed()));
      return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
    }
  }

  class TextDecoder {
    #isFatal;
    encoding = 'utf-8';

    constructor(encoding = 'utf-8', { fatal = false } = {}) {
      if (!/^(utf-?8|unicode-1-1-utf-8)$/i.test(encoding)) {
        throw new RangeError(`the script engine decodes utf-8 only, not ${encoding}`);
      }
      this.#isFatal = fatal;
    }

    decode(input = new Uint8Array()) {
      const bytes = ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
      const parts = [];
      let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
      while (at < bytes.length) {
        const first = bytes[at];
        const n = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : -1;
        let point = n === 0 ? first : first & (0x3f >> n);
        let taken = 1;
        while (taken <= n && (bytes[at + taken] & 0xc0) === 0x80) {
          point = (point << 6) | (bytes[at + taken] & 0x3f);
          taken += 1;
        }
        const isValid = n >= 0 && taken === n + 1 && point >= [0, 0x80, 0x800, 0x10000][n] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        if (!isValid && this.#isFatal) {
          throw new TypeError('the bytes are not valid utf-8');
        }
        parts.push(isValid ? String.fromCodePoint(point) : '\ufffd');
        at += taken;
      }
      return parts.join('');
    }
  }

  const encode = (text) => encodeURIComponent(String(text).toWellFormed()).replace(/%20/g, '+').replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const decode = (text) => {
    const spaced = text.replace(/\+/g, ' ');
    try {
      return decodeURIComponent(spaced);
    } catch {
      return spaced;
    }
  };

  class URLSearchParams {
    #pairs = [];
    #changed;

    constructor(init = '', changed = () => {}) {
      if (typeof init === 'string') {
        const parts = init.replace(/^\?/, '').split('&').filter((part) => part !== '');
        this.#pairs = parts.map((part) => {
          const at = part.indexOf('=');
          return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
        });
      } else {
        const pairs = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init);
        this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
      }
      this.#changed = changed;
    }

    get size() {
      return this.#pairs.length;
    }

    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed();
    }

    set(name, value) {
      const at = this.#pairs.findIndex(([known]) => known === name);
      if (at < 0) {
        return this.append(name, value);
      }
      this.#pairs[at] = [String(name), String(value)];
      this.#pairs = this.#pairs.filter(([known], index) => known !== name || index === at);
      this.#changed();
    }

    delete(name) {
      this.#pairs = this.#pairs.filter(([known]) => known !== name);
      this.#changed();
    }

    get(name) {
      return this.#pairs.find(([known]) => known === name)?.[1] ?? null;
    }

    getAll(name) {
      return this.#pairs.filter(([known]) => known === name).map(([, value]) => value);
    }

    has(name) {
      return this.#pairs.some(([known]) => known === name);
    }

    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }

    forEach(callback) {
      this.#pairs.forEach(([name, value]) => callback(value, name, this));
    }

    *entries() {
      yield* this.#pairs.map((pair) => [...pair]);
    }

    *keys() {
      yield* this.#pairs.map(([name]) => name);
    }

    *values() {
      yield* this.#pairs.map(([, value]) => value);
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    toString() {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    }
  }

  const PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21' };
  const isSpecial = (protocol) => protocol in PORTS || protocol === 'file:';

  function joined(path) {
    const parts = [];
    const pieces = path.split('/').slice(1);
    pieces.forEach((part, at) => {
      if (part === '..') {
        parts.pop();
      } else if (part !== '.') {
        parts.push(part);
      }
      if ((part === '.' || part === '..') && at === pieces.length - 1) {
        parts.push('');
      }
    });
    return `/${parts.join('/')}`;
  }

  const quote = (text) => text.replace(/[^\x21-\x7e]|["<>`{}]/gu, (c) => encodeURIComponent(c.toWellFormed()));

  /** Without punycode: a host must be ASCII. */
  class URL {
    #parts;
    #params;

    constructor(input, base) {
      const text = String(input).trim();
      const parsed = URL.#parse(text, base === undefined ? undefined : new URL(base).#parts);
      if (parsed === undefined) {
        throw new TypeError(`Invalid URL: ${text}`);
      }
      this.#parts = parsed;
      this.#params = new URLSearchParams(parsed.search, () => {
        const query = this.#params.toString();
        this.#parts.search = query === '' ? '' : `?${query}`;
      });
    }

    static canParse(input, base) {
      try {
        return new URL(input, base) !== undefined;
      } catch {
        return false;
      }
    }

    static #parse(text, base) {
      const [, protocol, rest] = /^([a-z][a-z0-9+.-]*:)?(.*)$/is.exec(text);
      const [, start, search = '', hash = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest);
      const tail = { search: search === '?' ? '' : quote(search), hash: hash === '#' ? '' : quote(hash) };
      const scheme = protocol?.toLowerCase();
      if (scheme === undefined || (scheme === base?.protocol && isSpecial(scheme) && !start.startsWith('/') && !start.startsWith('\\'))) {
        if (base === undefined || (base.pathname[0] !== '/' && !start.startsWith('#') && start !== '')) {
          return undefined;
        }
        const path = isSpecial(base.protocol) ? start.replace(/\\/g, '/') : start;
        if (path.startsWith('//')) {
          return URL.#parse(base.protocol + path + search + hash);
        }
        if (path === '') {
          return { ...base, search: search === '' ? base.search : tail.search, hash: tail.hash };
        }
        const folder = base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1);
        return { ...base, pathname: quote(joined(path.startsWith('/') ? path : folder + path)), ...tail };
      }
      const path = isSpecial(scheme) ? start.replace(/\\/g, '/') : start;
      if (!isSpecial(scheme) && !path.startsWith('//')) {
        return { protocol: scheme, username: '', password: '', hostname: '', port: '', pathname: path, ...tail };
      }
      const after = scheme === 'file:' ? path.replace(/^\/\//, '') : path.replace(/^\/+/, '');
      const located = /^(?:([^/@]*)@)?(\[[0-9a-f:.]+\]|[^/:@]*)(?::([0-9]*))?(\/.*)?$/is.exec(after);
      if (located === null) {
        return undefined;
      }
      const [, user = '', host, port = '', pathname = ''] = located;
      const isPlain = /^[a-z0-9._~%!$&'()*+,;=-]*$|^\[.*\]$/i.test(host);
      if (!isPlain || (host === '' && scheme !== 'file:') || Number(port) > 65_535) {
        return undefined;
      }
      const [username, password = ''] = user.split(':');
      return {
        protocol: scheme, username: quote(username), password: quote(password), hostname: host.toLowerCase(),
        port: port === PORTS[scheme] ? '' : port === '' ? '' : String(Number(port)),
        pathname: quote(joined(pathname === '' ? '/' : pathname)), ...tail,
      };
    }

    get protocol() { return this.#parts.protocol; }
    get username() { return this.#parts.username; }
    get password() { return this.#parts.password; }
    get hostname() { return this.#parts.hostname; }
    get port() { return this.#parts.port; }
    get pathname() { return this.#parts.pathname; }
    get search() { return this.#parts.search; }
    get hash() { return this.#parts.hash; }
    get searchParams() { return this.#params; }
    get host() { return this.port === '' ? this.hostname : `${this.hostname}:${this.port}`; }
    get origin() { return this.protocol in PORTS ? `${this.protocol}//${this.host}` : 'null'; }

    set pathname(path) { this.#parts.pathname = quote(joined(path.startsWith('/') ? path : `/${path}`)); }
    set hash(hash) { this.#parts.hash = hash === '' ? '' : quote(`#${String(hash).replace(/^#/, '')}`); }
    set search(search) {
      this.#parts.search = search === '' ? '' : quote(`?${String(search).replace(/^\?/, '')}`);
      this.#params = new URLSearchParams(this.#parts.search);
    }

    get href() {
      const { protocol, username, password, pathname, search, hash } = this.#parts;
      const user = username === '' && password === '' ? '' : `${username}${password === '' ? '' : `:${password}`}@`;
      const isLocated = this.hostname !== '' || protocol === 'file:';
      return `${protocol}${isLocated ? `//${user}${this.host}` : ''}${pathname}${search}${hash}`;
    }

    toString() { return this.href; }
    toJSON() { return this.href; }
  }

  const crypto = {
    getRandomValues(array) {
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(random(array.byteLength));
      return array;
    },
    randomUUID() {
      const bytes = random(16);
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    },
  };

  const intervals = new Map();
  let nextInterval = 0;

  function setInterval(callback, ms, ...args) {
    const interval = --nextInterval;
    const again = () => {
      intervals.set(interval, setTimeout(() => {
        again();
        callback(...args);
      }, Math.max(1, ms)));
    };
    again();
    return interval;
  }

  function clearInterval(interval) {
    clearTimeout(intervals.get(interval));
    intervals.delete(interval);
  }

  const { console } = globalThis;
  const nothing = () => {};
  Object.assign(console, {
    trace: console.debug, dir: console.log, table: console.log, group: console.log, groupCollapsed: console.log, groupEnd: nothing,
    time: nothing, timeEnd: nothing, timeLog: nothing, count: nothing, countReset: nothing,
    assert: (condition, ...values) => condition || console.error('assertion failed:', ...values),
  });

  const print = (text) => {
    console.log(String(text).replace(/\n$/, ''));
    return true;
  };
  // Just enough for packages that look at it.
  const process = {
    env: { ...variables }, argv: ['trailblaze', script], execArgv: [], versions: {}, version: '', platform: 'trailblaze', pid: 1,
    cwd: () => '/', on: () => process, once: () => process, off: () => process, emitWarning: console.warn,
    stdout: { write: print }, stderr: { write: print },
    nextTick: (callback, ...args) => queueMicrotask(() => callback(...args)),
  };

  return {
    Event, EventTarget, AbortSignal, AbortController, TextEncoder, TextDecoder, URL, URLSearchParams, crypto, process,
    setInterval, clearInterval, setImmediate: (callback, ...args) => setTimeout(callback, 0, ...args), clearImmediate: clearTimeout,
    global: globalThis,
  };
})
