import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScreenElement } from '../src/generated/messages.ts';
import { elementAt, isSameAt, sameElement, screenOf, wheelDirection } from '../src/studio/hit.ts';

let next = 0;
function element(
  parent: number,
  [x, y, width, height]: [number, number, number, number],
  more: Partial<ScreenElement> = {},
): ScreenElement {
  return {
    index: next++,
    parent,
    role: 'text',
    name: '',
    id: '',
    value: '',
    x,
    y,
    width,
    height,
    isInteractive: false,
    isEditable: false,
    isDisabled: false,
    state: '',
    options: [],
    ...more,
  };
}

function shop() {
  next = 0;
  const elements = [
    element(-1, [0, 0, 400, 800], { role: 'page', name: 'Shop' }),
    element(0, [10, 10, 200, 60], { role: 'button', name: 'Pay now', isInteractive: true }),
    element(1, [20, 20, 100, 20], { name: 'Pay' }),
    element(0, [0, 300, 400, 200], { role: 'group' }),
    element(3, [0, 300, 400, 50], { role: 'heading', name: 'Basket' }),
    element(0, [0, 0, 0, 0], { name: 'Hidden', isInteractive: true }),
  ];
  return screenOf(3, elements, 400, 800);
}

test('acting aims at the button around a text, reading at the text', () => {
  assert.equal(elementAt(shop(), 30, 25, 'act')?.name, 'Pay now');
  assert.equal(elementAt(shop(), 30, 25, 'read')?.name, 'Pay');
});

test('the page itself is hit only where nothing else is', () => {
  assert.equal(elementAt(shop(), 390, 790, 'act')?.name, 'Shop');
  assert.equal(elementAt(shop(), 5, 310, 'act')?.name, 'Basket');
  assert.equal(elementAt(shop(), 5, 450, 'act')?.role, 'group');
  assert.equal(elementAt(shop(), 500, 10, 'act'), undefined);
});

test('of elements that lie on each other, the later one is on top', () => {
  const screen = shop();
  const dialog = element(0, [0, 0, 300, 300], { role: 'dialog', name: 'Sure?' });
  assert.equal(elementAt(screenOf(4, [...screen.elements, dialog], 400, 800), 30, 25, 'act')?.name, 'Sure?');
});

test('what a dialog covers is not hit, even where the dialog is empty', () => {
  const screen = shop();
  const scrim = element(0, [0, 0, 400, 800], { role: 'group' });
  const card = element(scrim.index, [0, 0, 300, 300], { role: 'group' });
  const button = element(card.index, [200, 200, 50, 30], { role: 'button', name: 'Allow', isInteractive: true });
  const covered = screenOf(4, [...screen.elements, scrim, card, button], 400, 800);
  assert.equal(elementAt(covered, 30, 25, 'act'), card);
  assert.equal(elementAt(covered, 210, 210, 'act'), button);
  assert.equal(elementAt(covered, 5, 310, 'act')?.name, 'Basket');
});

test('an element is found again only if nothing about it changed', () => {
  const screen = shop();
  const old = screen.elements[1]!;
  assert.equal(sameElement(old, screen), old);
  const movedOn = screenOf(
    4,
    screen.elements.map((one) => ({ ...one, y: one.y + 1 })),
    400,
    800,
  );
  assert.equal(sameElement(old, movedOn), undefined);
});

test('a point is the same only if the same element is on top', () => {
  const screen = shop();
  const list = element(0, [0, 0, 200, 200], { role: 'listbox', name: 'Suggestions', isInteractive: true });
  const suggesting = screenOf(4, [...screen.elements, list], 400, 800);
  assert.equal(isSameAt(screen, shop(), 30, 25), true);
  assert.equal(isSameAt(screen, suggesting, 30, 25), false);
  assert.equal(isSameAt(screen, suggesting, 5, 310), true);
  assert.equal(isSameAt(screen, suggesting, 900, 900), true);
});

test('a wheel scrolls in the direction that it turned most', () => {
  assert.equal(wheelDirection(0, 120), 'DOWN');
  assert.equal(wheelDirection(-200, 120), 'LEFT');
  assert.equal(wheelDirection(1, -2), undefined);
});
