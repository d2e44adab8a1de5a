/** The log of a session, and its memory. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LogEntry } from '../../generated/messages.ts';
import { use } from '../../shared/store.ts';
import { Data, Long } from '../../shared/text.tsx';
import { cut } from '../../shared/words.ts';
import type { Session } from './state.ts';

const KINDS: [kind: string, name: string][] = [
  ['call', 'Calls'],
  ['turn', 'Model'],
  ['console', 'Console'],
  ['request', 'Requests'],
  ['note', 'Notes'],
];
const SHOWN = 400;

export function Log({ of }: { of: Session }): VNode {
  const entries = use(of.log);
  const [kind, setKind] = useState('');
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const list = useRef<HTMLOListElement>(null);
  // Follows the end, unless the user has scrolled up.
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current && list.current) list.current.scrollTop = list.current.scrollHeight;
  });
  const wanted = entries.filter((entry) => !kind || entry.kind === kind);
  const toggle = (number: number) => {
    const next = new Set(open);
    if (!next.delete(number)) next.add(number);
    setOpen(next);
  };
  return (
    <div class="log-pane">
      <div class="chips" role="group" aria-label="Kind">
        {[['', 'All'] as [string, string], ...KINDS].map(([value, name]) => {
          const n = value ? entries.filter((entry) => entry.kind === value).length : entries.length;
          return (
            (!value || n > 0) && (
              <button key={value} type="button" class="chip" aria-pressed={kind === value} onClick={() => setKind(value)}>
                {name}
                <b>{n}</b>
              </button>
            )
          );
        })}
      </div>
      {!wanted.length && <p class="empty">Nothing yet.</p>}
      <ol
        class="log"
        ref={list}
        aria-label="Log"
        tabIndex={0}
        onScroll={(event) => {
          const box = event.currentTarget;
          isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
        }}
      >
        {wanted.slice(-SHOWN).map((entry) => (
          <Entry key={entry.number} entry={entry} isOpen={open.has(entry.number)} onToggle={() => toggle(entry.number)} />
        ))}
      </ol>
    </div>
  );
}

function Entry({ entry, isOpen, onToggle }: { entry: LogEntry; isOpen: boolean; onToggle: () => void }): VNode {
  const line = (
    <>
      <span class="at">{entry.at.toFixed(1)}</span>
      <span class={`kind of-${entry.kind}`}>{entry.kind}</span>
      <Data text={cut(entry.title, 300)} cls="grow" />
      {entry.level !== 'ok' && <span class={`level ${entry.level}`}>{entry.level}</span>}
    </>
  );
  return (
    <li class={`entry ${entry.level}`}>
      {entry.detail ? (
        <button type="button" class="entry-line" aria-expanded={isOpen} onClick={onToggle}>
          {line}
        </button>
      ) : (
        <div class="entry-line">{line}</div>
      )}
      {isOpen && entry.detail && (
        <div class="entry-detail mono">
          <Long text={entry.detail} isExact most={4000} />
        </div>
      )}
    </li>
  );
}

export function Memory({ of }: { of: Session }): VNode {
  const memory = Object.entries(use(of.steps)?.memory ?? {});
  if (!memory.length)
    return (
      <div class="empty">
        <p>
          <strong>Nothing is remembered.</strong>
        </p>
        <p>
          Tools that remember a value put it here; steps use it as <code>{'{{name}}'}</code>.
        </p>
      </div>
    );
  return (
    <dl class="pairs pad">
      {memory.map(([name, value]) => [
        <dt key={name}>
          <Data text={name} />
        </dt>,
        <dd key={`${name}=`}>
          <Long text={typeof value === 'string' ? value : JSON.stringify(value)} isExact />
        </dd>,
      ])}
    </dl>
  );
}
