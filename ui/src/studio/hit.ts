/** Which element of a screen is at a point. */
import type { ScreenElement } from '../generated/messages.ts';

/** What pointing is for: acting wants what reacts, asserting and inspecting want the text itself. */
export type Aim = 'act' | 'read';

export interface Screen {
  generation: number;
  elements: ScreenElement[];
  /** Those that have an area, topmost first: in the order of the tree, what is later is drawn on top. */
  hittable: ScreenElement[];
  width: number;
  height: number;
}

export function screenOf(generation: number, elements: ScreenElement[], width: number, height: number): Screen {
  const seen = elements.filter((element) => element.width > 0 && element.height > 0);
  return { generation, elements, hittable: seen.reverse(), width, height };
}

/** Whether it does more than lay out its children. */
function saysSomething(element: ScreenElement): boolean {
  return element.isInteractive || element.isEditable || element.name !== '' || element.value !== '' || element.id !== '';
}

/**
 * The topmost element at a point. What it covers is not hit: the rows behind a dialog are not meant.
 * A linear search: 5,000 elements take microseconds.
 */
export function elementAt(screen: Screen, x: number, y: number, aim: Aim): ScreenElement | undefined {
  const top =
    screen.hittable.find((element) => contains(element, x, y) && !isBackdrop(screen, element)) ??
    screen.hittable.find((element) => contains(element, x, y) && saysSomething(element));
  if (!top) return undefined;
  const isMeant = (element: ScreenElement) => (aim === 'act' ? element.isInteractive : saysSomething(element));
  return around(screen, top, x, y, isMeant) ?? around(screen, top, x, y, saysSomething) ?? top;
}

/** The element or the closest one around it that is meant. */
function around(
  screen: Screen,
  from: ScreenElement,
  x: number,
  y: number,
  isMeant: (element: ScreenElement) => boolean,
): ScreenElement | undefined {
  for (let element: ScreenElement | undefined = from; element; element = screen.elements[element.parent]) {
    if (isMeant(element) && contains(element, x, y) && (element === from || !isBackdrop(screen, element))) return element;
  }
  return undefined;
}

function contains(element: ScreenElement, x: number, y: number): boolean {
  return x >= element.x && y >= element.y && x < element.x + element.width && y < element.y + element.height;
}

/** Whether it fills the screen, such as the page itself: whatever else is there is meant. */
function isBackdrop(screen: Screen, element: ScreenElement): boolean {
  return element.width * element.height >= 0.9 * screen.width * screen.height;
}

/** The element of a newer screen that is certainly the same, for an action that waited for another to finish. */
export function sameElement(old: ScreenElement, screen: Screen): ScreenElement | undefined {
  const isSame = (element: ScreenElement) =>
    element.role === old.role &&
    element.name === old.name &&
    element.id === old.id &&
    element.x === old.x &&
    element.y === old.y &&
    element.width === old.width &&
    element.height === old.height;
  const there = screen.elements[old.index];
  if (there && isSame(there)) return there;
  const alike = screen.elements.filter(isSame);
  return alike.length === 1 ? alike[0] : undefined;
}

/** Whether the same element is on top at a point as before: nothing came to lie there. */
export function isSameAt(old: Screen, screen: Screen, x: number, y: number): boolean {
  const [before, after] = [elementAt(old, x, y, 'act'), elementAt(screen, x, y, 'act')];
  return before ? after !== undefined && sameElement(before, screen) === after : after === undefined;
}

/** The direction in which a wheel scrolls, if it turned far enough to mean it. */
export function wheelDirection(deltaX: number, deltaY: number): 'UP' | 'DOWN' | 'LEFT' | 'RIGHT' | undefined {
  if (Math.max(Math.abs(deltaX), Math.abs(deltaY)) < 8) return undefined;
  if (Math.abs(deltaY) >= Math.abs(deltaX)) return deltaY > 0 ? 'DOWN' : 'UP';
  return deltaX > 0 ? 'RIGHT' : 'LEFT';
}
