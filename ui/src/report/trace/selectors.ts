/** The ways in which a trail can find an element of a document, best first. */
import { elementsOf, type Placed } from './decode.ts';

export interface Selector {
  /** How it finds the element, such as `role and name`. */
  way: string;
  /** The argument as written in a trail. */
  written: string;
  /** How many elements of the document it finds. */
  matches: number;
}

/** What is known of an element. */
export interface Described {
  role: string;
  name: string;
  text: string;
  selectors: Selector[];
}

const ROLES: Record<string, string> = {
  article: 'article',
  aside: 'complementary',
  button: 'button',
  dialog: 'dialog',
  fieldset: 'group',
  figure: 'figure',
  footer: 'contentinfo',
  form: 'form',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  header: 'banner',
  hr: 'separator',
  img: 'img',
  li: 'listitem',
  main: 'main',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  ol: 'list',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  summary: 'button',
  table: 'table',
  tbody: 'rowgroup',
  td: 'cell',
  textarea: 'textbox',
  th: 'columnheader',
  thead: 'rowgroup',
  tr: 'row',
  ul: 'list',
};
const INPUTS: Record<string, string> = {
  button: 'button',
  checkbox: 'checkbox',
  email: 'textbox',
  image: 'button',
  number: 'spinbutton',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
  tel: 'textbox',
  text: 'textbox',
  url: 'textbox',
  password: 'textbox',
};
/** Roles of elements whose name is what they contain. */
const FROM_CONTENT = new Set([
  'button',
  'cell',
  'checkbox',
  'columnheader',
  'gridcell',
  'heading',
  'link',
  'listitem',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'radio',
  'row',
  'rowheader',
  'switch',
  'tab',
  'tooltip',
  'treeitem',
]);
/** Roles that say nothing by themselves. */
const GENERIC = new Set(['generic', 'presentation', 'none', 'paragraph']);
const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-qa', 'data-cy'];
/** Longer names are not what a person would look for. */
const LONGEST = 80;

export function roleOf(element: Placed): string {
  const { tag, attributes } = element.node;
  const own = attributes['role']?.trim().split(/\s+/)[0];
  if (own) return own.toLowerCase();
  const name = tag.toLowerCase();
  if (name === 'a' || name === 'area') return 'href' in attributes ? 'link' : 'generic';
  if (name === 'input') return INPUTS[(attributes['type'] ?? 'text').toLowerCase()] ?? 'textbox';
  if (name === 'select') return 'multiple' in attributes || Number(attributes['size']) > 1 ? 'listbox' : 'combobox';
  if (name === 'img' && attributes['alt'] === '') return 'presentation';
  return ROLES[name] ?? 'generic';
}

const fold = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The text of an element, as people read it. */
export function textOf(element: Placed): string {
  const parts: string[] = [];
  collect(element, parts);
  return fold(parts.join(''));
}

function collect(element: Placed, parts: string[]): void {
  const { tag, attributes } = element.node;
  if (/^(?:script|style|template|noscript|head)$/i.test(tag) || attributes['hidden'] !== undefined) return;
  const isBlock = !/^(?:a|abbr|b|bdi|code|em|i|kbd|label|mark|q|s|small|span|strong|sub|sup|u|font|slot)$/i.test(tag);
  if (isBlock) parts.push(' ');
  for (const child of [...(element.shadow ?? []), ...element.children]) {
    if (typeof child === 'string') parts.push(child);
    else collect(child, parts);
  }
  if (isBlock) parts.push(' ');
}

/** The name that assistive technology would say, as far as attributes and texts tell it. */
export function nameOf(element: Placed, index: DocumentIndex): string {
  const { tag, attributes, value } = element.node;
  const byIds = (attributes['aria-labelledby'] ?? '')
    .split(/\s+/)
    .map((id) => id && index.byId(element.frame, id))
    .filter((found) => found)
    .map((found) => textOf(found as Placed));
  const labelled = fold(byIds.join(' '));
  if (labelled) return labelled;
  if (attributes['aria-label']?.trim()) return fold(attributes['aria-label']);
  const kind = tag.toLowerCase();
  const type = (attributes['type'] ?? '').toLowerCase();
  if (kind === 'input' && (type === 'submit' || type === 'button' || type === 'reset'))
    return fold(value ?? attributes['value'] ?? (type === 'submit' ? 'Submit' : ''));
  if (kind === 'input' || kind === 'select' || kind === 'textarea') {
    const label = index.labelOf(element);
    return label || fold(attributes['title'] ?? '') || fold(attributes['placeholder'] ?? '');
  }
  if (kind === 'img' || kind === 'area') return fold(attributes['alt'] ?? attributes['title'] ?? '');
  if (FROM_CONTENT.has(roleOf(element))) return textOf(element) || fold(attributes['title'] ?? '');
  return fold(attributes['title'] ?? '');
}

/** What is looked up many times in one document. */
export class DocumentIndex {
  readonly elements: Placed[];
  private readonly ids = new Map<string, Placed>();
  private readonly labels = new Map<Placed, string>();
  private described: { role: string; name: string; text: string; ids: string[] }[] | undefined;

