/** All attempts of a run: what failed, when each ran, and a list that can be searched. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Data, Long, Said, State, Tag } from '../shared/text.tsx';
import { count, cut, plural, time, visible } from '../shared/words.ts';
import { Failures } from './failures.tsx';
import { category, type Wanted } from './filters.ts';
import { byForm, countEqual, formOf } from './forms.ts';
import type { Attempt, Note, Server } from '../generated/data.ts';
import { Now } from './now.tsx';
import { STATES } from './verdict.ts';
import { useView } from './view.ts';

const ROWS = 200;
export const HEALED = 'Passed after the previous attempt repaired calls of the trail';

export function Overview({ listed, wanted, onWanted }: ListProps): VNode {
  const { run } = useView();
  const retried = useMemo(() => byForm(run.retried, run.attempts), [run]);
  const shown = useMemo(() => new Set(listed), [listed]);
  const isFiltered = listed.length !== run.attempts.length;
  // What is flaky or healed is shown with the attempt that passed.
  const isAmong = (place: number) => {
    const attempt = run.attempts[place]!;
    const { passed } = formOf(attempt, run.attempts);
    return shown.has(attempt) || (passed !== null && shown.has(passed));
  };
  const among = (groups: number[][]) =>
    isFiltered ? groups.map((group) => group.filter(isAmong)).filter((group) => group.length) : groups;
  const isSevere = (note: Note) => note.level === 'warning' || note.level === 'error';
  // They come first if nothing failed: they may say why the run was refused.
  const problems = <Notes title="About the run" notes={run.notes.filter(isSevere)} />;
  return (
    <>
      {run.failures.length === 0 && problems}
      <Now />
      {run.attempts.length > 1 && <Tools wanted={wanted} onWanted={onWanted} />}
      <Failures title="Failures" groups={among(run.failures)} />
      <Failures title="Healed" groups={among(retried.healed)} />
      <Failures title="Flaky" groups={among(retried.flaky)} />
      <Failures title="Retried" groups={among(retried.retried)} />
      {run.failures.length > 0 && problems}
      <Timeline listed={isFiltered ? shown : null} />
      <List listed={listed} wanted={wanted} />
      {run.servers.length > 0 && (
        <section class="part servers">
          <h2>
            Tool servers<span class="n">{count(run.servers.length)}</span>
          </h2>
          <ul>
            {run.servers.map((server, nth) => (
              <ServerItem key={nth} server={server} />
            ))}
          </ul>
        </section>
      )}
      <Notes title="Notes" notes={run.notes.filter((note) => !isSevere(note))} />
      <p class="foot">
        {run.command && <span class="mono data">{visible(cut(run.command, 300))}</span>}
        <span>
          Press <kbd>?</kbd> for keys
        </span>
      </p>
    </>
  );
}

/** How many notes are shown at once. */
const SHOWN = 20;

function Notes({ title, notes }: { title: string; notes: Note[] }): VNode | null {
  const counted = useMemo(() => countEqual(notes), [notes]);
  if (!notes.length) return null;
  const lines = (part: [Note, number][]) => (
    <ul class="said-lines">
      {part.map(([note, times], nth) => (
        <NoteLine key={nth} note={note} times={times} />
      ))}
    </ul>
  );
  return (
    <section class="part">
      <h2>
        {title}
        <span class="n">{count(notes.length)}</span>
      </h2>
      {lines(counted.slice(0, SHOWN))}
      {counted.length > SHOWN && (
        <details>
          <summary>{count(counted.length - SHOWN)} more</summary>
          {lines(counted.slice(SHOWN))}
        </details>
      )}
    </section>
  );
}

export function NoteLine({ note, times = 1 }: { note: Note; times?: number }): VNode {
  return (
    <li class={note.level}>
      {note.level !== 'info' && <span class="level">{note.level}</span>}
      <Long text={note.text} most={400} />
      {times > 1 && <span class="faint"> ×{count(times)}</span>}
    </li>
  );
}

