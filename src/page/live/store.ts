/** A value that parts of the page look at, and are drawn again when it changes. */
import { useLayoutEffect, useState } from 'preact/hooks';

export interface Store<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  /** Returns what ends it. */
  readonly listen: (listener: () => void) => () => void;
}

/** Makes one. */
export function createStore<Value>(initial: Value): Store<Value> {
  const listeners = new Set<() => void>();
  let current = initial;
  return {
    get: () => current,
    set: (value) => {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The value now, and again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState<Value>(() => store.get());
  useLayoutEffect(() => {
    const update = (): void => {
      // A value may be a function.
      setValue(() => store.get());
    };
    update();
    return store.listen(update);
  }, [store]);
  return value;
}
