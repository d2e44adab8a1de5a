/** What JSON cannot hold. `JSON.stringify` changes some of it without a word: NaN becomes null, a Map becomes `{}`, bytes become an object. */

/** What of a value JSON would lose or refuse, and where; `undefined` if nothing. Fields that are undefined are absent. */
export function unlikeJson(value: unknown, path = '', around: object[] = []): string | undefined {
  const at = path === '' ? '' : ` at \`${path}\``;
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : `it has ${value}${at}, which JSON does not have`;
    case 'bigint':
    case 'function':
    case 'symbol':
      return `it has a ${typeof value}${at}, which JSON does not have`;
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) {
    return undefined;
  }
  // A `Buffer` becomes an object with a list of numbers, and the others one with a key for each byte.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return `it has bytes (${value.constructor.name})${at}, which JSON does not have; use base64 text`;
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return undefined;
  }
  if (value instanceof Map || value instanceof Set) {
    const [kind, instead] = value instanceof Map ? ['Map', 'Object.fromEntries(map)'] : ['Set', '[...set]'];
    return `it has a ${kind}${at}, which JSON does not have; use \`${instead}\``;
  }
  if (around.includes(value)) {
    return `it contains itself${at}`;
  }
  around.push(value);
  for (const [name, inner] of Object.entries(value)) {
    const found = unlikeJson(inner, path === '' ? name : `${path}.${name}`, around);
    if (found !== undefined) {
      return found;
    }
  }
  around.pop();
  return undefined;
}
