/** A menu at an element: what can be done with it, and asserted about it. */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Inspection, ScreenElement } from '../../api/messages.ts';
import { Data } from '../../shared/text.tsx';
import { act, describe, inspect, type Session } from './state.ts';

const ACTIONS: [action: string, text: string][] = [
  ['tap', 'Tap'],
  ['doubleTap', 'Double tap'],
  ['longPress', 'Long press'],
  ['hover', 'Hover'],
];

interface Props {
  of: Session;
  element: ScreenElement;
  left: number;
  top: number;
  isAssert: boolean;
  onClose: () => void;
}

export function ElementMenu({ of, element, left, top, isAssert, onClose }: Props): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [found, setFound] = useState<Inspection | null | undefined>(null);
  useEffect(() => {
    let isOpen = true;
    void inspect(of, element.index).then((inspection) => {
      if (isOpen) setFound(inspection);
    });
    const away = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) onClose();
    };
    document.addEventListener('pointerdown', away, true);
    return () => {
      isOpen = false;
      document.removeEventListener('pointerdown', away, true);
    };
  }, []);
  // Kept within its surroundings, and the keyboard goes there.
  useLayoutEffect(() => {
    const menu = box.current!;
    const around = menu.parentElement!.getBoundingClientRect();
    menu.style.left = `${Math.max(4, Math.min(left, around.width - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(top, around.height - menu.offsetHeight - 4))}px`;
    menu.querySelector<HTMLElement>('button')?.focus({ preventScroll: true });
  }, [found]);

  const choose = (action: Parameters<typeof act>[1]) => {
    onClose();
    void act(of, {
      element: element.index,
      x: Math.round(element.x + element.width / 2),
      y: Math.round(element.y + element.height / 2),
      ...action,
    });
  };
  const keys = (event: KeyboardEvent) => {
    event.stopPropagation();
    const items = [...box.current!.querySelectorAll<HTMLElement>('button')];
    const by = ({ ArrowDown: 1, ArrowUp: -1 } as Record<string, number>)[event.key];
    if (event.key === 'Escape') onClose();
    else if (by) items[(items.indexOf(document.activeElement as HTMLElement) + by + items.length) % items.length]?.focus();
    else return;
    event.preventDefault();
  };
  const assertions = found?.assertions ?? [];
  return (
    <div
      class="menu"
      role="menu"
      aria-label={`${isAssert ? 'Assert about' : 'Actions for'} ${describe(element)}`}
      ref={box}
      onKeyDown={keys}
    >
      <div class="menu-head">
        <Data text={describe(element).slice(0, 80)} />
      </div>
      {!isAssert &&
        ACTIONS.map(([action, text]) => (
          <button key={action} role="menuitem" type="button" onClick={() => choose({ action })}>
            {text}
          </button>
        ))}
      {!isAssert && assertions.length > 0 && <div class="menu-head">Assert</div>}
      {assertions.map((assertion, nth) => (
        <button key={nth} role="menuitem" type="button" onClick={() => choose({ action: 'assert', assertion: nth })}>
          <Data text={assertion.text} />
        </button>
      ))}
      {found === null && (
        <div class="menu-note" role="status">
          Asking…
        </div>
      )}
      {found === undefined && (
        <div class="menu-note" role="status">
          The screen changed.
        </div>
      )}
      {found && isAssert && !assertions.length && (
        <div class="menu-note" role="status">
          Nothing can be asserted about it.
        </div>
      )}
    </div>
  );
}
