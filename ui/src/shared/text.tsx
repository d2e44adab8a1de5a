/** How text from outside is shown. It only ever becomes text nodes. */
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { count, cut, visible } from './words.ts';

/** Text of the run or the device, isolated from the direction of what is around it. */
export function Data({ text, cls }: { text: unknown; cls?: string }): VNode {
  return (
    <span class={'data' + (cls ? ` ${cls}` : '')} dir="auto">
      {visible(text)}
    </span>
  );
}

/** Text with its `names` set in code style. */
export function rich(text: unknown): ComponentChildren[] {
  return visible(text)
    .split(/`([^`\n]+)`/)
    .map((part, nth) => (nth % 2 ? <code class="data">{part}</code> : part));
}

export function Said({ text, cls }: { text: unknown; cls?: string }): VNode {
  return (
    <span class={'data' + (cls ? ` ${cls}` : '')} dir="auto">
      {rich(text)}
    </span>
  );
}

export const LONG = 600;

/** A text that may be long: cut, with a button for the rest. A value is shown exactly, a message with its names in code style. */
export function Long({
  text,
  cls,
  most = LONG,
  isExact,
}: {
  text: string;
  cls?: string | undefined;
  most?: number;
  isExact?: boolean;
}): VNode {
  const [isOpen, setOpen] = useState(false);
  const show = (part: string) => (isExact ? visible(part) : rich(part));
  const box = `block ${cls || ''}`;
  if (text.length <= most * 1.2)
    return (
      <div class={box} dir="auto">
        {show(text)}
      </div>
    );
  return (
    <div class={box} dir="auto">
      <span>{show(isOpen ? text : cut(text, most))}</span>{' '}
      <button class="link" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'show less' : `show all ${count(text.length)} characters`}
      </button>
    </div>
  );
}

export function Tag({ text, title, cls }: { text: string; title?: string; cls?: string }): VNode {
  return (
    <span class={'tag data' + (cls ? ` ${cls}` : '')} title={title}>
      {visible(text)}
    </span>
  );
}

export function State({ name, text }: { name: string; text?: string }): VNode {
  return <span class={`state ${name}`}>{text || name[0]!.toUpperCase() + name.slice(1)}</span>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return (
    <div>
      <dt class="label">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
