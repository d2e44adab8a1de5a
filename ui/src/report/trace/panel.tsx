/** What is known of the chosen step or call, in tabs. */
import type { ComponentChildren, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { CopyButton } from '../../shared/copy.tsx';
import { Data, Long, Said, State, Tag } from '../../shared/text.tsx';
import { cut, plural, time, visible } from '../../shared/words.ts';
import { AttachmentLine, CallBody, isWrong, linesOf, Pairs, TurnBox } from '../calls.tsx';
import { NoteLine } from '../overview.tsx';
import { useView } from '../view.ts';
import { useTrace } from './context.ts';
import { ConsoleTab, NetworkTab } from './activity.tsx';
import { activityOf, resolvedArgs, type Entry } from './model.ts';
import { SourceTab } from './source.tsx';
import { TABS, type Tab } from './state.ts';
import { entryWords } from './words.ts';

const NAMES: Record<Tab, string> = {
  call: 'Call',
  element: 'Element',
  console: 'Console',
  network: 'Network',
  source: 'Source',
  attachments: 'Attachments',
  about: 'About',
};

export function Panel(): VNode {
  const { control, state, chosen } = useTrace();
  const box = useRef<HTMLDivElement>(null);
  const { model } = control;
  const said = activityOf(model, state.isEverything ? null : chosen);
  const count: Partial<Record<Tab, number>> = {
    console: said.filter((one) => !one.exchange).length,
    network: said.filter((one) => one.exchange).length,
    attachments: attachmentsOf(model.entries).length,
  };
  const tabs = TABS.filter((tab) => tab !== 'element' || model.documents.length > 0);
  const tab = tabs.includes(state.tab) ? state.tab : 'call';
  const move = (event: KeyboardEvent) => {
    const by = ({ ArrowLeft: -1, ArrowRight: 1 } as Record<string, number>)[event.key];
    if (!by) return;
    event.preventDefault();
    control.set({ tab: tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]! });
    setTimeout(() => box.current?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus());
  };
  return (
    <section class="trace-panel" aria-label="Details" ref={box}>
      <div class="trace-tabs" role="tablist" onKeyDown={move}>
        {tabs.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={one === tab}
            aria-controls="tab-body"
            tabIndex={one === tab ? 0 : -1}
            onClick={() => control.set({ tab: one })}
          >
            {NAMES[one]}
            {count[one] ? <span class="n">{count[one]}</span> : null}
          </button>
        ))}
      </div>
      <div class="tab-body" role="tabpanel" id="tab-body" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {tab === 'call' && <CallTab />}
        {tab === 'element' && <ElementTab />}
        {tab === 'console' && <ConsoleTab said={said} />}
        {tab === 'network' && <NetworkTab said={said} />}
        {tab === 'source' && <SourceTab />}
        {tab === 'attachments' && <AttachmentsTab />}
        {tab === 'about' && <AboutTab />}
      </div>
    </section>
  );
}

export const Empty = ({ children }: { children: ComponentChildren }): VNode => <p class="tab-empty">{children}</p>;

// ---- The call.

function CallTab(): VNode {
  const { control, chosen } = useTrace();
  if (!chosen) return <Empty>Nothing was done in this attempt.</Empty>;
  const { call, step } = chosen;
  if (!call)
    return (
      <>
        <p class="tab-title">
          <State name={step!.isTolerated ? 'skipped' : step!.state} text={step!.isTolerated ? 'Failed, but optional' : ''} />{' '}
          <Said text={step!.text} />
        </p>
        {step!.message && <Long text={step!.message} cls="said" />}
        <ul class="said-lines">
          {step!.notes.map((note, nth) => (
            <NoteLine key={nth} note={note} />
          ))}
        </ul>
        {step!.modelUse && <p class="label">{step!.modelUse}</p>}
        {step!.turns.map((turn, nth) => (
          <TurnBox key={nth} turn={turn} />
        ))}
        <p class="label">{step!.calls.length ? plural(step!.calls.length, 'call') : 'No call was made.'}</p>
        <ul class="calls-of-step">
          {step!.calls
            .filter(({ depth }) => depth === 0)
            .map((inner) => (
              <li key={inner.id}>
                <button class="link mono" type="button" onClick={() => control.choose(`call ${inner.id}`)}>
                  {visible(cut(inner.tool, 80))}
                </button>{' '}
                {inner.micros !== null && <span class="faint">{time(inner.micros)}</span>}
                {isWrong(inner) && <State name="failed" />}
              </li>
            ))}
        </ul>
      </>
    );
  const lines = linesOf(call);
  const resolved = resolvedArgs(control.model, call);
  return (
    <>
      <p class="tab-title">
        <Data text={call.tool} cls="mono" />
        <span class="faint">{` ${call.micros === null ? 'no answer' : time(call.micros)}, at ${time(call.at - control.model.from)}`}</span>
      </p>
      {resolved.length > 0 && (
        <dl class="pairs">
          {resolved.map(({ name, written, value }) => [
            <dt>{visible(name)}</dt>,
            <dd>
              <Data text={written} /> <span class="faint">was</span>{' '}
              {value === null ? <span class="faint">not kept</span> : <Data text={value} />}
            </dd>,
          ])}
        </dl>
      )}
      <p class="label">What it did</p>
      {call.touches.length + lines.length === 0 && <p class="faint">It neither waited nor touched anything.</p>}
      <ul class="said-lines">
        {call.touches.map((touch, nth) => (
          <li key={`touch ${nth}`}>
            {touch.at === undefined ? '' : `${time(touch.at - control.model.from)}: `}
            <Said text={cut(touch.what, 300)} />
            {touch.point && ` at ${touch.point.x}, ${touch.point.y}`}
          </li>
        ))}
        {lines}
      </ul>
      <CallBody call={call} />
    </>
  );
}

