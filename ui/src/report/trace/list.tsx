/** The steps of the attempt, and the calls below them. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Data, Said } from '../../shared/text.tsx';
import { cut, time, visible } from '../../shared/words.ts';
import { isWrong } from '../calls.tsx';
import { isBad, KINDS } from '../view.ts';
import { useTrace } from './context.ts';
import type { Entry } from './model.ts';
import { listed } from './state.ts';
import { entryWords, sumOf } from './words.ts';

export function List(): VNode {
  const { control, state, chosen } = useTrace();
  const box = useRef<HTMLUListElement>(null);
  const lines = listed(control.model, state);
  // What is chosen in the film is seen in the list.
  useEffect(() => {
    box.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen?.key]);
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, Home: -Infinity, End: Infinity };
    const by = moves[event.key];
    const isFolding = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
    if (by === undefined && !(isFolding && chosen?.nthStep != null)) return;
    event.preventDefault();
    if (by !== undefined) control.chooseBy(Number.isFinite(by) ? by : Math.sign(by) * lines.length);
    else if (state.folded.has(chosen!.nthStep!) === (event.key === 'ArrowRight')) control.fold(chosen!.nthStep!);
    // The line that is now chosen exists after the page was drawn.
    setTimeout(() => box.current?.querySelector<HTMLElement>('[aria-current=true]')?.focus({ preventScroll: true }));
  };
  return (
    <div class={state.isListFolded ? 'trace-list is-folded' : 'trace-list'} onKeyDown={keys}>
      <div class="trace-list-head">
        <span class="label">Steps and calls</span>
        <button
          class="fold-list"
          type="button"
          aria-expanded={!state.isListFolded}
          onClick={() => control.set({ isListFolded: !state.isListFolded })}
        >
          Steps and calls
        </button>
        <button class="link" type="button" onClick={() => control.foldAll(false)}>
          Open all
        </button>
        <button class="link" type="button" onClick={() => control.foldAll(true)}>
          Close all
        </button>
      </div>
      <ul ref={box} aria-label="Steps and calls">
        {lines.map((entry) => (
          <Line key={entry.key} entry={entry} isChosen={entry.key === chosen?.key} />
        ))}
      </ul>
    </div>
  );
}

function Line({ entry, isChosen }: { entry: Entry; isChosen: boolean }): VNode {
  const { control, state } = useTrace();
  const { step, call } = entry;
  const isFolded = entry.nthStep !== null && state.folded.has(entry.nthStep);
  const status = call ? (isWrong(call) ? 'failed' : '') : step!.isTolerated ? 'skipped' : step!.state;
  const nTroubles = call || isFolded ? entry.nTroubles : 0;
  return (
    <li class={`trace-line ${status} ${call ? 'is-call' : 'is-step'}`} style={{ '--depth': String(Math.min(entry.depth, 8)) }}>
      {!call && step!.calls.length > 0 ? (
        <button
          class="fold"
          type="button"
          tabIndex={-1}
          aria-expanded={!isFolded}
          aria-label={isFolded ? 'Show its calls' : 'Hide its calls'}
          onClick={() => control.fold(entry.nthStep!)}
        />
      ) : (
        <span class="fold" />
      )}
      <button
        class="choose"
        type="button"
        tabIndex={isChosen ? 0 : -1}
        aria-current={isChosen ? 'true' : undefined}
        title={visible(cut(entryWords(entry), 300))}
        onClick={() => control.choose(entry.key)}
        data-entry={entry.key}
      >
        {call ? (
          <span class="words-of-entry">
            <Data text={cut(call.tool, 80)} cls="tool" />
            <Data text={cut(sumOf(call), 160)} cls="sum" />
          </span>
        ) : (
          <span class="words-of-entry">
            <span class="nth">{step!.number ?? KINDS[step!.kind]}</span>
            <Said text={cut(step!.text, 200)} cls="text" />
          </span>
        )}
        {nTroubles > 0 && (
          <span class="n-troubles" title="Failed requests and errors">
            {nTroubles}
          </span>
        )}
        {status && (isBad(status) || status === 'skipped') && <span class="unseen">{status}</span>}
        <span class="took">{(call ?? step!).micros === null ? '' : time((call ?? step!).micros!)}</span>
      </button>
    </li>
  );
}
