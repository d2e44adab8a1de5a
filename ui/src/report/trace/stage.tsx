/** What was on the screen: pictures with what was touched, or the document. */
import type { ComponentChildren, VNode } from 'preact';
import { cut, time, visible } from '../../shared/words.ts';
import type { Touch } from '../../generated/data.ts';
import { Outline } from '../pictures.tsx';
import { useTrace } from './context.ts';
import type { TraceFrame } from './data.ts';
import { DocumentStage } from './document.tsx';
import { useAddress } from './film.tsx';
import { documentOf, frameAt, frameOf, timeOf, touchesAt, touchesOf, type Side } from './model.ts';
import { entryWords } from './words.ts';

export function Stage(): VNode {
  const { control, state, chosen } = useTrace();
  const { model } = control;
  const sideButton = (side: Side, text: string) => (
    <button
      type="button"
      aria-pressed={!state.isAtTime && state.stage !== 'both' && state.side === side}
      onClick={() => control.showSide(side)}
    >
      {text}
    </button>
  );
  const stageButton = (stage: typeof state.stage, text: string) => (
    <button type="button" aria-pressed={state.stage === stage} onClick={() => control.set({ stage })}>
      {text}
    </button>
  );
  const hasDocuments = model.documents.length > 0;
  return (
    <section class="trace-stage" aria-label="Screen">
      <div class="stage-head">
        <div class="choices" role="group" aria-label="What is shown">
          {stageButton('picture', 'Picture')}
          {stageButton('both', 'Side by side')}
          {hasDocuments && stageButton('document', 'Document')}
        </div>
        {state.stage !== 'both' && (
          <div class="choices" role="group" aria-label="When">
            {sideButton('before', 'Before')}
            {sideButton('after', 'After')}
          </div>
        )}
        <span class="stage-title" title={chosen ? visible(entryWords(chosen)) : undefined}>
          {state.isAtTime ? `At ${time(state.at - model.from)}` : chosen ? visible(cut(entryWords(chosen), 120)) : ''}
        </span>
      </div>
      {state.stage === 'document' ? <OfDocument /> : <OfPictures />}
    </section>
  );
}

function OfPictures(): VNode {
  const { control, state, chosen } = useTrace();
  const { model } = control;
  const first = model.frames[0];
  if (!first) return <Nothing>No picture was taken.</Nothing>;
  const ratio = { '--ratio': String(first.width / Math.max(1, first.height)) };
  if (state.isAtTime || !chosen) {
    const frame = model.frames[frameAt(model.frames, state.at)] ?? null;
    return (
      <div class="shots" style={ratio}>
        <Shot frame={frame} touches={touchesAt(model, state.at)} caption={`At ${time(state.at - model.from)}`} />
      </div>
    );
  }
  const sides: Side[] = state.stage === 'both' ? ['before', 'after'] : [state.side];
  return (
    <div class={sides.length > 1 ? 'shots both' : 'shots'} style={ratio}>
      {sides.map((side) => (
        <Shot
          key={side}
          frame={frameOf(model, chosen, side)}
          touches={side === 'before' ? touchesOf(chosen) : []}
          caption={`${side === 'before' ? 'Before' : 'After'}, at ${time(timeOf(model, chosen, side) - model.from)}`}
        />
      ))}
    </div>
  );
}

function Shot({ frame, touches, caption }: { frame: TraceFrame | null; touches: Touch[]; caption: string }): VNode {
  const address = useAddress(frame);
  if (!frame) return <Nothing>No picture was taken.</Nothing>;
  const [width, height] = [Math.max(1, frame.width), Math.max(1, frame.height)];
  return (
    <figure class="shot">
      <figcaption>{caption}</figcaption>
      <div class="shot-room">
        <div class="shot-picture" style={{ '--ratio': String(width / height), aspectRatio: `${width} / ${height}` }}>
          <img src={address} alt={caption} decoding="async" />
          {touches.map((touch, nth) => (
            <Outline key={nth} touch={touch} number={touches.length > 1 ? nth + 1 : 0} width={width} height={height} />
          ))}
        </div>
      </div>
    </figure>
  );
}

function OfDocument(): VNode {
  const { control, state, chosen } = useTrace();
  const entry = state.isAtTime ? null : chosen;
  const found = documentOf(control.model, entry, state.side, state.at);
  if (!found) return <Nothing>No document was kept. Documents are those of web pages.</Nothing>;
  const touches = state.side === 'before' && entry && found.taken === 'own' ? touchesOf(entry) : [];
  return <DocumentStage found={found} touches={touches} />;
}

export function Nothing({ children }: { children: ComponentChildren }): VNode {
  return <p class="stage-nothing">{children}</p>;
}
