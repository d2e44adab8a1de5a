/** Calls of tools and requests to models, each a line that can be opened. */
import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Data, Long, Said, Tag } from '../shared/text.tsx';
import { count, cut, time, visible } from '../shared/words.ts';
import type { Attachment, Call, CallOrigin, ModelPurpose, Outcome, Turn } from '../generated/data.ts';
import { NoteLine } from './overview.tsx';
import { Picture } from './pictures.tsx';
import { EXITS } from './verdict.ts';
import { useView } from './view.ts';

const PURPOSES: Record<ModelPurpose, string> = {
  step: 'model',
  judgement: 'judged by a model',
  heal: 'heal',
  question: 'question',
  sampling: 'asked by a tool',
};
const ORIGINS: Partial<Record<CallOrigin, string>> = {
  delegate: 'Made in place of the call above, which requested it in its answer',
  expansion: 'Part of the call above',
  callback: 'Made by the code of the call above',
  person: 'Done by a person in the window of the browser',
};
const VARIANTS: Record<string, string> = {
  success: 'success',
  exceptionThrown: 'exception thrown',
  fatalError: 'fatal error',
  missingRequiredArgs: 'missing arguments',
  maestroValidationError: 'validation error',
  assertionFailed: 'assertion failed',
  unsupported: 'unsupported',
};
const variantOf = (outcome: Outcome): string => (typeof outcome.variant === 'string' ? outcome.variant : Object.keys(outcome.variant)[0]!);

export type Entry = [name: string, value: ComponentChildren, cls?: string];

export function Pairs({ entries }: { entries: Entry[] }): VNode {
  return (
    <dl class="pairs">{entries.map(([name, value, cls]) => [<dt class="data">{visible(name)}</dt>, <dd class={cls}>{value}</dd>])}</dl>
  );
}

const exact = (text: string) => <Long text={text} isExact />;

