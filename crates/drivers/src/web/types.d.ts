// Types for checking walker.js and acting.js, which run as one function body inside a page. Nothing here is shipped.

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
  assignedElements(options?: AssignedNodesOptions): El[];
  assignedNodes(options?: AssignedNodesOptions): AnyNode[];
  getRootNode(options?: GetRootNodeOptions): Root;
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
  elementFromPoint(x: number, y: number): El | null;
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
declare var trailblaze: Record<string, Function>;
/** The binding that reports changes to Rust. */
declare var trailblazeChanged: ((payload: string) => void) | undefined;
