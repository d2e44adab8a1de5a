/** What failed: each failure as a card, and those that are alike as one. */
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Data, Long, State } from '../shared/text.tsx';
import { count, cut, plural, time } from '../shared/words.ts';
import type { Attempt, AttemptState } from '../generated/data.ts';
import { Picture } from './pictures.tsx';
import { KINDS, useView } from './view.ts';

const AT_ONCE = 30;
const ALIKE: Partial<Record<AttemptState, string>> = {
  failed: 'failed alike',
  errored: 'errored alike',
  invalid: 'were invalid alike',
  bug: 'met the same bug',
  unfinished: 'did not finish',
  cancelled: 'were cancelled alike',
};

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
          <State name={first!.state} text={`${plural(places.length, 'trail')} ${ALIKE[first!.state]}`} />
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

export function FailureCard({ attempt, withTitle, above, below, onStep }: CardProps): VNode {
  const { link } = useView();
  const trouble = attempt.trouble!;
  const message = trouble.message || (attempt.state === 'unfinished' ? 'The run ended before this attempt did.' : '');
  return (
    <article class={`failure ${attempt.state}`}>
      {above}
      <div>
        {withTitle && (
          <>
            <div class="top">
              <State name={attempt.state} />
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
        {trouble.step != null && (
          <div class={withTitle ? 'stepline' : ''}>
            <div class="label">
              {[trouble.stepKind && KINDS[trouble.stepKind], trouble.stepNumber].filter((part) => part != null).join(' ')}
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
        {message && <Long text={message} cls="message" />}
        {(trouble.expected != null || trouble.saw != null) && (
          <dl class="versus">
            {trouble.expected != null && (
              <div class="expected">
                <dt class="label">Expected</dt>
                <dd>
                  <Long text={trouble.expected} />
                </dd>
              </div>
            )}
            {trouble.saw != null && (
              <div class="saw">
                <dt class="label">Saw</dt>
                <dd>
                  <Long text={trouble.saw} />
                </dd>
              </div>
            )}
          </dl>
        )}
      </div>
      {withTitle && trouble.picture && (
        <Picture
          taken={trouble.picture}
          caption={trouble.picture.moment === 'failure' ? 'At failure' : 'Last picture'}
          touches={[]}
          box={{ width: 240, height: 240 }}
        />
      )}
      {below}
    </article>
  );
}
