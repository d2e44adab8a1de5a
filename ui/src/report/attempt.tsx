/** One attempt: its steps, each with its calls and pictures. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Data, Fact, Long, Said, State, Tag } from '../shared/text.tsx';
import { cut, plural, time, visible } from '../shared/words.ts';
import { AttachmentLine, CallBox, TurnBox } from './calls.tsx';
import { FailureCard, PassedLate } from './failures.tsx';
import type { Attempt, Call, Detail, Heal, Picture as Taken, Plan, Step, Suggestion, Touch } from '../generated/data.ts';
import { Outline } from './outline.tsx';
import { NoteLine, Standing } from './overview.tsx';
import { OUTLINED } from './parts.ts';
import { Picture, type Shown } from './pictures.tsx';
import { isBad, KINDS, useView } from './view.ts';

const MOMENTS = { before: 'Before', after: 'After', failure: 'At failure' };

/** The details of an attempt. While the run is in progress they are read again whenever the attempt changed. */
export function useDetail(attempt: Attempt): Detail | undefined {
  const { run, source, version } = useView();
  const [read, setRead] = useState<{ id: string; detail: Detail } | undefined>(undefined);
  const stamp = attempt.state === 'unfinished' ? version : 'whole';
  useEffect(() => {
    let isCurrent = true;
    const place = run.attempts.findIndex((other) => other.id === attempt.id);
    source.attempt(place).then(
      (detail) => {
        if (isCurrent) setRead({ id: attempt.id, detail });
      },
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [attempt.id, stamp]);
  return read?.id === attempt.id ? read.detail : undefined;
}

export function AttemptView({
  attempt,
  listed,
  onShown,
}: {
  attempt: Attempt;
  listed: Attempt[];
  onShown: (id: string | undefined) => void;
}): VNode {
  const { run, link, traceLink, isLive } = useView();
  const detail = useDetail(attempt);
  // What the user opened or closed; everything else follows how it went.
  const [toggled, setToggled] = useState<ReadonlyMap<number, boolean>>(new Map());
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => onShown(detail && attempt.id), [detail, attempt.id]);

  const nth = listed.findIndex((other) => other.id === attempt.id);
  const go = (other: Attempt | undefined, text: string, key: string) =>
    other ? (
      <a href={link(other)} title={`${visible(cut(other.name, 80))} (${key})`}>
        {text}
      </a>
    ) : (
      <span class="off" aria-hidden="true">
        {text}
      </span>
    );
  const others = run.attempts.filter(
    (other) =>
      other.id !== attempt.id &&
      other.lane === attempt.lane &&
      other.trail.id === attempt.trail.id &&
      other.trail.path === attempt.trail.path &&
      other.repeat === attempt.repeat,
  );
  const lane = run.lanes[attempt.lane]!;
  const driver = lane.sessions[0]?.device.driver;
  const steps = detail?.steps ?? [];
  const isOpen = (step: Step, place: number) =>
    toggled.get(place) ?? (steps.length <= 25 || (isBad(step.state) && !step.isTolerated) || place === detail?.failingStep);
  const setAll = (opens: boolean) => setToggled(new Map(steps.map((_, place) => [place, opens])));
  const failing = detail?.failingStep;
  const goTo = (place: number) => {
    setToggled(new Map(toggled).set(place, true));
    const item = list.current?.children[place];
    item?.querySelector('button')?.focus({ preventScroll: true });
    item?.scrollIntoView({ block: 'start' });
  };
  const goToFailing = failing == null || steps.length <= 2 ? undefined : () => goTo(failing);
  const isOutlined = steps.length >= OUTLINED;

  return (
    <>
      <nav class="crumbs" aria-label="Attempts">
        <a href={link(null)}>All attempts</a>
        <span class="grow" />
        {go(nth > 0 ? listed[nth - 1] : undefined, 'Previous', 'k')}
        {go(nth >= 0 ? listed[nth + 1] : undefined, 'Next', 'j')}
      </nav>
      <div class="title-line">
        {detail?.trace && (
          <a class="open-trace" href={traceLink(attempt)}>
            Open the trace
          </a>
        )}
        <State name={attempt.state} text={isLive && attempt.state === 'unfinished' ? 'Running' : ''} /> <Standing attempt={attempt} />
        <h2 tabIndex={-1} id="attempt-title">
          <Data text={cut(attempt.name, 300)} />
        </h2>
      </div>
      <dl class="facts">
        <Fact name="Device">
          <Data text={lane.name} />
        </Fact>
        {driver && (
          <Fact name="Driver">
            <Data text={driver} />
          </Fact>
        )}
        <Fact name="Duration">{time(attempt.micros)}</Fact>
        <Fact name="Started after">{time(attempt.at)}</Fact>
        <Fact name="Trail">
          <Data text={attempt.trail.path || attempt.trail.id} cls="mono" />
        </Fact>
        {attempt.repeat && <Fact name="Repeat">{String(attempt.repeat)}</Fact>}
        {(attempt.number > 1 || others.length > 0) && (
          <Fact name="Attempt">
            {String(attempt.number)}
            {others.map((other) => (
              <>
                , <a href={link(other)}>{`see ${other.number} (${other.state})`}</a>
              </>
            ))}
          </Fact>
        )}
        {attempt.trail.tags?.length ? (
          <Fact name="Tags">
            {attempt.trail.tags.map((name) => (
              <>
                <Tag text={name} />{' '}
              </>
            ))}
          </Fact>
        ) : null}
      </dl>
      {attempt.trouble && !(isLive && attempt.state === 'unfinished') ? (
        <FailureCard attempt={attempt} onStep={goToFailing} />
      ) : attempt.message ? (
        <p class="block" dir="auto">
          <Long text={attempt.message} />
        </p>
      ) : null}
      {attempt.state === 'passed' && <PassedLate attempt={attempt} />}
      {detail && (
        <>
          <div class="steps-head">
            <h3>
              {plural(steps.length, 'step')}
              <span class="faint">{` with ${plural(attempt.nCalls, 'call')}`}</span>
            </h3>
            {steps.length > 1 && (
              <>
                <button class="link" type="button" onClick={() => setAll(true)}>
                  Open all
                </button>
                <button class="link" type="button" onClick={() => setAll(false)}>
                  Close all
                </button>
              </>
            )}
          </div>
          <div class={isOutlined ? 'outlined' : ''}>
            {isOutlined && <Outline steps={steps} failingStep={failing ?? null} onStep={goTo} />}
            <ol ref={list}>
              {steps.map((step, place) => (
                <StepBox
                  key={place}
                  step={step}
                  isOpen={isOpen(step, place)}
                  onToggle={(opens) => setToggled(new Map(toggled).set(place, opens))}
                />
              ))}
            </ol>
          </div>
          {detail.files && (
            <>
              <div class="steps-head">
                <h3>Files of the session</h3>
              </div>
              <ul class="said-lines">
                {detail.files.map((attached, nth) => (
                  <AttachmentLine key={nth} attached={attached} />
                ))}
              </ul>
            </>
          )}
          {detail.loose.length > 0 && (
            <>
              <div class="steps-head">
                <h3>Calls outside of any step</h3>
              </div>
              <div>
                {detail.loose.map((call) => (
                  <CallBox key={call.id} call={call} />
                ))}
              </div>
            </>
          )}
        </>
      )}
    </>
  );
}

/** A step that can be opened and closed. Its body is made when it is first opened, and stays. */
function StepBox({ step, isOpen, onToggle }: { step: Step; isOpen: boolean; onToggle: (opens: boolean) => void }): VNode {
  const { isLive } = useView();
  const wasOpen = useRef(false);
  wasOpen.current ||= isOpen;
  // The trail went on, so it does not look like one that needs attention.
  const state = step.isTolerated ? 'skipped' : step.state;
  const said = step.isTolerated ? 'Failed' : isLive && step.state === 'unfinished' ? 'Running' : '';
  return (
    <li class={`step ${state}${step.isWithin ? ' within' : ''}`}>
      {step.heading != null && (
        <h4 class="heading">
          <Said text={cut(step.heading, 400)} />
        </h4>
      )}
      <h4>
        <button class="toggle" type="button" aria-expanded={isOpen} onClick={() => onToggle(!isOpen)}>
          <span class="nth">{step.number == null ? '' : String(step.number)}</span>
          <span>
            <Said text={cut(step.text, 400)} cls={'text' + (step.text.length > 200 ? ' long' : '')} />
            <span class="under">
              {step.kind !== 'step' && <Tag text={KINDS[step.kind]} />}
              <PlanTag plan={step.plan} />
              {step.choices.map((choice) => (
                <Tag key={choice} text={choice} />
              ))}
              {step.calls.length > 0 && <span class="label">{plural(step.calls.length, 'call')}</span>}
            </span>
          </span>
          <State name={state} text={said} />
          <span class="took">{step.micros == null ? '' : time(step.micros)}</span>
        </button>
      </h4>
      <div class="body" hidden={!isOpen}>
        {wasOpen.current && <StepBody step={step} />}
      </div>
    </li>
  );
}

function PlanTag({ plan }: { plan: Plan }): VNode {
  if (plan === 'authored') return <Tag text="authored" title="The step's own tools" />;
  if (plan === 'model') return <Tag text="model" title="Decided by a model" />;
  if (plan === 'interactive') return <Tag text="interactive" title="A person, script or agent at a prompt" />;
  return <Tag text={`recording ${plan.recording.classifier}`} title="Replayed from the recording of this classifier" />;
}

function StepBody({ step }: { step: Step }): VNode {
  // The failed call below shows the same message with more detail.
  const isSaid = step.calls.some((call) => step.message === (call.answer?.fault?.message ?? call.answer?.outcome?.text));
  const pictures = picturesOf(step);
  return (
    <>
      <div class="told">
        {step.text.length > 400 && <Long text={step.text} cls="said-text" most={2000} />}
        {step.message && !isSaid && <Long text={step.message} cls={isBad(step.state) && !step.isTolerated ? 'said' : 'faint'} />}
        {step.notes.length > 0 && (
          <ul class="said-lines">
            {step.notes.map((note, nth) => (
              <NoteLine key={nth} note={note} />
            ))}
          </ul>
        )}
        {step.modelUse && <p class="label">{step.modelUse}</p>}
        {step.heals?.map((heal, nth) => (
          <HealBox key={nth} heal={heal} />
        ))}
        {inOrder(step)}
        {!step.calls.length && <p class="label">No call was made.</p>}
        {pictures.some(({ taken }) => taken.tree) && (
          <div class="trees">
            {pictures.map(({ taken, caption }, nth) => taken.tree && <TreeBox key={nth} taken={taken} name={caption} />)}
          </div>
        )}
      </div>
      <div class="strip" tabIndex={pictures.length > 2 ? 0 : undefined} role="group" aria-label="Pictures">
        {pictures.map((shown) => (
          <Picture key={`${shown.taken.file} ${shown.caption}`} {...shown} box={{ width: 288, height: 264 }} />
        ))}
      </div>
    </>
  );
}

/** A picture of a step or of one of its calls. */
interface StepShown extends Shown {
  taken: Taken;
}

/** Touches are drawn on the picture taken before them: the call's own, or that of a parent call, or the step's. */
function picturesOf(step: Step): StepShown[] {
  const owners = new Map<Step | Call, Touch[]>([[step, []]]);
  const above: (Step | Call)[] = [];
  for (const call of step.calls) {
    above.length = call.depth;
    const owner = call.pictures.length ? call : above[call.depth - 1] || step;
    above.push(owner);
    owners.set(owner, [...(owners.get(owner) ?? []), ...call.touches]);
  }
  const own = (owner: Step | Call, name: string): StepShown[] => {
    const first = owner.pictures.find((taken) => taken.moment === 'before') || owner.pictures[0];
    return owner.pictures.map((taken) => ({
      taken,
      caption: MOMENTS[taken.moment] + name,
      touches: taken === first ? owners.get(owner) || [] : [],
    }));
  };
  const ofStep = own(step, '');
  return [
    ...ofStep.filter(({ taken }) => taken.moment === 'before'),
    ...step.calls.flatMap((call) => own(call, ` ${call.tool}`)),
    ...ofStep.filter(({ taken }) => taken.moment !== 'before'),
  ];
}

function inOrder(step: Step): VNode[] {
  const turns = [...step.turns];
  const boxes: VNode[] = [];
  const turn = () => boxes.push(<TurnBox key={`turn ${step.turns.length - turns.length}`} turn={turns.shift()!} />);
  for (const call of step.calls) {
    while (turns.length && call.depth === 0 && turns[0]!.at <= call.at) turn();
    boxes.push(<CallBox key={call.id} call={call} />);
  }
  while (turns.length) turn();
  return boxes;
}

function TreeBox({ taken, name }: { taken: Taken; name: string }): VNode {
  const { source } = useView();
  const [text, setText] = useState<string | undefined>(undefined);
  const open = async (event: { currentTarget: HTMLDetailsElement }) => {
    const { tree, treeFile } = taken;
    if (!event.currentTarget.open || text !== undefined || !tree) return;
    if (typeof tree === 'object' && tree.missing !== undefined) setText(`${visible(treeFile)} ${tree.missing}.`);
    else setText(visible(await source.tree(treeFile ?? '', tree)));
  };
  return (
    <details onToggle={open}>
      <summary>{`Elements: ${visible(name)}`}</summary>
      <pre class="pre" tabIndex={0} dir="auto">
        {text}
      </pre>
    </details>
  );
}

const HEALS = {
  healed: 'Healed: another call was made instead',
  withdrawn: 'Not healed: another call was tried',
  suggested: 'Not healed: the element was not found',
};

/** A call that did not find its element: before, after, and why. */
function HealBox({ heal }: { heal: Heal }): VNode {
  const isUsed = heal.result !== 'suggested';
  const used = isUsed ? heal.suggestions[0] : undefined;
  const others = isUsed ? heal.suggestions.slice(1) : heal.suggestions;
  const about = (other: Suggestion) => (
    <>
      <Data text={other.call} cls="mono" /> on <Said text={cut(other.element, 200)} />
      {` (${visible(cut(other.reason, 400))}${other.score === null ? '' : `; ${other.score} of 100`})`}
      {other.isByModel && (
        <>
          {' '}
          <Tag text="model" title="Chosen by a model" />
        </>
      )}
    </>
  );
  return (
    <section class={`heal ${heal.result}`} aria-label={HEALS[heal.result]}>
      <p class="label">{HEALS[heal.result]}</p>
      <dl class="facts">
        <Fact name="Before">
          <Data text={heal.from} cls="mono" />
        </Fact>
        {used && <Fact name="After">{about(used)}</Fact>}
        {heal.message && (
          <Fact name="Why not">
            <Said text={cut(heal.message, 400)} />
          </Fact>
        )}
      </dl>
      {others.length > 0 && (
        <ol class="said-lines">
          {others.map((other, nth) => (
            <li key={nth}>{about(other)}</li>
          ))}
        </ol>
      )}
    </section>
  );
}
