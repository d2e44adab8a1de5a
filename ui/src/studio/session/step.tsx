/** A step of a session, editable. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { StepsUpdate, StudioStep } from '../../generated/messages.ts';
import { Data } from '../../shared/text.tsx';
import { cut, visible } from '../../shared/words.ts';
import { api, ask, done, trouble } from '../app.ts';
import { callsText, changed, joined, lineOf, moved, removed, replaced } from '../edits.ts';
import { Icon } from '../icons.tsx';
import { edit, type Session } from './state.ts';

interface StepProps {
  of: Session;
  step: StudioStep;
  nth: number;
  update: StepsUpdate;
  isTarget: boolean;
  drag: { onDragStart: () => void; onDragOver: (event: DragEvent) => void; onDrop: () => void; onDragEnd: () => void };
}

/** One step: its words, its calls, and what can be done with it. */
export function Step({ of, step, nth, update, isTarget, drag }: StepProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const last = update.steps.length - 1;
  const isHead = step.kind === 'trailhead';
  // A trailhead has no number, as in reports.
  const number = update.steps.slice(0, nth + 1).filter((one) => one.kind !== 'trailhead').length;
  const name = isHead ? 'the trailhead' : `step ${number}`;
  const keys = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    const to = nth + (event.key === 'ArrowUp' ? -1 : 1);
    if (to < 0 || to > last) return;
    void edit(of, (steps) => moved(steps, nth, to));
    // The keyboard stays with the step that it moved.
    const item = (event.currentTarget as HTMLElement).parentElement?.children[to];
    item?.querySelector<HTMLElement>('.step-text')?.focus();
  };
  return (
    <li
      class={`step-item${isTarget ? ' target' : ''}${step.kind === 'verify' ? ' verify' : ''}`}
      onKeyDown={keys}
      onDragOver={drag.onDragOver}
      onDrop={drag.onDrop}
    >
      <div class="step-line">
        <span
          class="handle"
          draggable={!isHead}
          onDragStart={drag.onDragStart}
          onDragEnd={drag.onDragEnd}
          title="Drag to move (Alt+↑, Alt+↓)"
          aria-hidden="true"
        >
          {isHead ? '' : number}
        </span>
        <div class="step-main">
          <div class="step-words">
            {step.kind !== 'step' && <span class={`badge ${step.kind}`}>{step.kind}</span>}
            <StepText of={of} step={step} nth={nth} name={name} />
          </div>
          <button ref={opener} type="button" class="calls" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <span class="unseen">Calls of {name}: </span>
            {step.calls.length ? (
              step.calls.map((_, at) => {
                const { tool, rest } = lineOf(step, at);
                return (
                  <span key={at} class="call-line">
                    <b>{visible(tool)}</b> <Data text={cut(rest, 200)} />
                  </span>
                );
              })
            ) : (
              <span class="call-line faint">{step.needsModel ? 'carried out by the model' : 'no calls'}</span>
            )}
          </button>
        </div>
        <div class="step-actions" role="group" aria-label={`Actions of ${name}`}>
          <button
            type="button"
            class="icon-button"
            title="Replay from here"
            aria-label={`Replay from ${name}`}
            disabled={Boolean(update.working)}
            onClick={() => void done(api.replaySteps({ session: of.name, from: isHead ? 0 : number }))}
          >
            <Icon name="play" />
          </button>
          <button
            type="button"
            class="icon-button"
            title={step.kind === 'verify' ? 'Make it a step' : 'Make it a verification'}
            aria-label={`Make ${name} a ${step.kind === 'verify' ? 'step' : 'verification'}`}
            disabled={isHead}
            onClick={() => void edit(of, (steps) => replaced(steps, nth, { kind: step.kind === 'verify' ? 'step' : 'verify' }))}
          >
            <Icon name="check" />
          </button>
          <button
            type="button"
            class="icon-button"
            title="Join with the step above"
            aria-label={`Join ${name} with the one above`}
            disabled={nth === 0}
            onClick={() => void edit(of, (steps) => joined(steps, nth))}
          >
            <Icon name="join" />
          </button>
          <button
            type="button"
            class="icon-button"
            title="Delete"
            aria-label={`Delete ${name}`}
            onClick={() => void edit(of, (steps) => removed(steps, nth))}
          >
            <Icon name="trash" />
          </button>
        </div>
      </div>
      {isOpen && (
        <Calls
          of={of}
          step={step}
          nth={nth}
          name={name}
          onClose={() => {
            setOpen(false);
            opener.current?.focus();
          }}
        />
      )}
    </li>
  );
}

