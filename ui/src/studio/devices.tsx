/** The devices of a project, and the sessions that are open on them. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Workspace, WorkspaceDevice, WorkspaceSession } from '../generated/messages.ts';
import { Data } from '../shared/text.tsx';
import { cut, plural } from '../shared/words.ts';
import { api, done, href } from './app.ts';
import { PlatformIcon } from './icons.tsx';
import { openSession } from './session/page.tsx';

export function Devices({ workspace }: { workspace: Workspace }): VNode {
  // On devices that are gone, or that the project does not list any more.
  const lost = workspace.sessions.filter((session) => !workspace.devices.some((device) => device.id === session.device));
  return (
    <section class="card" aria-labelledby="devices-title">
      <header class="card-head">
        <h2 id="devices-title">Devices</h2>
        <span class="n">{workspace.devices.length}</span>
      </header>
      {!workspace.devices.length && <p class="empty">The project has no devices.</p>}
      <ul class="devices">
        {workspace.devices.map((device) => (
          <Device key={device.id} device={device} workspace={workspace} />
        ))}
        {lost.map((session) => (
          <li key={session.name} class="device-row">
            <PlatformIcon platform={session.platform} />
            <div class="grow">
              <div class="device-name">
                <Data text={session.device} />
              </div>
              <SessionRow session={session} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SessionRow({ session }: { session: WorkspaceSession }): VNode {
  const about = session.lost ? cut(session.lost, 100) : `${plural(session.steps, 'step')}, open for ${age(session.ageSeconds)}`;
  return (
    <div class="session-row">
      <span class={`dot ${session.lost ? 'lost' : 'live'}`} aria-hidden="true" />
      <a href={href(['session', session.name])}>
        <Data text={session.name} />
      </a>
      <Data text={about} cls="faint small" />
      <button
        type="button"
        class="link small"
        aria-label={`End session ${session.name}`}
        onClick={() => void done(api.closeSession({ session: session.name }))}
      >
        end
      </button>
    </div>
  );
}

function Device({ device, workspace }: { device: WorkspaceDevice; workspace: Workspace }): VNode {
  const [isOpening, setOpening] = useState(false);
  const open = async (more: { headed?: boolean; takeOver?: boolean } = {}) => {
    setOpening(true);
    await openSession({ device: device.id, ...more });
    setOpening(false);
  };
  const sessions = workspace.sessions.filter((session) => session.device === device.id);
  // A session of another project or terminal, which this page does not list.
  const others = device.sessions.filter((name) => !sessions.some((session) => session.name === name));
  return (
    <li class="device-row">
      <PlatformIcon platform={device.platform} />
      <div class="grow">
        <div class="device-name">
          <Data text={device.id} />
        </div>
        <div class="faint small">
          <Data text={device.summary} />
          {device.width > 0 && ` · ${device.width} × ${device.height}`}
        </div>
        {sessions.map((session) => (
          <SessionRow key={session.name} session={session} />
        ))}
        {others.length > 0 && (
          <div class="session-row faint small">
            in use by <Data text={others.join(', ')} />{' '}
            <button type="button" class="link small" aria-label={`Take over ${device.id}`} onClick={() => void open({ takeOver: true })}>
              take over
            </button>
          </div>
        )}
      </div>
      <div class="device-actions">
        {sessions.length ? (
          <a class="button" href={href(['session', sessions[0]!.name])} aria-label={`Continue on ${device.id}`}>
            Continue
          </a>
        ) : (
          <button type="button" class="button primary" disabled={isOpening} aria-label={`Open ${device.id}`} onClick={() => void open()}>
            {isOpening ? 'Opening…' : 'Open'}
          </button>
        )}
        {device.platform === 'web' && !sessions.length && (
          <button
            type="button"
            class="button"
            disabled={isOpening}
            title="Show the browser’s window, and record what you do in it"
            aria-label={`Open ${device.id} with its window`}
            onClick={() => void open({ headed: true })}
          >
            With window
          </button>
        )}
      </div>
    </li>
  );
}

function age(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  return seconds < 3600 ? plural(Math.floor(seconds / 60), 'minute') : plural(Math.floor(seconds / 3600), 'hour');
}
