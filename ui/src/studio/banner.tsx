/** Something that is wrong for a while. It is announced, stays until it is over, and can be dismissed. */
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

export function Banner({ cls, title, children }: { cls: string; title: string; children: ComponentChildren }): VNode | null {
  const [isDismissed, setDismissed] = useState(false);
  if (isDismissed) return null;
  return (
    <div class={`${cls} bar-row`}>
      <p class="grow" role="alert">
        <strong>{title}</strong> {children}
      </p>
      <button type="button" class="icon-button" aria-label="Dismiss" title="Dismiss" onClick={() => setDismissed(true)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
