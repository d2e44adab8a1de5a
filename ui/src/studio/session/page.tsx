/** The work page: the live picture on one side; steps, tree, tools, memory and log on the other. */
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { cut, plural } from '../../shared/words.ts';
import { api, ask, done, go, href, known } from '../app.ts';
import { Banner } from '../banner.tsx';
import { Icon } from '../icons.tsx';
import { readWorkspace } from '../workspace.ts';
import { KeysMenu } from './keys.tsx';
import { Log, Memory } from './log.tsx';
import { Picture } from './picture.tsx';
import { Save } from './save.tsx';
import { act, call, described, platformOf, sendAgain, session, undo, watch, type Mode, type Session, type Tab } from './state.ts';
import { Steps } from './steps.tsx';
import { Tools } from './tools.tsx';
import { Tree } from './tree.tsx';

const MODES: [mode: Mode, name: string, icon: 'pointer' | 'check' | 'inspect', help: string][] = [
  ['act', 'Act', 'pointer', 'What you do on the picture is done on the device (1)'],
  ['assert', 'Assert', 'check', 'Click what should be true (2)'],
  ['inspect', 'Inspect', 'inspect', 'Click an element to see all about it (3)'],
];
const TABS: [tab: Tab, name: string][] = [
  ['steps', 'Steps'],
  ['tree', 'Tree'],
  ['tools', 'Tools'],
  ['memory', 'Memory'],
  ['log', 'Log'],
];

export function SessionPage({ name }: { name: string }): VNode {
  const of = useMemo(() => session(name), [name]);
  const [isSaving, setSaving] = useState(false);
  useEffect(() => watch(of), [of]);
  useEffect(() => {
    void readWorkspace();
  }, [name]);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => pageKeys(of, event, () => setSaving(true));
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, [of]);
  useEffect(() => {
    document.title = `${name} – Trailblaze`;
  }, [name]);
  const status = use(of.status);
  const { lost } = use(of.about);
  const device = useRef<string | undefined>(undefined);
  device.current = use(known)?.sessions.find((one) => one.name === name)?.device ?? device.current;
  const again = device.current && (
    <button type="button" class="button" title="Open the device again, with these steps" onClick={() => void reopen(of, device.current)}>
      Reopen
    </button>
  );
  if (typeof status === 'object' && !of.steps.value) {
    return (
      <main id="main" tabIndex={-1} class="center">
        <h1>This session is not open.</h1>
        <p>
          <Data text={status.message} />
        </p>
        <p>
          <a href={href([])}>All devices and sessions</a>
        </p>
      </main>
    );
  }
  return (
    <main id="main" tabIndex={-1} class="session">
      <h1 class="unseen">Session {name}</h1>
      <section class="left" aria-label="Device">
        <DeviceBar of={of} />
        <BrowserTabs of={of} />
        {typeof status === 'object' && (
          <Banner cls="lost-device" title="This session is not open any more.">
            <Data text={status.message} /> {again} <a href={href([])}>All devices and sessions</a>
          </Banner>
        )}
        {lost && (
          <Banner key={lost} cls="lost-device" title="The device cannot be used any more.">
            <Data text={lost} /> {again}
          </Banner>
        )}
        <Picture of={of} />
        <Foot of={of} />
      </section>
      <section class="right" aria-label="Recording">
        <Tabs of={of} />
        <Pane of={of} onSave={() => setSaving(true)} />
      </section>
      {isSaving && <Save of={of} onClose={() => setSaving(false)} />}
    </main>
  );
}

/** Fields in which people write: not checkboxes, for example. */
const TEXT_FIELDS = 'textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button])';

function pageKeys(of: Session, event: KeyboardEvent, onSave: () => void): void {
  const target = event.target as HTMLElement;
  if (event.defaultPrevented || target.closest('dialog')) return;
  const isPicture = target.matches('.key-field');
  const isField = !isPicture && target.matches(TEXT_FIELDS);
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    // A field has an undo of its own.
    if (key === 'z' && !isField) void undo(of, event.shiftKey);
    else if (key === 'y' && !isField) void undo(of, true);
    else if (key === 's' && of.steps.value?.steps.length) onSave();
    else return;
    event.preventDefault();
    return;
  }
  if (isField || event.altKey || (isPicture && of.mode.value === 'act')) return;
  const mode = MODES[Number(event.key) - 1];
  if (mode) of.mode.set(mode[0]);
}

