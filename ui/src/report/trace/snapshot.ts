/**
 * Builds a recorded document in a sandboxed `iframe`, node by node. Nothing of it runs: the sandbox has no scripts, a policy
 * forbids them and the network, and what could do something is left out before (`safety.ts`).
 */
import type { DocumentFrame, Sheet, TraceDocument } from './data.ts';
import type { Placed } from './decode.ts';
import { isLeftOut, isPicture, safeAttributes } from './safety.ts';

/** The document that is filled. Its policy holds for all that is put into it. */
export const EMPTY_DOCUMENT =
  "<!doctype html><html><head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' data: file:; " +
  "style-src 'self' data: file:; font-src data:; form-action 'none'; base-uri 'none'\"></head><body></body></html>";
export const SANDBOX = 'allow-same-origin';

const SVG = 'http://www.w3.org/2000/svg';
const MATH = 'http://www.w3.org/1998/Math/MathML';
const HTML = 'http://www.w3.org/1999/xhtml';
/** How long style sheets and frames may take before the document is shown without them. */
const PATIENCE = 4000;

/** A style sheet as the page can use it: an address, or its text. */
export type ReadySheet = { address: string } | { text: string };

export interface Surroundings {
  sheet(sheet: Sheet): Promise<ReadySheet | null>;
  /** The picture of the screen at that time, from which pictures are cut that are not part of the document. */
  screen: { address: string; width: number; height: number } | null;
}

/** A document that is shown. */
export interface ShownDocument {
  /** The innermost element at a point of the window, with where it is in the window. */
  at(x: number, y: number): { element: Placed; box: Box } | null;
  boxOf(element: Placed): Box | null;
  scrollBy(x: number, y: number, by: [number, number]): void;
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface Build {
  frames: DocumentFrame[];
  around: Surroundings;
  placedOf: WeakMap<Element, Placed>;
  elementOf: Map<Placed, Element>;
  /** Made when all is in its place. */
  later: (() => void)[];
  waiting: Promise<unknown>[];
  canvases: { canvas: HTMLCanvasElement; picture: string | undefined }[];
  pictures: HTMLElement[];
}

/** Fills an `iframe` that is in the page. Resolves when the document looks as it did. */
export async function showDocument(
  iframe: HTMLIFrameElement,
  recorded: TraceDocument,
  root: Placed,
  around: Surroundings,
): Promise<ShownDocument> {
  const build: Build = {
    frames: recorded.frames,
    around,
    placedOf: new WeakMap(),
    elementOf: new Map(),
    later: [],
    waiting: [],
    canvases: [],
    pictures: [],
  };
  const isReady = fillFrame(iframe, root, build);
  await inTime(isReady);
  // Waiting for one frame may show that there are others in it.
  for (let n = 0; n < build.waiting.length;) {
    const now = build.waiting.slice(n);
    n = build.waiting.length;
    await inTime(Promise.all(now));
  }
  for (const { canvas, picture } of build.canvases) showCanvas(canvas, picture);
  for (const act of build.later) act();
  drawPictures(iframe, build);
  return shown(iframe, build);
}

const inTime = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work.catch(() => undefined), new Promise((done) => setTimeout(done, PATIENCE))]);

/** Loads the empty document into a frame, and fills it. */
function fillFrame(iframe: HTMLIFrameElement, root: Placed, build: Build): Promise<void> {
  iframe.setAttribute('sandbox', SANDBOX);
  iframe.tabIndex = -1;
  return new Promise((done) => {
    iframe.addEventListener(
      'load',
      () => {
        const document = iframe.contentDocument;
        if (!document) return done();
        build.waiting.push(fill(document, root, build));
        done();
      },
      { once: true },
    );
    iframe.srcdoc = EMPTY_DOCUMENT;
  });
}

async function fill(document: Document, root: Placed, build: Build): Promise<void> {
  const frame = build.frames[root.frame];
  const html = document.documentElement;
  setAttributes(html, root, build);
  build.placedOf.set(html, root);
  build.elementOf.set(root, html);
  const head = document.createElement('head');
  const children = built(document, root.children, HTML, build);
  html.replaceChildren(...(children.some((child) => child.nodeName === 'HEAD') ? [] : [head]), ...children);
  await applySheets(document, html.querySelector('head') ?? head, frame?.sheets ?? [], build);
  const [x, y] = frame?.scroll ?? [0, 0];
  build.later.push(() => document.defaultView?.scrollTo(x, y));
}

function built(document: Document, children: (Placed | string)[], namespace: string, build: Build): Node[] {
  return children.flatMap((child): Node[] => {
    if (typeof child === 'string') return [document.createTextNode(child)];
    const element = buildElement(document, child, namespace, build);
    return element ? [element] : [];
  });
}