// ---- The element.

function ElementTab(): VNode {
  const { control, state, documentAt } = useTrace();
  const { picked } = state;
  const home = picked && control.model.documents.map(({ nth }) => documentAt(nth)).find((known) => known?.index.elements.includes(picked));
  if (!picked || !home)
    return (
      <Empty>
        Show the document and click an element: here are the ways in which a trail finds it.{' '}
        {state.stage !== 'document' && (
          <button class="link" type="button" onClick={() => control.set({ stage: 'document' })}>
            Show the document
          </button>
        )}
      </Empty>
    );
  const { role, name, text, selectors } = home.index.describe(picked);
  const path = [];
  for (let at = picked.parent; at; at = at.parent) path.unshift(at);
  const tagOf = (element: typeof picked) =>
    element.node.tag.toLowerCase() + (element.node.attributes['id'] ? `#${element.node.attributes['id']}` : '');
  return (
    <>
      <p class="element-path">
        {path.slice(-6).map((around, nth) => (
          <>
            <button key={nth} class="link mono" type="button" onClick={() => control.set({ picked: around })}>
              {visible(cut(tagOf(around), 40))}
            </button>
            {' › '}
          </>
        ))}
        <strong class="mono">{visible(cut(tagOf(picked), 60))}</strong>
      </p>
      <p>
        <span class="label">Role</span> {visible(role)} {name && <span class="label">Name</span>} {visible(cut(name, 200))}
      </p>
      {text && text !== name && (
        <p>
          <span class="label">Text</span> {visible(cut(text, 300))}
        </p>
      )}
      <p class="label">Ways to find it</p>
      <ul class="selectors">
        {selectors.map((selector) => (
          <li key={selector.way}>
            <span class="selector-way">{selector.way}</span>
            <code class="data">{visible(selector.written)}</code>
            <Tag text={selector.matches === 1 ? 'only this one' : `finds ${selector.matches}`} cls={selector.matches === 1 ? '' : 'warn'} />
            <CopyButton text={selector.written} what={selector.way} />
          </li>
        ))}
        {!selectors.length && <li class="faint">It has neither a name nor an id. Pick something in it or around it.</li>}
      </ul>
      <details>
        <summary>Attributes</summary>
        <Pairs entries={Object.entries(picked.node.attributes).map(([key, value]) => [key, <Long text={value} isExact most={300} />])} />
      </details>
    </>
  );
}

// ---- Attachments, and what the attempt was.

const attachmentsOf = (entries: Entry[]) =>
  entries.flatMap((entry) => (entry.call?.answer?.outcome?.attachments ?? []).map((attached) => ({ entry, attached })));

function AttachmentsTab(): VNode {
  const { control } = useTrace();
  const all = attachmentsOf(control.model.entries);
  if (!all.length) return <Empty>No call attached a file.</Empty>;
  return (
    <ul class="said-lines">
      {all.map(({ entry, attached }, nth) => (
        <li key={nth}>
          <button class="link mono" type="button" onClick={() => control.choose(entry.key)}>
            {visible(cut(entryWords(entry), 60))}
          </button>
          <ul>
            <AttachmentLine attached={attached} />
          </ul>
        </li>
      ))}
    </ul>
  );
}

function AboutTab(): VNode {
  const { run } = useView();
  const { attempt, control } = useTrace();
  const { trail } = attempt;
  const lane = run.lanes[attempt.lane]!;
  const started = Date.parse(run.startedAt ?? '');
  const at = (micros: number) => (isNaN(started) ? time(micros) : new Date(started + micros / 1000).toISOString());
  const entries: [string, string | null | undefined][] = [
    ['trail', trail.path || trail.id],
    ['id', trail.id],
    ['tags', trail.tags?.join(', ')],
    ['row', trail.row === undefined ? null : String(trail.row)],
    ['attempt', `${attempt.number}${attempt.repeat ? `, repeat ${attempt.repeat}` : ''} (${attempt.id})`],
    ['ended as', attempt.state],
    ['started', at(attempt.at)],
    ['ended', attempt.state === 'unfinished' ? null : at(attempt.at + attempt.micros)],
    ['took', time(attempt.micros)],
    ...lane.sessions.flatMap(({ device }): [string, string][] => [
      ['device', device.id],
      ['platform', `${device.platform} (${device.classifiers.join(', ')})`],
      ['driver', device.driver],
      ['screen', `${device.size.width} × ${device.size.height}`],
    ]),
    ['run', run.run],
    ['command', run.command],
    ['project', run.project],
    ['seed', run.seed],
    ['Trailblaze', run.version],
    [
      'kept',
      `${plural(control.model.frames.length, 'picture')}, ${plural(control.model.documents.length, 'document')}, ${plural(control.model.activity.length, 'line')} of console and network`,
    ],
  ];
  return <Pairs entries={entries.flatMap(([name, value]) => (value ? [[name, <Long text={value} isExact />] as [string, VNode]] : []))} />;
}