function DeviceBar({ of }: { of: Session }): VNode {
  const mode = use(of.mode);
  const { app } = use(of.about);
  use(known);
  const [url, setUrl] = useState<string | undefined>(undefined);
  const isWeb = platformOf(of) === 'web';
  return (
    <div class="device-bar">
      <div class="modes" role="group" aria-label="Mode">
        {MODES.map(([value, name, icon, help]) => (
          <button key={value} type="button" aria-pressed={mode === value} title={help} onClick={() => of.mode.set(value)}>
            <Icon name={icon} /> {name}
          </button>
        ))}
      </div>
      <button type="button" class="icon-button" aria-label="Back" title="Back" onClick={() => void act(of, { action: 'back' })}>
        <Icon name="back" />
      </button>
      {!isWeb && (
        <button
          type="button"
          class="icon-button"
          aria-label="Home screen"
          title="Home screen"
          onClick={() => void act(of, { action: 'home' })}
        >
          <Icon name="home" />
        </button>
      )}
      {isWeb && (
        <button
          type="button"
          class="icon-button"
          aria-label="Reload"
          title="Reload"
          onClick={() => void call(of, 'web_navigate', { action: 'RELOAD' }, 'Reload the page')}
        >
          <Icon name="reload" />
        </button>
      )}
      <KeysMenu of={of} />
      {isWeb ? (
        <form
          class="grow"
          onSubmit={(event) => {
            event.preventDefault();
            if (url?.trim())
              void openUrl(of, withScheme(url.trim())).then((isDone) => {
                if (isDone) setUrl(undefined);
              });
          }}
        >
          <input
            class="url"
            type="text"
            inputMode="url"
            value={url ?? app}
            aria-label="Address"
            spellcheck={false}
            autocomplete="off"
            onInput={(event) => setUrl(event.currentTarget.value)}
            onFocus={(event) => event.currentTarget.select()}
            onKeyDown={(event) => {
              if (event.key === 'Escape') {
                setUrl(undefined);
                event.currentTarget.blur();
              }
            }}
          />
        </form>
      ) : (
        <Data text={cut(app, 80)} cls="app grow mono" />
      )}
      <SessionMenu of={of} />
    </div>
  );
}

/** The tabs of a browser, if it has several. */
function BrowserTabs({ of }: { of: Session }): VNode | null {
  const tabs = use(of.tabs);
  if (tabs.length < 2) return null;
  return (
    <div class="browser-tabs" role="group" aria-label="Tabs of the browser">
      {tabs.map(({ address, isFront }, index) => (
        <span key={index} class="browser-tab">
          <button
            type="button"
            aria-pressed={isFront}
            title={address}
            onClick={() => {
              if (!isFront) void call(of, 'web_tabs', { action: 'SELECT', index }, `Go to tab ${index + 1}`);
            }}
          >
            <Data text={cut(shortAddress(address) || 'New tab', 40)} />
          </button>
          <button
            type="button"
            class="close-tab"
            aria-label={`Close tab ${index + 1}`}
            title="Close the tab"
            onClick={() => void call(of, 'web_tabs', { action: 'CLOSE', index }, `Close tab ${index + 1}`)}
          >
            ×
          </button>
        </span>
      ))}
    </div>
  );
}

const shortAddress = (address: string): string =>
  address === 'about:blank' ? '' : address.replace(/^[a-z]+:\/\/(www\.)?/, '').replace(/\/$/, '');

const openUrl = (of: Session, url: string): Promise<boolean> => call(of, 'openUrl', { url }, `Open ${url}`);
const withScheme = (url: string): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^localhost:|^[\w.-]+:\d/i.test(url) ? url : `http://${url}`;

function SessionMenu({ of }: { of: Session }): VNode {
  const close = async () => {
    if (of.steps.value?.steps.length && !of.steps.value.savedAs && !confirm('The steps are not saved. End the session?')) return;
    if (await done(api.closeSession({ session: of.name }), 'The session has ended')) go([]);
  };
  return (
    <button type="button" class="button" title="End the session" aria-label="End the session" onClick={() => void close()}>
      End
    </button>
  );
}

