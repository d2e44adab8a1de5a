/** The steps of a session: in words, with their calls, editable. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { StepsUpdate, StudioStep } from '../../api/messages.ts';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { cut, plural, visible } from '../../shared/words.ts';
import { api, done, known } from '../app.ts';
import { callOf, changed, joined, moved, removed, replaced, withAssertion } from '../edits.ts';
import { readCalls, writeCalls, writeFlow } from '../flow.ts';
import { Icon } from '../icons.tsx';
import { edit, undo, type Session } from './state.ts';

export function Steps({ of, onSave }: { of: Session; onSave: () => void }): VNode {
  const update = use(of.steps);
  const [dragged, setDragged] = useState(-1);
  const [target, setTarget] = useState(-1);
  const list = useRef<HTMLOListElement>(null);
  const count = update?.steps.length ?? 0;

  // What was just done is in view.
  useEffect(() => { list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' }); }, [count]);
  if (!update) return <p class="empty">Loading…</p>;

  const drop = () => {
    const [from, to] = [dragged, target];
    setDragged(-1);
    setTarget(-1);
    if (from >= 0 && to >= 0 && from !== to) void edit(of, (steps) => moved(steps, from, to));
  };
  return <div class="steps">
    <StepsBar of={of} update={update} onSave={onSave} />
    {count === 0
      ? <div class="empty"><p><strong>Nothing recorded yet.</strong></p><p>Click, drag or type on the picture; each action becomes a step here.</p></div>
      : <ol class="step-list" ref={list} aria-label="Steps">
          {update.steps.map((step, nth) => <Step key={nth} of={of} step={step} nth={nth} update={update} isTarget={target === nth && dragged !== nth}
            drag={{ onDragStart: () => setDragged(nth), onDragOver: (event: DragEvent) => { if (dragged >= 0) { event.preventDefault(); setTarget(nth); } }, onDrop: drop, onDragEnd: drop }} />)}
        </ol>}
    <Proposals of={of} update={update} />
    <DoBox of={of} update={update} />
  </div>;
}

function StepsBar({ of, update, onSave }: { of: Session; update: StepsUpdate; onSave: () => void }): VNode {
  const isIdle = !update.working;
  const workspace = use(known);
  const own = workspace?.sessions.find((one) => one.name === of.name)?.device;
  const others = workspace?.devices.filter((device) => device.id !== own) ?? [];
  return <div class="bar-row">
    <button type="button" class="icon-button" disabled={!update.canUndo} onClick={() => void undo(of)} aria-label="Undo" title="Undo (Ctrl+Z)"><Icon name="undo" /></button>
    <button type="button" class="icon-button" disabled={!update.canRedo} onClick={() => void undo(of, true)} aria-label="Redo" title="Redo (Ctrl+Shift+Z)"><Icon name="redo" /></button>
    <button type="button" class="button" disabled={!isIdle || !update.steps.length} onClick={() => void done(api.replaySteps({ session: of.name }))}><Icon name="play" /> Replay all</button>
    {others.length > 0 && <select class="replay-on" aria-label="Replay on another device" value="" disabled={!isIdle || !update.steps.length} onChange={(event) => { void done(api.replaySteps({ session: of.name, device: event.currentTarget.value })); event.currentTarget.value = ''; }}>
      <option value="" disabled>on…</option>{others.map((device) => <option key={device.id} value={device.id}>{device.id}</option>)}</select>}
    <span class="grow" />
    <span class="faint saved" role="status">{update.savedAs ? <>Saved as <Data text={update.savedAs} /></> : update.steps.length ? 'Not saved' : ''}</span>
    <button type="button" class="button primary" disabled={!update.steps.length} onClick={onSave}>Save…</button>
  </div>;
}

interface StepProps {
  of: Session;
  step: StudioStep;
  nth: number;
  update: StepsUpdate;
  isTarget: boolean;
  drag: { onDragStart: () => void; onDragOver: (event: DragEvent) => void; onDrop: () => void; onDragEnd: () => void };
}

function Step({ of, step, nth, update, isTarget, drag }: StepProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const last = update.steps.length - 1;
  const isHead = step.kind === 'trailhead';
  const name = `step ${nth + 1}`;
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
  return <li class={`step-item${isTarget ? ' target' : ''}${step.kind === 'verify' ? ' verify' : ''}`} onKeyDown={keys} onDragOver={drag.onDragOver} onDrop={drag.onDrop}>
    <div class="step-line">
      <span class="handle" draggable={!isHead} onDragStart={drag.onDragStart} onDragEnd={drag.onDragEnd} title="Drag to move (Alt+↑, Alt+↓)" aria-hidden="true">{nth + 1}</span>
      <div class="step-main">
        <div class="step-words">
          {step.kind !== 'step' && <span class={`badge ${step.kind}`}>{step.kind}</span>}
          <StepText of={of} step={step} nth={nth} />
        </div>
        <button type="button" class="calls" aria-expanded={isOpen} aria-label={`Calls of ${name}`} onClick={() => setOpen(!isOpen)}>
          {step.calls.length
            ? step.calls.map((call, at) => { const { tool, args } = callOf(call); return <span key={at} class="call-line"><b>{visible(tool)}</b> <Data text={cut(writeFlow(args), 200)} /></span>; })
            : <span class="call-line faint">{step.needsModel ? 'carried out by the model' : 'no calls'}</span>}
        </button>
      </div>
      <div class="step-actions" role="group" aria-label={`Actions of ${name}`}>
        <button type="button" class="icon-button" title="Replay from here" aria-label={`Replay from ${name}`} disabled={Boolean(update.working)} onClick={() => void done(api.replaySteps({ session: of.name, from: nth + 1 }))}><Icon name="play" /></button>
        <button type="button" class="icon-button" title={step.kind === 'verify' ? 'Make it a step' : 'Make it a verification'} aria-label={`Make ${name} a ${step.kind === 'verify' ? 'step' : 'verification'}`} disabled={isHead} onClick={() => void edit(of, (steps) => replaced(steps, nth, { kind: step.kind === 'verify' ? 'step' : 'verify' }))}><Icon name="check" /></button>
        <button type="button" class="icon-button" title="Join with the step above" aria-label={`Join ${name} with the one above`} disabled={nth === 0} onClick={() => void edit(of, (steps) => joined(steps, nth))}><Icon name="join" /></button>
        <button type="button" class="icon-button" title="Delete" aria-label={`Delete ${name}`} onClick={() => void edit(of, (steps) => removed(steps, nth))}><Icon name="trash" /></button>
      </div>
    </div>
    {isOpen && <Calls of={of} step={step} nth={nth} onClose={() => setOpen(false)} />}
  </li>;
}

/** The words of a step. What is being written is not replaced when steps change elsewhere. */
function StepText({ of, step, nth }: { of: Session; step: StudioStep; nth: number }): VNode {
  // What is being written, and the words that it started from.
  const [written, setWritten] = useState<{ text: string; from: string } | undefined>(undefined);
  const field = useRef<HTMLTextAreaElement>(null);
  const shown = written?.text ?? step.text;
  useEffect(() => {
    const node = field.current!;
    node.style.height = 'auto';
    node.style.height = `${node.scrollHeight}px`;
  }, [shown]);
  const finish = () => {
    if (!written) return;
    setWritten(undefined);
    const words = written.text.trim();
    if (words && words !== written.from) void edit(of, (steps) => changed(steps, nth, (one) => one.text === written.from, { text: words }), words);
  };
  return <textarea ref={field} class="step-text" rows={1} value={shown} aria-label={`Words of step ${nth + 1}`} spellcheck={false}
    onInput={(event) => setWritten({ text: event.currentTarget.value, from: written?.from ?? step.text })} onBlur={finish}
    onKeyDown={(event) => {
      if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); event.currentTarget.blur(); }
      if (event.key === 'Escape') { setWritten(undefined); event.currentTarget.blur(); }
    }} />;
}

