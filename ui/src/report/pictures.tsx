/** Pictures with what was touched on them, and the viewer that shows one of them large. */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Data } from '../shared/text.tsx';
import { cut, visible } from '../shared/words.ts';
import type { Picture as Taken, Size, Touch } from '../generated/data.ts';
import { useView } from './view.ts';

/** The frame of a picture, which is loaded when it comes near the window. Tests call `load` too. */
export type Frame = HTMLButtonElement & { load?: (() => Promise<void>) | undefined; shown?: Shown };

/** A screenshot, or a picture that was attached to something. */
type Shot = Pick<Taken, 'file' | 'kept' | 'screen'> & { isAttached?: boolean };

export interface Shown {
  taken: Shot;
  caption: string;
  touches: Touch[];
}

const nearing = new IntersectionObserver(
  (seen) => {
    for (const entry of seen) {
      if (!entry.isIntersecting) continue;
      nearing.unobserve(entry.target);
      void (entry.target as Frame).load?.();
    }
  },
  { rootMargin: '600px' },
);

interface Props extends Shown {
  box: Size;
  /** Called instead of showing it large. */
  onClick?: () => void;
}

export function Picture({ taken, caption, touches, box, onClick }: Props): VNode {
  const view = useView();
  const frame = useRef<Frame>(null);
  const img = useRef<HTMLImageElement>(null);
  const { kept, file } = taken;
  const missing = typeof kept === 'object' && kept.missing !== undefined ? kept.missing : '';
  const [lost, setLost] = useState(missing);
  const [width, height] = [Math.max(1, taken.screen.width), Math.max(1, taken.screen.height)];
  const scale = Math.min(box.width / width, box.height / height);
  const [w, h] = [Math.max(24, Math.round(width * scale)), Math.max(24, Math.round(height * scale))];

  useLayoutEffect(() => {
    const node = frame.current!;
    node.shown = { taken, caption, touches };
    if (missing) return undefined;
    node.load = async () => {
      const address = await view.source.picture(file, kept);
      if (img.current && img.current.getAttribute('src') !== address) img.current.src = address;
    };
    nearing.observe(node);
    return () => nearing.unobserve(node);
  }, [file]);

  const size = { aspectRatio: `${w} / ${h}` };
  return (
    <figure class={'picture' + (taken.isAttached ? ' attached' : '')} style={{ width: `${w}px` }}>
      <figcaption title={caption}>{visible(caption)}</figcaption>
      <button
        class="frame"
        type="button"
        aria-label={`Enlarge: ${caption}`}
        ref={frame}
        style={size}
        onClick={() => (onClick ? onClick() : view.enlarge(frame.current!))}
      >
        {lost ? (
          <span class="lost">
            <Data text={cut(file, 120)} cls="mono" />
            <span>{lost}</span>
          </span>
        ) : (
          <img ref={img} alt={caption} width={w} height={h} decoding="async" onError={() => setLost('cannot be shown')} />
        )}
        {!missing &&
          touches.map((touch, nth) => (
            <Outline key={nth} touch={touch} number={touches.length > 1 ? nth + 1 : 0} width={width} height={height} />
          ))}
      </button>
    </figure>
  );
}

export function Outline({ touch, number, width, height }: { touch: Touch; number: number; width: number; height: number }): VNode {
  const percent = (part: number, whole: number) => `${Math.min(100, Math.max(0, (part / whole) * 100))}%`;
  const badge = number > 0 && <b>{number}</b>;
  const { bounds, point } = touch;
  return (
    <>
      {bounds && (
        <span
          class={'touch' + (bounds.top / height < 0.06 ? ' low' : '')}
          style={{
            left: percent(bounds.left, width),
            top: percent(bounds.top, height),
            right: `calc(100% - ${percent(bounds.right, width)})`,
            bottom: `calc(100% - ${percent(bounds.bottom, height)})`,
          }}
        >
          {badge}
        </span>
      )}
      {point && (
        <span class="touch point" style={{ left: percent(point.x, width), top: percent(point.y, height) }}>
          {!bounds && badge}
        </span>
      )}
    </>
  );
}

/** The pictures of the current view, in the order in which they are shown. */
export const shownPictures = (): Frame[] =>
  [...document.querySelectorAll<Frame>('main > :not([hidden]) .frame')].filter((frame) => frame.shown);

export interface Viewed {
  pictures: Shown[];
  at: number;
}

/** One picture, large. The others are reached with the arrow keys. */
export function Viewer({ viewed, onView }: { viewed: Viewed | undefined; onView: (viewed: Viewed | undefined) => void }): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const node = dialog.current!;
    if (viewed && !node.open) node.showModal();
    else if (!viewed && node.open) node.close();
  }, [viewed]);
  const one = viewed?.pictures[viewed.at];
  const close = () => dialog.current!.close();
  return (
    <dialog
      id="viewer"
      aria-label="Picture"
      ref={dialog}
      onClose={() => onView(undefined)}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
      onKeyDown={(event) => {
        const by = ({ ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 } as Record<string, number>)[event.key];
        if (viewed && by && viewed.pictures[viewed.at + by]) onView({ ...viewed, at: viewed.at + by });
      }}
    >
      {viewed && one && (
        <>
          <Picture
            key={viewed.at}
            {...one}
            caption={`${one.caption} (${viewed.at + 1} of ${viewed.pictures.length})`}
            box={{ width: Math.min(1340, innerWidth * 0.9 - 48), height: innerHeight * 0.9 - 80 }}
            onClick={close}
          />
          <button class="close" type="button" onClick={close}>
            Close
          </button>
        </>
      )}
    </dialog>
  );
}
