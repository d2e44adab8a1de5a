import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Step } from '../src/generated/data.ts';
import { partsOf } from '../src/report/parts.ts';

const step = (number: number | null, more: Partial<Step> = {}) => ({ number, isWithin: false, ...more }) as Step;
const shown = (steps: Step[]) => partsOf(steps).map(({ title, places }) => [title, places.length]);

test('steps are outlined by their headings', () => {
  const steps = [
    step(null),
    step(1),
    step(2, { heading: 'Pay', isWithin: true }),
    step(3, { isWithin: true }),
    step(4),
    step(5, { heading: 'Leave', isWithin: true }),
  ];
  assert.deepEqual(shown(steps), [
    ['Step 1', 2],
    ['Pay', 2],
    ['Step 4', 1],
    ['Leave', 1],
  ]);
});

test('many steps without headings are outlined in parts, few are one part', () => {
  const steps = (n: number) => Array.from({ length: n }, (_, nth) => step(nth + 1));
  assert.deepEqual(shown(steps(60)), [
    ['Steps 1 to 25', 25],
    ['Steps 26 to 50', 25],
    ['Steps 51 to 60', 10],
  ]);
  assert.deepEqual(shown(steps(25)), [[null, 25]]);
});
