/**
 * When the last pod of a simulated cluster becomes available by what its conditions say, and by nothing else.
 */
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { readyOf } from './staged-pods.ts';

/** Wall milliseconds at which minReadySeconds of the last ready pod are over; minus infinity where none is waited for. */
export function lastAvailabilityMs(api: SimulatedApiServer): number {
  const waitsMs = new Map(
    api.list('daemonsets').map((set) => {
      const { minReadySeconds = 0 } = set['spec'] as { readonly minReadySeconds?: number };
      return [set.metadata.uid, minReadySeconds * 1000];
    }),
  );
  const momentsMs = api.list('pods').map((pod) => {
    const waitMs = waitsMs.get(controllerUid(pod) ?? '') ?? 0;
    const sinceMs = Date.parse(readyOf(pod)?.lastTransitionTime ?? '');
    return waitMs > 0 && Number.isFinite(sinceMs) ? sinceMs + waitMs : Number.NEGATIVE_INFINITY;
  });
  return Math.max(...momentsMs);
}
