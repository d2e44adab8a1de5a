/** What a run in progress is doing: for each device the step that it is at, and the newest picture. */
import type { VNode } from 'preact';
import { Data, Said } from '../shared/text.tsx';
import { cut, plural, time } from '../shared/words.ts';
import { useDetail } from './attempt.tsx';
import type { Attempt, Detail, Picture as Taken } from '../generated/data.ts';
import { Picture } from './pictures.tsx';
import { useView } from './view.ts';

const MOST = 12;

export function Now(): VNode | null {
  const { run, isLive } = useView();
  const running = run.attempts.filter((attempt) => attempt.state === 'unfinished');
  if (!isLive || !running.length) return null;
  return (
    <section class="part">
      <h2>
        Now<span class="n">{plural(running.length, 'trail')}</span>
      </h2>
      <ul class="now">
        {running.slice(0, MOST).map((attempt) => (
          <Card key={attempt.lane} attempt={attempt} />
        ))}
      </ul>
    </section>
  );
}

function Card({ attempt }: { attempt: Attempt }): VNode {
  const { run, link } = useView();
  const detail = useDetail(attempt);
  const step = detail?.steps.at(-1);
  const taken = detail && newest(detail);
  const lane = run.lanes[attempt.lane]!;
  const size = taken?.screen ?? lane.sessions[0]?.device.size ?? { width: 9, height: 16 };
  return (
    <li class="now-card">
      {taken ? (
        <Picture taken={taken} caption={`${lane.name} now`} touches={[]} box={{ width: 200, height: 220 }} />
      ) : (
        <div class="now-blank" style={{ aspectRatio: `${size.width} / ${size.height}` }} />
      )}
      <div class="now-words">
        <p class="label">
          <Data text={lane.name} /> · {time(attempt.micros)}
        </p>
        <h3>
          <a href={link(attempt)}>
            <Data text={cut(attempt.name, 120)} />
          </a>
        </h3>
        {step && (
          <p>
            <Said text={cut(step.text, 160)} />
          </p>
        )}
      </div>
    </li>
  );
}

function newest(detail: Detail): Taken | undefined {
  for (const step of [...detail.steps].reverse()) {
    const own = step.pictures.filter((taken) => taken.moment !== 'before');
    const taken = own.at(-1) ?? step.calls.flatMap((call) => call.pictures).at(-1) ?? step.pictures.at(-1);
    if (taken) return taken;
  }
  return undefined;
}
