/** The trace of an attempt: all that was seen and said while it ran. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Data, rich, State } from '../../shared/text.tsx';
import { cut, time, visible } from '../../shared/words.ts';
import type { Attempt, Detail } from '../../generated/data.ts';
import { useDetail } from '../attempt.tsx';
import { formOf } from '../forms.ts';
import { useView } from '../view.ts';
import { documentsOf, TraceContext, type TraceView as Shared } from './context.ts';
import type { TraceData } from './data.ts';
import { decodeDocuments } from './decode.ts';
import { Film } from './film.tsx';
import { List } from './list.tsx';
import { modelOf } from './model.ts';
import { Panel } from './panel.tsx';
import { Stage } from './stage.tsx';
import { traceControl } from './state.ts';

export function TraceView({ attempt }: { attempt: Attempt }): VNode {
  const { source, link, run, isLive } = useView();
  const detail = useDetail(attempt);
  const [read, setRead] = useState<{ data: TraceData | null; problem: string } | null>(null);
  const trace = detail?.trace ?? null;
  useEffect(() => {
    if (!detail) return undefined;
    let isCurrent = true;
    const isKept = trace === null ? Promise.resolve(null) : source.trace(attempt.id, trace);
    isKept.then(
      (data) => isCurrent && setRead({ data, problem: '' }),
      (error: unknown) => isCurrent && setRead({ data: null, problem: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [detail !== undefined, trace?.file]);
  const isRunning = isLive && attempt.state === 'unfinished';
  const form = attempt.trouble ? formOf(attempt, run.attempts).form : null;
  return (
    <div class="trace" id="trace" data-shown={read ? attempt.id : undefined}>
      <header class="trace-head">
        <a href={link(attempt)} class="back">
          Report
        </a>
        <h1 tabIndex={-1} id="attempt-title">
          <Data text={cut(attempt.name, 200)} />
        </h1>
        <State name={attempt.state} text={form === 'flaky' || form === 'healed' ? `${attempt.state}, then passed` : ''} />
        <span class="faint">
          {visible(run.lanes[attempt.lane]?.name ?? '')}, {time(attempt.micros)}
          {attempt.number > 1 && `, attempt ${attempt.number}`}
        </span>
      </header>
      {read?.problem && (
        <p class="trace-problem" role="alert">
          The trace cannot be shown: {visible(cut(read.problem, 400))}. Steps, calls and the pictures of the report are below.
        </p>
      )}
      {read && !read.problem && trace === null && (
        <p class="trace-problem">
          {isRunning
            ? 'The trace is there when the attempt has ended. Below is what is known so far.'
            : rich('No trace of this attempt was kept; `run --trace on` keeps those of all attempts. Below is what the report has.')}
        </p>
      )}
      {detail && read ? (
        <Content key={attempt.id} attempt={attempt} detail={detail} data={read.data} />
      ) : (
        <p class="stage-nothing">Loading…</p>
      )}
    </div>
  );
}

function Content({ attempt, detail, data }: { attempt: Attempt; detail: Detail; data: TraceData | null }): VNode {
  const { run } = useView();
  const shared = useMemo((): Shared => {
    const model = modelOf(attempt, detail, data, Date.parse(run.startedAt ?? ''));
    const nodes = decodeDocuments(data?.documents ?? []);
    const roots = (data?.documents ?? []).map((document) => document.root ?? 0);
    return { attempt, detail, control: traceControl(model, detail.failingStep), documentAt: documentsOf(nodes, roots) };
  }, [attempt.id, data]);
  return (
    <TraceContext.Provider value={shared}>
      <Film />
      <div class="trace-body">
        <List />
        <Stage />
        <Panel />
      </div>
    </TraceContext.Provider>
  );
}
