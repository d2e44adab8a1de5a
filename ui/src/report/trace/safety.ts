/** What of a recorded document may become part of the page: nothing that runs, opens or loads anything. */

/** Elements that are left out with all that is in them. */
const LEFT_OUT = new Set(['script', 'noscript', 'object', 'embed', 'applet', 'base', 'frame', 'frameset', 'portal', 'fencedframe']);
/** Addresses that would be loaded or opened. Pictures are handled apart, since they may be part of the document. */
const ADDRESSES = new Set([
  'href',
  'src',
  'srcset',
  'srcdoc',
  'action',
  'formaction',
  'data',
  'poster',
  'background',
  'ping',
  'manifest',
  'codebase',
  'archive',
  'cite',
  'longdesc',
  'usemap',
  'imagesrcset',
  'attributionsrc',
]);

export function isLeftOut(tag: string, attributes: Record<string, string>): boolean {
  const name = tag.toLowerCase();
  if (LEFT_OUT.has(name)) return true;
  // Sheets are listed with the document. Other links, and what a page says about itself in its head, load or do something.
  if (name === 'link' || name === 'style') return true;
  return name === 'meta' && 'http-equiv' in lowerKeys(attributes);
}

const lowerKeys = (attributes: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value]));

/** The attributes that an element of the document gets. `style` is not among them: it is set as properties. */
export function safeAttributes(tag: string, attributes: Record<string, string>): [name: string, value: string][] {
  const element = tag.toLowerCase();
  const safe: [string, string][] = [];
  for (const [name, value] of Object.entries(attributes)) {
    const key = name.toLowerCase();
    // An address of a namespaced attribute is one as well.
    const plain = key.replace(/^.*:/, '');
    if (plain.startsWith('on') || key === 'style' || key === 'autofocus' || key === 'nonce' || key === 'target' || key === 'sandbox')
      continue;
    if (key === 'autoplay' || key === 'is' || key === 'shadowrootmode' || !/^[^\s"'<>/=\u0000-\u001f]+$/.test(name)) continue;
    if (isSvgAnimation(element) && (plain === 'attributename' || plain === 'to' || plain === 'from' || plain === 'values')) continue;
    if (ADDRESSES.has(plain)) {
      if (plain === 'href' && value.startsWith('#') && element !== 'a' && element !== 'area') safe.push([name, value]);
      // Whether it is a link changes how it looks.
      else if (plain === 'href' && (element === 'a' || element === 'area')) safe.push([name, 'about:srcdoc#']);
      else if (plain === 'src' && element === 'img' && isPicture(value)) safe.push([name, value]);
      continue;
    }
    if (/^\s*(?:javascript|vbscript)\s*:/i.test(value.replace(/[\u0000-\u0020]/g, ''))) continue;
    safe.push([name, value]);
  }
  return safe;
}

const isSvgAnimation = (tag: string): boolean =>
  tag === 'animate' || tag === 'set' || tag === 'animatemotion' || tag === 'animatetransform';

/** A picture that is part of the document. One of a picture's kinds contains markup, but in an `img` it runs nothing. */
export const isPicture = (address: string): boolean => /^data:image\/[a-z0-9.+-]+[;,]/i.test(address.trim());
