/** The live picture of a session: what is on it, and what pointing at it does. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Inspection, ScreenElement } from '../../generated/messages.ts';
import { use } from '../../shared/store.ts';
import { Data } from '../../shared/text.tsx';
import { plural } from '../../shared/words.ts';
import { elementAt, sameElement, wheelDirection, type Screen } from '../hit.ts';
import { KeyField } from './keys.tsx';
import { ElementMenu, OptionsMenu } from './menu.tsx';
import { act, describe, hold, inspect, platformOf, release, takeHeld, type Session } from './state.ts';

/** How far a pointer moves before it is a swipe, and how long it rests before it is a long press. */
const SWIPE_PIXELS = 12;
const LONG_PRESS_MS = 600;
/** Clicks at the same place within this time are a double click. A tap on a web page waits this long for a second one. */
const DOUBLE_MS = 300;

interface Press {
  x: number;
  y: number;
  at: number;
  screen: Screen;
  element: ScreenElement | undefined;
  /** The tap before it, if both are one double click. */
  first: Press | undefined;
}

interface MenuAt {
  /** The options of a list, or all that can be done with the element. */
  kind: 'options' | 'all';
  element: ScreenElement;
  left: number;
  top: number;
}

export function Picture({ of }: { of: Session }): VNode {
  const stage = useRef<HTMLDivElement>(null);
  const device = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const keys = useRef<HTMLTextAreaElement>(null);
  const press = useRef<Press | undefined>(undefined);
  const tapped = useRef<Press | undefined>(undefined);
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
  // A menu stays as long as its element does.
  useEffect(() => {
    const still = menu && screen && sameElement(menu.element, screen);
    if (still && still !== menu.element) setMenu({ ...menu, element: still });
    else if (menu && !still) closeMenu();
  }, [screen]);
  useEffect(() => setMenu(undefined), [mode]);

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

  const focusKeys = () => keys.current?.focus({ preventScroll: true });
  const closeMenu = () => {
    setMenu(undefined);
    focusKeys();
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0 || !of.screen.value) return;
    event.preventDefault();
    device.current!.setPointerCapture(event.pointerId);
    const point = place(event);
    const element = at(point);
    // On a phone, the focus opens the keyboard, which is only wanted for fields.
    if (event.pointerType !== 'touch' || element?.isEditable) focusKeys();
    const last = tapped.current;
    const isDouble = last && event.timeStamp - last.at < DOUBLE_MS && !far(last, point);
    press.current = { ...point, at: event.timeStamp, screen: of.screen.value, element, first: isDouble ? last : undefined };
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
    tapped.current = undefined;
    setDrag(undefined);
    if (!start) return;
    const point = place(event);
    const { element } = start;
    if (of.mode.value !== 'act') {
      if (element) pick(element, event);
    } else if (far(start, point)) {
      send('swipe', start, { toX: point.x, toY: point.y });
    } else if (event.timeStamp - start.at > LONG_PRESS_MS) {
      send('longPress', start);
    } else {
      tap(start, event);
    }
  };
  const send = (action: string, { x, y, screen, element }: Press, more: { toX?: number; toY?: number } = {}, isExtra = false) =>
    void act(of, { action, element: element?.index ?? -1, x, y, ...more }, screen, isExtra);

  const tap = (start: Press, event: PointerEvent) => {
    const { element, first } = start;
    if (first && takeHeld()) return send('doubleTap', first);
    // After the first click of a double click, something else may be there, which is not meant.
    if (first?.element && !(element && sameElement(first.element, start.screen) === element)) return;
    tapped.current = { ...start, at: event.timeStamp, first: undefined };
    if (element?.options.length && !element.isDisabled) openMenu('options', element, event);
    else if (element && platformOf(of) === 'web') hold(of, DOUBLE_MS, () => send('tap', start));
    else send('tap', start, {}, first !== undefined);
  };
  const far = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y) * scale > SWIPE_PIXELS;

  const pick = (element: ScreenElement, event: MouseEvent) => {
    of.picked.set(element.index);
    if (of.mode.value === 'inspect') of.tab.set('tree');
    else openMenu('all', element, event);
  };
  const openMenu = (kind: MenuAt['kind'], element: ScreenElement, event: MouseEvent) =>
    setMenu({ kind, element, left: event.clientX, top: event.clientY });

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

  return (
    <div class={`stage ${mode}`} ref={stage} style={{ '--shape': `${width} / ${height}` }}>
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
          release();
          if (element) openMenu('all', element, event);
        }}
        onWheel={wheel}
      >
        <canvas ref={canvas} role="img" aria-label="Live picture" />
        {!hasPicture && <p class="no-picture">Waiting for the first picture…</p>}
        {screen && <Outlines of={of} screen={screen} />}
        <KeyField
          of={of}
          field={keys}
          screen={screen}
          onKeys={() => {
            // The card would cover what is being typed, until the pointer moves.
            pointer.current = undefined;
            of.hovered.set(-1);
          }}
        />
        {drag && (
          <svg class="drag" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
            <line x1={drag.from.x} y1={drag.from.y} x2={drag.to.x} y2={drag.to.y} />
            <circle cx={drag.to.x} cy={drag.to.y} r={8 / scale} />
          </svg>
        )}
      </div>
      {screen && !menu && !drag && <Tip of={of} screen={screen} scale={scale} box={size} />}
      {menu?.kind === 'options' && <OptionsMenu of={of} {...menu} onClose={closeMenu} />}
      {menu?.kind === 'all' && <ElementMenu of={of} {...menu} isAssert={mode === 'assert'} onClose={closeMenu} />}
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
