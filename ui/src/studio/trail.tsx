/** The text of a trail. A file that changed on disk is never overwritten. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { TrailText } from '../generated/messages.ts';
import { Data, Said } from '../shared/text.tsx';
import { api, ask, go, href, openInEditor, say } from './app.ts';

export function TrailPage({ path }: { path: string }): VNode {
  const [read, setRead] = useState<TrailText | undefined>(undefined);
  const [isGone, setGone] = useState(false);
  const [text, setText] = useState('');
  const [problems, setProblems] = useState<string[]>([]);
  /** What is on disk, if it is not what was read. */
  const [other, setOther] = useState<TrailText | undefined>(undefined);

  const load = async () => {
    const answer = await ask(api.readTrail({ path }));
    if (!answer) return setGone(true);
    setRead(answer);
    setText(answer.text);
    setProblems(answer.problems);
    setOther(undefined);
  };
  useEffect(() => {
    void load();
    document.title = `${path} – Trailblaze`;
  }, [path]);
  const isChanged = read !== undefined && text !== read.text;
  useEffect(() => {
    if (!isChanged) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);

  const write = async (digest: string) => {
    const answer = await ask(api.writeTrail({ path, text, digest }));
    if (!answer) return;
    setProblems(answer.problems);
    if (!answer.isRefused) {
      setRead({ ...answer, text });
      setOther(undefined);
      say('Saved', 'done');
    } else if (answer.digest !== digest) {
      setOther(answer);
    }
  };
  const run = async () => {
    const started = await ask(api.startRun({ trails: [path] }));
    if (started?.problem) say(started.problem, 'error');
    else if (started) go(['run', started.run]);
  };
  if (isGone)
    return (
      <main id="main" tabIndex={-1} class="center">
        <h1>The trail cannot be read.</h1>
        <p>
          <a href={href([])}>All trails</a>
        </p>
      </main>
    );
  if (!read)
    return (
      <main id="main" tabIndex={-1} class="center">
        <p role="status">Loading…</p>
      </main>
    );
  return (
    <main id="main" tabIndex={-1} class="trail-page">
      <header class="bar-row wrap">
        <h1 class="grow mono">
          <Data text={path} />
        </h1>
        <button type="button" class="button" onClick={() => void run()} disabled={isChanged}>
          Run
        </button>
        <button type="button" class="button" onClick={() => void openInEditor(path)}>
          Open in the editor
        </button>
        <button type="button" class="button primary" disabled={!isChanged || Boolean(other)} onClick={() => void write(read.digest)}>
          Save
        </button>
      </header>
      {problems.length > 0 && (
        <ul class="note problem-list" role="alert">
          {problems.map((problem, nth) => (
            <li key={nth}>
              <Said text={problem} />
            </li>
          ))}
        </ul>
      )}
      {other && (
        <div class="note" role="alert">
          <p>
            <strong>The file changed on disk. Nothing was written.</strong> What is there now is shown beside your text.
          </p>
          <div class="bar-row wrap">
            <button
              type="button"
              class="button"
              onClick={() => {
                setText(other.text);
                setRead(other);
                setOther(undefined);
              }}
            >
              Take what is on disk
            </button>
            <button type="button" class="button danger" onClick={() => void write(other.digest)}>
              Write mine over it
            </button>
          </div>
        </div>
      )}
      <div class={other ? 'texts two' : 'texts'}>
        <textarea
          class="mono editor"
          aria-label={`Text of ${path}`}
          value={text}
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if ((event.ctrlKey || event.metaKey) && event.key === 's') {
              event.preventDefault();
              if (isChanged && !other) void write(read.digest);
            }
          }}
        />
        {other && <textarea class="mono editor" aria-label="Text on disk" value={other.text} readOnly spellcheck={false} />}
      </div>
    </main>
  );
}
