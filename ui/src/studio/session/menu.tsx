/** Menus: of an element, what can be done with it and asserted about it; of a list on a web page, its options. */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Inspection, ScreenElement } from '../../generated/messages.ts';
import { Data } from '../../shared/text.tsx';
import { act, describe, inspect, platformOf, type Session } from './state.ts';

interface MenuProps {
  label: string;
  /** Where it opens, in the window. */
  left: number;
  top: number;
  /** Closes it. The keyboard goes back to what opened it. */
  onClose: () => void;
  /** A click here is not a click beside the menu. */
  opener?: HTMLElement | null;
  children: ComponentChildren;
}

/** A menu of buttons, operated by arrow keys and closed by Escape, Tab or a click beside it. */
export function Menu({ label, left, top, onClose, opener, children }: MenuProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const away = (event: PointerEvent) => {
      const target = event.target as Node;
      if (!box.current?.contains(target) && !opener?.contains(target)) close.current();
    };
    document.addEventListener('pointerdown', away, true);
    return () => document.removeEventListener('pointerdown', away, true);
  }, []);
  // Kept within the window, also when it grows, and the keyboard goes there.
  useLayoutEffect(() => {
    const menu = box.current!;
    menu.style.left = `${Math.max(4, Math.min(left, innerWidth - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(top, innerHeight - menu.offsetHeight - 4))}px`;
    if (!menu.contains(document.activeElement))
      (menu.querySelector<HTMLElement>('[aria-checked=true]') ?? menu.querySelector('button') ?? menu).focus({ preventScroll: true });
  });
  const keys = (event: KeyboardEvent) => {
    event.stopPropagation();
    const items = [...box.current!.querySelectorAll<HTMLElement>('button')];
    const here = items.indexOf(document.activeElement as HTMLElement);
    const by = ({ ArrowDown: 1, ArrowUp: -1 } as Record<string, number>)[event.key];
    // Tab goes on from what opened the menu.
    if (event.key === 'Tab') return onClose();
    if (event.key === 'Escape') onClose();
    else if (by) items[(Math.max(here, by < 0 ? 0 : -1) + by + items.length) % items.length]?.focus();
    else if (event.key === 'Home') items[0]?.focus();
    else if (event.key === 'End') items.at(-1)?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <div class="menu" role="menu" aria-label={label} tabIndex={-1} ref={box} onKeyDown={keys}>
      {children}
    </div>
  );
}

const ACTIONS: [action: string, text: string, isForWeb: boolean][] = [
  ['tap', 'Tap', false],
  ['doubleTap', 'Double-click', true],
  ['longPress', 'Long press', false],
  ['hover', 'Hover', true],
];

/** What can be done with an element by pointing. */
export const actionsFor = (of: Session): [action: string, text: string][] =>
  ACTIONS.filter(([, , isForWeb]) => !isForWeb || platformOf(of) === 'web').map(([action, text]) => [action, text]);

interface Props {
  of: Session;
  element: ScreenElement;
  left: number;
  top: number;
  onClose: () => void;
}

export function ElementMenu({ of, element, left, top, isAssert, onClose }: Props & { isAssert: boolean }): VNode {
  const [found, setFound] = useState<Inspection | null | undefined>(null);
  useEffect(() => {
    let isCurrent = true;
    void inspect(of, element.index).then((inspection) => {
      if (isCurrent) setFound(inspection);
    });
    return () => {
      isCurrent = false;
    };
  }, [element]);
  const choose = (action: Parameters<typeof act>[1]) => {
    onClose();
    void act(of, {
      element: element.index,
      x: Math.round(element.x + element.width / 2),
      y: Math.round(element.y + element.height / 2),
      ...action,
    });
  };
  const assertions = found?.assertions ?? [];
  return (
    <Menu label={`${isAssert ? 'Assert about' : 'Actions for'} ${describe(element)}`} left={left} top={top} onClose={onClose}>
      <div class="menu-head">
        <Data text={describe(element).slice(0, 80)} />
      </div>
      {!isAssert &&
        actionsFor(of).map(([action, text]) => (
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
    </Menu>
  );
}

/** The options of a list on a web page, which the browser would show outside of the page. */
export function OptionsMenu({ of, element, left, top, onClose }: Props): VNode {
  return (
    <Menu label={`Options of ${describe(element)}`} left={left} top={top} onClose={onClose}>
      <div class="menu-head">
        <Data text={describe(element).slice(0, 80)} />
      </div>
      {element.options.map((option, nth) => (
        <button
          key={nth}
          role="menuitemradio"
          type="button"
          aria-checked={option === element.value}
          onClick={() => {
            onClose();
            void act(of, { action: 'choose', element: element.index, text: option });
          }}
        >
          <Data text={option} />
        </button>
      ))}
    </Menu>
  );
}