  constructor(root: Placed) {
    this.elements = [...elementsOf(root)];
    for (const element of this.elements) {
      const id = element.node.attributes['id'];
      if (id && !this.ids.has(`${element.frame} ${id}`)) this.ids.set(`${element.frame} ${id}`, element);
    }
    for (const label of this.elements) {
      if (label.node.tag.toLowerCase() !== 'label') continue;
      const target = label.node.attributes['for'];
      const field = target ? this.byId(label.frame, target) : firstField(label);
      if (field) this.labels.set(field, textOf(label));
    }
  }

  byId(frame: number, id: string): Placed | undefined {
    return this.ids.get(`${frame} ${id}`);
  }

  labelOf(element: Placed): string {
    return this.labels.get(element) ?? '';
  }

  private all(): { role: string; name: string; text: string; ids: string[] }[] {
    this.described ??= this.elements.map((element) => ({
      role: roleOf(element),
      name: nameOf(element, this),
      text: ownText(element),
      ids: idsOf(element),
    }));
    return this.described;
  }

  describe(element: Placed): Described {
    const all = this.all();
    const own = all[this.elements.indexOf(element)] ?? {
      role: roleOf(element),
      name: nameOf(element, this),
      text: ownText(element),
      ids: idsOf(element),
    };
    const selectors: Selector[] = [];
    const count = (is: (other: (typeof all)[number]) => boolean) => all.filter(is).length;
    const add = (way: string, written: string, matches: number) => selectors.push({ way, written, matches });
    const hasRole = !GENERIC.has(own.role);
    if (hasRole && own.name && own.name.length <= LONGEST && !own.name.includes('"'))
      add(
        'role and name',
        `ref: ${scalar(`${own.role} "${own.name}"`)}`,
        count((other) => other.role === own.role && other.name === own.name),
      );
    if (hasRole && !own.name)
      add(
        'role',
        `ref: ${own.role}`,
        count((other) => other.role === own.role),
      );
    const text = own.text || own.name;
    if (text && text.length <= LONGEST)
      add(
        'text',
        `text: ${scalar(text)}`,
        count((other) => other.text === text || (!other.text && other.name === text)),
      );
    const { attributes } = element.node;
    for (const name of TEST_IDS)
      if (attributes[name]) {
        const written =
          name === 'data-testid'
            ? `id: ${scalar(attributes[name])}`
            : `ref: ${scalar(`css=[${name}=${JSON.stringify(attributes[name])}]`)}`;
        add('test id', written, this.elements.filter((other) => other.node.attributes[name] === attributes[name]).length);
      }
    if (attributes['id'])
      add(
        'id',
        `id: ${scalar(attributes['id'])}`,
        count((other) => other.ids.includes(attributes['id']!)),
      );
    const css = cssOf(element);
    if (css) add('CSS', `ref: ${scalar(`css=${css}`)}`, this.elements.filter((other) => cssOf(other) === css).length);
    return { role: own.role, name: own.name, text: own.text, selectors: best(selectors) };
  }
}

/** Those that find nothing else come first, otherwise in the order in which they were found. */
const best = (selectors: Selector[]): Selector[] => [...selectors].sort((a, b) => Number(a.matches !== 1) - Number(b.matches !== 1));

const idsOf = (element: Placed): string[] =>
  [element.node.attributes['id'], element.node.attributes['data-testid']].filter((id) => id !== undefined);

/** The text of an element that contains texts itself, rather than other elements that do. */
function ownText(element: Placed): string {
  return element.children.some((child) => typeof child === 'string' && child.trim()) ? textOf(element) : '';
}

function firstField(label: Placed): Placed | undefined {
  for (const element of elementsOf(label))
    if (/^(?:input|select|textarea|button|meter|output|progress)$/i.test(element.node.tag)) return element;
  return undefined;
}

/** A short path of tags, ids and classes. */
function cssOf(element: Placed): string {
  const part = (one: Placed): string => {
    const { tag, attributes } = one.node;
    const classes = (attributes['class'] ?? '')
      .split(/\s+/)
      .filter((name) => /^[a-zA-Z_][\w-]*$/.test(name) && !/\d{3,}|^css-|__/.test(name));
    return (
      tag.toLowerCase() +
      classes
        .slice(0, 2)
        .map((name) => `.${name}`)
        .join('')
    );
  };
  const own = part(element);
  const around = element.parent;
  if (!around || around.content === element) return own;
  const id = around.node.attributes['id'];
  return `${id && /^[a-zA-Z_][\w-]*$/.test(id) ? `#${id}` : part(around)} > ${own}`;
}

/** A text as a YAML scalar: in quotes only if it would be read as something else. */
export function scalar(text: string): string {
  const isPlain =
    /^[\p{L}\p{N}_/.(][^\n]*$/u.test(text) &&
    !/: |:$| #|^\s|\s$|[{}[\],]/.test(text) &&
    !/^(?:true|false|yes|no|on|off|null|~|[-+]?[\d.][\d._]*(?:e[-+]?\d+)?|0x[\da-f]+|\d{4}-\d\d-\d\d.*)$/i.test(text);
  return isPlain ? text : `'${text.replace(/'/g, "''")}'`;
}