/** The calls of a step as text. */
function Calls({ of, step, nth, onClose }: { of: Session; step: StudioStep; nth: number; onClose: () => void }): VNode {
  const [written] = useState(() => writeCalls(step.calls));
  const [text, setText] = useState(written);
  const read = readCalls(text);
  const save = () => {
    if (read.value === undefined) return;
    const calls = read.value;
    void edit(of, (steps) => changed(steps, nth, (one) => writeCalls(one.calls) === written, { calls, needsModel: calls.length === 0 }), text);
    onClose();
  };
  return <div class="call-edit">
    <textarea class="mono" rows={Math.min(12, Math.max(2, text.split('\n').length))} value={text} spellcheck={false} aria-label={`Calls of step ${nth + 1}, as text`} aria-invalid={read.problem !== undefined}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save(); }} />
    <div class="bar-row">
      <span class="problem grow" role="status">{read.problem ?? ''}</span>
      <button type="button" class="button" onClick={onClose}>Cancel</button>
      <button type="button" class="button primary" disabled={read.problem !== undefined || text === written} onClick={save}>Apply</button>
    </div>
  </div>;
}

function Proposals({ of, update }: { of: Session; update: StepsUpdate }): VNode | null {
  // Those that the user does not want, until others are proposed.
  const [refused, setRefused] = useState<Set<string>>(new Set());
  const proposals = update.proposals.filter((proposal) => !refused.has(proposal.text)).slice(0, 6);
  if (!proposals.length) return null;
  return <section class="proposals" aria-label="Proposed assertions">
    <span class="label">Also assert</span>
    <ul>{proposals.map((proposal) => <li key={proposal.text} class="proposal">
      <Data text={cut(proposal.text, 120)} />
      <button type="button" aria-label={`Add: ${proposal.text}`} title="Add" onClick={() => { void edit(of, (steps) => withAssertion(steps, proposal.text, proposal.call)); setRefused(new Set([...refused, proposal.text])); }}>+</button>
      <button type="button" aria-label={`Not this: ${proposal.text}`} title="Not this" onClick={() => setRefused(new Set([...refused, proposal.text]))}>×</button>
    </li>)}</ul>
  </section>;
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
  return <div class="do-box">
    {working && <div class="working" role="status"><span class="spinner" aria-hidden="true" /><Data text={cut(working, 160)} cls="grow" />
      <button type="button" class="button danger" onClick={() => void done(api.stopWork({ session: of.name }))}>Stop</button></div>}
    {hasModel && <form class="do" onSubmit={(event) => { event.preventDefault(); void carryOut(false); }}>
      <input type="text" value={text} placeholder="Do … (the model carries it out)" aria-label="What the model should do or check" onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" class="button primary" disabled={!text.trim() || Boolean(working)}>Do</button>
      <button type="button" class="button" disabled={!text.trim() || Boolean(working)} onClick={() => void carryOut(true)}>Check</button>
    </form>}
    {!hasModel && update.steps.some((step) => step.needsModel) && <p class="faint">{plural(update.steps.filter((step) => step.needsModel).length, 'step needs', 'steps need')} a model, and none is configured.</p>}
  </div>;
}
