/** Changes of a list of steps. Each returns a new list. */
import type { StudioStep } from '../generated/messages.ts';

export type Steps = readonly StudioStep[];

export const replaced = (steps: Steps, at: number, change: Partial<StudioStep>): StudioStep[] =>
  steps.map((step, nth) => (nth === at ? { ...step, ...change } : step));

/** Changes the step that the user edited, wherever it is now; `undefined` if somebody else changed it. */
export function changed(
  steps: Steps,
  at: number,
  isMeant: (step: StudioStep) => boolean,
  change: Partial<StudioStep>,
): StudioStep[] | undefined {
  const here = steps[at];
  if (here && isMeant(here)) return replaced(steps, at, change);
  const places = steps.flatMap((step, nth) => (isMeant(step) ? [nth] : []));
  return places.length === 1 ? replaced(steps, places[0]!, change) : undefined;
}

export const removed = (steps: Steps, at: number): StudioStep[] => steps.filter((_, nth) => nth !== at);

/** Puts a step at another place. A trailhead stays first. */
export function moved(steps: Steps, from: number, to: number): StudioStep[] {
  const first = steps[0]?.kind === 'trailhead' ? 1 : 0;
  const step = steps[from];
  if (!step || from < first) return [...steps];
  const rest = removed(steps, from);
  rest.splice(Math.max(first, Math.min(to, rest.length)), 0, step);
  return rest;
}

/** Makes one step of a step and the one above it. */
export function joined(steps: Steps, at: number): StudioStep[] {
  const [above, step] = [steps[at - 1], steps[at]];
  if (!above || !step) return [...steps];
  const text = [above.text, step.text].filter(Boolean).join(', then ');
  const one = {
    ...above,
    text,
    calls: [...above.calls, ...step.calls],
    written: [...above.written, ...step.written],
    needsModel: above.needsModel || step.needsModel,
  };
  return [...steps.slice(0, at - 1), one, ...steps.slice(at + 1)];
}

/** Adds an assertion to the last step if that verifies something, otherwise as a step of its own. */
export function withAssertion(steps: Steps, text: string, call: unknown): StudioStep[] {
  return [...steps, { kind: 'verify', text, calls: [call], needsModel: false, written: [] }];
}

/** A call of a step for its line: the tool, and what a trail has behind it. Without the rest until the daemon has sent it. */
export function lineOf(step: StudioStep, at: number): { tool: string; rest: string } {
  const keys = Object.keys((step.calls[at] ?? {}) as object);
  const tool = keys.find((key) => key !== 'as' || keys.length === 1) ?? '';
  const written = step.written[at] ?? '';
  return { tool, rest: written.startsWith(`${tool}: `) ? written.slice(tool.length + 2) : written };
}

/** The calls of a step as a list in a trail. */
export const callsText = (step: StudioStep): string =>
  step.calls.map((call, at) => `- ${(step.written[at] ?? JSON.stringify(call)).replaceAll('\n', '\n  ')}`).join('\n');
