/** The parts of an attempt: the steps beneath a heading, or so many at a time. */
import type { Step } from '../generated/data.ts';

export interface StepsPart {
  /** `null` if the attempt is one part. */
  title: string | null;
  /** Of its steps. */
  places: number[];
}

/** How many steps an attempt has at least for an outline to help. */
export const OUTLINED = 12;
/** The size of a part without headings. */
const MOST = 25;

export function partsOf(steps: Step[]): StepsPart[] {
  const parts: StepsPart[] = [];
  let isHeaded = false;
  steps.forEach((step, place) => {
    const last = parts.at(-1);
    if (step.heading !== undefined) {
      parts.push({ title: step.heading, places: [place] });
      isHeaded = true;
    } else if (!last || isHeaded !== step.isWithin || (!isHeaded && last.places.length >= MOST)) {
      parts.push({ title: null, places: [place] });
      isHeaded = false;
    } else last.places.push(place);
  });
  if (parts.length > 1) for (const part of parts) part.title ??= titleOf(steps, part.places);
  return parts;
}

function titleOf(steps: Step[], places: number[]): string {
  const numbers = places.map((place) => steps[place]!.number).filter((number) => number !== null);
  if (!numbers.length) return 'Trailhead';
  return numbers.length === 1 ? `Step ${numbers[0]}` : `Steps ${numbers[0]} to ${numbers.at(-1)}`;
}
