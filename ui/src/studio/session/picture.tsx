/** The live picture of a session: what is on it, and what pointing at it does. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Inspection, ScreenElement } from '../../api/messages.ts';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { plural } from '../../shared/words.ts';
import { elementAt, wheelDirection, type Screen } from '../hit.ts';
import { ElementMenu } from './menu.tsx';
import { act, describe, flush, inspect, typeMore, type Session } from './state.ts';

/** How far a pointer moves before it is a swipe, and how long it rests before it is a long press. */
const SWIPE_PIXELS = 12;
const LONG_PRESS_MS = 600;
const KEYS = new Set([
  'Enter',
  'Backspace',
  'Tab',
  'Delete',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'Home',
  'End',
  'PageUp',
  'PageDown',
]);

interface Press {
  x: number;
  y: number;
  at: number;
  screen: Screen;
  element: ScreenElement | undefined;
}

export interface MenuAt {
  element: ScreenElement;
  left: number;
  top: number;
}

export function Picture({ of }: { of: Session }): VNode {
  const stage = useRef<HTMLDivElement>(null);
  const device = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const press = useRef<Press | undefined>(undefined);
  const pointer = useRef<{ x: number; y: number } | undefined>(undefined);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [hasPicture, setHasPicture] = useState(false);
  const [menu, setMenu] = useState<MenuAt | undefined>(undefined);
  const [drag, setDrag] = useState<{ from: { x: number; y: number }; to: { x: number; y: number } } | undefined>(undefined);
  const screen = use(of.screen);
  const mode = use(of.mode);
  const refused = use(of.refused);
  const pending = use(of.pending);

  useEffect(() => {
    of.onPicture = painter(canvas.current!, () => setHasPicture(true));
    return () => {
      of.onPicture = undefined;
    };
  }, [of]);

  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setSize(entry!.contentRect));
    watcher.observe(stage.current!);
    return () => watcher.disconnect();
  }, []);

  // A new screen may have another element under a pointer that rests.
  useEffect(() => {
    if (pointer.current) hover(pointer.current);
  }, [screen, mode]);
  useEffect(() => setMenu(undefined), [screen?.generation, mode]);

  useEffect(() => {
    if (!refused || !device.current) return;
    device.current.classList.remove('flash');
    void device.current.offsetWidth;
    device.current.classList.add('flash');
  }, [refused]);

  const [width, height] = [screen?.width || 16, screen?.height || 10];
  const scale = Math.min((size.width || 1) / width, (size.height || 1) / height);

  /** The place in the screen's own pixels. */
  const place = (event: MouseEvent) => {
    const box = device.current!.getBoundingClientRect();
    return {
      x: Math.round(((event.clientX - box.left) / box.width) * width),
      y: Math.round(((event.clientY - box.top) / box.height) * height),
    };
  };
  const at = (point: { x: number; y: number }) =>
    of.screen.value ? elementAt(of.screen.value, point.x, point.y, of.mode.value === 'act' ? 'act' : 'read') : undefined;
  const hover = (point: { x: number; y: number }) => of.hovered.set(at(point)?.index ?? -1);

  const down = (event: PointerEvent) => {
    if (event.button !== 0 || !of.screen.value) return;
    stage.current!.focus({ preventScroll: true });
    event.preventDefault();
    device.current!.setPointerCapture(event.pointerId);
    const point = place(event);
    press.current = { ...point, at: event.timeStamp, screen: of.screen.value, element: at(point) };
    setMenu(undefined);
  };

  const move = (event: PointerEvent) => {
    const point = place(event);
    const start = press.current;
    if (!start) {
      pointer.current = point;
      hover(point);
    } else if (of.mode.value === 'act' && far(start, point)) {
      setDrag({ from: start, to: point });
    }
  };

  const up = (event: PointerEvent) => {
    const start = press.current;
    press.current = undefined;
    setDrag(undefined);
    if (!start) return;
    const point = place(event);
    const { element } = start;
    if (of.mode.value === 'act') {
      const isSwipe = far(start, point);
      const isLong = event.timeStamp - start.at > LONG_PRESS_MS;
      const action = isSwipe ? 'swipe' : isLong ? 'longPress' : 'tap';
      void act(
        of,
        { action, element: element?.index ?? -1, x: start.x, y: start.y, ...(isSwipe && { toX: point.x, toY: point.y }) },
        start.screen,
      );
    } else if (element) {
      pick(element, event);
    }
  };
  const far = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y) * scale > SWIPE_PIXELS;

  const pick = (element: ScreenElement, event: MouseEvent) => {
    of.picked.set(element.index);
    if (of.mode.value === 'inspect') of.tab.set('tree');
    else openMenu(element, event);
  };
  const openMenu = (element: ScreenElement, event: MouseEvent) => {
    const box = stage.current!.getBoundingClientRect();
    setMenu({ element, left: event.clientX - box.left, top: event.clientY - box.top });
  };

  const turned = useRef({ x: 0, y: 0, timer: 0 });
  const wheel = (event: WheelEvent) => {
    if (of.mode.value !== 'act') return;
    event.preventDefault();
    const sum = turned.current;
    sum.x += event.deltaX;
    sum.y += event.deltaY;
    if (sum.timer) return;
    const point = place(event);
    sum.timer = window.setTimeout(() => {
      const direction = wheelDirection(sum.x, sum.y);
      turned.current = { x: 0, y: 0, timer: 0 };
      if (direction) void act(of, { action: 'scroll', text: direction, element: at(point)?.index ?? -1, ...point });
    }, 150);
  };

  const key = (event: KeyboardEvent) => {
    if (of.mode.value !== 'act' || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Escape') {
      // So that the keyboard can leave the picture, although it takes Tab.
      document.querySelector<HTMLElement>('.modes button[aria-pressed=true]')?.focus();
    } else if (event.key === 'Backspace' && of.typed.value) {
      typeMore(of, [...of.typed.value].slice(0, -1).join(''));
    } else if (KEYS.has(event.key) && !event.shiftKey) {
      void act(of, { action: 'pressKey', text: event.key });
    } else if ([...event.key].length === 1) {
      typeMore(of, of.typed.value + event.key);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    // The card would cover what is being typed, until the pointer moves.
    pointer.current = undefined;
    of.hovered.set(-1);
  };

  const label =
    mode === 'act'
      ? 'Screen of the device. Click to tap, drag to swipe, type to type. Escape leaves it.'
      : `Screen of the device. Click an element to ${mode === 'assert' ? 'assert something about it' : 'inspect it'}; the Tree tab lists them.`;
  return (
    <div
      class={`stage ${mode}`}
      ref={stage}
      tabIndex={0}
      role="application"
      aria-label={label}
      onKeyDown={key}
      onPaste={(event) => {
        const text = event.clipboardData?.getData('text');
        if (text && mode === 'act') typeMore(of, of.typed.value + text);
      }}
      onFocusOut={() => void flush(of)}
    >
      <div
        class={`screen-box${pending ? ' busy' : ''}`}
        ref={device}
        style={{ width: `${Math.floor(width * scale)}px`, height: `${Math.floor(height * scale)}px` }}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={() => {
          press.current = undefined;
          setDrag(undefined);
        }}
        onPointerLeave={() => {
          pointer.current = undefined;
          of.hovered.set(-1);
        }}
        onContextMenu={(event) => {
          event.preventDefault();
          const element = at(place(event));
          if (element) openMenu(element, event);
        }}
        onWheel={wheel}
      >
        <canvas ref={canvas} role="img" aria-label="Live picture" />
        {!hasPicture && <p class="no-picture">Waiting for the first picture…</p>}
        {screen && <Outlines of={of} screen={screen} />}
        {drag && (
          <svg class="drag" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
            <line x1={drag.from.x} y1={drag.from.y} x2={drag.to.x} y2={drag.to.y} />
            <circle cx={drag.to.x} cy={drag.to.y} r={8 / scale} />
          </svg>
        )}
      </div>
      {screen && !menu && !drag && <Tip of={of} screen={screen} scale={scale} box={size} />}
      {menu && (
        <ElementMenu
          of={of}
          {...menu}
          isAssert={mode === 'assert'}
          onClose={() => {
            setMenu(undefined);
            stage.current?.focus({ preventScroll: true });
          }}
        />
      )}
    </div>
  );
}