type StepPartProps = { of: Session; step: StudioStep; nth: number; name: string };

/** The words of a step. What is being written is not replaced when steps change elsewhere. */
function StepText({ of, step, nth, name }: StepPartProps): VNode {
  // What is being written, and the words that it started from.
  const [written, setWritten] = useState<{ text: string; from: string } | undefined>(undefined);
  const field = useRef<HTMLTextAreaElement>(null);
  const isCancelled = useRef(false);
  const shown = written?.text ?? step.text;
  useEffect(() => {
    const node = field.current!;
    node.style.height = 'auto';
    node.style.height = `${node.scrollHeight}px`;
  }, [shown]);
  const finish = () => {
    if (!written) return;
    setWritten(undefined);
    if (isCancelled.current) return;
    const words = written.text.trim();
    if (words && words !== written.from)
      void edit(of, (steps) => changed(steps, nth, (one) => one.text === written.from, { text: words }), words);
  };
  return (
    <textarea
      ref={field}
      class="step-text"
      rows={1}
      value={shown}
      aria-label={`Words of ${name}`}
      spellcheck={false}
      onInput={(event) => setWritten({ text: event.currentTarget.value, from: written?.from ?? step.text })}
      onBlur={finish}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key === 'Enter' && !event.shiftKey) {
          event.preventDefault();
          event.currentTarget.blur();
        }
        if (event.key === 'Escape') {
          event.preventDefault();
          isCancelled.current = true;
          event.currentTarget.blur();
          isCancelled.current = false;
        }
      }}
    />
  );
}

const PAUSE_MS = 120;

/** The calls of a step as text, which the daemon reads as it reads trails. */
function Calls({ of, step, nth, name, onClose }: StepPartProps & { onClose: () => void }): VNode {
  const [before] = useState(() => ({ text: callsText(step), calls: JSON.stringify(step.calls) }));
  const [text, setText] = useState(before.text);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const asked = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setProblem((await api.readYaml({ text, isCalls: true }, asked.signal)).problem);
      } catch (thrown) {
        trouble(thrown);
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      asked.abort();
    };
  }, [text]);
  const save = async () => {
    const read = await ask(api.readYaml({ text, isCalls: true }));
    if (!read) return;
    if (read.problem) return setProblem(read.problem);
    const calls = read.value as unknown[];
    const isMeant = (one: StudioStep) => JSON.stringify(one.calls) === before.calls;
    // What is refused stays here, to be mended.
    if (await edit(of, (steps) => changed(steps, nth, isMeant, { calls, needsModel: calls.length === 0, written: [] }), text)) onClose();
  };
  return (
    <div
      class="call-edit"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing) return;
        event.preventDefault();
        onClose();
      }}
    >
      <textarea
        class="mono"
        rows={Math.min(12, Math.max(2, text.split('\n').length))}
        value={text}
        spellcheck={false}
        aria-label={`Calls of ${name}, as text`}
        aria-invalid={problem !== ''}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save();
        }}
      />
      <div class="bar-row">
        <span class="problem grow" role="status">
          {problem}
        </span>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button primary" disabled={problem !== '' || text === before.text} onClick={() => void save()}>
          Apply
        </button>
      </div>
    </div>
  );
}