/** What is under the pointer, what was typed, and how the connection is. */
function Foot({ of }: { of: Session }): VNode {
  const [status, unsent, pending, screen] = [use(of.status), use(of.unsent), use(of.pending), use(of.screen)];
  const typed = use(of.typed) + use(of.composing);
  const hasKeys = use(of.hasKeys) && use(of.mode) === 'act';
  const working = use(of.steps)?.working;
  return (
    <div class="foot-bar">
      <span class={`dot ${status === 'live' ? 'live' : 'waiting'}`} aria-hidden="true" />
      <span role="status">
        {status === 'live' ? (working ? 'Working' : pending ? 'Acting…' : 'Live') : typeof status === 'object' ? 'Ended' : 'Reconnecting…'}
      </span>
      {typed && (
        <span class="typed">
          typing <Data text={typed} cls="mono" />
        </span>
      )}
      {unsent && (
        <span class="typed">
          not typed: <Data text={unsent} cls="mono" />
          <button type="button" class="link" onClick={() => void sendAgain(of)}>
            type again
          </button>{' '}
          <button type="button" class="link" onClick={() => of.unsent.set('')}>
            discard
          </button>
        </span>
      )}
      {hasKeys && !typed && !unsent && (
        <span class="keys-hint">
          Keys go to the device; <kbd>Tab</kbd> leaves the picture
        </span>
      )}
      <span class="grow" />
      <Hovered of={of} />
      {screen && (
        <span class="faint screen-size">
          {screen.width} × {screen.height} · {plural(screen.elements.length, 'element')}
        </span>
      )}
    </div>
  );
}

/** The element under the pointer, in words. */
function Hovered({ of }: { of: Session }): VNode | null {
  const [screen, hovered] = [use(of.screen), use(of.hovered)];
  const element = screen?.elements[hovered];
  return element ? (
    <span class="hovered-name">
      <Data text={described(element)} />
    </span>
  ) : null;
}

function Tabs({ of }: { of: Session }): VNode {
  const tab = use(of.tab);
  const steps = use(of.steps);
  const move = (event: KeyboardEvent) => {
    const by = ({ ArrowRight: 1, ArrowLeft: -1 } as Record<string, number>)[event.key];
    if (!by) return;
    event.preventDefault();
    const at = (TABS.findIndex(([name]) => name === tab) + by + TABS.length) % TABS.length;
    of.tab.set(TABS[at]![0]);
    document.getElementById(`tab-${TABS[at]![0]}`)?.focus();
  };
  const counts: Partial<Record<Tab, number>> = { steps: steps?.steps.length ?? 0, memory: Object.keys(steps?.memory ?? {}).length };
  return (
    <div class="tabs" role="tablist" aria-label="Session" onKeyDown={move}>
      {TABS.map(([value, name]) => (
        <button
          key={value}
          id={`tab-${value}`}
          type="button"
          role="tab"
          aria-selected={tab === value}
          aria-controls="pane"
          tabIndex={tab === value ? 0 : -1}
          onClick={() => of.tab.set(value)}
        >
          {name}
          {counts[value] ? (
            <span class="n" aria-hidden="true">
              {counts[value]}
            </span>
          ) : null}
        </button>
      ))}
    </div>
  );
}

function Pane({ of, onSave }: { of: Session; onSave: () => void }): VNode {
  const tab = use(of.tab);
  // Steps stay, so that nothing is lost that is being written.
  return (
    <div class="pane" id="pane" role="tabpanel" aria-labelledby={`tab-${tab}`}>
      <div class="pane-part" hidden={tab !== 'steps'}>
        <Steps of={of} onSave={onSave} />
      </div>
      {tab === 'tree' && <Tree of={of} />}
      {tab === 'tools' && <Tools of={of} />}
      {tab === 'memory' && <Memory of={of} />}
      {tab === 'log' && <Log of={of} />}
    </div>
  );
}

/** Opens the device of a session that cannot be used any more, with the steps of that session. */
async function reopen(of: Session, device: string | undefined): Promise<void> {
  const steps = of.steps.value?.steps ?? [];
  const opened = await ask(api.openSession({ device, takeOver: true }));
  if (!opened) return;
  if (steps.length) await done(api.editSteps({ session: opened.session, revision: 0, steps }));
  // A page does not follow two sessions of one name.
  if (opened.session === of.name) location.reload();
  else go(['session', opened.session]);
}

/** Opens a session and goes there. */
export async function openSession(request: { device?: string; headed?: boolean; takeOver?: boolean; url?: string }): Promise<void> {
  const opened = await ask(api.openSession(request));
  if (opened) go(['session', opened.session]);
}
