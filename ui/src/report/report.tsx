/** The report of a run: all attempts, or one of them. The studio shows the same for runs in progress. */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { cut, visible } from '../shared/words.ts';
import { AttemptView } from './attempt.tsx';
import { colourIcon, Head } from './head.tsx';
import type { Attempt } from '../generated/data.ts';
import { EVERYTHING, filtered } from './filters.ts';
import { Overview } from './overview.tsx';
import { shownPictures, Viewer, type Viewed } from './pictures.tsx';
import { TraceView } from './trace/view.tsx';
import { exitOf } from './verdict.ts';
import { ViewContext, type View } from './view.ts';

export interface ReportProps extends Omit<View, 'enlarge'> {
  /** The id of the attempt that is shown; `null` for all. */
  current: string | null;
  /** Whether its trace is shown. */
  isTrace: boolean;
  title: string;
  /** What scrolls. */
  scroller: () => Element;
}

export function Report({ current: id, isTrace, title, scroller, ...given }: ReportProps): VNode {
  const { run, isLive, link } = given;
  const [wanted, setWanted] = useState(EVERYTHING);
  const [viewed, setViewed] = useState<Viewed | undefined>(undefined);
  const [shown, setShown] = useState<string | undefined>(undefined);
  const overview = useRef<HTMLDivElement>(null);
  const scrolled = useRef(0);
  const left = useRef<string | null>(null);
  const listed = useMemo(() => filtered(run.attempts, run.lanes, wanted), [run, wanted]);
  const current = run.attempts.find((attempt) => attempt.id === id) ?? null;
  const [state, name] = exitOf(run, isLive);

  const enlarge = (frame: HTMLElement) => {
    const frames = shownPictures();
    setViewed({
      pictures: frames.map((one) => one.shown!),
      at: Math.max(
        0,
        frames.findIndex((one) => one === frame),
      ),
    });
  };

  useEffect(() => colourIcon(state), [state]);
  useEffect(() => {
    document.title = current ? `${visible(cut(current.name, 60))}: ${current.state}` : `${name}: ${title}`;
  }, [current?.id, current?.state, name]);
  // Where the user was in the list is kept while an attempt is shown.
  const isAttempt = current !== null;
  useLayoutEffect(() => {
    setViewed(undefined);
    const before = left.current;
    left.current = current?.id ?? null;
    if (current) {
      scroller().scrollTop = 0;
      document.getElementById('attempt-title')?.focus({ preventScroll: true });
    } else if (before !== null) {
      scroller().scrollTop = scrolled.current;
      const at = listed.findIndex((attempt) => attempt.id === before);
      overview.current?.querySelectorAll<HTMLElement>('.rows a')[at]?.focus({ preventScroll: true });
    }
  }, [current?.id, isTrace]);
  useEffect(() => {
    if (isAttempt) return undefined;
    const keep = () => {
      if (left.current === null) scrolled.current = scroller().scrollTop;
    };
    addEventListener('scroll', keep, { capture: true, passive: true });
    return () => removeEventListener('scroll', keep, { capture: true });
  }, [isAttempt]);
  useKeys(current, listed, link, isTrace ? given.traceLink : undefined);

  const view: View = { ...given, enlarge };
  return (
    <ViewContext.Provider value={view}>
      {current && isTrace ? null : <Head isSlim={isAttempt} />}
      <main id="main" tabIndex={-1}>
        <div id="overview" class="wide" hidden={isAttempt} ref={overview}>
          <Overview listed={listed} wanted={wanted} onWanted={setWanted} />
        </div>
        <div id="detail" class="wide" hidden={!isAttempt || isTrace} data-shown={current && shown === current.id ? shown : undefined}>
          {current && !isTrace && <AttemptView key={current.id} attempt={current} listed={listed} onShown={setShown} />}
        </div>
        {current && isTrace && <TraceView key={current.id} attempt={current} />}
      </main>
      <Viewer viewed={viewed} onView={setViewed} />
    </ViewContext.Provider>
  );
}

/** Keys for going through attempts. */
function useKeys(current: Attempt | null, listed: Attempt[], link: View['link'], traceLink: View['traceLink'] | undefined): void {
  useEffect(() => {
    const move = (by: number) => {
      if (current) {
        const next = listed[listed.findIndex((attempt) => attempt.id === current.id) + by];
        if (next) location.replace(link(next));
        return;
      }
      const links = [...document.querySelectorAll<HTMLElement>('.rows a')];
      const at = links.findIndex((one) => one === document.activeElement);
      const next = at < 0 ? links[by > 0 ? 0 : links.length - 1] : links[at + by];
      next?.focus({ preventScroll: true });
      next?.scrollIntoView({ block: 'nearest' });
    };
    const keys = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      const target = event.target as HTMLElement;
      const field = target.closest<HTMLElement>('input, select, textarea');
      if (event.key === 'Escape') {
        if (field) field.blur();
        else if (current) location.hash = link(traceLink ? current : null);
        return;
      }
      if (field) {
        if (event.key === 'ArrowDown' && field.id === 'search') {
          event.preventDefault();
          move(1);
        }
        return;
      }
      // A trace has keys of its own.
      if (traceLink && event.key !== '/') return;
      const steps: Record<string, number> = current ? { j: 1, k: -1 } : { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
      const by = steps[event.key];
      if (by && !target.closest('.strip, .pre')) {
        event.preventDefault();
        move(by);
      } else if (event.key === '/') {
        event.preventDefault();
        if (current) location.hash = link(null);
        // The list is drawn first, if an attempt was shown.
        setTimeout(() => document.getElementById('search')?.focus());
      }
    };
    document.addEventListener('keydown', keys);
    return () => document.removeEventListener('keydown', keys);
  }, [current?.id, listed, traceLink]);
}
