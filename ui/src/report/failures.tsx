/** What failed: each failure as a card, and those that are alike as one. */
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { CopyButton } from '../shared/copy.tsx';
import { Data, Long, Said, State } from '../shared/text.tsx';
import { count, cut, plural, time, visible } from '../shared/words.ts';
import { useDetail } from './attempt.tsx';
import { compare, type Compared, type Part } from './difference.ts';
import { alikeWords, attemptsOf, formOf, messageOf, softFailures, type CardForm } from './forms.ts';
import type { Attempt, Trouble } from '../generated/data.ts';
import { Picture } from './pictures.tsx';
import { KINDS, useView } from './view.ts';

const AT_ONCE = 30;
export function Failures({ title, groups }: { title: string; groups: number[][] }): VNode | null {
  const { run, isLive } = useView();
  const [shown, setShown] = useState(AT_ONCE);
  // What is in progress has not failed.
  const real = isLive ? groups.filter(([first]) => run.attempts[first!]?.state !== 'unfinished') : groups;
  if (!real.length) return null;
  const total = real.reduce((sum, group) => sum + group.length, 0);
  return (
    <section class="part">
      <h2>
        {title}
        <span class="n">
          {count(total)}
          {real.length < total && (real.length === 1 ? ', all alike' : `, of ${real.length} kinds`)}
        </span>
      </h2>
      <div>
        {real.slice(0, shown).map((places) => (
          <Group key={run.attempts[places[0]!]!.id} places={places} />
        ))}
      </div>
      {real.length > shown && (
        <button class="more" type="button" onClick={() => setShown(shown + AT_ONCE)}>
          Show {count(Math.min(AT_ONCE, real.length - shown))} more
        </button>
      )}
    </section>
  );
}

/** Attempts that failed alike: the first in full, the others by name. */
function Group({ places }: { places: number[] }): VNode {
  const { run, link } = useView();
  const [first, ...rest] = places.map((place) => run.attempts[place]!);
  const [most, setMost] = useState(rest.length > 6 ? 5 : 6);
  if (!rest.length) return <FailureCard attempt={first!} withTitle />;
  return (
    <FailureCard
      attempt={first!}
      withTitle
      above={
        <p class="alike">
          <State name={first!.state} text={alikeWords([first!, ...rest])} />
        </p>
      }
      below={
        <div class="others">
          <p class="label">Alike</p>
          <ul>
            {rest.slice(0, most).map((attempt) => (
              <li key={attempt.id}>
                <a href={link(attempt)}>
                  <Data text={cut(attempt.name, 200)} />
                </a>
                <span class="faint">
                  {' '}
                  <Where attempt={attempt} />
                </span>
              </li>
            ))}
          </ul>
          {rest.length > most && (
            <button class="link" type="button" onClick={() => setMost(rest.length)}>
              and {count(rest.length - most)} more
            </button>
          )}
        </div>
      }
    />
  );
}

function Where({ attempt }: { attempt: Attempt }): VNode {
  const { run } = useView();
  return (
    <>
      <Data text={run.lanes[attempt.lane]!.name} />
      {attempt.number > 1 && `, attempt ${attempt.number}`}
      {`, after ${time(attempt.micros)}`}
    </>
  );
}

interface CardProps {
  attempt: Attempt;
  withTitle?: boolean;
  above?: ComponentChildren;
  below?: ComponentChildren;
  /** Goes to the step that failed. */
  onStep?: (() => void) | undefined;
}

const FORMS: Partial<Record<CardForm, string>> = { flaky: 'Flaky', healed: 'Healed', retried: 'Retried' };