/** A line that opens what is below it. That is made when it is first opened. */
function Opener({
  line,
  lines,
  took,
  cls,
  depth,
  body,
  ...data
}: {
  line: ComponentChildren;
  lines: ComponentChildren[];
  took: ComponentChildren;
  cls: string;
  depth?: number;
  body: () => VNode;
  'data-call'?: string;
  'data-turn'?: string;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  const wasOpen = useRef(false);
  wasOpen.current ||= isOpen;
  const said = lines.filter((one) => one !== false && one != null && one !== '');
  return (
    <div class={cls} style={depth === undefined ? undefined : { '--depth': String(Math.min(depth, 12)) }} {...data}>
      <button class="open" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="line">{line}</span>
        <span class="took">{took}</span>
      </button>
      {said.length > 0 && <ul class="said-lines">{said}</ul>}
      <div class="more-of" hidden={!isOpen}>
        {wasOpen.current && body()}
      </div>
    </div>
  );
}

// ---- Models.

export function TurnBox({ turn }: { turn: Turn }): VNode {
  const { reply } = turn;
  return (
    <Opener
      cls={'call turn' + (reply?.problem ? ' bad' : '')}
      data-turn={turn.purpose}
      line={
        <>
          <Data text={cut(turn.model, 120)} cls="tool" />
          <span class="tags">
            <Tag text={PURPOSES[turn.purpose]} />
          </span>
          {reply && <Data text={cut(reply.calls.join(', ') || reply.text, 240)} cls="sum" />}
        </>
      }
      took={
        reply ? (
          <>
            {`${count(reply.tokensIn)} + ${count(reply.tokensOut)} tokens`}
            {reply.cost && `, ${reply.cost}`}, {time(reply.micros)}
          </>
        ) : (
          'no reply'
        )
      }
      lines={[
        reply?.text && reply.calls.length > 0 && (
          <li>
            <Long text={reply.text} most={400} />
          </li>
        ),
        reply?.problem && (
          <li class="bad">
            <Long text={reply.problem} most={400} />
          </li>
        ),
      ]}
      body={() => <TurnBody turn={turn} />}
    />
  );
}

function TurnBody({ turn }: { turn: Turn }): VNode {
  const { source } = useView();
  const { reply } = turn;
  const facts: Entry[] = turn.messages.map((message, nth) => [
    turn.messages.length > 1 ? `message ${nth + 1}` : 'was sent',
    exact(message),
  ]);
  facts.push([
    'rules, tools',
    <a href={source.address(turn.setup)} target="_blank" rel="noopener noreferrer">
      <Data text={turn.setup} cls="mono" />
    </a>,
    'plain',
  ]);
  if (reply) {
    if (reply.text) facts.push(['said', exact(reply.text)]);
    for (const call of reply.calls) facts.push(['asked for', exact(call)]);
    facts.push([
      'tokens',
      `${count(reply.tokensIn)} in, of which ${count(reply.tokensCached)} cached; ${count(reply.tokensOut)} out; ${reply.cost ?? 'cost unknown'}`,
      'plain',
    ]);
  }
  return (
    <>
      <Pairs entries={facts} />
      {turn.pictures.map(([file, kept]) => (
        <Picture
          key={file}
          taken={{ file, kept, screen: { width: 1, height: 1 }, isAttached: true }}
          caption="Sent to the model"
          touches={[]}
          box={{ width: 240, height: 240 }}
        />
      ))}
    </>
  );
}

// ---- Tools.

/** Whether a call did not do what it was asked for. */
export function isWrong(call: Call): boolean {
  const { outcome, fault } = call.answer ?? {};
  return Boolean(fault || (outcome && variantOf(outcome) !== 'success'));
}

/** What is said below a call: its waits and notes, what went wrong, and what it attached. */
export function linesOf(call: Call): ComponentChildren[] {
  const outcome = call.answer?.outcome;
  const fault = call.answer?.fault;
  const variant = outcome ? variantOf(outcome) : '';
  const lines: ComponentChildren[] = call.waits.map((wait, nth) => (
    <li key={`wait ${nth}`} class={wait.met ? '' : 'bad'}>
      {`waited ${time(wait.micros)} for `}
      <Said text={cut(wait.what, 300)} />
      {wait.met ? ': met' : ': gave up'}
      {wait.saw && (
        <>
          , saw <Said text={cut(wait.saw, 300)} />
        </>
      )}
    </li>
  ));
  lines.push(...call.notes.filter((note) => note.level !== 'debug').map((note, nth) => <NoteLine key={`note ${nth}`} note={note} />));
  if (isWrong(call))
    lines.push(
      <li class="bad">
        <span class="level">{fault ? `fault, ${EXITS[fault.exit][1].toLowerCase()}` : VARIANTS[variant] || variant}</span>
        <Long text={fault ? fault.message : (outcome?.text ?? '')} most={400} />
      </li>,
    );
  lines.push(...(outcome?.attachments ?? []).map((attached, nth) => <AttachmentLine key={`file ${nth}`} attached={attached} />));
  return lines;
}

export function CallBox({ call }: { call: Call }): VNode {
  const sum = call.args.map(([name, value]) => `${name}: ${cut(value.replace(/\s+/g, ' '), 80)}`).join(', ');
  const lines = linesOf(call);
  return (
    <Opener
      cls={'call' + (isWrong(call) ? ' bad' : '')}
      depth={call.depth}
      data-call={call.id}
      line={
        <>
          <Data text={cut(call.tool, 120)} cls="tool" />
          {ORIGINS[call.origin] && (
            <span class="tags">
              <Tag text={call.origin} title={ORIGINS[call.origin]} />
            </span>
          )}
          {call.judgedBy && (
            <span class="tags">
              <Tag text="judged by a model" title={call.judgedBy} />
            </span>
          )}
          {sum && <Data text={cut(sum, 240)} cls="sum" />}
        </>
      }
      took={!call.answer ? 'no answer' : time(call.micros ?? 0)}
      lines={lines}
      body={() => <CallBody call={call} />}
    />
  );
}

export function AttachmentLine({ attached }: { attached: Attachment }): VNode {
  const { source } = useView();
  const { kept, file } = attached;
  const name = <Data text={cut(attached.name, 120)} />;
  const mime = (
    <span class="faint">
      {' '}
      <Data text={cut(attached.mime, 60)} />
    </span>
  );
  if (!kept || file == null)
    return (
      <li>
        attached {name}
        {mime}, not stored
      </li>
    );
  if (typeof kept === 'object' && kept.missing !== undefined)
    return (
      <li class="warning">
        attached {name}
        {mime}, but <Data text={cut(file, 120)} cls="mono" />
        {` ${kept.missing}`}
      </li>
    );
  const isPicture = kept !== 'nextToPage' || /\.(png|jpe?g|gif|webp|avif|bmp)$/i.test(file);
  if (!isPicture)
    return (
      <li>
        attached{' '}
        <a href={source.address(file)} target="_blank" rel="noopener noreferrer">
          {name}
        </a>
        {mime}
      </li>
    );
  // Its size is not known, so it is fitted into a square.
  return (
    <li>
      attached {name}
      {mime}
      <Picture
        taken={{ file, kept, screen: { width: 1, height: 1 }, isAttached: true }}
        caption={attached.name}
        touches={[]}
        box={{ width: 160, height: 160 }}
      />
    </li>
  );
}

export function CallBody({ call }: { call: Call }): VNode {
  const outcome = call.answer?.outcome;
  const facts: Entry[] = [
    ['offered by', <Data text={call.source} />, 'plain'],
    ['kind', call.kind + (call.isRecordable ? '' : ', not recorded') + (call.isDelegating ? ', delegating' : ''), 'plain'],
  ];
  for (const touch of call.touches)
    facts.push([
      'touched',
      <span>
        <Said text={cut(touch.what, 300)} />
        {touch.point ? ` at ${touch.point.x}, ${touch.point.y}` : ''}
      </span>,
      'plain',
    ]);
  for (const note of call.notes) if (note.level === 'debug') facts.push(['debug', <Long text={note.text} />, 'plain']);
  if (outcome) {
    if (variantOf(outcome) === 'success' && outcome.text) facts.push(['answered', <Long text={outcome.text} />, 'plain']);
    if (typeof outcome.variant !== 'string')
      facts.push(['missing', <Data text={outcome.variant.missingRequiredArgs.missing.join(', ')} />]);
    if (outcome.structured != null) facts.push(['structured', exact(outcome.structured)]);
    for (const [tool, args] of outcome.delegates)
      facts.push(['delegated to', exact(`${tool} ${args.map(([name, value]) => `${name}: ${value}`).join(', ')}`)]);
    for (const [name, value] of outcome.remembered) facts.push(['remembered', exact(`${name} = ${value}`)]);
    for (const name of outcome.forgotten) facts.push(['forgot', <Data text={name} />]);
  }
  return (
    <>
      {call.args.length > 0 && <Pairs entries={call.args.map(([name, value]) => [name, exact(value)])} />}
      <Pairs entries={facts} />
    </>
  );
}
