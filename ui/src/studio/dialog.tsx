/** A modal dialog, closed with Escape, its button, or a click beside it. */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }): VNode {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    if (!box.current!.open) box.current!.showModal();
    // Also if another dialog takes its place.
    return () => opener?.focus({ preventScroll: true });
  }, []);
  return (
    <dialog
      ref={box}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === box.current) box.current!.close();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="close" onClick={() => box.current!.close()}>
            Close
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