/** Draws the newest of the pictures that arrive, at most one per frame. */
function painter(canvas: HTMLCanvasElement, onFirst: () => void): (base64: string, type: string) => void {
  let newest: Blob | undefined;
  let isDrawing = false;
  const draw = async () => {
    while (newest) {
      const blob = newest;
      newest = undefined;
      try {
        const bitmap = await createImageBitmap(blob);
        if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
        canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
        bitmap.close();
        canvas.dataset['drawn'] = String(Number(canvas.dataset['drawn'] ?? 0) + 1);
        onFirst();
      } catch {
        // A picture that cannot be read: the next one may be.
      }
      await new Promise((go) => requestAnimationFrame(go));
    }
    isDrawing = false;
  };
  return (base64, type) => {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    newest = new Blob([bytes], { type });
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => void draw());
  };
}

function Outlines({ of, screen }: { of: Session; screen: Screen }): VNode {
  const [hovered, picked, matches] = [use(of.hovered), use(of.picked), use(of.matches)];
  const outline = (index: number, cls: string, key: string) => {
    const element = screen.elements[index];
    if (!element || !element.width || !element.height) return null;
    const percent = (part: number, whole: number) => `${(part / whole) * 100}%`;
    return (
      <span
        key={key}
        class={`outline ${cls}`}
        style={{
          left: percent(element.x, screen.width),
          top: percent(element.y, screen.height),
          width: percent(element.width, screen.width),
          height: percent(element.height, screen.height),
        }}
      />
    );
  };
  return (
    <div class="outlines" aria-hidden="true">
      {matches.slice(0, 500).map((index) => outline(index, 'match', `m${index}`))}
      {outline(picked, 'picked', 'p')}
      {outline(hovered, 'hovered', 'h')}
    </div>
  );
}

