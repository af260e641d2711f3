/**
 * Hooks into the in-memory stores: where a test makes a call fail, or lets it succeed unheard.
 *
 * `before` runs before a call takes effect: throwing there is a throttle, a refusal, a crash just
 * before a write. `after` runs once it took effect: throwing there is a lost answer, or a crash just
 * after. Both may wait, which is how a test freezes an invocation in the middle.
 */

/** One call of a store. */
export interface StoreCall {
  readonly operation: string;
  /** The item, as text a person can read. */
  readonly target: string;
  readonly isWrite: boolean;
}

/** What a test may do around each call. */
export interface StoreHooks {
  before?: (call: StoreCall) => void | Promise<void>;
  /** May put another result in place of the real one: what a client's own retry would have been told. */
  after?: (call: StoreCall) => AfterCall | Promise<AfterCall>;
}

/** Nothing, or the result that the caller sees. */
export type AfterCall = { readonly result: unknown } | undefined | void;

/** What a test has of a store besides its port. */
export interface Hooked {
  hooks: StoreHooks;
  readonly calls: StoreCall[];
}

/** The same store, whose every call runs between hooks. */
export function hooked<T extends object>(store: T): T & Hooked {
  const own: Hooked & { [name: string | symbol]: unknown } = { hooks: {}, calls: [] };
  return new Proxy(store, {
    get: (target, name): unknown => {
      if (name in own) return own[name];
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const operation = String(name);
      const isWrite = !/^(read|list)/.test(operation);
      return (...given: readonly unknown[]): unknown => {
        const call = { operation, target: JSON.stringify(given[0]), isWrite };
        return aroundCall(own, call, () => Reflect.apply(member, target, given) as unknown);
      };
    },
    set: (target, name, value) => Reflect.set(name in own ? own : target, name, value),
  }) as T & Hooked; // as the handler says
}

/** Runs `apply` between the hooks, and keeps a record of the call. */
export async function aroundCall<T>(
  context: Hooked,
  call: StoreCall,
  apply: () => T | Promise<T>,
): Promise<T> {
  await context.hooks.before?.(call);
  context.calls.push(call);
  const applied = apply();
  const result = applied instanceof Promise ? await applied : applied;
  const instead = await context.hooks.after?.(call);
  return instead === undefined ? result : (instead as { readonly result: T }).result; // as the hook says
}

/** The error of a table that throttles beyond the client's retries. */
class StoreThrottledError extends Error {
  override readonly name = 'StoreThrottledError';
}

/** Hooks that throw at the `index`-th write (from 0), before or after it took effect. */
export function failingAtWrite(index: number, moment: 'before' | 'after'): StoreHooks {
  let seen = 0;
  const hook = (call: StoreCall): void => {
    if (!call.isWrite) return;
    seen += 1;
    if (seen === index + 1) {
      throw new StoreThrottledError(
        `injected ${moment} write ${index}: ${call.operation} ${call.target}`,
      );
    }
  };
  return moment === 'before' ? { before: hook } : { after: hook };
}
