/**
 * Documents of a trace. A node is a text, or `[tag, {attributes}, child…]`. `["=", k, node]` gives a node the number k, and
 * `["#", k]` stands for it from then on, also in later documents.
 */
import type { Sheet, TraceData } from './data.ts';

export type SnapshotNode = string | SnapshotElement;

export interface SnapshotElement {
  tag: string;
  attributes: Record<string, string>;
  children: SnapshotNode[];
  /** What is in its open shadow root. */
  shadow?: SnapshotNode[];
  /** The style sheets that its shadow root adopted. */
  sheets?: Sheet[];
  scroll?: [x: number, y: number];
  /** What was typed or chosen, which attributes do not say. */
  value?: string;
  checked?: boolean;
  selected?: boolean;
  /** The place of its document among the frames. */
  frame?: number;
  /** What was drawn on it, as a `data:` address. */
  picture?: string;
  rect?: [x: number, y: number, width: number, height: number];
}

/** What is deeper is left out: no page is that deep, and the stack is not endless. */
const DEEPEST = 1000;

/** The nodes of all frames of all documents, by document and frame. */
export function decodeDocuments(documents: TraceData['documents']): (SnapshotNode | null)[][] {
  const known = new Map<number, SnapshotNode>();
  return documents.map((document) => (document.frames ?? []).map((frame) => decode(frame.node, known, 0)));
}

function decode(node: unknown, known: Map<number, SnapshotNode>, depth: number): SnapshotNode | null {
  if (typeof node === 'string') return node;
  if (!Array.isArray(node) || depth > DEEPEST) return null;
  const [tag, second, third] = node as unknown[];
  if (tag === '#') return known.get(second as number) ?? null;
  if (tag === '=') {
    const found = decode(third, known, depth);
    if (found !== null) known.set(second as number, found);
    return found;
  }
  if (typeof tag !== 'string' || !tag) return null;
  const hasAttributes = typeof second === 'object' && second !== null && !Array.isArray(second);
  const element: SnapshotElement = { tag, attributes: {}, children: [] };
  if (hasAttributes) decodeAttributes(second as Record<string, unknown>, element, known, depth);
  element.children = decodeAll(node.slice(hasAttributes ? 2 : 1), known, depth);
  return element;
}

function decodeAll(nodes: unknown[], known: Map<number, SnapshotNode>, depth: number): SnapshotNode[] {
  return nodes.map((node) => decode(node, known, depth + 1)).filter((node) => node !== null);
}

function decodeAttributes(from: Record<string, unknown>, element: SnapshotElement, known: Map<number, SnapshotNode>, depth: number): void {
  for (const [name, value] of Object.entries(from)) {
    if (!name.startsWith(':')) {
      element.attributes[name] = String(value ?? '');
      continue;
    }
    if (name === ':shadow' && Array.isArray(value)) element.shadow = decodeAll(value, known, depth);
    else if (name === ':sheets' && Array.isArray(value)) element.sheets = value as Sheet[];
    else if (name === ':scroll' && Array.isArray(value)) element.scroll = value as [number, number];
    else if (name === ':rect' && Array.isArray(value)) element.rect = value as [number, number, number, number];
    else if (name === ':value' && typeof value === 'string') element.value = value;
    else if (name === ':picture' && typeof value === 'string') element.picture = value;
    else if (name === ':frame' && typeof value === 'number') element.frame = value;
    else if (name === ':checked') element.checked = value === true;
    else if (name === ':selected') element.selected = value === true;
  }
}

/** An element at its place in a document. The same node may be at several places. */
export interface Placed {
  node: SnapshotElement;
  /** The element around it: a host for what is in its shadow root, the `iframe` for the first element of a frame. */
  parent: Placed | null;
  children: (Placed | string)[];
  shadow: (Placed | string)[] | null;
  /** The first element of the document in an `iframe`. */
  content: Placed | null;
  /** Which frame of the document it is in. */
  frame: number;
}

/** Elements and texts of a document with what is around them, beginning with its first element. */
export function placed(nodes: (SnapshotNode | null)[], root: number): Placed | null {
  const isUsed = new Set<number>();
  const place = (node: SnapshotNode, parent: Placed | null, frame: number): Placed | string => {
    if (typeof node === 'string') return node;
    const own: Placed = { node, parent, children: [], shadow: null, content: null, frame };
    if (node.shadow) own.shadow = node.shadow.map((child) => place(child, own, frame));
    own.children = node.children.map((child) => place(child, own, frame));
    if (node.frame !== undefined) own.content = document(node.frame, own);
    return own;
  };
  const document = (frame: number, parent: Placed | null): Placed | null => {
    const node = nodes[frame];
    if (!node || typeof node === 'string' || isUsed.has(frame)) return null;
    isUsed.add(frame);
    return place(node, parent, frame) as Placed;
  };
  return document(root, null);
}

/** All elements of a document, in its order, with those in shadow roots and frames. */
export function* elementsOf(root: Placed): Generator<Placed> {
  yield root;
  for (const child of [...(root.shadow ?? []), ...root.children, ...(root.content ? [root.content] : [])])
    if (typeof child !== 'string') yield* elementsOf(child);
}
