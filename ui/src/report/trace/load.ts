/** Reads the trace of an attempt: next to a page from disk by a script element, and from a server as text. */
import { completed, parseTrace, type TraceData } from './data.ts';

declare global {
  interface Window {
    trailblazeTrace?: (attempt: string, data: unknown) => void;
  }
}

const arrived = new Map<string, unknown>();

/** What `trace.js` calls. It does not say who asked, so what arrives is kept until the element has loaded. */
function receive(attempt: string, data: unknown): void {
  arrived.set(attempt, data);
}

/** Loads a trace that lies next to the page. */
export function loadFromDisk(attempt: string, address: string): Promise<TraceData> {
  window.trailblazeTrace = receive;
  return new Promise((done, fail) => {
    const script = document.createElement('script');
    const end = (problem: string) => {
      script.remove();
      const data = arrived.get(attempt);
      arrived.delete(attempt);
      if (data === undefined) fail(new Error(problem));
      else done(completed(data));
    };
    script.onload = () => end(`${address} is not the trace of this attempt`);
    script.onerror = () => end(`${address} cannot be read; it belongs next to this page, in the folder of the run`);
    script.src = address;
    document.head.append(script);
  });
}

/** Loads a trace from a server. It is never evaluated. */
export async function loadFromServer(address: string): Promise<TraceData> {
  const response = await fetch(address, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`the trace cannot be read: the server answered with ${response.status}`);
  return parseTrace(await response.text());
}

/** Reads a style sheet from a server. */
export async function readSheet(address: string): Promise<{ text: string }> {
  const response = await fetch(address, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`the style sheet cannot be read: the server answered with ${response.status}`);
  return { text: await response.text() };
}
