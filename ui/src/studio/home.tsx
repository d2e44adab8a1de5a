/** The first page: devices, sessions, trails and runs of a project. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Workspace, WorkspaceRun } from '../generated/messages.ts';
import { use } from '../shared/store.ts';
import { Data, Said, State, Tag } from '../shared/text.tsx';
import { count, cut, plural } from '../shared/words.ts';
import { api, ask, done, go, href, isFresh, known, opened, route, say } from './app.ts';
import { Devices } from './devices.tsx';
import { Icon } from './icons.tsx';
import { rerunWords, startOf } from './reruns.ts';
import { openSession } from './session/page.tsx';
import { matching, pathsIn, tree, type Folder } from './trails.ts';
import { rerunOnChange, watchWorkspace, workspaceStatus } from './workspace.ts';

export function Home(): VNode {
  const workspace = use(known);
  const status = use(workspaceStatus);
  useEffect(watchWorkspace, []);
  useEffect(() => {
    document.title = workspace ? `${workspace.name} – Trailblaze` : 'Trailblaze';
  }, [workspace?.name]);
  // The page was opened for a device: its session is what the user came for.
  useEffect(() => {
    if (!workspace?.device || !isFresh) return;
    opened();
    void openSession({ device: workspace.device });
  }, [workspace?.device]);
  if (!workspace)
    return (
      <main id="main" tabIndex={-1} class="center">
        {typeof status === 'object' ? (
          <>
            <h1>The project cannot be shown.</h1>
            <p>
              <Data text={status.message} />
            </p>
          </>
        ) : (
          <p role="status">Connecting…</p>
        )}
      </main>
    );
  return (
    <main id="main" tabIndex={-1} class="first-page">
      <h1 class="unseen">{workspace.name}</h1>
      {workspace.problem && (
        <p class="banner invalid" role="alert">
          <strong>Something is wrong with the project’s files. </strong>
          <Said text={workspace.problem} cls="block" />
        </p>
      )}
      <Trails workspace={workspace} />
      <div class="side">
        <Devices workspace={workspace} />
        <Runs workspace={workspace} />
      </div>
    </main>
  );
}

// ---- Trails.

/** The state of a trail that cannot be read; its title is the reason. */
const UNREADABLE = 'unreadable';

