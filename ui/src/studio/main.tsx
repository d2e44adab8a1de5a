/** The studio: enters with the key of the address, and shows the view that the address names. */
import { render, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isGone } from '../api/client.ts';
import { store, use } from '../shared/store.ts';
import { Data, rich } from '../shared/text.tsx';
import { dismiss, enter, href, known, lifetime, locked, route, toasts, type Toast } from './app.ts';
import { Banner } from './banner.tsx';
import { Dialog } from './dialog.tsx';
import { Home } from './home.tsx';
import { Icon } from './icons.tsx';
import { RunPage } from './run.tsx';
import { SessionPage } from './session/page.tsx';
import { TrailPage } from './trail.tsx';

function App(): VNode {
  const why = use(locked);
  const { path } = use(route);
  const [view, ...rest] = path;
  const [isUncovered, setUncovered] = useState(false);
  const isCovered = why !== '' && !isUncovered;
  const cover = isCovered && (
    <div class="center locked cover">
      <Logo />
      <div role="alert">
        <h1>This page is closed.</h1>
        <p>{rich(why)}</p>
      </div>
      {known.value && (
        <button type="button" class="button" onClick={() => setUncovered(true)}>
          Show what I wrote
        </button>
      )}
    </div>
  );
  if (cover && !known.value) return cover;
  return (
    <>
      {cover}
      <div class="page" inert={isCovered}>
        {isUncovered && (
          <p class="gone">
            <strong>This page is closed.</strong> {rich(why)}
          </p>
        )}
        <a
          class="skip"
          href="#main"
          onClick={(event) => {
            event.preventDefault();
            document.querySelector<HTMLElement>('main')?.focus();
          }}
        >
          Skip to the content
        </a>
        <TopBar path={path} />
        <Gone />
        {view === 'session' ? (
          <SessionPage key={rest.join('/')} name={rest.join('/')} />
        ) : view === 'trail' ? (
          <TrailPage key={rest.join('/')} path={rest.join('/')} />
        ) : view === 'run' ? (
          <RunPage key={rest[0] ?? ''} id={rest[0] ?? ''} />
        ) : (
          <Home />
        )}
        <Toasts />
        <Keys />
      </div>
    </>
  );
}

function TopBar({ path }: { path: string[] }): VNode {
  const workspace = use(known);
  const [view, ...rest] = path;
  const names: Record<string, string> = { session: 'Session', trail: 'Trail', run: 'Run' };
  return (
    <header class="top-bar">
      <a class="brand" href={href([])} aria-label="Trailblaze, to the first page">
        <Logo />
        <span class="brand-name">Trailblaze</span>
      </a>
      <nav aria-label="Where you are">
        <ol class="crumb-list">
          {workspace && (
            <li>
              <a href={href([])} title={workspace.folder}>
                <Data text={workspace.name} />
              </a>
            </li>
          )}
          {view && names[view] && (
            <li aria-current="page">
              <span class="faint">{names[view]}</span> <Data text={rest.join('/')} />
            </li>
          )}
        </ol>
      </nav>
      <span class="grow" />
      {workspace && <span class="faint small version">{workspace.version}</span>}
      <Theme />
      <button
        type="button"
        class="icon-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={() => areKeysShown.set(true)}
      >
        ?
      </button>
    </header>
  );
}

function Gone(): VNode | null {
  if (!use(isGone)) return null;
  return (
    <Banner cls="gone" title="Trailblaze does not answer.">
      {rich('If it was stopped or replaced, run `trailblaze studio` again. What you wrote on this page stays here.')}
    </Banner>
  );
}

function Logo(): VNode {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 20c0-5 4-5 8-8s4-8 8-8" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" />
      <circle cx="4" cy="20" r="2.5" fill="currentColor" />
      <circle cx="20" cy="4" r="2.5" fill="none" stroke="currentColor" stroke-width="2" />
    </svg>
  );
}

/** Light, dark, or as the system has it. Remembered by the browser, where it lets us. */
function Theme(): VNode {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    if (theme) document.documentElement.dataset['theme'] = theme;
    else delete document.documentElement.dataset['theme'];
    try {
      localStorage.setItem('theme', theme);
    } catch {
      // Only this page keeps it, then.
    }
  }, [theme]);
  const isDark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Switch to ${isDark ? 'light' : 'dark'} colours`}
      title={`Switch to ${isDark ? 'light' : 'dark'} colours`}
      onClick={() => setTheme(isDark ? 'light' : 'dark')}
    >
      <Icon name="sun" />
    </button>
  );
}

function storedTheme(): string {
  try {
    return localStorage.getItem('theme') ?? '';
  } catch {
    return '';
  }
}

function Toasts(): VNode {
  const shown = use(toasts);
  // Escape dismisses the newest, if nothing else wants it.
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const newest = toasts.value.at(-1);
      if (event.key === 'Escape' && newest && !event.defaultPrevented && !document.querySelector('dialog[open]')) dismiss(newest.id);
    };
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);
  const list = (isError: boolean) =>
    shown.filter((toast) => (toast.kind === 'error') === isError).map((toast) => <ToastCard key={toast.id} toast={toast} />);
  // Both are there from the beginning: screen readers announce what is added to them.
  return (
    <div class="toasts">
      <div role="alert" aria-live="assertive" aria-atomic="false">
        {list(true)}
      </div>
      <div role="status" aria-live="polite" aria-atomic="false">
        {list(false)}
      </div>
    </div>
  );
}

/** A message. It stays while the pointer or the keyboard is on it. */
function ToastCard({ toast }: { toast: Toast }): VNode {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    const ms = lifetime(toast);
    if (isHeld || ms === undefined) return undefined;
    const timer = setTimeout(() => dismiss(toast.id), ms);
    return () => clearTimeout(timer);
  }, [isHeld]);
  return (
    <div
      class={`toast ${toast.kind}`}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      <div class="grow">
        <p class="block">{rich(toast.text)}</p>
        {toast.kept !== undefined && <textarea class="mono" readOnly aria-label="What you wrote" rows={3} value={toast.kept} />}
      </div>
      <button
        type="button"
        class="icon-button"
        aria-label="Dismiss"
        title="Dismiss (Esc)"
        onClick={() => {
          dismiss(toast.id);
          document.querySelector<HTMLElement>('main')?.focus();
        }}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}

const areKeysShown = store(false);
const KEYS: [key: string, what: string][] = [
  ['1, 2, 3', 'act, assert, inspect'],
  ['Ctrl+Z, Ctrl+Shift+Z', 'undo and redo a change of the steps'],
  ['Ctrl+S', 'save as trail'],
  ['Alt+↑, Alt+↓', 'move the step that has the focus'],
  ['Right click', 'all actions for an element'],
  ['Tab', 'leave the picture; the Keys menu sends Tab to the device'],
  ['Esc', 'close a menu, a dialog or a message'],
  ['j, k', 'next and previous attempt of a run'],
  ['?', 'these keys'],
];

function Keys(): VNode | null {
  const isShown = use(areKeysShown);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key === '?' && !(event.target as HTMLElement).closest('input, textarea, select')) areKeysShown.set(true);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  if (!isShown) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => areKeysShown.set(false)}>
      <dl class="keys">
        {KEYS.map(([key, what]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={what}>{what}</dd>,
        ])}
      </dl>
    </Dialog>
  );
}

const theme = storedTheme();
if (theme) document.documentElement.dataset['theme'] = theme;
void enter().then(() => {
  const app = document.getElementById('app')!;
  app.replaceChildren();
  render(<App />, app);
});
