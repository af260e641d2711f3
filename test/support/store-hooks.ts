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

/** Runs `apply` between the hooks, and keeps a record of the call. */
export async function aroundCall<T>(
  context: { readonly hooks: StoreHooks; readonly calls: StoreCall[] },
  call: StoreCall,
  apply: () => T,
): Promise<T> {
  await context.hooks.before?.(call);
  context.calls.push(call);
  const result = apply();
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
