/**
 * Runs independent reads and writes of one stage side by side, a bounded number at a time.
 *
 * All of them have ended when it answers or throws: nothing of a stage runs on into the next stage,
 * or into another invocation (spec faults 30).
 */

/** Maps items concurrently, answers in their order; throws the first error once all have ended. */
export async function sideBySide<T, R>(
  items: readonly T[],
  concurrencyMax: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && errors.length === 0) {
      const index = next;
      next += 1;
      try {
        results[index] = await work(items[index] as T);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  const workers = Math.min(concurrencyMax, items.length);
  await Promise.all(Array.from({ length: workers }, worker));
  // A log shows causes, not members: what failed first must not go under (row 69).
  const [cause] = errors;
  if (errors.length > 1) {
    throw new AggregateError(errors, 'several calls of one stage failed', { cause });
  }
  if (errors.length === 1) throw cause;
  return results;
}
