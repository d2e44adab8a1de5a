/** The head of the report: how the run ended, and what it was. */
import type { VNode } from 'preact';
import { Data, Fact } from '../shared/text.tsx';
import { count, plural, time, visible } from '../shared/words.ts';
import type { AttemptState } from '../generated/data.ts';
import { exitOf, headline, STATES } from './verdict.ts';
import { useView } from './view.ts';

export function Head({ isSlim }: { isSlim: boolean }): VNode {
  const { run, isLive, link } = useView();
  const [state, name] = exitOf(run, isLive);
  const total = headline(run, isLive);
  return (
    <header id="head" class={isSlim ? 'slim' : undefined}>
      <div class="verdict-bar">
        <div class="wide verdict">
          <span class="label of-run">Run</span>
          <h1 class={state + (isLive ? ' is-live' : '')}>
            <a class="home" href={link(null)}>
              {name}
            </a>
          </h1>
          <p>{total}</p>
        </div>
      </div>
      <div class="wide about-run">
        <dl class="facts">
          <Fact name="Started">
            <Started at={run.startedAt} />
          </Fact>
          <Fact name="Duration">{time(run.micros)}</Fact>
          <Fact name={plural(run.lanes.length, 'device')}>
            {run.lanes.map((lane, nth) => {
              const device = lane.sessions[0]?.device;
              const title = device && `${device.driver}, ${device.size.width} × ${device.size.height}, ${device.classifiers.join(', ')}`;
              return [
                nth > 0 && ', ',
                <span key={nth} title={title} class="data">
                  {visible(lane.name)}
                </span>,
              ];
            })}
          </Fact>
          {run.seed != null && (
            <Fact name="Seed">
              <Data text={run.seed} cls="mono" />
            </Fact>
          )}
          <Fact name="Run">
            <Data text={run.run} cls="mono" />
          </Fact>
          {run.version != null && (
            <Fact name="Version">
              <Data text={run.version} />
            </Fact>
          )}
          {run.modelUse != null && <Fact name="Models">{run.modelUse}</Fact>}
          {run.code != null && <Fact name="Exit code">{String(run.code)}</Fact>}
        </dl>
        <div class="bar" role="img" aria-label={total}>
          {STATES.map((one) => run.counts[one] > 0 && <span key={one} class={one} style={{ flexGrow: String(run.counts[one]) }} />)}
        </div>
        <Banners />
      </div>
    </header>
  );
}

function Started({ at }: { at: string | null }): VNode {
  const started = new Date(at ?? NaN);
  if (at == null) return <>unknown</>;
  if (isNaN(started.getTime())) return <Data text={at} />;
  return (
    <time dateTime={at} title={at}>
      {started.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}
    </time>
  );
}

function Banners(): VNode {
  const { run, isLive } = useView();
  const lines: [number, string][] = [
    [run.torn, 'torn'],
    [run.unknown, 'unknown'],
    [run.stray, 'about something unknown'],
  ];
  const unread = lines.filter(([n]) => n);
  // A run that was killed or is in progress ends in the middle of a line; that it did not finish is already said.
  const isJustCut = !run.exit && run.torn === 1 && unread.length === 1;
  const begun = () => count(new Set(run.attempts.map((attempt) => attempt.trail.path + '\n' + attempt.trail.id)).size);
  return (
    <>
      {!run.exit && !isLive && (
        <div class="banner unfinished" role="note">
          <strong>This run did not finish. </strong>
          {`Its record stops after ${time(run.micros)}; whatever was in progress is shown as unfinished${run.trails != null ? `, and ${begun()} of ${plural(run.trails, 'trail')} had started.` : '.'}`}
        </div>
      )}
      {run.leakedProcesses > 0 && (
        <div class="banner failed" role="note">
          <strong>{plural(run.leakedProcesses, 'process', 'processes')} could not be killed. </strong>They were started for this run and may
          still be running.
        </div>
      )}
      {run.isNewer && (
        <div class="banner invalid" role="note">
          <strong>A newer Trailblaze wrote this run. </strong>This page may not show all of it.
        </div>
      )}
      {unread.length > 0 && !isJustCut && (
        <div class="banner invalid" role="note">
          <strong>Some lines of events.jsonl could not be used: </strong>
          {unread.map(([n, why]) => `${count(n)} ${why}`).join(', ')}.
        </div>
      )}
    </>
  );
}

/** Colours the icon of the page like the verdict. */
export function colourIcon(state: AttemptState): void {
  const probe = document.createElement('span');
  probe.className = 'state ' + state;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  const dot = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${colour}"/></svg>`;
  document.querySelector('link[rel=icon]')?.setAttribute('href', 'data:image/svg+xml,' + encodeURIComponent(dot));
}
