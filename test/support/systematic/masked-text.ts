/** Values as text for comparison: times and ids that only chance or the clock gives are left out. */

const MASKED = /Ms$|At$|Timestamp$|TransitionTime$|^timers?$|^hash$|Hash$/;

export function maskedText(value: unknown): string {
  const text = JSON.stringify(value, (key, item: unknown) => {
    if (MASKED.test(key)) return undefined;
    if (item instanceof Map) return [...(item as Map<unknown, unknown>)];
    if (item instanceof Set) return [...(item as Set<unknown>)];
    return item;
  }) as string | undefined;
  return text ?? '';
}