function buildElement(document: Document, placed: Placed, around: string, build: Build): Element | null {
  const { node } = placed;
  const tag = node.tag.toLowerCase();
  if (isLeftOut(node.tag, node.attributes)) return null;
  const namespace = tag === 'svg' ? SVG : tag === 'math' ? MATH : around;
  let element: Element;
  try {
    element = namespace === HTML ? document.createElement(tag) : document.createElementNS(namespace, node.tag);
  } catch {
    // A parser accepts names that the document does not.
    element = document.createElement('span');
  }
  if (namespace === HTML && tag.includes('-')) define(document, tag);
  build.placedOf.set(element, placed);
  build.elementOf.set(placed, element);
  setAttributes(element, placed, build);
  if (placed.shadow) addShadow(document, element, placed, build);
  const inside = namespace === SVG && tag === 'foreignobject' ? HTML : namespace;
  // What a canvas or a video contains is not shown, and an `iframe` is filled when it is in its place.
  if (tag === 'iframe' || tag === 'canvas') {
    setState(element, placed, build);
    if (tag === 'iframe' && placed.content) {
      const content = placed.content;
      // It is in the document when what is around it has been built.
      build.waiting.push(Promise.resolve().then(() => fillFrame(element as HTMLIFrameElement, content, build)));
    }
    return element;
  }
  element.append(...built(document, placed.children, inside, build));
  setState(element, placed, build);
  return element;
}

/** Sheets may hide elements that are not defined, and their code is not there. */
function define(document: Document, tag: string): void {
  const view = document.defaultView as (Window & typeof globalThis) | null;
  if (!view || view.customElements.get(tag)) return;
  try {
    view.customElements.define(tag, class extends view.HTMLElement {});
  } catch {
    // Not a name for such an element: it is shown as it is.
  }
}

function addShadow(document: Document, host: Element, placed: Placed, build: Build): void {
  let root: ShadowRoot;
  try {
    root = host.attachShadow({ mode: 'open' });
  } catch {
    // Not an element that can have one.
    host.append(...built(document, placed.shadow ?? [], HTML, build));
    return;
  }
  root.append(...built(document, placed.shadow ?? [], HTML, build));
  build.waiting.push(applySheets(root, root, placed.node.sheets ?? [], build));
}

function setAttributes(element: Element, placed: Placed, build: Build): void {
  const { tag, attributes } = placed.node;
  for (const [name, value] of safeAttributes(tag, attributes)) {
    try {
      element.setAttribute(name, value);
    } catch {
      // A parser accepts names that the document does not.
    }
  }
  const style = attributes['style'];
  // The policy forbids the attribute, but not the properties.
  if (style && 'style' in element) (element as HTMLElement).style.cssText = style;
  const isDrawn = /^(?:img|video|picture|canvas)$/i.test(tag) && !placed.node.picture && !isPicture(attributes['src'] ?? '');
  if (isDrawn) build.pictures.push(element as HTMLElement);
}

function setState(element: Element, placed: Placed, build: Build): void {
  const { value, checked, selected, scroll, picture, tag } = placed.node;
  const field = element as HTMLInputElement;
  try {
    if (value !== undefined && 'value' in element && field.type !== 'file') field.value = value;
    if (checked !== undefined && 'checked' in element) field.checked = checked;
    if (selected && 'selected' in element) (element as unknown as HTMLOptionElement).selected = true;
  } catch {
    // A field of another kind than it was.
  }
  if (scroll) build.later.push(() => element.scrollTo(scroll[0], scroll[1]));
  if (tag.toLowerCase() === 'canvas') build.canvases.push({ canvas: element as HTMLCanvasElement, picture });
}

/**
 * Without scripts, a `canvas` is laid out like an unknown element. It gets the size that it has otherwise, and what was drawn on it
 * as its background.
 */
function showCanvas(canvas: HTMLCanvasElement, picture: string | undefined): void {
  const style = canvas.ownerDocument.defaultView?.getComputedStyle(canvas);
  const display = style?.display ?? 'none';
  if (!style || display === 'none') return;
  const own = canvas.style;
  const before = own.display;
  // Only of an inline element the style says whether its size was chosen.
  own.display = 'inline';
  const [isWidthFree, isHeightFree] = [style.width === 'auto', style.height === 'auto'];
  own.display = display === 'inline' ? 'inline-block' : before;
  own.aspectRatio = `${canvas.width} / ${canvas.height}`;
  if (isWidthFree && isHeightFree) Object.assign(own, { boxSizing: 'content-box', width: `${canvas.width}px` });
  if (!picture || !isPicture(picture)) return;
  const background = { backgroundImage: `url("${picture}")`, backgroundSize: '100% 100%', backgroundPosition: '0 0' };
  Object.assign(own, background, { backgroundRepeat: 'no-repeat', backgroundOrigin: 'content-box' });
}