/** The card beside the outline: how the element would be found. */
function Tip({
  of,
  screen,
  scale,
  box,
}: {
  of: Session;
  screen: Screen;
  scale: number;
  box: { width: number; height: number };
}): VNode | null {
  const index = use(of.hovered);
  const [found, setFound] = useState<{ index: number; generation: number; inspection: Inspection | undefined } | undefined>(undefined);
  useEffect(() => {
    if (index < 0) return undefined;
    // Only where the pointer rests.
    const timer = setTimeout(async () => setFound({ index, generation: screen.generation, inspection: await inspect(of, index) }), 40);
    return () => clearTimeout(timer);
  }, [index, screen.generation]);
  const element = screen.elements[index];
  if (!element) return null;
  const descriptions = found?.index === index && found.generation === screen.generation ? found.inspection?.descriptions : undefined;
  const margin = { left: (box.width - screen.width * scale) / 2, top: (box.height - screen.height * scale) / 2 };
  const [top, bottom] = [element.y * scale, (element.y + element.height) * scale];
  // Below the element, or above it where there is no room.
  const isBelow = margin.top + bottom + 150 < box.height || top < 120;
  const style: Record<string, string> = {};
  // Grows towards the middle, so that it does not leave the picture.
  if (element.x + element.width / 2 > screen.width / 2)
    style['right'] = `${Math.max(0, margin.left + (screen.width - element.x - element.width) * scale)}px`;
  else style['left'] = `${Math.max(0, margin.left + element.x * scale)}px`;
  if (isBelow) style['top'] = `${Math.min(margin.top + bottom + 6, box.height - 60)}px`;
  else style['bottom'] = `${box.height - margin.top - top + 6}px`;
  return (
    <div class="tip" style={style} aria-hidden="true">
      <div class="tip-head">
        <span class="role">{element.role}</span>
        <Data text={describeShort(element)} />
        <span class="faint">
          {element.width} × {element.height}
        </span>
      </div>
      {descriptions?.slice(0, 5).map((one, nth) => (
        <div key={nth} class={nth ? 'way' : 'way best'}>
          <Data text={one.text} cls="mono" />
          <span class={one.matches === 1 ? 'n one' : 'n'}>{plural(one.matches, 'match', 'matches')}</span>
        </div>
      ))}
      {descriptions?.length === 0 && <div class="way faint">Only by its position</div>}
    </div>
  );
}

const describeShort = (element: ScreenElement): string => (element.name || element.value || element.id || describe(element)).slice(0, 80);
