
"use strict";
(() => {
  // Elements of page.html exist; `find` is for those that may not.
  /** @param {string} id */
  const find = (id) => document.getElementById(id);
  /** @param {string} id */
  const byId = (id) => /** @type {HTMLElement} */ (find(id));
  /** @type {Report.Run} */
  const run = JSON.parse(byId("index").textContent);
  const attempts = run.attempts;
  const [head, overview, detail] = [byId("head"), byId("overview"), byId("detail")];
  const [viewer, keys] = [/** @type {HTMLDialogElement} */ (byId("viewer")), /** @type {HTMLDialogElement} */ (byId("keys"))];

  /** @type {Report.State[]} */
  const STATES = ["failed", "errored", "bug", "invalid", "unfinished", "cancelled", "passed", "skipped"];
  const TITLE = document.title;
  const LONG = 600;
  const ROWS = 200;
  const FAILURES = 30;

  // ---- Building blocks. Text from the run only ever becomes text nodes.

  /**
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {Report.Props} props
   * @param {Report.Child[]} children
   */
  function el(tag, props, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (value == null || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    return put(node, children);
  }

  // Appends children. Skips absent ones, so that they can be written as `condition && element`.
  /**
   * @template {Element} T
   * @param {T} node
   * @param {Report.Child[]} children
   */
  function put(node, children) {
    node.append(.../** @type {(Node | string)[]} */ (children.flat(3).filter((child) => child != null && child !== false && child !== 0)));
    return node;
  }

  // Replaces control characters by their symbols and direction overrides by their names: they are shown and have no effect.
  /** @param {unknown} text */
  const visible = (text) => String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u202d\u202e]/g, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase()}]`);
  /** @type {(text: unknown, cls?: string) => HTMLElement} */
  const data = (text, cls) => el("span", { class: "data" + (cls ? " " + cls : ""), dir: "auto" }, visible(text));

  // Text with its `names` set in code style.
  /** @type {(text: unknown) => Report.Child[]} */
  const rich = (text) => visible(text).split(/`([^`\n]+)`/).map((part, nth) => (nth % 2 ? el("code", { class: "data" }, part) : part));
  /** @type {(text: unknown, cls?: string) => HTMLElement} */
  const said = (text, cls) => el("span", { class: "data" + (cls ? " " + cls : ""), dir: "auto" }, rich(text));
  /** @type {(text: string, most: number) => string} */
  const cut = (text, most) => (text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, "") + "…" : text);

  // A text that may be long: cut, with a button for the rest. A value is shown exactly, a message with its names in code style.
  /** @param {string} text */
  const exact = (text) => long(text, "", LONG, (part) => [visible(part)]);
  /** @type {(text: string, cls?: string, most?: number, show?: (text: string) => Report.Child[]) => HTMLElement} */
  function long(text, cls, most = LONG, show = rich) {
    const box = el("div", { class: "block " + (cls || ""), dir: "auto" });
    if (text.length <= most * 1.2) return put(box, show(text));
    const shown = el("span", {}, show(cut(text, most)));
    const button = el("button", { class: "link", type: "button", onclick: () => {
      const opens = button.getAttribute("aria-expanded") === "false";
      shown.replaceChildren();
      put(shown, show(opens ? text : cut(text, most)));
      button.textContent = opens ? "show less" : `show all ${count(text.length)} characters`;
      button.setAttribute("aria-expanded", String(opens));
    }, "aria-expanded": "false" }, `show all ${count(text.length)} characters`);
    box.append(shown, " ", button);
    return box;
  }

  /** @param {number} n */
  const count = (n) => n.toLocaleString("en-US");
  /** @type {(n: number, one: string, many?: string) => string} */
  const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

  /** @param {number} micros */
  function time(micros) {
    const ms = micros / 1000;
    if (ms < 1) return "<1 ms";
    if (ms < 1000) return `${Math.round(ms)} ms`;
    const s = ms / 1000;
    if (s < 59.95) return `${s.toFixed(1)} s`;
    const whole = Math.round(s);
    if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
    return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
  }

  /** @type {(name: Report.State, more?: string) => HTMLElement} */
  const state = (name, more) => el("span", { class: "state " + name }, more || name[0].toUpperCase() + name.slice(1));
  /** @type {(name: string, ...value: Report.Child[]) => HTMLElement} */
  const fact = (name, ...value) => el("div", {}, el("dt", { class: "label" }, name), el("dd", {}, ...value));
  /** @type {(text: string, title?: string, cls?: string) => HTMLElement} */
  const tag = (text, title, cls) => el("span", { class: "tag data" + (cls ? " " + cls : ""), title }, visible(text));
  /** @param {Report.Attempt} attempt */
  const link = (attempt) => "#attempt=" + encodeURIComponent(attempt.id);
  /** @param {Report.State} name */
  const isBad = (name) => name !== "passed" && name !== "skipped";
  const KINDS = { trailhead: "Trailhead", step: "Step", verify: "Verify" };

  // ---- Data that is not in the index, read on demand. The page is drawn before it has loaded completely.

  /** @type {Promise<void>} */
  const isWhole = new Promise((done) => {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => done(), { once: true });
    else done();
  });
  /** @param {string} id */
  async function stored(id) {
    if (!find(id)) await isWhole;
    return JSON.parse(byId(id).textContent);
  }

  // ---- Pictures.

  const nearing = new IntersectionObserver((seen) => {
    for (const entry of seen) {
      if (!entry.isIntersecting) continue;
      nearing.unobserve(entry.target);
      /** @type {Report.Frame} */ (entry.target).load?.();
    }
  }, { rootMargin: "600px" });

  const MOMENTS = { before: "Before", after: "After", failure: "At failure" };

  /** @type {(taken: Report.Picture, options: { caption: string, touches?: Report.Touch[], box?: Report.Size, open?: () => void }) => HTMLElement} */
  function picture(taken, options) {
    const { caption, touches = [], box = { width: 300, height: 300 }, open } = options;
    const width = Math.max(1, taken.screen.width);
    const height = Math.max(1, taken.screen.height);
    const scale = Math.min(box.width / width, box.height / height);
    const [w, h] = [Math.max(24, Math.round(width * scale)), Math.max(24, Math.round(height * scale))];
    /** @type {Report.Frame} */
    const frame = el(open ? "button" : "div", { class: "frame", type: open && "button", onclick: open, "aria-label": open && `Enlarge: ${caption}` });
    frame.style.width = w + "px";
    frame.style.height = h + "px";
    /** @param {string} why */
    const lose = (why) => {
      frame.querySelector("img")?.remove();
      frame.prepend(el("span", { class: "lost" }, data(cut(taken.file, 120), "mono"), el("span", {}, why)));
    };
    const kept = taken.kept;
    if (kept !== "nextToPage" && kept.missing) {
      lose(kept.missing);
    } else {
      const img = el("img", { alt: caption, width: w, height: h, decoding: "async", onerror: () => lose("cannot be shown") });
      frame.prepend(img);
      frame.load = async () => {
        img.src = kept === "nextToPage" ? pathOf(taken.file) : await stored("picture-" + kept.embedded);
      };
      nearing.observe(frame);
      touches.forEach((touch, nth) => frame.append(...outline(touch, touches.length > 1 ? nth + 1 : null, width, height)));
    }
    const figure = el("figure", { class: "picture" + (taken.isAttached ? " attached" : "") }, el("figcaption", { title: caption }, visible(caption)), frame);
    figure.style.width = w + "px";
    return figure;
  }

  /** @type {(touch: Report.Touch, number: number | null, width: number, height: number) => HTMLElement[]} */
  function outline(touch, number, width, height) {
    /** @type {(part: number, whole: number) => string} */
    const percent = (part, whole) => `${Math.min(100, Math.max(0, (part / whole) * 100))}%`;
    const badge = () => (number ? [el("b", {}, String(number))] : []);
    const marks = [];
    if (touch.bounds) {
      const { left, top, right, bottom } = touch.bounds;
      const mark = el("span", { class: "touch" + (top / height < 0.06 ? " low" : "") }, badge());
      mark.style.left = percent(left, width);
      mark.style.top = percent(top, height);
      mark.style.right = `calc(100% - ${percent(right, width)})`;
      mark.style.bottom = `calc(100% - ${percent(bottom, height)})`;
      marks.push(mark);
    }
    if (touch.point) {
      const mark = el("span", { class: "touch point" }, touch.bounds ? [] : badge());
      mark.style.left = percent(touch.point.x, width);
      mark.style.top = percent(touch.point.y, height);
      marks.push(mark);
    }
    return marks;
  }

  // The pictures of the current view, those that the viewer pages through, and which of them it shows.
  /** @type {Report.Shown[]} */
  let gallery = [];
  /** @type {Report.Shown[]} */
  let viewed = [];
  let viewedAt = 0;

  /** @param {number} nth */
  function enlarge(nth) {
    const { taken, caption, touches } = viewed[nth];
    const box = { width: Math.min(1340, innerWidth * 0.9 - 48), height: innerHeight * 0.9 - 80 };
    const shown = picture(taken, { caption: `${caption} (${nth + 1} of ${viewed.length})`, touches, box, open: () => viewer.close() });
    viewer.replaceChildren(shown, el("button", { class: "close", type: "button", onclick: () => viewer.close() }, "Close"));
    viewedAt = nth;
    if (!viewer.open) viewer.showModal();
  }

  /** @type {(taken: Report.Picture, caption: string, touches: Report.Touch[], box: Report.Size) => HTMLElement} */
  function hang(taken, caption, touches, box) {
    const mine = gallery;
    const nth = mine.push({ taken, caption, touches }) - 1;
    return picture(taken, { caption, touches, box, open: () => { viewed = mine; enlarge(nth); } });
  }

  // ---- The head.

  /** @type {Record<Report.Exit, [Report.State, string]>} */
  const EXITS = {
    passed: ["passed", "Passed"],
    failed: ["failed", "Failed"],
    invalid: ["invalid", "Invalid"],
    environment: ["errored", "Environment failed"],
    bug: ["bug", "Bug in Trailblaze"],
  };

  const [exitState, exitName] = run.exit ? EXITS[run.exit] : ["unfinished", "Did not finish"];

  function headline() {
    const counts = run.counts;
    const parts = STATES.filter((name) => name !== "passed" && counts[name]).map((name) => `${count(counts[name])} ${name}`);
    if (counts.flaky) parts.push(`${count(counts.flaky)} flaky`);
    if (counts.healed) parts.push(`${count(counts.healed)} healed`);
    const passed = `${count(counts.passed)} of ${plural(counts.total, "trail")} passed`;
    return [passed, ...parts].join(", ") + ` in ${time(run.micros)}`;
  }

  function drawHead() {
    const started = new Date(run.startedAt ?? NaN);
    const when = run.startedAt == null ? "unknown"
      : isNaN(started.getTime()) ? data(run.startedAt)
      : el("time", { datetime: run.startedAt, title: run.startedAt }, started.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }));
    const devices = run.lanes.map((lane) => {
      const device = lane.sessions[0]?.device;
      const title = device && `${device.driver}, ${device.size.width} × ${device.size.height}, ${device.classifiers.join(", ")}`;
      return el("span", { title, class: "data" }, visible(lane.name));
    });
    const bar = el("div", { class: "bar", role: "img", "aria-label": headline() });
    for (const name of STATES) {
      if (!run.counts[name]) continue;
      const part = el("span", { class: name });
      part.style.flexGrow = String(run.counts[name]);
      bar.append(part);
    }
    /** @type {[number, string][]} */
    const lines = [[run.torn, "torn"], [run.unknown, "unknown"], [run.stray, "about something unknown"]];
    const unread = lines.filter(([n]) => n);
    // A killed run ends in the middle of a line; the banner already says that it did not finish.
    const isJustCut = !run.exit && run.torn === 1 && unread.length === 1;
    put(head, [
      el("div", { class: "verdict" },
        el("span", { class: "label of-run" }, "Run"),
        el("h1", { class: exitState }, el("a", { class: "home", href: "#" }, exitName)),
        el("p", {}, headline())),
      el("dl", { class: "facts" },
        fact("Started", when),
        fact("Duration", time(run.micros)),
        fact(plural(run.lanes.length, "device"), ...devices.flatMap((device, nth) => (nth ? [", ", device] : [device]))),
        run.seed != null && fact("Seed", data(run.seed, "mono")),
        fact("Run", data(run.run, "mono")),
        run.version != null && fact("Version", data(run.version)),
        run.modelUse != null && fact("Models", run.modelUse),
        run.code != null && fact("Exit code", String(run.code))),
      bar,
      !run.exit && el("div", { class: "banner unfinished", role: "note" },
        el("strong", {}, "This run did not finish. "),
        `Its record stops after ${time(run.micros)}; whatever was in progress is shown as unfinished`
          + (run.trails != null ? `, and ${count(new Set(attempts.map((attempt) => attempt.trail.path + "\n" + attempt.trail.id)).size)} of ${plural(run.trails, "trail")} had started.` : ".")),
      run.leakedProcesses > 0 && el("div", { class: "banner failed", role: "note" },
        el("strong", {}, `${plural(run.leakedProcesses, "process", "processes")} could not be killed. `), "They were started for this run and may still be running."),
      run.isNewer && el("div", { class: "banner invalid", role: "note" },
        el("strong", {}, "A newer Trailblaze wrote this run. "), "This page may not show all of it."),
      unread.length > 0 && !isJustCut && el("div", { class: "banner invalid", role: "note" },
        el("strong", {}, "Some lines of events.jsonl could not be used: "),
        unread.map(([n, why]) => `${count(n)} ${why}`).join(", ") + "."),
    ]);
    const dot = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${getComputedStyle(document.documentElement).getPropertyValue("--" + exitState).trim()}"/></svg>`;
    document.querySelector("link[rel=icon]")?.setAttribute("href", "data:image/svg+xml," + encodeURIComponent(dot));
  }

  // ---- Failures.

  /** @type {(attempt: Report.Attempt, withTitle: boolean) => HTMLElement} */
  function failureCard(attempt, withTitle) {
    const trouble = /** @type {Report.Trouble} */ (attempt.trouble);
    const card = el("article", { class: "failure " + attempt.state });
    const facts = el("div", {});
    if (withTitle) {
      facts.append(
        el("div", { class: "top" }, state(attempt.state),
          el("h3", {}, el("a", { href: link(attempt) }, data(cut(attempt.name, 200))))),
        el("p", { class: "where" }, data(run.lanes[attempt.lane].name), attempt.number > 1 && `, attempt ${attempt.number}`, `, after ${time(attempt.micros)}`));
    }
    if (trouble.step != null) {
      facts.append(el("div", { class: withTitle ? "stepline" : "" },
        el("div", { class: "label" }, [trouble.stepKind && KINDS[trouble.stepKind], trouble.stepNumber].filter((part) => part != null).join(" ")),
        long(trouble.step, "", 300)));
    }
    const message = trouble.message || (attempt.state === "unfinished" ? "The run ended before this attempt did." : "");
    if (message) facts.append(long(message, "message"));
    if (trouble.expected != null || trouble.saw != null) {
      facts.append(el("dl", { class: "versus" },
        trouble.expected != null && el("div", { class: "expected" }, el("dt", { class: "label" }, "Expected"), el("dd", {}, long(trouble.expected))),
        trouble.saw != null && el("div", { class: "saw" }, el("dt", { class: "label" }, "Saw"), el("dd", {}, long(trouble.saw)))));
    }
    card.append(facts);
    if (withTitle && trouble.picture) {
      const caption = trouble.picture.moment === "failure" ? "At failure" : "Last picture";
      card.append(hang(trouble.picture, caption, [], { width: 240, height: 240 }));
    }
    return card;
  }

  /** @type {Partial<Record<Report.State, string>>} */
  const ALIKE = {
    failed: "failed alike", errored: "errored alike", invalid: "were invalid alike", bug: "met the same bug",
    unfinished: "did not finish", cancelled: "were cancelled alike",
  };

  // Attempts that failed alike: the first in full, the others by name.
  /** @param {number[]} places */
  function failureGroup(places) {
    const [first, ...rest] = places.map((place) => attempts[place]);
    const card = failureCard(first, true);
    if (!rest.length) return card;
    const others = el("ul", {});
    const more = el("button", { class: "link", type: "button", onclick: () => list(rest.length) });
    /** @param {number} most */
    const list = (most) => {
      others.append(...rest.slice(others.childElementCount, most).map((attempt) => el("li", {},
        el("a", { href: link(attempt) }, data(cut(attempt.name, 200))),
        el("span", { class: "faint" }, " ", data(run.lanes[attempt.lane].name), attempt.number > 1 && `, attempt ${attempt.number}`, `, after ${time(attempt.micros)}`))));
      more.hidden = others.childElementCount === rest.length;
      more.textContent = `and ${count(rest.length - others.childElementCount)} more`;
    };
    list(rest.length > 6 ? 5 : 6);
    card.prepend(el("p", { class: "alike" }, state(first.state, `${plural(places.length, "trail")} ${ALIKE[first.state]}`)));
    card.append(el("div", { class: "others" }, el("p", { class: "label" }, "Alike"), others, more));
    return card;
  }

  /** @type {(title: string, groups: number[][]) => HTMLElement[]} */
  function failures(title, groups) {
    if (!groups.length) return [];
    const cards = el("div", {});
    const more = el("button", { class: "more", type: "button", onclick: () => show() });
    const total = groups.reduce((sum, group) => sum + group.length, 0);
    let shown = 0;
    const show = () => {
      cards.append(...groups.slice(shown, shown + FAILURES).map(failureGroup));
      shown = Math.min(groups.length, shown + FAILURES);
      more.hidden = shown === groups.length;
      more.textContent = `Show ${count(Math.min(FAILURES, groups.length - shown))} more`;
    };
    show();
    return [el("section", { class: "part" },
      el("h2", {}, title, el("span", { class: "n" }, count(total), groups.length < total && (groups.length === 1 ? ", all alike" : `, of ${groups.length} kinds`))), cards, more)];
  }

  // ---- The timeline.

  function timeline() {
    const whole = attempts.reduce((most, attempt) => Math.max(most, attempt.at + attempt.micros), Math.max(1, run.micros));
    const steps = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 9e8, 18e8, 36e8, 72e8];
    const unit = steps.find((step) => whole / step <= 8) || whole / 6;
    /** @type {number[]} */
    const ticks = [];
    for (let at = 0; at <= whole; at += unit) ticks.push(at);
    /** @template {HTMLElement} T @param {T} node @param {number} at */
    const place = (node, at) => { node.style.left = (at / whole) * 100 + "%"; return node; };
    const box = el("div", { class: "timeline" });
    box.append(el("div", { class: "lane ruler", "aria-hidden": "true" }, el("span", { class: "name" }),
      el("div", { class: "track" }, ticks.map((at) => place(el("span", { class: "tick" + (at / whole > 0.95 ? " last" : "") }, at ? time(at).replace(".0 s", " s").replace(" 00 s", "") : "0"), at)))));
    run.lanes.forEach((lane, nth) => {
      const track = el("div", { class: "track" }, ticks.map((at) => place(el("span", { class: "rule" }), at)));
      for (const attempt of attempts) {
        if (attempt.lane !== nth) continue;
        const text = visible(`${cut(attempt.name, 120)}: ${attempt.standing === "retried" ? attempt.state + ", retried" : attempt.state}, ${time(attempt.micros)}`);
        const bar = place(el("a", { class: `span ${attempt.state} ${attempt.standing}${attempt.micros / whole < 0.008 ? " thin" : ""}`, href: link(attempt), tabindex: "-1", title: text, "aria-label": text }), attempt.at);
        bar.style.width = (attempt.micros / whole) * 100 + "%";
        track.append(bar);
      }
      box.append(el("div", { class: "lane", role: "group", "aria-label": visible(lane.name) }, el("span", { class: "name data", title: visible(lane.name) }, visible(lane.name)), track));
    });
    return el("section", { class: "part" }, el("h2", {}, "Timeline"), box);
  }

  // ---- The list.

  /** @type {Record<"text" | "state" | "lane" | "tag", string>} */
  const wanted = { text: "", state: "", lane: "", tag: "" };
  /** @param {Report.Attempt} attempt */
  const category = (attempt) => (attempt.standing === "retried" ? "retried" : attempt.state);
  let listed = attempts;
  const rows = el("ul", { class: "rows" });
  const spoken = byId("spoken");

  function list() {
    const tags = [...new Set(attempts.flatMap((attempt) => attempt.trail.tags || []))].sort();
    const chips = el("div", { class: "chips", role: "group", "aria-label": "State" });
    /** @type {Record<string, number>} */
    const totals = {};
    for (const attempt of attempts) totals[category(attempt)] = (totals[category(attempt)] || 0) + 1;
    totals.flaky = run.counts.flaky;
    totals.healed = run.counts.healed;
    /** @type {(value: string, name: string, n: number) => HTMLElement} */
    const chip = (value, name, n) => el("button", { class: "chip" + (/** @type {string[]} */ (STATES).includes(value) ? " " + value : ""), type: "button", "aria-pressed": String(wanted.state === value), onclick: () => {
      wanted.state = wanted.state === value ? "" : value;
      for (const other of chips.children) other.setAttribute("aria-pressed", String(other.getAttribute("value") === wanted.state));
      filter();
    }, value }, name, el("b", {}, count(n)));
    chips.append(chip("", "All", attempts.length));
    for (const name of [...STATES, "flaky", "healed", "retried"]) if (totals[name]) chips.append(chip(name, name[0].toUpperCase() + name.slice(1), totals[name]));
    const search = el("input", { type: "search", id: "search", placeholder: "Search trails, paths, messages", "aria-label": "Search attempts", autocomplete: "off", spellcheck: "false", oninput: () => { wanted.text = search.value; filter(); } });
    /** @type {(name: string, all: string, options: [value: string, text: string][], key: "lane" | "tag") => HTMLElement} */
    const select = (name, all, options, key) => el("select", { "aria-label": name, onchange: (/** @type {Event} */ event) => { wanted[key] = /** @type {HTMLSelectElement} */ (event.target).value; filter(); } },
      el("option", { value: "" }, all), options.map(([value, text]) => el("option", { value }, visible(cut(text, 60)))));
    const part = el("section", { class: "part" }, el("h2", {}, "Attempts", el("span", { class: "n" }, count(attempts.length))),
      el("div", { class: "tools" }, search,
        run.lanes.length > 1 && select("Device", "All devices", run.lanes.map((lane, nth) => [String(nth), lane.name]), "lane"),
        tags.length > 0 && select("Tag", "All tags", tags.map((name) => [name, name]), "tag"),
        chips),
      rows);
    filter();
    return part;
  }

  function filter() {
    const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    listed = attempts.filter((attempt) => {
      if (wanted.state && (wanted.state === "flaky" || wanted.state === "healed" ? attempt.standing !== wanted.state : category(attempt) !== wanted.state)) return false;
      if (wanted.lane && String(attempt.lane) !== wanted.lane) return false;
      if (wanted.tag && !(attempt.trail.tags || []).includes(wanted.tag)) return false;
      const haystack = attempt.haystack ??= [attempt.name, attempt.trail.id, attempt.trail.path, run.lanes[attempt.lane].name, attempt.message, attempt.trouble?.message, attempt.trouble?.step, ...(attempt.trail.tags || [])].join("\n").toLowerCase();
      return words.every((word) => haystack.includes(word));
    });
    rows.replaceChildren();
    if (!listed.length) rows.append(el("li", { class: "none" }, attempts.length ? "No attempt matches." : "No attempt was made."));
    fillRows(listed);
    spoken.textContent = plural(listed.length, "attempt");
  }

  // The first rows immediately, the others when the page is idle, until the filter changes.
  /** @type {(wanted: Report.Attempt[], from?: number) => void} */
  function fillRows(wanted, from = 0) {
    if (wanted !== listed) return;
    rows.append(...wanted.slice(from, from + ROWS).map(row));
    if (from + ROWS < wanted.length) soon(() => fillRows(wanted, from + ROWS));
  }

  /** @param {() => void} task */
  const soon = (task) => { if ("requestIdleCallback" in window) requestIdleCallback(task, { timeout: 200 }); else setTimeout(task, 16); };

  /** @param {Report.Attempt} attempt */
  function row(attempt) {
    const trouble = attempt.trouble;
    const why = trouble ? trouble.message || attempt.message : attempt.state === "skipped" ? attempt.message : "";
    return el("li", {}, el("a", { href: link(attempt), class: `${attempt.state} ${attempt.standing}` },
      state(attempt.state),
      el("div", { class: "what" },
        el("div", {}, data(cut(attempt.name, 200), "title"),
          attempt.standing === "flaky" && tag("flaky", "Passed where an earlier attempt did not", "warn"),
          attempt.standing === "healed" && tag("healed", HEALED, "warn"),
          attempt.standing === "retried" && tag("retried", "The trail was retried"),
          attempt.repeat && tag(`repeat ${attempt.repeat}`),
          attempt.number > 1 && tag(`attempt ${attempt.number}`),
          (attempt.trail.tags || []).slice(0, 4).map((name) => tag(cut(name, 24)))),
        el("div", { class: "sub" }, data(attempt.trail.path), why && [" · ", said(cut(why, 200), "why")])),
      el("span", { class: "device data" }, visible(run.lanes[attempt.lane].name)),
      el("span", { class: "took" }, time(attempt.micros))));
  }

  // ---- One attempt.

  /** @param {Report.Attempt} attempt */
  async function drawDetail(attempt) {
    gallery = [];
    delete detail.dataset.shown;
    const nth = listed.indexOf(attempt);
    /** @type {(other: Report.Attempt | false | undefined, text: string, key: string) => HTMLElement} */
    const go = (other, text, key) => other
      ? el("a", { href: link(other), title: `${visible(cut(other.name, 80))} (${key})` }, text)
      : el("span", { class: "off", "aria-hidden": "true" }, text);
    const others = attempts.filter((other) => other !== attempt && other.lane === attempt.lane && other.trail.id === attempt.trail.id && other.trail.path === attempt.trail.path && other.repeat === attempt.repeat);
    const driver = run.lanes[attempt.lane].sessions[0]?.device.driver;
    detail.replaceChildren(
      el("nav", { class: "crumbs", "aria-label": "Attempts" },
        el("a", { href: "#" }, "All attempts"), el("span", { class: "grow" }),
        go(nth > 0 && listed[nth - 1], "Previous", "k"), go(nth >= 0 && listed[nth + 1], "Next", "j")),
      el("div", { class: "title-line" },
        state(attempt.state),
        attempt.standing === "flaky" && [" ", tag("flaky", "Passed where an earlier attempt did not", "warn")],
        attempt.standing === "healed" && [" ", tag("healed", HEALED, "warn")],
        attempt.standing === "retried" && [" ", tag("retried", "The trail was retried")],
        el("h2", { tabindex: "-1", id: "attempt-title" }, data(cut(attempt.name, 300)))),
      el("dl", { class: "facts" },
        fact("Device", data(run.lanes[attempt.lane].name)),
        driver && fact("Driver", data(driver)),
        fact("Duration", time(attempt.micros)),
        fact("Started after", time(attempt.at)),
        fact("Trail", data(attempt.trail.path || attempt.trail.id, "mono")),
        attempt.repeat && fact("Repeat", String(attempt.repeat)),
        (attempt.number > 1 || others.length > 0) && fact("Attempt", String(attempt.number),
          others.map((other) => [", ", el("a", { href: link(other) }, `see ${other.number} (${other.state})`)]).flat()),
        attempt.trail.tags?.length && fact("Tags", attempt.trail.tags.map((name) => [tag(name), " "]).flat())),
      ...(attempt.trouble ? [failureCard(attempt, false)] : attempt.message ? [el("p", { class: "block", dir: "auto" }, long(attempt.message))] : []));

    /** @type {Report.Detail} */
    const behind = await stored("attempt-" + attempts.indexOf(attempt));
    if (current !== attempt) return;
    const isShort = behind.steps.length <= 25;
    const steps = behind.steps.map((step, place) => stepBox(step, isShort || isBad(step.state) || place === behind.failingStep));
    detail.append(
      el("div", { class: "steps-head" }, el("h3", {}, plural(behind.steps.length, "step"), el("span", { class: "faint" }, ` with ${plural(attempt.nCalls, "call")}`)),
        behind.steps.length > 1 && el("button", { class: "link", type: "button", onclick: () => steps.forEach((step) => step.toggle(true)) }, "Open all"),
        behind.steps.length > 1 && el("button", { class: "link", type: "button", onclick: () => steps.forEach((step) => step.toggle(false)) }, "Close all")),
      el("ol", {}, steps.map((step) => step.item)));
    const failing = behind.failingStep == null ? null : steps[behind.failingStep];
    if (failing && steps.length > 2) {
      detail.querySelector(".failure .label")?.append(" ", el("button", { class: "link", type: "button", onclick: () => {
        failing.toggle(true);
        failing.button.focus({ preventScroll: true });
        failing.item.scrollIntoView({ block: "start" });
      } }, "go to it"));
    }
    if (behind.loose.length) {
      detail.append(el("div", { class: "steps-head" }, el("h3", {}, "Calls outside of any step")), el("div", {}, behind.loose.map(callBox)));
    }
    // For tests, which wait for it.
    detail.dataset.shown = attempt.id;
  }

  // A step that can be opened and closed.
  /** @type {(step: Report.Step, isOpen: boolean) => { item: HTMLElement, button: HTMLElement, toggle: (opens: boolean) => void }} */
  function stepBox(step, isOpen) {
    const body = el("div", { class: "body" });
    const button = el("button", { class: "toggle", type: "button", "aria-expanded": "false", onclick: () => toggle(Boolean(body.hidden)) },
      el("span", { class: "nth" }, step.number == null ? "" : String(step.number)),
      el("span", {},
        said(cut(step.text, 400), "text" + (step.text.length > 200 ? " long" : "")),
        el("span", { class: "under" }, step.kind !== "step" && tag(KINDS[step.kind]), plan(step.plan), step.calls.length > 0 && el("span", { class: "label" }, plural(step.calls.length, "call")))),
      state(step.state),
      el("span", { class: "took" }, step.micros == null ? "" : time(step.micros)));
    const item = el("li", { class: "step " + step.state }, el("h4", {}, button), body);
    body.hidden = true;
    /** @param {boolean} opens */
    const toggle = (opens) => {
      if (opens && !body.hasChildNodes()) fillStep(step, body);
      body.hidden = !opens;
      button.setAttribute("aria-expanded", String(opens));
    };
    if (isOpen) toggle(true);
    return { item, button, toggle };
  }

  /** @param {Report.Plan} plan */
  function plan(plan) {
    if (plan === "authored") return tag("authored", "The step's own tools");
    if (plan === "model") return tag("model", "Decided by a model");
    if (plan === "interactive") return tag("interactive", "A person, script or agent at a prompt");
    return tag(`recording ${plan.recording?.classifier ?? ""}`, "Replayed from the recording of this classifier");
  }

  /** @type {(step: Report.Step, body: HTMLElement) => void} */
  function fillStep(step, body) {
    const told = el("div", { class: "told" });
    if (step.text.length > 400) told.append(long(step.text, "said-text", 2000));
    // The failed call below shows the same message with more detail.
    const isSaid = step.calls.some((call) => step.message === (call.answer?.fault?.message ?? call.answer?.outcome?.text));
    if (step.message && !isSaid) told.append(long(step.message, isBad(step.state) ? "said" : "faint"));
    if (step.notes.length) told.append(el("ul", { class: "said-lines" }, step.notes.map(noteLine)));
    if (step.modelUse) told.append(el("p", { class: "label" }, step.modelUse));
    told.append(...(step.heals ?? []).map(healBox));
    told.append(...inOrder(step));
    if (!step.calls.length) told.append(el("p", { class: "label" }, "No call was made."));

    // Touches are drawn on the picture taken before them: the call's own, or that of a parent call, or the step's.
    /** @type {Map<Report.Step | Report.Call, Report.Touch[]>} */
    const owners = new Map([[step, []]]);
    /** @type {(Report.Step | Report.Call)[]} */
    const above = [];
    for (const call of step.calls) {
      above.length = call.depth;
      const owner = call.pictures.length ? call : above[call.depth - 1] || step;
      above.push(owner);
      owners.set(owner, [...(owners.get(owner) ?? []), ...call.touches]);
    }
    /** @type {(owner: Report.Step | Report.Call, name: string) => (Report.Shown & { moment: Report.Moment })[]} */
    const own = (owner, name) => {
      const first = owner.pictures.find((taken) => taken.moment === "before") || owner.pictures[0];
      return owner.pictures.map((taken) => {
        const moment = taken.moment ?? "after";
        return { taken, moment, caption: MOMENTS[moment] + name, touches: taken === first ? owners.get(owner) || [] : [] };
      });
    };
    const all = [...own(step, "").filter((each) => each.moment === "before"),
      ...step.calls.flatMap((call) => (call.pictures.length ? own(call, ` ${call.tool}`) : [])),
      ...own(step, "").filter((each) => each.moment !== "before")];
    const strip = el("div", { class: "strip", tabindex: all.length > 2 ? "0" : null, role: "group", "aria-label": "Pictures" },
      all.map(({ taken, caption, touches }) => hang(taken, caption, touches, { width: 288, height: 264 })));
    const trees = all.filter((each) => each.taken.tree).map(({ taken, caption }) => treeBox(taken, caption));
    if (trees.length) told.append(el("div", { class: "trees" }, trees));
    body.append(told, strip);
  }

  /** @param {Report.Step} step */
  function inOrder(step) {
    const turns = [...step.turns];
    /** @type {HTMLElement[]} */
    const boxes = [];
    for (const call of step.calls) {
      while (turns.length && call.depth === 0 && turns[0].at <= call.at) boxes.push(turnBox(/** @type {Report.Turn} */ (turns.shift())));
      boxes.push(callBox(call));
    }
    return [...boxes, ...turns.map(turnBox)];
  }

  /** @type {Record<string, string>} */
  const PURPOSES = { step: "model", judgement: "judged by a model", heal: "heal", question: "question", sampling: "asked by a tool" };

  /** @param {Report.Turn} turn */
  function turnBox(turn) {
    const { reply } = turn;
    const body = el("div", { class: "more-of" });
    body.hidden = true;
    const button = el("button", { class: "open", type: "button", "aria-expanded": "false", onclick: () => {
      if (!body.hasChildNodes()) body.append(...turnBody(turn));
      body.hidden = !body.hidden;
      button.setAttribute("aria-expanded", String(!body.hidden));
    } },
      el("span", { class: "line" }, data(cut(turn.model, 120), "tool"), el("span", { class: "tags" }, tag(PURPOSES[turn.purpose] ?? turn.purpose)),
        reply && data(cut(reply.calls.join(", ") || reply.text, 240), "sum")),
      el("span", { class: "took" }, reply ? [`${count(reply.tokensIn)} + ${count(reply.tokensOut)} tokens`, reply.cost && `, ${reply.cost}`, ", ", time(reply.micros)] : "no reply"));
    const lines = el("ul", { class: "said-lines" });
    if (reply?.text && reply.calls.length) lines.append(el("li", {}, long(reply.text, "", 400)));
    if (reply?.problem) lines.append(el("li", { class: "bad" }, long(reply.problem, "", 400)));
    return el("div", { class: "call turn" + (reply?.problem ? " bad" : ""), "data-turn": turn.purpose }, button, lines.hasChildNodes() && lines, body);
  }

  /** @param {Report.Turn} turn */
  function turnBody(turn) {
    const { reply } = turn;
    /** @type {[name: string, value: Report.Child, cls?: string][]} */
    const facts = turn.messages.map((message, nth) => [turn.messages.length > 1 ? `message ${nth + 1}` : "was sent", exact(message)]);
    facts.push(["rules, tools", el("a", { href: pathOf(turn.setup), target: "_blank", rel: "noopener noreferrer" }, data(turn.setup, "mono")), "plain"]);
    if (reply) {
      if (reply.text) facts.push(["said", exact(reply.text)]);
      for (const call of reply.calls) facts.push(["asked for", exact(call)]);
      facts.push(["tokens", `${count(reply.tokensIn)} in, of which ${count(reply.tokensCached)} cached; ${count(reply.tokensOut)} out; ${reply.cost ?? "cost unknown"}`, "plain"]);
    }
    const pictures = turn.pictures.map(([file, kept]) => hang({ file, kept, screen: { width: 1, height: 1 }, isAttached: true }, "Sent to the model", [], { width: 240, height: 240 }));
    return [pairs(facts), ...pictures];
  }

  const HEALED = "Passed after the previous attempt repaired calls of the trail";
  const HEALS = {
    healed: "Healed: another call was made instead",
    withdrawn: "Not healed: another call was tried",
    suggested: "Not healed: the element was not found",
  };

  // A call that did not find its element: before, after, and why.
  /** @param {Report.Heal} heal */
  function healBox(heal) {
    const isUsed = heal.result !== "suggested";
    const used = isUsed ? heal.suggestions[0] : undefined;
    const others = isUsed ? heal.suggestions.slice(1) : heal.suggestions;
    /** @param {Report.Heal["suggestions"][0]} other */
    const about = (other) => [data(other.call, "mono"), " on ", said(cut(other.element, 200)), ` (${visible(cut(other.reason, 400))}${other.score === null ? "" : `; ${other.score} of 100`})`,
      other.isByModel && [" ", tag("model", "Chosen by a model")]];
    return el("section", { class: "heal " + heal.result, "aria-label": HEALS[heal.result] },
      el("p", { class: "label" }, HEALS[heal.result]),
      el("dl", { class: "facts" },
        fact("Before", data(heal.from, "mono")),
        used && fact("After", ...about(used)),
        heal.message && fact("Why not", said(cut(heal.message, 400)))),
      others.length > 0 && el("ol", { class: "said-lines" }, others.map((other) => el("li", {}, ...about(other)))));
  }

  /** @type {(taken: Report.Picture, name: string) => HTMLElement} */
  function treeBox(taken, name) {
    const pre = el("pre", { class: "pre", tabindex: "0", dir: "auto" });
    const box = el("details", { ontoggle: async () => {
      if (!box.open || pre.hasChildNodes()) return;
      const { tree, treeFile } = taken;
      if (!tree) return;
      if (tree === "nextToPage") pre.append(`See ${visible(treeFile)} in the run folder.`);
      else pre.append(tree.embedded != null ? visible(await stored("tree-" + tree.embedded)) : `${visible(treeFile)} ${tree.missing}.`);
    } }, el("summary", {}, `Elements: ${visible(name)}`), pre);
    return box;
  }

  /** @type {Record<string, string>} */
  const ORIGINS = {
    delegate: "Made in place of the call above, which requested it in its answer",
    expansion: "Part of the call above",
    callback: "Made by the code of the call above",
  };
  /** @type {Record<string, string>} */
  const VARIANTS = {
    success: "success", exceptionThrown: "exception thrown", fatalError: "fatal error", missingRequiredArgs: "missing arguments",
    maestroValidationError: "validation error", assertionFailed: "assertion failed", unsupported: "unsupported",
  };
  /** @param {Report.Outcome} outcome */
  const variantOf = (outcome) => (typeof outcome.variant === "string" ? outcome.variant : Object.keys(outcome.variant)[0]);

  /** @param {Report.Call} call */
  function callBox(call) {
    const outcome = call.answer?.outcome;
    const fault = call.answer?.fault;
    const variant = outcome && variantOf(outcome);
    const isWrong = Boolean(fault || (outcome && variant !== "success"));
    const sum = call.args.map(([name, value]) => `${name}: ${cut(value.replace(/\s+/g, " "), 80)}`).join(", ");
    const took = !call.answer ? "no answer" : time(call.micros ?? 0);
    const body = el("div", { class: "more-of" });
    body.hidden = true;
    const button = el("button", { class: "open", type: "button", "aria-expanded": "false", onclick: () => {
      if (!body.hasChildNodes()) body.append(...callBody(call));
      body.hidden = !body.hidden;
      button.setAttribute("aria-expanded", String(!body.hidden));
    } },
      el("span", { class: "line" }, data(cut(call.tool, 120), "tool"),
        ORIGINS[call.origin] && el("span", { class: "tags" }, tag(call.origin, ORIGINS[call.origin])),
        call.judgedBy && el("span", { class: "tags" }, tag("judged by a model", call.judgedBy)),
        sum && data(cut(sum, 240), "sum")),
      el("span", { class: "took" }, took));
    const lines = el("ul", { class: "said-lines" });
    for (const wait of call.waits) {
      lines.append(el("li", { class: wait.met ? "" : "bad" }, `waited ${time(wait.micros)} for `, said(cut(wait.what, 300)), wait.met ? ": met" : ": gave up", wait.saw && [", saw ", said(cut(wait.saw, 300))]));
    }
    lines.append(...call.notes.filter((note) => note.level !== "debug").map(noteLine));
    if (isWrong) {
      const text = fault ? fault.message : outcome?.text ?? "";
      lines.append(el("li", { class: "bad" }, el("span", { class: "level" }, fault ? `fault, ${EXITS[fault.exit][1].toLowerCase()}` : VARIANTS[variant ?? ""] || variant), long(text, "", 400)));
    }
    if (outcome?.attachments.length) lines.append(...outcome.attachments.map(attachmentLine));
    const box = el("div", { class: "call" + (isWrong ? " bad" : ""), "data-call": call.id }, button, lines.hasChildNodes() && lines, body);
    box.style.setProperty("--depth", String(Math.min(call.depth, 12)));
    return box;
  }

  /** @param {string} file */
  const pathOf = (file) => file.split("/").map(encodeURIComponent).join("/");

  /** @param {Report.Attachment} attached */
  function attachmentLine(attached) {
    const what = [data(cut(attached.name, 120)), el("span", { class: "faint" }, " ", data(cut(attached.mime, 60)))];
    const { kept, file } = attached;
    if (!kept || file == null) return el("li", {}, "attached ", what, ", not stored");
    if (kept !== "nextToPage" && kept.missing) return el("li", { class: "warning" }, "attached ", what, ", but ", data(cut(file, 120), "mono"), ` ${kept.missing}`);
    const isPicture = kept !== "nextToPage" || /\.(png|jpe?g|gif|webp|avif|bmp)$/i.test(file);
    if (!isPicture) {
      return el("li", {}, "attached ", el("a", { href: pathOf(file), target: "_blank", rel: "noopener noreferrer" }, what[0]), what[1]);
    }
    // Its size is not known, so it is fitted into a square.
    const taken = { file, kept, screen: { width: 1, height: 1 }, isAttached: true };
    return el("li", {}, "attached ", what, hang(taken, attached.name, [], { width: 160, height: 160 }));
  }

  /** @param {Report.Note} note */
  function noteLine(note) {
    return el("li", { class: note.level }, note.level !== "info" && el("span", { class: "level" }, note.level), long(note.text, "", 400));
  }

  /** @param {[name: string, value: Report.Child, cls?: string][]} entries */
  function pairs(entries) {
    return el("dl", { class: "pairs" }, entries.flatMap(([name, value, cls]) => [el("dt", { class: "data" }, visible(name)), el("dd", { class: cls }, value)]));
  }

  /** @param {Report.Call} call */
  function callBody(call) {
    /** @type {HTMLElement[]} */
    const parts = [];
    if (call.args.length) parts.push(pairs(call.args.map(([name, value]) => [name, exact(value)])));
    const outcome = call.answer?.outcome;
    /** @type {[name: string, value: Report.Child, cls?: string][]} */
    const facts = [["offered by", data(call.source), "plain"], ["kind", call.kind + (call.isRecordable ? "" : ", not recorded") + (call.isDelegating ? ", delegating" : ""), "plain"]];
    for (const touch of call.touches) {
      const at = touch.point ? ` at ${touch.point.x}, ${touch.point.y}` : "";
      facts.push(["touched", el("span", {}, said(cut(touch.what, 300)), at), "plain"]);
    }
    for (const note of call.notes) if (note.level === "debug") facts.push(["debug", long(note.text), "plain"]);
    if (outcome) {
      if (variantOf(outcome) === "success" && outcome.text) facts.push(["answered", long(outcome.text), "plain"]);
      if (typeof outcome.variant !== "string" && outcome.variant.missingRequiredArgs) facts.push(["missing", data(outcome.variant.missingRequiredArgs.missing.join(", "))]);
      if (outcome.structured != null) facts.push(["structured", exact(outcome.structured)]);
      for (const [tool, args] of outcome.delegates) facts.push(["delegated to", exact(`${tool} ${args.map(([name, value]) => `${name}: ${value}`).join(", ")}`)]);
      for (const [name, value] of outcome.remembered) facts.push(["remembered", exact(`${name} = ${value}`)]);
      for (const name of outcome.forgotten) facts.push(["forgot", data(name)]);
    }
    parts.push(pairs(facts));
    return parts;
  }

  // ---- Which view is shown, by the hash.

  /** @type {Report.Attempt | null} */
  let current = null;
  let scrolled = 0;

  function route() {
    const match = /^#attempt=(.*)$/s.exec(location.hash);
    let id = null;
    try { id = match && decodeURIComponent(match[1]); } catch { /* not an address of ours: show the overview */ }
    const next = attempts.find((attempt) => attempt.id === id) || null;
    if (viewer.open) viewer.close();
    if (!current && next) scrolled = scrollY;
    const left = current;
    current = next;
    overview.hidden = Boolean(next);
    detail.hidden = !next;
    head.classList.toggle("slim", Boolean(next));
    document.title = next ? `${visible(cut(next.name, 60))}: ${next.state}` : `${exitName}: ${TITLE}`;
    if (next) {
      drawDetail(next);
      scrollTo(0, 0);
      byId("attempt-title").focus({ preventScroll: true });
    } else {
      if (!overview.hasChildNodes()) drawOverview();
      detail.replaceChildren();
      scrollTo(0, scrolled);
      if (left) [...rows.querySelectorAll("a")][listed.indexOf(left)]?.focus({ preventScroll: true });
    }
  }

  // The tool servers, and the end of their stderr.
  function servers() {
    if (!run.servers.length) return [];
    /** @param {Report.Server} server */
    const one = (server) => el("li", { class: "server" },
      el("p", {},
        el("strong", { class: "data" }, visible(server.name)),
        el("span", { class: "soft" }, " for ", server.device == null ? "all devices" : data(server.device), ", MCP ", data(server.protocol)),
        el("span", { class: "soft" }, server.ended == null ? ", how it ended is unknown" : ": " , server.ended != null && data(cut(server.ended.split("\n")[0], 300)))),
      server.tail
        ? el("details", {}, el("summary", {}, "stderr"), el("pre", { class: "pre" }, visible(server.tail)), el("p", { class: "soft mono data" }, visible(server.log)))
        : el("p", { class: "soft" }, "It wrote nothing to stderr."));
    return [el("section", { class: "part servers" },
      el("h2", {}, "Tool servers", el("span", { class: "n" }, count(run.servers.length))),
      el("ul", {}, run.servers.map(one)))];
  }

  function drawOverview() {
    gallery = [];
    // Problems of the run as a whole come first, such as why it was refused.
    const [severe, other] = [true, false].map((isSevere) => run.notes.filter((note) => ["warning", "error"].includes(note.level) === isSevere));
    /** @type {(title: string, some: Report.Note[]) => HTMLElement[]} */
    const notes = (title, some) => (some.length ? [el("section", { class: "part" }, el("h2", {}, title, el("span", { class: "n" }, count(some.length))), el("ul", { class: "said-lines" }, some.map(noteLine)))] : []);
    overview.append(
      ...notes("About the run", severe),
      ...failures("Failures", run.failures),
      ...failures("Retried", run.retried),
      timeline(),
      list(),
      ...servers(),
      ...notes("Notes", other),
      el("p", { class: "foot" }, run.command && el("span", { class: "mono data" }, visible(cut(run.command, 300))),
        el("span", {}, "Press ", el("kbd", {}, "?"), " for keys")));
  }

  // ---- Keys.

  const KEYS = [
    ["j, ↓", "next attempt"], ["k, ↑", "previous attempt"], ["Enter", "open the attempt"], ["Esc", "back to all attempts"],
    ["/", "search"], ["←, →", "other pictures, when one is enlarged"], ["?", "these keys"],
  ];

  function showKeys() {
    keys.replaceChildren(el("h2", { id: "keys-title" }, "Keys"),
      el("dl", {}, KEYS.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
      el("button", { class: "close", type: "button", onclick: () => keys.close() }, "Close"));
    keys.showModal();
  }

  /** @param {number} by */
  function move(by) {
    if (current) {
      const next = listed[listed.indexOf(current) + by];
      if (next) location.replace(link(next));
      return;
    }
    const links = [...rows.querySelectorAll("a")];
    const at = links.findIndex((one) => one === document.activeElement);
    const next = at < 0 ? links[by > 0 ? 0 : links.length - 1] : links[at + by];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  }

  /** @type {Record<string, number>} */
  const STEPS_IN_VIEWER = { ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 };
  /** @type {Record<string, number>} */
  const STEPS_IN_DETAIL = { j: 1, k: -1 };
  /** @type {Record<string, number>} */
  const STEPS_IN_LIST = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const inField = /** @type {HTMLElement | null} */ (target.closest("input, select, textarea"));
    if (viewer.open) {
      const by = STEPS_IN_VIEWER[event.key];
      if (by && viewed[viewedAt + by]) enlarge(viewedAt + by);
      return;
    }
    if (keys.open) return;
    if (event.key === "Escape") {
      if (inField) inField.blur();
      else if (current) location.hash = "";
      return;
    }
    if (inField) {
      if (event.key === "ArrowDown" && inField.id === "search") { event.preventDefault(); move(1); }
      return;
    }
    const inPlace = target.closest(".strip, .pre");
    const by = (current ? STEPS_IN_DETAIL : STEPS_IN_LIST)[event.key];
    if (by && !inPlace) { event.preventDefault(); move(by); }
    else if (event.key === "/") {
      event.preventDefault();
      if (current) { location.hash = ""; route(); }
      byId("search").focus();
    } else if (event.key === "?") showKeys();
  });
  for (const dialog of [viewer, keys]) {
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }

  // The hash is used for attempts, so the link cannot use it.
  document.querySelector(".skip")?.addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });

  drawHead();
  addEventListener("hashchange", route);
  route();
})();