/** A tool server, and the end of its stderr. */
function ServerItem({ server }: { server: Server }): VNode {
  return (
    <li class="server">
      <p>
        <strong class="data">{visible(server.name)}</strong>
        <span class="soft">
          {' '}
          for {server.device == null ? 'all devices' : <Data text={server.device} />}, MCP <Data text={server.protocol} />
        </span>
        <span class="soft">
          {server.ended == null ? (
            ', how it ended is unknown'
          ) : (
            <>
              : <Data text={cut(server.ended.split('\n')[0]!, 300)} />
            </>
          )}
        </span>
      </p>
      {server.tail ? (
        <details>
          <summary>stderr</summary>
          <pre class="pre">{visible(server.tail)}</pre>
          <p class="soft mono data">{visible(server.log)}</p>
        </details>
      ) : (
        <p class="soft">It wrote nothing to stderr.</p>
      )}
    </li>
  );
}

// ---- The timeline.

const UNITS = [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 9e8, 18e8, 36e8, 72e8];

function Timeline({ listed }: { listed: ReadonlySet<Attempt> | null }): VNode {
  const { run, link, isLive } = useView();
  const whole = run.attempts.reduce((most, attempt) => Math.max(most, attempt.at + attempt.micros), Math.max(1, run.micros));
  const unit = UNITS.find((step) => whole / step <= 8) || whole / 6;
  const ticks: number[] = [];
  for (let at = 0; at <= whole; at += unit) ticks.push(at);
  const left = (at: number) => `${(at / whole) * 100}%`;
  const bar = (attempt: Attempt) => {
    const state = isLive && attempt.state === 'unfinished' ? 'running' : attempt.state;
    const text = visible(
      `${cut(attempt.name, 120)}: ${attempt.standing === 'retried' ? `${state}, retried` : state}, ${time(attempt.micros)}`,
    );
    return (
      <a
        key={attempt.id}
        class={`span ${attempt.state} ${attempt.standing}${attempt.micros / whole < 0.008 ? ' thin' : ''}${listed && !listed.has(attempt) ? ' is-other' : ''}`}
        href={link(attempt)}
        tabIndex={-1}
        title={text}
        aria-label={text}
        style={{ left: left(attempt.at), width: left(attempt.micros) }}
      />
    );
  };
  return (
    <section class="part">
      <h2>Timeline</h2>
      <div class="timeline">
        <div class="lane ruler" aria-hidden="true">
          <span class="name" />
          <div class="track">
            {ticks.map((at) => (
              <span key={at} class={'tick' + (at / whole > 0.95 ? ' last' : '')} style={{ left: left(at) }}>
                {at ? time(at).replace('.0 s', ' s').replace(' 00 s', '') : '0'}
              </span>
            ))}
          </div>
        </div>
        {run.lanes.map((lane, nth) => (
          <div key={nth} class="lane" role="group" aria-label={visible(lane.name)}>
            <span class="name data" title={visible(lane.name)}>
              {visible(lane.name)}
            </span>
            <div class="track">
              {ticks.map((at) => (
                <span key={`tick ${at}`} class="rule" style={{ left: left(at) }} />
              ))}
              {run.attempts.filter((attempt) => attempt.lane === nth).map(bar)}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}

// ---- The list.

interface ListProps {
  listed: Attempt[];
  wanted: Wanted;
  onWanted: (wanted: Wanted) => void;
}

/** The filters of the whole page. */
function Tools({ wanted, onWanted }: Pick<ListProps, 'wanted' | 'onWanted'>): VNode {
  const { run, isLive } = useView();
  const { attempts } = run;
  const nameOf = (state: string) => (isLive && state === 'unfinished' ? 'Running' : state[0]!.toUpperCase() + state.slice(1));
  const tags = useMemo(() => [...new Set(attempts.flatMap((attempt) => attempt.trail.tags || []))].sort(), [attempts]);
  const totals: Record<string, number> = {};
  for (const attempt of attempts) totals[category(attempt)] = (totals[category(attempt)] || 0) + 1;
  totals['flaky'] = run.counts.flaky;
  totals['healed'] = run.counts.healed;
  const chip = (value: string, name: string, n: number) => (
    <button
      key={value}
      class={'chip' + ((STATES as string[]).includes(value) ? ` ${value}` : '')}
      type="button"
      value={value}
      aria-pressed={wanted.state === value}
      onClick={() => onWanted({ ...wanted, state: wanted.state === value ? '' : value })}
    >
      {name}
      <b>{count(n)}</b>
    </button>
  );
  const select = (name: string, all: string, options: [value: string, text: string][], key: 'lane' | 'tag') => (
    <select aria-label={name} value={wanted[key]} onChange={(event) => onWanted({ ...wanted, [key]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {visible(cut(text, 60))}
        </option>
      ))}
    </select>
  );
  return (
    <div class="tools">
      <input
        type="search"
        id="search"
        placeholder="Search trails, paths, messages"
        aria-label="Search attempts"
        autocomplete="off"
        spellcheck={false}
        value={wanted.text}
        onInput={(event) => onWanted({ ...wanted, text: event.currentTarget.value })}
      />
      {run.lanes.length > 1 &&
        select(
          'Device',
          'All devices',
          run.lanes.map((lane, nth) => [String(nth), lane.name]),
          'lane',
        )}
      {tags.length > 0 &&
        select(
          'Tag',
          'All tags',
          tags.map((name) => [name, name]),
          'tag',
        )}
      <div class="chips" role="group" aria-label="State">
        {chip('', 'All', attempts.length)}
        {[...STATES, 'flaky', 'healed', 'retried'].map((name) => (totals[name] ? chip(name, nameOf(name), totals[name]) : null))}
      </div>
    </div>
  );
}

function List({ listed, wanted }: Pick<ListProps, 'listed' | 'wanted'>): VNode {
  const { run } = useView();
  const isFiltered = listed.length !== run.attempts.length;
  return (
    <section class="part">
      <h2>
        Attempts<span class="n">{isFiltered ? `${count(listed.length)} of ${count(run.attempts.length)}` : count(listed.length)}</span>
      </h2>
      <Rows listed={listed} wanted={wanted} />
      <p id="spoken" class="unseen" role="status">
        {plural(listed.length, 'attempt')}
      </p>
    </section>
  );
}

/** The first rows immediately, the others when the page is idle. */
function Rows({ listed, wanted }: { listed: Attempt[]; wanted: Wanted }): VNode {
  const { run } = useView();
  const [most, setMost] = useState(ROWS);
  useEffect(() => setMost(ROWS), [wanted]);
  useEffect(() => {
    if (most >= listed.length) return undefined;
    const more = () => setMost(most + ROWS);
    if (!('requestIdleCallback' in window)) {
      const timer = setTimeout(more, 16);
      return () => clearTimeout(timer);
    }
    const idle = requestIdleCallback(more, { timeout: 200 });
    return () => cancelIdleCallback(idle);
  }, [most, listed.length]);
  return (
    <ul class="rows">
      {!listed.length && <li class="none">{run.attempts.length ? 'No attempt matches.' : 'No attempt was made.'}</li>}
      {listed.slice(0, most).map((attempt) => (
        <Row key={attempt.id} attempt={attempt} />
      ))}
    </ul>
  );
}

function Row({ attempt }: { attempt: Attempt }): VNode {
  const { run, link, isLive } = useView();
  const { trouble } = attempt;
  const why = trouble ? trouble.message || attempt.message : attempt.state === 'skipped' ? attempt.message : '';
  return (
    <li>
      <a href={link(attempt)} class={`${attempt.state} ${attempt.standing}`}>
        <State name={attempt.state} text={isLive && attempt.state === 'unfinished' ? 'Running' : ''} />
        <div class="what">
          <div>
            <Data text={cut(attempt.name, 200)} cls="title" />
            <Standing attempt={attempt} />
            {attempt.repeat && <Tag text={`repeat ${attempt.repeat}`} />}
            {attempt.number > 1 && <Tag text={`attempt ${attempt.number}`} />}
            {(attempt.trail.tags || []).slice(0, 4).map((name) => (
              <Tag key={name} text={cut(name, 24)} />
            ))}
          </div>
          <div class="sub">
            <Data text={attempt.trail.path} />
            {why && (
              <>
                {' '}
                · <Said text={cut(why, 200)} cls="why" />
              </>
            )}
          </div>
        </div>
        <span class="device data">{visible(run.lanes[attempt.lane]!.name)}</span>
        <span class="took">{time(attempt.micros)}</span>
      </a>
    </li>
  );
}

export function Standing({ attempt }: { attempt: Attempt }): VNode | null {
  if (attempt.standing === 'flaky') return <Tag text="flaky" title="Passed where an earlier attempt did not" cls="warn" />;
  if (attempt.standing === 'healed') return <Tag text="healed" title={HEALED} cls="warn" />;
  return attempt.standing === 'retried' ? <Tag text="retried" title="The trail was retried" /> : null;
}
