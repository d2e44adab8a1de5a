/** The steps of a session: in words, with their calls, editable. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { StepsUpdate } from '../../generated/messages.ts';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { cut, plural } from '../../shared/words.ts';
import { api, done, known } from '../app.ts';
import { moved, withAssertion } from '../edits.ts';
import { Icon } from '../icons.tsx';
import { edit, undo, type Session } from './state.ts';
import { Step } from './step.tsx';

export function Steps({ of, onSave }: { of: Session; onSave: () => void }): VNode {
  const update = use(of.steps);
  const [dragged, setDragged] = useState(-1);
  const [target, setTarget] = useState(-1);
  const list = useRef<HTMLOListElement>(null);
  const count = update?.steps.length ?? 0;

  // What was just done is in view.
  useEffect(() => {
    list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }, [count]);
  if (!update) return <p class="empty">Loading…</p>;

  const drop = () => {
    const [from, to] = [dragged, target];
    setDragged(-1);
    setTarget(-1);
    if (from >= 0 && to >= 0 && from !== to) void edit(of, (steps) => moved(steps, from, to));
  };
  return (
    <div class="steps">
      <StepsBar of={of} update={update} onSave={onSave} />
      {count === 0 ? (
        <div class="empty">
          <p>
            <strong>Nothing recorded yet.</strong>
          </p>
          <p>Click, drag or type on the picture; each action becomes a step here.</p>
        </div>
      ) : (
        <ol class="step-list" ref={list} aria-label="Steps">
          {update.steps.map((step, nth) => (
            <Step
              key={nth}
              of={of}
              step={step}
              nth={nth}
              update={update}
              isTarget={target === nth && dragged !== nth}
              drag={{
                onDragStart: () => setDragged(nth),
                onDragOver: (event: DragEvent) => {
                  if (dragged >= 0) {
                    event.preventDefault();
                    setTarget(nth);
                  }
                },
                onDrop: drop,
                onDragEnd: drop,
              }}
            />
          ))}
        </ol>
      )}
      <p class="unseen" role="status">
        {count > 0 && `${plural(count, 'step')} recorded`}
      </p>
      <Proposals of={of} update={update} />
      <DoBox of={of} update={update} />
    </div>
  );
}

function StepsBar({ of, update, onSave }: { of: Session; update: StepsUpdate; onSave: () => void }): VNode {
  const isIdle = !update.working;
  const workspace = use(known);
  const own = workspace?.sessions.find((one) => one.name === of.name)?.device;
  const others = workspace?.devices.filter((device) => device.id !== own) ?? [];
  return (
    <div class="bar-row">
      <button
        type="button"
        class="icon-button"
        disabled={!update.canUndo}
        onClick={() => void undo(of)}
        aria-label="Undo"
        title="Undo (Ctrl+Z)"
      >
        <Icon name="undo" />
      </button>
      <button
        type="button"
        class="icon-button"
        disabled={!update.canRedo}
        onClick={() => void undo(of, true)}
        aria-label="Redo"
        title="Redo (Ctrl+Shift+Z)"
      >
        <Icon name="redo" />
      </button>
      <button
        type="button"
        class="button"
        disabled={!isIdle || !update.steps.length}
        onClick={() => void done(api.replaySteps({ session: of.name }))}
      >
        <Icon name="play" /> Replay all
      </button>
      {others.length > 0 && (
        <select
          class="replay-on"
          aria-label="Replay on another device"
          value=""
          disabled={!isIdle || !update.steps.length}
          onChange={(event) => {
            void done(api.replaySteps({ session: of.name, device: event.currentTarget.value }));
            event.currentTarget.value = '';
          }}
        >
          <option value="" disabled>
            on…
          </option>
          {others.map((device) => (
            <option key={device.id} value={device.id}>
              {device.id}
            </option>
          ))}
        </select>
      )}
      <span class="grow" />
      <span class="faint saved" role="status">
        {update.savedAs ? (
          <>
            Saved as <Data text={update.savedAs} />
          </>
        ) : update.steps.length ? (
          'Not saved'
        ) : (
          ''
        )}
      </span>
      <button type="button" class="button primary" disabled={!update.steps.length} onClick={onSave}>
        Save…
      </button>
    </div>
  );
}

function Proposals({ of, update }: { of: Session; update: StepsUpdate }): VNode | null {
  // Those that the user does not want, until others are proposed.
  const [refused, setRefused] = useState<Set<string>>(new Set());
  const proposals = update.proposals.filter((proposal) => !refused.has(proposal.text)).slice(0, 6);
  if (!proposals.length) return null;
  return (
    <section class="proposals" aria-label="Proposed assertions">
      <span class="label">Also assert</span>
      <ul>
        {proposals.map((proposal) => (
          <li key={proposal.text} class="proposal">
            <Data text={cut(proposal.text, 120)} />
            <button
              type="button"
              aria-label={`Add: ${proposal.text}`}
              title="Add"
              onClick={() => {
                void edit(of, (steps) => withAssertion(steps, proposal.text, proposal.call));
                setRefused(new Set([...refused, proposal.text]));
              }}
            >
              +
            </button>
            <button
              type="button"
              aria-label={`Not this: ${proposal.text}`}
              title="Not this"
              onClick={() => setRefused(new Set([...refused, proposal.text]))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function DoBox({ of, update }: { of: Session; update: StepsUpdate }): VNode {
  const [text, setText] = useState('');
  const hasModel = update.hasModel;
  const working = update.working;
  const carryOut = async (isCheck: boolean) => {
    const words = text.trim();
    if (!words) return;
    setText('');
    if (!(await done(api.carryOut({ session: of.name, text: words, isCheck })))) setText((now) => now || words);
  };
  return (
    <div class="do-box">
      {working && (
        <div class="working" role="status">
          <span class="spinner" aria-hidden="true" />
          <Data text={cut(working, 160)} cls="grow" />
          <button type="button" class="button danger" onClick={() => void done(api.stopWork({ session: of.name }))}>
            Stop
          </button>
        </div>
      )}
      {hasModel && (
        <form
          class="do"
          onSubmit={(event) => {
            event.preventDefault();
            void carryOut(false);
          }}
        >
          <input
            type="text"
            value={text}
            placeholder="Do … (the model carries it out)"
            aria-label="What the model should do or check"
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={!text.trim() || Boolean(working)}>
            Do
          </button>
          <button type="button" class="button" disabled={!text.trim() || Boolean(working)} onClick={() => void carryOut(true)}>
            Check
          </button>
        </form>
      )}
      {!hasModel && update.steps.some((step) => step.needsModel) && (
        <p class="faint">
          {plural(update.steps.filter((step) => step.needsModel).length, 'step needs', 'steps need')} a model, and none is configured.
        </p>
      )}
    </div>
  );
}
