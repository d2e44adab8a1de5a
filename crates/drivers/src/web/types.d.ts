// Types for checking walker.js, acting.js and recorder.js, which run as one function body inside a page. Nothing here is shipped.

/**
 * An element of any kind. Properties that only some kinds of elements have are declared on all of them, because the
 * walker tells the kinds apart by tag name, which the compiler cannot follow.
 */
interface El extends HTMLElement {
  readonly alt: string;
  readonly assignedSlot: HTMLSlotElement & El | null;
  readonly checked: boolean | undefined;
  readonly childNodes: NodeListOf<AnyNode>;
  readonly children: HTMLCollectionOf<El>;
  readonly control: El | null;
  readonly disabled: boolean | undefined;
  readonly firstChild: AnyNode | null;
  readonly firstElementChild: El | null;
  readonly label: string;
  readonly labels: Iterable<El> & ArrayLike<El> | null | undefined;
  readonly list: Element | null;
  readonly multiple: boolean;
  readonly nextElementSibling: El | null;
  readonly nextSibling: AnyNode | null;
  readonly offsetParent: El | null;
  readonly open: boolean;
  readonly options: HTMLOptionsCollection;
  readonly parentElement: El | null;
  readonly readOnly: boolean | undefined;
  readonly scope: string;
  readonly select: (() => void) | undefined;
  readonly selected: boolean | undefined;
  readonly selectedOptions: HTMLCollectionOf<HTMLOptionElement>;
  readonly selectionStart: number | null | undefined;
  readonly setSelectionRange: ((start: number, end: number) => void) | undefined;
  readonly shadowRoot: Root | null;
  readonly size: number;
  readonly type: string;
  value: string | undefined;
  [$assignedElements](options?: AssignedNodesOptions): El[];
  [$assignedNodes](options?: AssignedNodesOptions): AnyNode[];
  [$getRootNode](options?: GetRootNodeOptions): Root;
}

/** A child node: an element, or a text with `data`. */
interface AnyNode extends El {
  readonly data: string;
}

/** A shadow root or a document. */
interface Root extends ShadowRoot {
  readonly activeElement: El | null;
  readonly childNodes: NodeListOf<AnyNode>;
  readonly children: HTMLCollectionOf<El>;
  readonly firstChild: AnyNode | null;
  readonly firstElementChild: El | null;
  readonly host: El;
  [$elementFromPoint](x: number, y: number): El | null;
}

/** What `want.rs` requests from the walker. */
interface Want {
  css?: string[];
  only?: Wanted;
  target?: string;
  covered?: boolean;
  all?: boolean;
  visible?: boolean;
  texts?: boolean;
  hidden?: Wanted;
  paths?: boolean;
  shown?: boolean;
  ready?: Use;
}

interface Wanted {
  is?: string;
  has?: string;
  like?: string;
  id?: string;
  role?: string;
  css?: string;
}

/** What an element is made ready for: `Use` of look.rs. */
interface Use {
  how?: "touch" | "drop" | "focus";
  at?: [number, number] | null;
}

/** An element as the walker reports it: `Seen` of look.rs, which documents the keys. */
interface SeenNode {
  i?: number;
  r: string;
  b: number[];
  g?: number[] | undefined;
  n?: string;
  t?: string;
  m?: 1;
  v?: string;
  q?: string;
  j?: string;
  s?: string;
  a?: string;
  h?: number;
  k?: 0 | 1;
  x?: 1 | 2;
  d?: 1;
  l?: 1;
  e?: 1;
  f?: 1;
  w?: 0 | 1;
  p?: 1;
  o?: 1;
  z?: 1;
  u?: 1;
  y?: string;
  c?: SeenNode[];
}

/** What is known about an element before it is described. */
interface Known {
  role: string;
  name: string;
  own: string;
  id: string | null;
  testId: string | null;
  isInteractive: boolean;
  asked: string[];
}

/** The result of a look: `Look` of look.rs, or the selector that is not valid. */
interface Look {
  wrong?: string;
  nodes?: SeenNode[];
  ready?: Ready;
  [key: string]: unknown;
}

/** `Ready` of look.rs. */
interface Ready {
  id?: number;
  why?: string;
  by?: string;
  x?: number;
  y?: number;
  b?: number[];
  isScrolled?: boolean;
}

/** A part of a CSS selector, and the combinator before it. */
interface Link {
  compound: string;
  by: string;
}

