/** Saving the steps as a trail, and what comes after it. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Run } from '../../generated/data.ts';
import type { SavedTrail } from '../../generated/messages.ts';
import { isBad } from '../../report/view.ts';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { api, ask, go, href, known, openInEditor, say, trouble } from '../app.ts';
import { Dialog } from '../dialog.tsx';
import type { Session } from './state.ts';

export function Save({ of, onClose }: { of: Session; onClose: () => void }): VNode {
  const steps = use(of.steps);
  const [path, setPath] = useState(steps?.savedAs || 'trails/new.trail.yaml');
  const [title, setTitle] = useState('');
  const [asked, setAsked] = useState<SavedTrail | undefined>(undefined);
  const [saved, setSaved] = useState<SavedTrail | undefined>(undefined);
  const [isSaving, setSaving] = useState(false);
  // Whether the trail is to be replayed once it is saved.
  const [isChecked, setChecked] = useState(false);

  const save = async (merge: string, check = isChecked) => {
    setChecked(check);
    setSaving(true);
    const answer = await ask(api.saveTrail({ session: of.name, path: path.trim(), title: title.trim(), merge }));
    setSaving(false);
    if (!answer) return;
    if (answer.exists) setAsked(answer);
    else setSaved(answer);
  };
  if (saved) return <Saved of={of} saved={saved} isChecked={isChecked} onClose={onClose} />;
  return (
    <Dialog title="Save as trail" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save('', false);
        }}
      >
        <div class="field">
          <label for="save-path">File</label>
          <input
            id="save-path"
            autofocus
            type="text"
            value={path}
            required
            spellcheck={false}
            autocomplete="off"
            aria-describedby="save-path-help"
            onInput={(event) => {
              setPath(event.currentTarget.value);
              setAsked(undefined);
            }}
          />
          <p id="save-path-help" class="help">
            Relative to the project; ends in <code>.trail.yaml</code>
          </p>
        </div>
        <div class="field">
          <label for="save-title">Title</label>
          <input
            id="save-title"
            type="text"
            value={title}
            placeholder="What the trail shows"
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
        </div>
        {asked && (
          <div class="note" role="alert">
            <p>
              <Data text={asked.text || `${asked.path} exists.`} />
            </p>
            <div class="bar-row">
              <button type="button" class="button" disabled={isSaving} onClick={() => void save('append')}>
                Append to it
              </button>
              <button type="button" class="button danger" disabled={isSaving} onClick={() => void save('replace')}>
                Replace it
              </button>
            </div>
          </div>
        )}
        {!asked && (
          <div class="bar-row">
            <span class="grow" />
            <button
              type="button"
              class="button"
              title="Replay it once, from its start. That repeats what you did"
              disabled={isSaving || !path.trim()}
              onClick={() => void save('', true)}
            >
              Save and check
            </button>
            <button type="submit" class="button primary" disabled={isSaving || !path.trim()}>
              Save
            </button>
          </div>
        )}
      </form>
    </Dialog>
  );
}

interface SavedProps {
  of: Session;
  saved: SavedTrail;
  isChecked: boolean;
  onClose: () => void;
}

function Saved({ of, saved, isChecked, onClose }: SavedProps): VNode {
  const devices = use(known)?.devices ?? [];
  const run = async (device: string) => {
    const started = await ask(api.startRun({ trails: [saved.path], devices: [device] }));
    if (started?.problem) say(started.problem, 'error');
    else if (started) go(['run', started.run]);
  };
  return (
    <Dialog title="Saved" onClose={onClose}>
      <p>
        <Data text={saved.text || `Wrote ${saved.path}.`} />
      </p>
      {isChecked && <Check of={of} path={saved.path} />}
      <div class="bar-row wrap">
        <a class="button" href={href(['trail', ...saved.path.split('/')])}>
          Show the text
        </a>
        <button type="button" class="button" onClick={() => void openInEditor(saved.path)}>
          Open in the editor
        </button>
      </div>
      {devices.length > 0 && (
        <>
          <h3 class="label">Run on</h3>
          <div class="bar-row wrap">
            {devices.map((device) => (
              <button key={device.id} type="button" class="button" onClick={() => void run(device.id)}>
                {device.id}
              </button>
            ))}
          </div>
        </>
      )}
    </Dialog>
  );
}

/** Replays a trail that was saved, and says which step does not hold. */
function Check({ of, path }: { of: Session; path: string }): VNode {
  const [state, setState] = useState<{ run?: string; isOver: boolean; problem: string }>({ isOver: false, problem: '' });
  const device = use(known)?.sessions.find((session) => session.name === of.name)?.device;
  useEffect(() => {
    if (!device) return undefined;
    const stop = new AbortController();
    void (async () => {
      const started = await ask(api.startRun({ trails: [path], devices: [device] }));
      if (!started || started.problem) return setState({ isOver: true, problem: started?.problem || 'It could not be replayed.' });
      setState({ run: started.run, isOver: false, problem: '' });
      try {
        for await (const update of api.watchRun({ run: started.run }, stop.signal)) {
          const run = update.run as Run | null | undefined;
          const failed = run?.attempts.find((attempt) => isBad(attempt.state));
          if (update.isOver)
            setState({ run: started.run, isOver: true, problem: update.problem || (failed ? failed.message || 'It failed.' : '') });
        }
      } catch (thrown) {
        if (!stop.signal.aborted) trouble(thrown);
      }
    })();
    return () => stop.abort();
  }, [device, path]);
  return (
    <div class="note" role="status">
      <p>
        {!state.isOver && 'Replaying it once…'}
        {state.isOver && !state.problem && 'It holds: all of its steps passed.'}
        {state.isOver && state.problem && (
          <>
            It did not hold: <Data text={state.problem.split('\n')[0]} />
          </>
        )}
      </p>
      {state.run && <a href={href(['run', state.run])}>Show the run</a>}
    </div>
  );
}
