/** Saving the steps as a trail, and what comes after it. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { SavedTrail } from '../../generated/messages.ts';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { api, ask, go, href, known, openInEditor, say } from '../app.ts';
import { Dialog } from '../dialog.tsx';
import type { Session } from './state.ts';

export function Save({ of, onClose }: { of: Session; onClose: () => void }): VNode {
  const steps = use(of.steps);
  const [path, setPath] = useState(steps?.savedAs || 'trails/new.trail.yaml');
  const [title, setTitle] = useState('');
  const [asked, setAsked] = useState<SavedTrail | undefined>(undefined);
  const [saved, setSaved] = useState<SavedTrail | undefined>(undefined);
  const [isSaving, setSaving] = useState(false);

  const save = async (merge: string) => {
    setSaving(true);
    const answer = await ask(api.saveTrail({ session: of.name, path: path.trim(), title: title.trim(), merge }));
    setSaving(false);
    if (!answer) return;
    if (answer.exists) setAsked(answer);
    else setSaved(answer);
  };
  if (saved) return <Saved saved={saved} onClose={onClose} />;
  return (
    <Dialog title="Save as trail" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save('');
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
            <button type="submit" class="button primary" disabled={isSaving || !path.trim()}>
              Save
            </button>
          </div>
        )}
      </form>
    </Dialog>
  );
}

function Saved({ saved, onClose }: { saved: SavedTrail; onClose: () => void }): VNode {
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