function Trails({ workspace }: { workspace: Workspace }): VNode {
  const { params } = route.value;
  const [text, setText] = useState(params.get('search') ?? '');
  const [tag, setTag] = useState(params.get('tag') ?? '');
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set(params.get('trails')?.split(',').filter(Boolean) ?? []));
  const [devices, setDevices] = useState<ReadonlySet<string>>(new Set(params.get('devices')?.split(',').filter(Boolean) ?? []));
  const [isStarting, setStarting] = useState(false);
  const { trails } = workspace;
  const tags = useMemo(() => [...new Set(trails.flatMap((trail) => trail.tags))].sort(), [trails]);
  const shown = useMemo(() => matching(trails, text, tag), [trails, text, tag]);
  const runnable = shown.filter((trail) => trail.last !== UNREADABLE);
  const root = useMemo(() => tree(shown), [shown]);
  // Only what can be seen is run, so that a filter never hides what will happen.
  const wanted = runnable.map((trail) => trail.path).filter((path) => picked.has(path));
  const isWatching = workspace.reruns.length > 0;
  const chosen = wanted.length ? wanted : runnable.map((trail) => trail.path);

  const toggle = (paths: string[], on: boolean) => {
    const next = new Set(picked);
    for (const path of paths)
      if (on) next.add(path);
      else next.delete(path);
    setPicked(next);
  };
  const run = async () => {
    setStarting(true);
    const started = await ask(api.startRun({ trails: chosen.length === trails.length ? [] : chosen, devices: [...devices] }));
    setStarting(false);
    if (started?.problem) say(started.problem, 'error');
    else if (started) go(['run', started.run]);
  };
  return (
    <section class="card trails" aria-labelledby="trails-title">
      <header class="card-head">
        <h2 id="trails-title">Trails</h2>
        <span class="n">{count(trails.length)}</span>
        <span class="grow" />
        <label class="switch">
          <input
            type="checkbox"
            checked={isWatching}
            onChange={(event) => void rerunOnChange(event.currentTarget.checked ? chosen : [], [...devices])}
          />{' '}
          Rerun on change
        </label>
        <button type="button" class="button primary" disabled={isStarting || !chosen.length} onClick={() => void run()}>
          <Icon name="play" />{' '}
          {wanted.length ? `Run ${count(wanted.length)}` : shown.length < trails.length ? `Run ${count(shown.length)} shown` : 'Run all'}
        </button>
      </header>
      <div class="filters">
        <input
          type="search"
          value={text}
          placeholder="Search titles, paths and tags"
          aria-label="Search trails"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {tags.length > 0 && (
          <select aria-label="Tag" value={tag} onChange={(event) => setTag(event.currentTarget.value)}>
            <option value="">All tags</option>
            {tags.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      {workspace.devices.length > 1 && (
        <fieldset class="run-on">
          <legend>Run on</legend>
          <label>
            <input type="radio" name="run-on" checked={!devices.size} onChange={() => setDevices(new Set())} /> the trails’ own devices
          </label>
          <label>
            <input
              type="radio"
              name="run-on"
              checked={devices.size === workspace.devices.length}
              onChange={() => setDevices(new Set(workspace.devices.map((device) => device.id)))}
            />{' '}
            all
          </label>
          {workspace.devices.map((device) => (
            <label key={device.id}>
              <input
                type="checkbox"
                checked={devices.has(device.id)}
                onChange={(event) => {
                  const next = new Set(devices);
                  if (event.currentTarget.checked) next.add(device.id);
                  else next.delete(device.id);
                  setDevices(next);
                }}
              />{' '}
              <Data text={device.id} />
            </label>
          ))}
        </fieldset>
      )}
      {!shown.length && (
        <p class="empty">{trails.length ? 'No trail matches.' : 'The project has no trails yet. Open a device and record one.'}</p>
      )}
      <FolderRows folder={root} picked={picked} onToggle={toggle} />
    </section>
  );
}

function FolderRows({
  folder,
  picked,
  onToggle,
}: {
  folder: Folder;
  picked: ReadonlySet<string>;
  onToggle: (paths: string[], on: boolean) => void;
}): VNode {
  const [isOpen, setOpen] = useState(true);
  const paths = pathsIn(folder);
  const n = paths.filter((path) => picked.has(path)).length;
  const inner = (
    <ul class="trail-list">
      {folder.folders.map((one) => (
        <li key={one.path}>
          <FolderRows folder={one} picked={picked} onToggle={onToggle} />
        </li>
      ))}
      {folder.trails.map((trail) => (
        <li key={trail.path} class="trail-row">
          <input
            type="checkbox"
            disabled={trail.last === UNREADABLE}
            aria-label={`Select ${trail.path}`}
            checked={picked.has(trail.path)}
            onChange={(event) => onToggle([trail.path], event.currentTarget.checked)}
          />
          <a class="grow" href={href(['trail', ...trail.path.split('/')])}>
            <span class="trail-title">
              <Data text={trail.title || trail.path} />
            </span>{' '}
            <Data text={trail.path.split('/').at(-1)} cls="faint small" />
          </a>
          {trail.tags.slice(0, 3).map((name) => (
            <Tag key={name} text={cut(name, 20)} />
          ))}
          {trail.last !== UNREADABLE && <span class="faint small steps-n">{plural(trail.steps, 'step')}</span>}
          {trail.last === UNREADABLE ? (
            <span class="state errored">Cannot be read</span>
          ) : trail.last ? (
            <State name={trail.last === 'environment' ? 'errored' : trail.last} />
          ) : (
            <span class="state never">Never ran</span>
          )}
        </li>
      ))}
    </ul>
  );
  if (!folder.name) return inner;
  return (
    <div class="folder">
      <div class="folder-head">
        <input
          type="checkbox"
          aria-label={`Select all in ${folder.path}`}
          checked={n === paths.length}
          ref={(node) => {
            if (node) node.indeterminate = n > 0 && n < paths.length;
          }}
          onChange={(event) => onToggle(paths, event.currentTarget.checked)}
        />
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="folder" /> <Data text={folder.name} /> <span class="faint small">{count(paths.length)}</span>
        </button>
      </div>
      {isOpen && inner}
    </div>
  );
}

// ---- Runs.

const RUN_STATES: Record<string, string> = { environment: 'errored', running: 'unfinished' };

function Runs({ workspace }: { workspace: Workspace }): VNode {
  const [most, setMost] = useState(12);
  return (
    <section class="card" aria-labelledby="runs-title" id="runs">
      <header class="card-head">
        <h2 id="runs-title">Runs</h2>
        <span class="n">{count(workspace.runs.length)}</span>
      </header>
      {!workspace.runs.length && <p class="empty">No run yet.</p>}
      {workspace.runs.length > 0 && (
        <ul class="runs">
          {workspace.runs.slice(0, most).map((run) => (
            <Run key={run.id} run={run} all={workspace.runs} />
          ))}
        </ul>
      )}
      {workspace.runs.length > most && (
        <button type="button" class="link pad" onClick={() => setMost(most + 50)}>
          Show more
        </button>
      )}
    </section>
  );
}

function Run({ run, all }: { run: WorkspaceRun; all: WorkspaceRun[] }): VNode {
  const rerun = rerunWords(run, all);
  const isRunning = run.state === 'running';
  const names = run.trails.map((path) =>
    path
      .split('/')
      .at(-1)!
      .replace(/\.trail\.yaml$/, ''),
  );
  return (
    <li class={`run-row ${isRunning ? 'is-running' : ''}`}>
      <a href={href(['run', run.id])}>
        <State name={RUN_STATES[run.state] ?? run.state} text={isRunning ? 'Running' : run.state === 'environment' ? 'Environment' : ''} />
        <span class="grow">
          <Data text={isRunning ? run.totals.replace('unfinished', 'running') : run.totals || plural(run.trails.length, 'trail')} />{' '}
          {rerun && <Tag text={rerun} />}
          <span class="faint small run-names">
            <Data text={cut(names.join(', '), 80)} />
          </span>
        </span>
        <time class="faint small" dateTime={run.startedAt}>
          {startOf(run)}
        </time>
      </a>
      {run.isStoppable && isRunning && (
        <button type="button" class="button" aria-label={`Stop run ${run.id}`} onClick={() => void done(api.stopRun({ run: run.id }))}>
          Stop
        </button>
      )}
    </li>
  );
}