/** Addresses become links, in their order; if there are only texts, they need no permission of the policy. */
async function applySheets(root: Document | ShadowRoot, into: ParentNode, sheets: Sheet[], build: Build): Promise<void> {
  const ready = (await Promise.all(sheets.map((sheet) => build.around.sheet(sheet).catch(() => null)))).filter((sheet) => sheet !== null);
  const document = root.nodeType === 9 ? (root as Document) : root.ownerDocument!;
  if (ready.every((sheet) => 'text' in sheet)) {
    adopt(
      root,
      document,
      ready.map((sheet) => (sheet as { text: string }).text),
    );
    return;
  }
  const links = ready.map((sheet) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = 'address' in sheet ? sheet.address : `data:text/css;charset=utf-8,${encodeURIComponent(sheet.text)}`;
    const isLoaded = new Promise<void>((done) => {
      link.addEventListener('load', () => done(), { once: true });
      link.addEventListener('error', () => done(), { once: true });
    });
    return { link, isLoaded };
  });
  into.prepend(...links.map(({ link }) => link));
  await Promise.all(links.map(({ isLoaded }) => isLoaded));
}

function adopt(root: Document | ShadowRoot, document: Document, texts: string[]): void {
  const view = document.defaultView as (Window & typeof globalThis) | null;
  if (!view) return;
  root.adoptedStyleSheets = texts.map((text) => {
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
}

/** Fills the place of pictures that were not kept with what the screen showed there. */
function drawPictures(iframe: HTMLIFrameElement, build: Build): void {
  const { screen } = build.around;
  for (const element of build.pictures) {
    const placed = build.placedOf.get(element);
    const rect = placed?.node.rect;
    if (rect) Object.assign(element.style, { width: `${rect[2]}px`, height: `${rect[3]}px` });
    if (!screen) continue;
    const box = boxIn(element, iframe);
    if (!box || box.width < 1 || box.height < 1) continue;
    element.style.setProperty(
      'background',
      `${-box.left}px ${-box.top}px / ${screen.width}px ${screen.height}px no-repeat url("${screen.address}")`,
      'important',
    );
    // Otherwise the browser draws that it has no picture.
    if (element.tagName === 'IMG') {
      Object.assign(element.style, { width: `${box.width}px`, height: `${box.height}px` });
      (element as HTMLImageElement).src = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
    }
  }
}

/** Where an element is in the window of the outermost frame. */
function boxIn(element: Element, outermost: HTMLIFrameElement): Box | null {
  const rect = element.getBoundingClientRect();
  const box = { left: rect.left, top: rect.top, width: rect.width, height: rect.height };
  for (let frame = ownerOf(element); frame && frame !== outermost; frame = ownerOf(frame)) {
    const around = frame.getBoundingClientRect();
    box.left += around.left + frame.clientLeft;
    box.top += around.top + frame.clientTop;
  }
  return box;
}

const ownerOf = (element: Element): Element | null => element.ownerDocument.defaultView?.frameElement ?? null;

function shown(iframe: HTMLIFrameElement, build: Build): ShownDocument {
  /** The element at a point, in the shadow roots and frames that it is in. */
  const deepest = (x: number, y: number): Element | null => {
    let document: Document | null = iframe.contentDocument;
    let found: Element | null = null;
    let [left, top] = [x, y];
    while (document) {
      let element: Element | null = document.elementFromPoint(left, top);
      while (element?.shadowRoot) {
        const inner: Element | null = element.shadowRoot.elementFromPoint(left, top);
        if (!inner || inner === element) break;
        element = inner;
      }
      if (!element) break;
      found = element;
      if (element.tagName !== 'IFRAME') break;
      const around = element.getBoundingClientRect();
      [left, top] = [left - around.left - element.clientLeft, top - around.top - element.clientTop];
      document = (element as HTMLIFrameElement).contentDocument;
    }
    return found;
  };
  const knownOf = (element: Element | null): Element | null => {
    let at = element;
    while (at && !build.placedOf.has(at)) at = at.parentElement;
    return at;
  };
  return {
    at(x, y) {
      const element = knownOf(deepest(x, y));
      const placed = element && build.placedOf.get(element);
      const box = element && boxIn(element, iframe);
      return placed && box ? { element: placed, box } : null;
    },
    boxOf(placed) {
      const element = build.elementOf.get(placed);
      return element?.isConnected ? boxIn(element, iframe) : null;
    },
    scrollBy(x, y, [left, top]) {
      for (
        let at = deepest(x, y);
        at;
        at = at.parentElement ?? ((at.getRootNode() as ShadowRoot).host as Element | undefined) ?? ownerOf(at)
      ) {
        if (at === iframe) return;
        const style = at.ownerDocument.defaultView?.getComputedStyle(at);
        const isPage = at === at.ownerDocument.scrollingElement;
        const isScroller = isPage || /auto|scroll/.test(`${style?.overflowY} ${style?.overflowX}`);
        if (!isScroller) continue;
        const before = [at.scrollLeft, at.scrollTop];
        at.scrollBy(left, top);
        if (at.scrollLeft !== before[0] || at.scrollTop !== before[1]) return;
      }
    },
  };
}