/** Why an attempt did not pass. What was flaky or healed does not look like a failure, because the trail passed. */
export function FailureCard({ attempt, withTitle, above, below, onStep }: CardProps): VNode {
  const { run, link } = useView();
  const trouble = attempt.trouble!;
  const { form, passed } = formOf(attempt, run.attempts);
  const message = messageOf(attempt) || (attempt.state === 'unfinished' ? 'The run ended before this attempt did.' : '');
  return (
    <article class={`failure ${attempt.state} form-${form}`}>
      {above}
      <div class="words">
        {withTitle && (
          <>
            <div class="top">
              <State name={attempt.state} text={FORMS[form] ?? ''} />
              <h3>
                <a href={link(attempt)}>
                  <Data text={cut(attempt.name, 200)} />
                </a>
              </h3>
            </div>
            <p class="where">
              <Where attempt={attempt} />
            </p>
          </>
        )}
        {passed && (
          <p class="later">
            {`Attempt ${attempt.number} ${attempt.state === 'failed' ? 'failed' : `ended as ${attempt.state}`}. `}
            {form === 'healed' ? 'Calls of the trail were repaired, and ' : 'Without a change, '}
            <a href={link(passed)}>{`attempt ${passed.number}`}</a> passed.
          </p>
        )}
        {form === 'healed' && <Repairs attempt={attempt} />}
        {trouble.step != null && (
          <div class="stepline">
            <div class="label">
              {stepWords(trouble)}
              {onStep && (
                <>
                  {' '}
                  <button class="link" type="button" onClick={onStep}>
                    go to it
                  </button>
                </>
              )}
            </div>
            <Long text={trouble.step} most={300} />
          </div>
        )}
        <Message text={message} />
        <Versus trouble={trouble} />
        <JustBefore lines={trouble.justBefore ?? []} />
        <Written trouble={trouble} />
        <Commands commands={trouble.commands ?? []} />
      </div>
      {trouble.picture && (
        <Picture
          taken={trouble.picture}
          caption={trouble.picture.moment === 'failure' ? 'At failure' : 'Last picture'}
          touches={[]}
          box={{ width: 560, height: 460 }}
        />
      )}
      {below}
    </article>
  );
}

const stepWords = (trouble: Trouble): string =>
  [trouble.stepKind && KINDS[trouble.stepKind], trouble.stepNumber].filter((part) => part != null).join(' ');

function Message({ text }: { text: string }): VNode | null {
  const soft = softFailures(text);
  if (!soft) return text ? <Long text={text} cls="message" /> : null;
  return (
    <>
      {soft.own !== null && <Long text={soft.own} cls="message" />}
      <p class="label">
        {soft.own === null
          ? `${plural(soft.checks.length, 'check')} failed, and the trail went on to its end`
          : `Also failed, without ending the trail`}
      </p>
      <ol class="soft">
        {soft.checks.map((check, nth) => (
          <li key={nth}>
            <Long text={check} most={400} />
          </li>
        ))}
      </ol>
    </>
  );
}

function sawWords(compared: Compared | null): string {
  if (compared?.kind === 'nearest') return 'Was there instead, the nearest first';
  if (compared?.kind !== 'none') return 'Was there instead';
  return compared.saw.some((candidate) => candidate.parts.some((part) => part.isDifferent)) || compared.saw.length > 1
    ? 'Was not there; the nearest'
    : 'Was there instead';
}

function Versus({ trouble }: { trouble: Trouble }): VNode | null {
  const { expected, saw } = trouble;
  if (expected == null && saw == null) return null;
  const compared = expected != null && saw != null && saw.length < 4000 && expected.length < 4000 ? compare(expected, saw) : null;
  return (
    <dl class="versus">
      {expected != null && (
        <div class="expected">
          <dt class="label">Expected</dt>
          <dd>{compared ? <Marked parts={compared.expected} /> : <Long text={expected} />}</dd>
        </div>
      )}
      {saw != null && (
        <div class="saw">
          <dt class="label">{sawWords(compared)}</dt>
          <dd>
            {!compared ? (
              <Long text={saw} />
            ) : compared.saw.length === 1 ? (
              <Marked parts={compared.saw[0]!.parts} />
            ) : (
              <ul class="candidates">
                {compared.saw.map((candidate, nth) => (
                  <li key={nth} class={candidate.isNearest ? 'nearest' : ''}>
                    <Marked parts={candidate.parts} />
                  </li>
                ))}
              </ul>
            )}
          </dd>
        </div>
      )}
    </dl>
  );
}

