/** `report.html`: the report from disk. The index of the run is in the page; details, trees and pictures are read from it on demand. */
import { render, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { pathOf, visible } from '../shared/words.ts';
import type { Attempt, Detail, FileInPage, Run } from '../generated/data.ts';
import { Report } from './report.tsx';
import { loadFromDisk, loadFromServer, readSheet } from './trace/load.ts';
import type { Source } from './view.ts';

const TITLE = document.title;
const run = JSON.parse(document.getElementById('index')!.textContent!) as Run;

/** The page is drawn before it has loaded completely. */
const isWhole = new Promise<void>((done) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => done(), { once: true });
  else done();
});

async function stored<T>(id: string): Promise<T> {
  if (!document.getElementById(id)) await isWhole;
  return JSON.parse(document.getElementById(id)!.textContent!) as T;
}

const isFromDisk = location.protocol === 'file:';

const source: Source = {
  attempt: (place) => stored<Detail>(`attempt-${place}`),
  picture: async (file, kept) => (isEmbedded(kept) ? stored<string>(`picture-${kept.embedded}`) : pathOf(file)),
  tree: async (file, kept) => (isEmbedded(kept) ? stored<string>(`tree-${kept.embedded}`) : `See ${visible(file)} in the run folder.`),
  trace: (attempt, { file, kept }) => {
    if (typeof kept === 'object' && kept.missing !== undefined) return Promise.reject(new Error(`${file} ${kept.missing}`));
    if (isFromDisk) return loadFromDisk(attempt, pathOf(file));
    // The studio serves reports without an origin, since they may come from elsewhere.
    if (self.origin === 'null')
      return Promise.reject(
        new Error('this copy of the report may not read its files; open the trace on the page of the run, or report.html from its folder'),
      );
    return loadFromServer(pathOf(file)).catch(() => loadFromDisk(attempt, pathOf(file)));
  },
  // A page from disk cannot read its neighbours, but what it shows can refer to them.
  sheet: async (file) => {
    const address = new URL(pathOf(file), location.href).href;
    return isFromDisk ? { address } : readSheet(address).catch(() => ({ address }));
  },
  address: pathOf,
};

function isEmbedded(kept: FileInPage): kept is { embedded: number } {
  return typeof kept === 'object' && kept.embedded !== undefined;
}

const link = (attempt: Attempt | null): string => (attempt ? `#attempt=${encodeURIComponent(attempt.id)}` : '#');
const traceLink = (attempt: Attempt): string => `#trace/${encodeURIComponent(attempt.id)}`;

/** What the address shows: an attempt, its trace, or, if it is not one of ours, all attempts. */
function shownBy(hash: string): { current: string | null; isTrace: boolean } {
  const match = /^#(attempt=|trace\/)(.*)$/s.exec(hash);
  try {
    return { current: match && decodeURIComponent(match[2]!), isTrace: match?.[1] === 'trace/' };
  } catch {
    return { current: null, isTrace: false };
  }
}

const KEYS: [key: string, what: string][] = [
  ['j, ↓', 'next attempt'],
  ['k, ↑', 'previous attempt'],
  ['Enter', 'open the attempt'],
  ['Esc', 'back to all attempts'],
  ['/', 'search'],
  ['←, →', 'other pictures, when one is enlarged; earlier and later, in a trace'],
  ['?', 'these keys'],
];

function Keys(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    document.addEventListener('keydown', (event) => {
      if (event.key === '?' && !document.querySelector('dialog[open]') && !(event.target as HTMLElement).closest('input, select, textarea'))
        dialog.current!.showModal();
    });
  }, []);
  return (
    <dialog
      id="keys"
      aria-labelledby="keys-title"
      ref={dialog}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current!.close();
      }}
    >
      <h2 id="keys-title">Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => [
          <dt>
            <kbd>{key}</kbd>
          </dt>,
          <dd>{what}</dd>,
        ])}
      </dl>
      <button class="close" type="button" onClick={() => dialog.current!.close()}>
        Close
      </button>
    </dialog>
  );
}

function Page(): VNode {
  const [{ current, isTrace }, setShown] = useState(() => shownBy(location.hash));
  useEffect(() => addEventListener('hashchange', () => setShown(shownBy(location.hash))), []);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')!.focus();
        }}
      >
        Skip to the content
      </a>
      <Report
        run={run}
        source={source}
        isLive={false}
        version={0}
        link={link}
        traceLink={traceLink}
        current={current}
        isTrace={isTrace}
        title={TITLE}
        scroller={() => document.scrollingElement!}
      />
      <Keys />
    </>
  );
}

render(<Page />, document.getElementById('report')!);
