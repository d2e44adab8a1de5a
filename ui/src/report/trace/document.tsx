/** A recorded document, in which elements can be picked. */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { cut, time, visible } from '../../shared/words.ts';
import type { Touch } from '../../generated/data.ts';
import { Outline } from '../pictures.tsx';
import { useView } from '../view.ts';
import { useTrace } from './context.ts';
import type { Placed } from './decode.ts';
import { useAddress } from './film.tsx';
import { frameAt, type FoundDocument } from './model.ts';
import { EMPTY_DOCUMENT, SANDBOX, showDocument, type Box, type ShownDocument } from './snapshot.ts';

const TAKEN = { own: '', next: ' (before the next call)', nearest: ' (the nearest document that was kept)' };

export function DocumentStage({ found, touches }: { found: FoundDocument; touches: Touch[] }): VNode {
  const { control } = useTrace();
  const { document } = found;
  return (
    <div class="document-stage">
      <p class="document-address">
        <span class="label">{`At ${time(document.at - control.model.from)}`}</span>{' '}
        <span class="data mono" title={visible(document.url)}>
          {visible(cut(document.url, 200))}
        </span>
        {TAKEN[found.taken] && <span class="faint">{TAKEN[found.taken]}</span>}
      </p>
      <Snapshot key={found.nth} found={found} touches={touches} />
    </div>
  );
}

function Snapshot({ found, touches }: { found: FoundDocument; touches: Touch[] }): VNode {
  const { control, state, documentAt } = useTrace();
  const { source } = useView();
  const room = useRef<HTMLDivElement>(null);
  const iframe = useRef<HTMLIFrameElement>(null);
  const [shown, setShown] = useState<ShownDocument | null>(null);
  const [problem, setProblem] = useState('');
  const [hovered, setHovered] = useState<{ element: Placed; box: Box } | null>(null);
  const { document } = found;
  const known = documentAt(found.nth);
  const scale = useScale(room, document.width, document.height);
  const { frames } = control.model;
  const frame = frames[frameAt(frames, document.at)] ?? null;
  const screen = useAddress(frame);
  const isWaiting = frame !== null && screen === undefined;

  useEffect(() => {
    if (isWaiting || !known) return undefined;
    let isCurrent = true;
    const around = {
      sheet: async (sheet: string | { text: string }) => (typeof sheet === 'string' ? source.sheet(sheet) : sheet),
      screen: screen ? { address: new URL(screen, location.href).href, width: document.width, height: document.height } : null,
    };
    showDocument(iframe.current!, document, known.root, around).then(
      (ready) => isCurrent && setShown(ready),
      (error: unknown) => isCurrent && setProblem(String(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [found.nth, isWaiting]);

  const pick = (element: Placed | null) => {
    if (element) control.set({ picked: element, tab: 'element' });
  };
  const at = (event: MouseEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
  };
  const pickedBox = (state.picked && shown?.boxOf(state.picked)) ?? null;
  const best = hovered && known?.index.describe(hovered.element).selectors[0];
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !known) return;
    const next = neighbour(state.picked, event.key, known.root);
    if (!next) return;
    event.preventDefault();
    pick(next);
  };
  return (
    <div class="document-room" ref={room} style={{ '--ratio': String(document.width / Math.max(1, document.height)) }}>
      <div class="document-sheet" style={{ width: `${document.width * scale}px`, height: `${document.height * scale}px` }}>
        <iframe
          ref={iframe}
          title="The document as it was"
          sandbox={SANDBOX}
          srcdoc={EMPTY_DOCUMENT}
          tabIndex={-1}
          style={{ width: `${document.width}px`, height: `${document.height}px`, transform: `scale(${scale})` }}
        />
        <div
          class="picker"
          role="application"
          tabIndex={0}
          aria-label="Pick an element: arrow keys go to what is around, inside and beside it"
          onPointerMove={(event) => setHovered(shown?.at(...at(event)) ?? null)}
          onPointerLeave={() => setHovered(null)}
          onClick={(event) => pick(shown?.at(...at(event))?.element ?? null)}
          onKeyDown={keys}
          ref={(node) => {
            // Preact would listen passively, and the page around must not scroll with the document.
            if (node)
              node.onwheel = (event) => {
                event.preventDefault();
                shown?.scrollBy(...at(event), [event.deltaX, event.deltaY]);
                setHovered(shown?.at(...at(event)) ?? null);
              };
          }}
        >
          {touches.map((touch, nth) => (
            <Outline key={nth} touch={touch} number={0} width={document.width} height={document.height} />
          ))}
          {pickedBox && <span class="picked-box" style={placeOf(pickedBox, scale)} />}
          {hovered && (
            <>
              <span class="hovered-box" style={placeOf(hovered.box, scale)} />
              {best && (
                <span
                  class={`picker-words mono${hovered.box.top * scale < 30 ? ' low' : ''}`}
                  style={{
                    left: `${Math.max(0, hovered.box.left * scale)}px`,
                    top: `${(hovered.box.top * scale < 30 ? hovered.box.top + hovered.box.height : hovered.box.top) * scale}px`,
                  }}
                >
                  {visible(cut(best.written, 80))}
                </span>
              )}
            </>
          )}
        </div>
      </div>
      {problem && <p class="stage-nothing">{visible(problem)}</p>}
      {!known && <p class="stage-nothing">The document cannot be shown.</p>}
    </div>
  );
}

const placeOf = (box: Box, scale: number) => ({
  left: `${box.left * scale}px`,
  top: `${box.top * scale}px`,
  width: `${box.width * scale}px`,
  height: `${box.height * scale}px`,
});

/** The element that an arrow key leads to. */
function neighbour(from: Placed | null, key: string, root: Placed): Placed | null {
  const elements = (placed: Placed): Placed[] =>
    [...(placed.shadow ?? []), ...placed.children, ...(placed.content ? [placed.content] : [])].filter(
      (child) => typeof child !== 'string',
    );
  if (!key.startsWith('Arrow')) return null;
  if (!from) return elements(root).find((child) => child.node.tag.toLowerCase() === 'body') ?? root;
  if (key === 'ArrowUp') return from.parent;
  if (key === 'ArrowDown') return elements(from)[0] ?? null;
  if (!from.parent) return null;
  const beside = elements(from.parent);
  return beside[beside.indexOf(from) + (key === 'ArrowRight' ? 1 : -1)] ?? null;
}

/** By how much a document is made smaller to fit. */
function useScale(room: { current: HTMLElement | null }, width: number, height: number): number {
  const [scale, setScale] = useState(0.5);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const box = entry!.contentRect;
      const tall = box.height > 80 ? box.height / Math.max(1, height) : 1;
      setScale(Math.max(0.05, Math.min(1, box.width / Math.max(1, width), tall)));
    });
    observer.observe(room.current!);
    return () => observer.disconnect();
  }, [width, height]);
  return scale;
}