interface Clip {
  by?: El;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface XY {
  x: number;
  y: number;
}

/** What Rust calls in the page, by name. */
declare var trailblaze: Record<string, Function | Document>;
/** The binding that reports changes to Rust. */
declare var trailblazeChanged: ((payload: string) => void) | undefined;

/** The built-ins under symbols that only we have: see builtins.js. */
declare const $assignedElements: unique symbol;
declare const $assignedNodes: unique symbol;
declare const $checkVisibility: unique symbol;
declare const $closest: unique symbol;
declare const $composedPath: unique symbol;
declare const $contains: unique symbol;
declare const $createRange: unique symbol;
declare const $dispatchEvent: unique symbol;
declare const $elementFromPoint: unique symbol;
declare const $elementsFromPoint: unique symbol;
declare const $focus: unique symbol;
declare const $getAnimations: unique symbol;
declare const $getAttribute: unique symbol;
declare const $getBoundingClientRect: unique symbol;
declare const $getClientRects: unique symbol;
declare const $getElementById: unique symbol;
declare const $getRootNode: unique symbol;
declare const $hasAttribute: unique symbol;
declare const $hasAttributes: unique symbol;
declare const $matches: unique symbol;
declare const $preventDefault: unique symbol;
declare const $querySelector: unique symbol;
declare const $querySelectorAll: unique symbol;
declare const $scrollIntoView: unique symbol;
declare const $stopImmediatePropagation: unique symbol;
interface Element {
  [$checkVisibility]: Element["checkVisibility"];
  [$closest]: Element["closest"];
  [$getAttribute]: Element["getAttribute"];
  [$getBoundingClientRect]: Element["getBoundingClientRect"];
  [$getClientRects]: Element["getClientRects"];
  [$hasAttribute]: Element["hasAttribute"];
  [$hasAttributes]: Element["hasAttributes"];
  [$matches]: Element["matches"];
  [$querySelector]: Element["querySelector"];
  [$querySelectorAll]: Element["querySelectorAll"];
  [$scrollIntoView]: Element["scrollIntoView"];
}
interface Node {
  [$contains]: Node["contains"];
  [$getRootNode]: Node["getRootNode"];
}
interface Document {
  [$createRange]: Document["createRange"];
  [$elementFromPoint]: Document["elementFromPoint"];
  [$elementsFromPoint]: Document["elementsFromPoint"];
  [$getAnimations]: Document["getAnimations"];
  [$getElementById]: Document["getElementById"];
  [$querySelector]: Document["querySelector"];
  [$querySelectorAll]: Document["querySelectorAll"];
}
interface DocumentFragment {
  [$getElementById]: DocumentFragment["getElementById"];
  [$querySelector]: DocumentFragment["querySelector"];
  [$querySelectorAll]: DocumentFragment["querySelectorAll"];
}
interface ShadowRoot {
  [$elementFromPoint]: ShadowRoot["elementFromPoint"];
  [$elementsFromPoint]: ShadowRoot["elementsFromPoint"];
}
interface EventTarget {
  [$dispatchEvent]: EventTarget["dispatchEvent"];
}
interface Event {
  [$composedPath]: Event["composedPath"];
  [$preventDefault]: Event["preventDefault"];
  [$stopImmediatePropagation]: Event["stopImmediatePropagation"];
}
interface HTMLElement {
  [$focus]: HTMLElement["focus"];
}
interface Range {
  [$getBoundingClientRect]: Range["getBoundingClientRect"];
  [$getClientRects]: Range["getClientRects"];
}
interface HTMLSlotElement {
  [$assignedElements]: HTMLSlotElement["assignedElements"];
  [$assignedNodes]: HTMLSlotElement["assignedNodes"];
}

/** What builtins.js makes of the page. */
declare function on(target: EventTarget, name: string, callback: (event: any) => void, options?: AddEventListenerOptions): () => void;
/** Something to yield in a task, which continues with what `done` is called with. */
declare function wait<T>(start: (done: (value: T) => void) => void): PromiseLike<T>;
/** An async function that is written as a generator, because browsers do not continue those of a frame that is gone. */
declare function task(steps: (...args: any[]) => Generator<unknown, any, any>): (...args: any[]) => Promise<any>;
/** Adds all listeners again that `document.open` has removed. */
declare function listenAgain(): void;
