/** The film strip with its scrubber: the whole attempt from left to right. */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { use } from '../../shared/store.ts';
import { time, visible } from '../../shared/words.ts';
import { isWrong } from '../calls.tsx';
import { useView } from '../view.ts';
import { useTrace } from './context.ts';
import type { TraceFrame } from './data.ts';
import { filmOf, frameAt } from './model.ts';
import { entryWords } from './words.ts';

const HEIGHT = 58;

export function Film(): VNode {
  const { control, state, chosen } = useTrace();
  const { model, hovered } = control;
  const hover = use(hovered);
  const strip = useRef<HTMLDivElement>(null);
  const width = useWidth(strip);
  const { from, to, frames } = model;
  const first = frames[0];
  const thumb = first ? Math.min(130, Math.max(30, (HEIGHT * first.width) / Math.max(1, first.height))) : 80;
  const film = filmOf(model, Math.max(1, Math.floor(width / thumb)));
  const left = (at: number) => `${((Math.min(Math.max(at, from), to) - from) / (to - from)) * 100}%`;
  const timeAt = (event: PointerEvent): number => {
    const box = strip.current!.getBoundingClientRect();
    return from + ((event.clientX - box.left) / Math.max(1, box.width)) * (to - from);
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => control.moveBy(-1),
    ArrowRight: () => control.moveBy(1),
    PageDown: () => control.moveBy(10),
    PageUp: () => control.moveBy(-10),
    Home: () => control.moveTo(from),
    End: () => control.moveTo(to),
  };
  return (
    <div class="film">
      <div
        class="strip-of-film"
        ref={strip}
        role="slider"
        tabIndex={0}
        aria-label="Time of the attempt"
        aria-valuemin={0}
        aria-valuemax={Math.round((to - from) / 1000)}
        aria-valuenow={Math.round((state.at - from) / 1000)}
        aria-valuetext={time(state.at - from)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          strip.current!.setPointerCapture(event.pointerId);
          hovered.set(null);
          control.moveTo(timeAt(event));
        }}
        onPointerMove={(event) => {
          if (event.buttons & 1 && strip.current!.hasPointerCapture(event.pointerId)) control.moveTo(timeAt(event));
          else hovered.set(timeAt(event));
        }}
        onPointerLeave={() => hovered.set(null)}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
          event.preventDefault();
          act();
        }}
      >
        <div class="thumbs" style={{ height: `${frames.length ? HEIGHT : 0}px` }}>
          {film.map(({ frame }, nth) => (
            <Thumb key={nth} frame={frame} />
          ))}
        </div>
        <div class="bars" aria-hidden="true">
          {model.entries
            .filter((entry) => entry.depth <= 1)
            .map((entry) => (
              <span
                key={entry.key}
                class={`bar-of-entry ${entry.call ? 'is-call' : 'is-step'}${entry.call ? (isWrong(entry.call) ? ' failed' : '') : ` ${entry.step!.state}`}${entry.key === chosen?.key ? ' is-chosen' : ''}`}
                title={visible(entryWords(entry))}
                style={{ left: left(entry.at), width: `calc(${left(entry.until)} - ${left(entry.at)})` }}
              />
            ))}
          {model.activity
            .filter((one) => one.isTrouble)
            .map((one, nth) => (
              <span key={`trouble ${nth}`} class="trouble-mark" title={visible(one.text)} style={{ left: left(one.at) }} />
            ))}
        </div>
        {chosen && (
          <span
            class="chosen-part"
            style={{ left: left(chosen.at), width: `calc(${left(Math.max(chosen.until, chosen.at + 1))} - ${left(chosen.at)})` }}
          />
        )}
        {hover !== null && <span class="needle is-hover" style={{ left: left(hover) }} />}
        <span class="needle" style={{ left: left(state.at) }} />
        {hover !== null && <Preview at={hover} left={left(hover)} />}
      </div>
      <div class="film-times" aria-hidden="true">
        <span>0</span>
        <span>{time(state.at - from)}</span>
        <span>{time(to - from)}</span>
      </div>
    </div>
  );
}

/** The picture under the pointer. */
function Preview({ at, left }: { at: number; left: string }): VNode {
  const { control } = useTrace();
  const { frames, from } = control.model;
  const frame = frames[frameAt(frames, at)];
  return (
    <div class="film-preview" style={{ left: `clamp(0px, calc(${left} - 130px), calc(100% - 262px))` }}>
      {frame && <Thumb frame={frame} isLarge />}
      <span>{time(at - from)}</span>
    </div>
  );
}

function Thumb({ frame, isLarge }: { frame: TraceFrame; isLarge?: boolean }): VNode {
  const address = useAddress(frame);
  return <img src={address} alt="" draggable={false} decoding="async" class={isLarge ? 'is-large' : undefined} />;
}

/** The address of a picture, once it is known. */
export function useAddress(frame: TraceFrame | null): string | undefined {
  const { source } = useView();
  const [known, setKnown] = useState<{ file: string; address: string } | undefined>(undefined);
  useEffect(() => {
    if (!frame) return undefined;
    let isCurrent = true;
    source.picture(frame.file, frame.kept ?? 'nextToPage').then(
      (address) => isCurrent && setKnown({ file: frame.file, address }),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [frame?.file]);
  // The one before stays until the next is known, so that nothing flickers.
  return known?.address;
}

function useWidth(node: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry!.contentRect.width)));
    observer.observe(node.current!);
    return () => observer.disconnect();
  }, []);
  return width;
}
