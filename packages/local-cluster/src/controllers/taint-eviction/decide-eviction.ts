/**
 * When must a pod leave a node with NoExecute taints? Pure.
 *
 * Every such taint must be tolerated, or the pod goes at once. Of the tolerations that are used (the first that fits, for
 * each taint) the shortest tolerationSeconds counts; without any it may stay for good.
 */
import { toleratesTaint } from '@rollcall/base/taints.ts';
import type { Taint, Toleration } from '@rollcall/base/objects.ts';

/** What is to become of the pod. */
export type EvictionDecision =
  | { readonly kind: 'stay' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'leave-after'; readonly delayMs: number };

/** Decides; `taints` may hold other effects too. */
export function decideEviction(input: {
  readonly taints: readonly Taint[];
  readonly tolerations: readonly Toleration[];
}): EvictionDecision {
  let shortestSeconds = Infinity;
  for (const taint of input.taints) {
    if (taint.effect !== 'NoExecute') continue;
    const used = input.tolerations.find((toleration) => toleratesTaint(toleration, taint));
    if (used === undefined) return { kind: 'leave' };
    shortestSeconds = Math.min(shortestSeconds, used.tolerationSeconds ?? Infinity);
  }
  if (shortestSeconds === Infinity) return { kind: 'stay' };
  if (shortestSeconds <= 0) return { kind: 'leave' };
  return { kind: 'leave-after', delayMs: shortestSeconds * 1000 };
}
