/** Keys for the device: a field on the picture that takes what is typed, and a menu of keys that the page uses itself. */
import type { Ref, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { use } from '../../shared/store.ts';
import { known } from '../app.ts';
import type { Screen } from '../hit.ts';
import { Menu } from './menu.tsx';
import { act, flush, platformOf, release, typeMore, type Session } from './state.ts';

type KeyName = [key: string, name: string];

const ARROWS: KeyName[] = [
  ['ArrowUp', '↑ Up'],
  ['ArrowDown', '↓ Down'],
  ['ArrowLeft', '← Left'],
  ['ArrowRight', '→ Right'],
];
const MOVES: KeyName[] = [
  ['Home', 'Home'],
  ['End', 'End'],
  ['PageUp', 'Page up'],
  ['PageDown', 'Page down'],
];
const ALL: KeyName[] = [
  ['Enter', 'Enter'],
  ['Backspace', 'Backspace'],
];
const LEAVING: KeyName[] = [
  ['Tab', 'Tab'],
  ['Escape', 'Escape'],
];

/** The keys that a platform's devices have. */
function keysOf(platform: string): KeyName[] {
  if (platform === 'web') return [...LEAVING, ['Shift+Tab', 'Shift+Tab'], ...ALL, ['Delete', 'Delete'], ...ARROWS, ...MOVES];
  return platform === 'desktop' ? [...LEAVING, ...ALL] : ALL;
}

interface KeyFieldProps {
  of: Session;
  field: Ref<HTMLTextAreaElement>;
  screen: Screen | null;
  /** Called when keys are used rather than the pointer. */
  onKeys: () => void;
}

/**
 * Takes the keys while the picture has the focus. It is a field, so that input methods, dead keys and the keyboards of phones work,
 * and it is always empty: text goes to the device when it is complete. Tab leaves it, as it leaves any field.
 */
export function KeyField({ of, field, screen, onKeys }: KeyFieldProps): VNode {
  const mode = use(of.mode);
  const isAct = mode === 'act';
  // At the field of the device, so that an input method opens its window there.
  const focused = screen?.elements.find((element) => element.isEditable && element.state.split(' ').includes('focused'));
  const percent = (part: number, whole: number) => `${Math.min(96, (part / (whole || 1)) * 100)}%`;

  const take = (node: HTMLTextAreaElement) => {
    const text = node.value;
    node.value = '';
    of.composing.set('');
    if (!text || !isAct) return;
    typeMore(of, of.typed.value + text);
    onKeys();
  };
  const backspace = () => {
    if (of.typed.value) typeMore(of, [...of.typed.value].slice(0, -1).join(''));
    else void act(of, { action: 'pressKey', text: 'Backspace' });
  };
  const press = (event: KeyboardEvent) => {
    // An input method that is composing has the keys; some browsers only say so by the code 229.
    if (!isAct || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Tab' || !keysOf(platformOf(of)).some(([key]) => key === event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    onKeys();
    if (event.key === 'Backspace') backspace();
    else void act(of, { action: 'pressKey', text: event.shiftKey && platformOf(of) === 'web' ? `Shift+${event.key}` : event.key });
  };
  const help = isAct
    ? 'What you type here goes to the device. Tab leaves it; the Keys menu sends Tab.'
    : `Click an element to ${mode === 'assert' ? 'assert something about it' : 'inspect it'}; the Tree tab lists them.`;
  return (
    <textarea
      ref={field}
      class="key-field"
      rows={1}
      aria-label="Screen of the device"
      aria-description={help}
      readOnly={!isAct}
      spellcheck={false}
      autocomplete="off"
      autocapitalize="off"
      style={focused && screen ? { left: percent(focused.x, screen.width), top: percent(focused.y, screen.height) } : {}}
      onKeyDown={press}
      onBeforeInput={(event) => {
        // The keyboards of phones do not say which key was pressed.
        if (event.isComposing || event.currentTarget.value) return;
        if (event.inputType === 'deleteContentBackward') backspace();
        else if (event.inputType === 'insertLineBreak') void act(of, { action: 'pressKey', text: 'Enter' });
        else return;
        event.preventDefault();
      }}
      onInput={(event) => {
        if (event.isComposing) of.composing.set(event.currentTarget.value);
        else take(event.currentTarget);
      }}
      onCompositionEnd={(event) => take(event.currentTarget)}
      onFocus={() => of.hasKeys.set(true)}
      onBlur={(event) => {
        take(event.currentTarget);
        of.hasKeys.set(false);
        release();
        void flush(of);
      }}
    />
  );
}

/** A menu of keys to send to the device. */
export function KeysMenu({ of }: { of: Session }): VNode {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  use(known);
  const platform = platformOf(of);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const item = (name: string, action: Parameters<typeof act>[1]) => (
    <button
      key={name}
      type="button"
      role="menuitem"
      onClick={() => {
        close();
        void act(of, action);
      }}
    >
      {name}
    </button>
  );
  const box = button.current?.getBoundingClientRect();
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        title="Send a key to the device"
        onClick={() => (isOpen ? close() : setOpen(true))}
      >
        Keys
      </button>
      {isOpen && (
        <Menu label="Send a key to the device" left={box?.left ?? 0} top={(box?.bottom ?? 0) + 4} opener={button.current} onClose={close}>
          {keysOf(platform).map(([key, name]) => item(name, { action: 'pressKey', text: key }))}
          {item('Back', { action: 'back' })}
          {platform !== 'web' && platform !== 'desktop' && item('Home screen', { action: 'home' })}
        </Menu>
      )}
    </>
  );
}
