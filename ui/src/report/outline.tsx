/** The outline of an attempt with many steps: a list beside them, in parts that fold. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Said } from '../shared/text.tsx';
import { cut, visible } from '../shared/words.ts';
import type { Step } from '../generated/data.ts';
import { partsOf } from './parts.ts';
import { isBad, KINDS } from './view.ts';

export function Outline({
  steps,
  failingStep,
  onStep,
}: {
  steps: Step[];
  failingStep: number | null;
  onStep: (place: number) => void;
}): VNode {
  const parts = partsOf(steps);
  const [toggled, setToggled] = useState<ReadonlyMap<number, boolean>>(new Map());
  const [chosen, setChosen] = useState<number | null>(null);
  return (
    <nav class="step-outline" aria-label="Outline of the steps">
      {parts.map((part, nth) => {
        const nBad = part.places.filter((place) => isBad(steps[place]!.state) && !steps[place]!.isTolerated).length;
        const isOpen = toggled.get(nth) ?? (parts.length <= 3 || nBad > 0 || part.places.includes(failingStep ?? -1));
        return (
          <section key={nth}>
            {part.title !== null && (
              <button
                class="outline-part"
                type="button"
                aria-expanded={isOpen}
                onClick={() => setToggled(new Map(toggled).set(nth, !isOpen))}
              >
                <Said text={cut(part.title, 80)} />
                {nBad > 0 && <span class="n-bad">{nBad}</span>}
              </button>
            )}
            {(isOpen || part.title === null) && (
              <ol>
                {part.places.map((place) => {
                  const step = steps[place]!;
                  const state = step.isTolerated ? 'skipped' : step.state;
                  return (
                    <li key={place}>
                      <button
                        type="button"
                        class={`outline-step ${state}`}
                        aria-current={chosen === place ? 'true' : undefined}
                        title={visible(cut(step.text, 300))}
                        onClick={() => {
                          setChosen(place);
                          onStep(place);
                        }}
                      >
                        <span class="nth">{step.number ?? KINDS[step.kind]}</span>
                        <Said text={cut(step.text, 120)} />
                        {isBad(state) && <span class="unseen">{state}</span>}
                      </button>
                    </li>
                  );
                })}
              </ol>
            )}
          </section>
        );
      })}
    </nav>
  );
}
