/** Addresses of views: `#/session/NAME?workspace=W`. The key of the first address, `#key=K&workspace=W`, is taken out at once. */

export interface Route {
  /** Decoded, such as `['session', 'web']`; empty for the first page. */
  path: string[];
  params: URLSearchParams;
}

export function readRoute(hash: string): Route {
  const text = hash.replace(/^#/, '');
  const [path, query] = text.startsWith('/') ? [text.split('?')[0]!, text.split('?').slice(1).join('?')] : ['', text];
  const params = new URLSearchParams(query);
  const view = path || params.get('view') || '/';
  params.delete('view');
  return { path: view.split('/').filter(Boolean).map(decoded), params };
}

export function writeRoute(path: string[], params: URLSearchParams): string {
  const query = params.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${query ? `?${query}` : ''}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
