/** A value that components follow. */
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  value: T;
  /** Sets the value and tells who follows it. */
  set(value: T): void;
  follow(listener: (value: T) => void): () => void;
}

export function store<T>(initial: T): Store<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    value: initial,
    set(value) {
      if (Object.is(value, this.value)) return;
      this.value = value;
      for (const listener of [...listeners]) listener(value);
    },
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store. The component is drawn again when it changes. */
export function use<T>(from: Store<T>): T {
  const [, draw] = useState({});
  useEffect(() => {
    const seen = from.value;
    const stop = from.follow(() => draw({}));
    // It may have changed before the effect ran.
    if (!Object.is(seen, from.value)) draw({});
    return stop;
  }, [from]);
  return from.value;
}
