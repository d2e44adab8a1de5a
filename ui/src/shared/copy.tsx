/** Copying to the clipboard. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Whether it was copied. A page from disk may not have the newer interface of the clipboard. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'unseen';
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    return isCopied;
  }
}

export function CopyButton({ text, what }: { text: string; what: string }): VNode {
  const [said, setSaid] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const press = async (event: Event) => {
    event.stopPropagation();
    setSaid((await copy(text)) ? 'Copied' : 'Not copied');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(''), 1500);
  };
  return (
    <button class="copy" type="button" aria-label={`Copy ${what}`} onClick={(event) => void press(event)}>
      <span role="status">{said || 'Copy'}</span>
    </button>
  );
}
