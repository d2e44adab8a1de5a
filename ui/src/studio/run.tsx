/** A run: its report, while it runs and after. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { follow, type Status } from '../api/client.ts';
import { RpcError } from '../api/connect.ts';
import type { RunUpdate } from '../generated/messages.ts';
import type { Attempt, Detail, Run } from '../generated/data.ts';
import { Report } from '../report/report.tsx';
import { loadFromServer, readSheet } from '../report/trace/load.ts';
import { headline } from '../report/verdict.ts';
import { isBad, type Source } from '../report/view.ts';
import { use } from '../shared/store.ts';
import { Data, Tag } from '../shared/text.tsx';
import { pathOf } from '../shared/words.ts';
import { api, ask, done, go, href, known, route, say, trouble, workspaceName } from './app.ts';
import { Icon } from './icons.tsx';
import { rerunWords } from './reruns.ts';
import { readWorkspace, rerunOnChange, watchWorkspace } from './workspace.ts';

export function RunPage({ id }: { id: string }): VNode {
  const [{ update, version }, setUpdate] = useState<{ update?: RunUpdate; version: number }>({ version: 0 });
  const [status, setStatus] = useState<Status>('connecting');
  const { params } = use(route);
  const traced = params.get('trace');
  const current = traced ?? params.get('attempt');
  const box = useRef<HTMLElement>(null);
  const source = useMemo(() => daemon(id), [id]);
  useEffect(
    () =>
      follow(
        (signal) => api.watchRun({ run: id }, signal),
        (next) => setUpdate((old) => ({ update: next, version: old.version + 1 })),
        (now) => {
          if (now instanceof RpcError) trouble(now);
          setStatus(now);
        },
        (next) => next.isOver,
      ),
    [id],
  );
  // Whether there are reruns on change, and which devices exist.
  const isOver = update?.isOver ?? false;
  useEffect(() => {
    void readWorkspace();
  }, [id, isOver]);
  // Then the next run is only known by following them.
  const isWaiting = (use(known)?.reruns.length ?? 0) > 0 && isOver;
  useEffect(() => (isWaiting ? watchWorkspace() : undefined), [isWaiting]);
  useEnd(update);
  const run = useGrowing(update?.run as Run | null | undefined, update !== undefined && !update.isOver);
  const problem = update?.problem || (status instanceof RpcError ? status.message : '');
  if (problem)
    return (
      <main id="main" tabIndex={-1} class="center">
        <h1>The run cannot be shown.</h1>
        <p>
          <Data text={problem} />
        </p>
        <p>
          <a href={href([])}>All runs</a>
        </p>
      </main>
    );
  if (!update || !run)
    return (
      <main id="main" tabIndex={-1} class="center">
        <p role="status">{update ? 'The run is starting…' : 'Loading…'}</p>
        {update && !update.isOver && <Bar id={id} update={update} run={undefined} status={status} />}
      </main>
    );
  const link = (attempt: Attempt | null) => href(['run', id], attempt ? { attempt: attempt.id } : {});
  return (
    <section class="run-page" ref={box}>
      <Bar id={id} update={update} run={run} status={status} />
      <Report
        run={run}
        source={source}
        isLive={!update.isOver}
        version={version}
        link={link}
        traceLink={(attempt) => href(['run', id], { trace: attempt.id })}
        current={current}
        isTrace={traced !== null}
        title={`Run ${id}`}
        scroller={() => box.current!}
      />
    </section>
  );
}

/** Announces the end of a run that was seen running. */
function useEnd(update: RunUpdate | undefined): void {
  const wasLive = useRef(false);
  useEffect(() => {
    const run = update?.run as Run | null | undefined;
    if (update?.isOver && wasLive.current && run) say(`The run ended: ${headline(run, false)}`, run.exit === 'passed' ? 'done' : 'error');
    wasLive.current = update !== undefined && !update.isOver;
  }, [update?.isOver]);
}

