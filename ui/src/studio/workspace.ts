/** The workspace: followed by the first page, read once by others. */
import { follow, type Status } from '../api/client.ts';
import { store } from '../shared/store.ts';
import { api, done, known, route, say, trouble } from './app.ts';
import { rerunNews } from './reruns.ts';

export const workspaceStatus = store<Status>('connecting');

/** Follows the workspace. Returns a function that ends it. */
export function watchWorkspace(): () => void {
  return follow(
    (signal) => api.watchWorkspace({}, signal),
    (workspace) => {
      const [view, shown] = route.value.path;
      for (const { text, isBad } of rerunNews(known.value, workspace, view === 'run' ? shown : '')) say(text, isBad ? 'error' : 'done');
      known.set(workspace);
    },
    (status) => {
      if (typeof status === 'object') trouble(status);
      workspaceStatus.set(status);
    },
  );
}

/** Reads the workspace once: browsers allow few connections, and other pages need theirs for what they show. */
export async function readWorkspace(): Promise<void> {
  const asked = new AbortController();
  try {
    for await (const workspace of api.watchWorkspace({}, asked.signal)) {
      known.set(workspace);
      return;
    }
  } catch (thrown) {
    trouble(thrown);
  } finally {
    asked.abort();
  }
}

/** Runs trails again on changes, or none. Shown at once; the daemon's answer comes later. */
export async function rerunOnChange(trails: string[], devices: string[]): Promise<void> {
  const before = known.value;
  if (before) known.set({ ...before, reruns: trails });
  const success = trails.length ? 'The trails run now, and again when a file changes.' : 'The trails do not run again on changes.';
  if (!(await done(api.rerunOnChange({ trails, devices }), success)) && before) known.set({ ...known.value!, reruns: before.reruns });
}