/** A text with the parts marked in which it differs. */
function Marked({ parts }: { parts: Part[] }): VNode {
  const text = parts.map((part) => part.text).join('');
  if (!parts.some((part) => part.isDifferent)) return <Long text={text} />;
  return (
    <div class="block" dir="auto">
      {parts.map((part, nth) => (part.isDifferent ? <mark key={nth}>{visible(part.text)}</mark> : visible(part.text)))}
    </div>
  );
}

function JustBefore({ lines }: { lines: string[] }): VNode | null {
  if (!lines.length) return null;
  return (
    <div class="just-before">
      <p class="label">Just before</p>
      <ul>
        {lines.map((line, nth) => (
          <li key={nth}>
            <Said text={cut(line, 400)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Where the step is written, and how. */
function Written({ trouble }: { trouble: Trouble }): VNode | null {
  const { place, excerpt } = trouble;
  if (!place && !excerpt) return null;
  const marked = Number(/:(\d+)(?::\d+)?$/.exec(place ?? '')?.[1]);
  return (
    <div class="written">
      {place && (
        <p class="place">
          <Data text={place} cls="mono" /> <CopyButton text={place} what="the place" />
        </p>
      )}
      {excerpt && <TrailExcerpt first={excerpt.line} text={excerpt.text} marked={marked} />}
    </div>
  );
}

/** Lines of a file with their numbers. */
export function TrailExcerpt({ first, text, marked }: { first: number; text: string; marked: number }): VNode {
  return (
    <ol class="lines" tabIndex={0} aria-label="Lines of the trail" style={{ '--first': String(first - 1) }}>
      {text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, nth) => (
          <li key={nth} class={first + nth === marked ? 'marked' : ''} aria-current={first + nth === marked ? 'true' : undefined}>
            <code>{visible(line) || ' '}</code>
          </li>
        ))}
    </ol>
  );
}

function Commands({ commands }: { commands: string[] }): VNode | null {
  if (!commands.length) return null;
  return (
    <div class="commands">
      <p class="label">{commands.length === 1 ? 'Next command' : 'Next commands'}</p>
      <ul>
        {commands.map((command) => (
          <li key={command}>
            <code class="data">{visible(command)}</code>
            <CopyButton text={command} what="the command" />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The calls that were repaired in an attempt. */
function Repairs({ attempt }: { attempt: Attempt }): VNode | null {
  const detail = useDetail(attempt);
  const repaired = detail?.steps.flatMap((step) => step.heals ?? []).filter((heal) => heal.result === 'healed') ?? [];
  if (!repaired.length) return null;
  return (
    <ul class="repairs">
      {repaired.map((heal, nth) => (
        <li key={nth}>
          <div>
            <span class="label">Before</span> <Data text={cut(heal.from, 300)} cls="mono" />
          </div>
          <div>
            <span class="label">After</span> <Data text={cut(heal.suggestions[0]?.call ?? '', 300)} cls="mono" />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Says of an attempt that passed after others did not what became of those. */
export function PassedLate({ attempt }: { attempt: Attempt }): VNode | null {
  const { run, link } = useView();
  const before = attemptsOf(attempt, run.attempts).filter((other) => other.number < attempt.number && other.trouble);
  if (!before.length || (attempt.standing !== 'flaky' && attempt.standing !== 'healed')) return null;
  return (
    <article class={`failure passed form-${attempt.standing}`}>
      <div class="words">
        <p class="later">
          {attempt.standing === 'healed'
            ? 'Passed with repaired calls of the trail. Before that:'
            : 'Passed without a change of the trail. Before that:'}
        </p>
        <ul class="before">
          {before.map((other) => (
            <li key={other.id}>
              <a href={link(other)}>{`Attempt ${other.number}`}</a> <Said text={cut(messageOf(other), 400)} />
              {attempt.standing === 'healed' && <Repairs attempt={other} />}
            </li>
          ))}
        </ul>
      </div>
    </article>
  );
}