/** A run in progress, whose times go on between two updates. */
function useGrowing(run: Run | null | undefined, isLive: boolean): Run | null | undefined {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isLive]);
  return useMemo(() => {
    const started = Date.parse(run?.startedAt ?? '');
    if (!run || !isLive || isNaN(started)) return run;
    const more = Math.max(0, (now - started) * 1000 - run.micros);
    return {
      ...run,
      micros: run.micros + more,
      attempts: run.attempts.map((attempt) => (attempt.state === 'unfinished' ? { ...attempt, micros: attempt.micros + more } : attempt)),
    };
  }, [run, isLive, now]);
}

/** The details and files of a run, from the daemon. */
function daemon(id: string): Source {
  const address = (file: string) => `/studio/runs/${encodeURIComponent(workspaceName())}/${encodeURIComponent(id)}/${pathOf(file)}`;
  return {
    attempt: async (place) => (await api.getAttempt({ run: id, attempt: place })).attempt as Detail,
    picture: async (file) => address(file),
    tree: async (file) => {
      const response = await fetch(address(file), { credentials: 'same-origin' });
      return response.ok ? response.text() : `${file} cannot be read.`;
    },
    trace: (_, { file, kept }) =>
      typeof kept === 'object' && kept.missing !== undefined
        ? Promise.reject(new Error(`${file} ${kept.missing}`))
        : loadFromServer(address(file)),
    sheet: (file) => readSheet(address(file)),
    address,
  };
}

function Bar({ id, update, run, status }: { id: string; update: RunUpdate; run: Run | undefined; status: Status }): VNode {
  const workspace = use(known);
  const listed = workspace?.runs.find((one) => one.id === id);
  const all = listed?.trails.length ? listed.trails : [...new Set(run?.attempts.map((attempt) => attempt.trail.path) ?? [])];
  const rerun = listed ? rerunWords(listed, workspace!.runs) : '';
  const failed = [
    ...new Set(
      run?.attempts.filter((attempt) => isBad(attempt.state) && attempt.standing !== 'retried').map((attempt) => attempt.trail.path) ?? [],
    ),
  ];
  const devices = run?.lanes.map((lane) => lane.name).filter((name) => workspace?.devices.some((device) => device.id === name)) ?? [];
  const isWatching = (workspace?.reruns.length ?? 0) > 0;
  const newest = workspace?.runs[0];
  const isSuperseded = update.isOver && newest?.rerun === 'change' && newest.id > id;
  const start = async (trails: string[]) => {
    const started = await ask(api.startRun({ trails, devices, rerunOf: id }));
    if (started?.problem) return say(started.problem, 'error');
    if (!started) return;
    say(trails === failed ? `The failed trails run again: ${failed.length}` : 'All trails run again.', 'done');
    go(['run', started.run]);
  };
  return (
    <section class="run-bar" aria-label="Run">
      {update.isOver ? (
        <>
          <button type="button" class="button" disabled={!all.length} onClick={() => void start(all)}>
            <Icon name="play" /> Rerun all
          </button>
          <button type="button" class="button" disabled={!failed.length} onClick={() => void start(failed)}>
            <Icon name="play" /> Rerun failed{failed.length > 0 && ` (${failed.length})`}
          </button>
        </>
      ) : (
        <button
          type="button"
          class="button danger"
          disabled={!update.isStoppable}
          title={update.isStoppable ? undefined : 'It runs in another process: stop it there'}
          onClick={() => void done(api.stopRun({ run: id }))}
        >
          <Icon name="stop" /> Stop
        </button>
      )}
      <label class="switch">
        <input
          type="checkbox"
          checked={isWatching}
          disabled={!all.length}
          onChange={(event) => void rerunOnChange(event.currentTarget.checked ? all : [], devices)}
        />{' '}
        Rerun on change
      </label>
      {rerun && <Tag text={rerun} />}
      {isSuperseded && <a href={href(['run', newest.id])}>Show the newer run</a>}
      <span class="grow" />
      <span class="small faint" role="status">
        {status === 'connecting' ? 'Reconnecting…' : update.isOver ? '' : 'Live'}
      </span>
      {update.report && (
        <a class="button" href={update.report} target="_blank" rel="noopener noreferrer">
          Report
        </a>
      )}
    </section>
  );
}
