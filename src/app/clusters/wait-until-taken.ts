/**
 * Waits until a stack has what it needs to take a cluster over: a complete view and, where it uses one, a
 * token.
 *
 * The view was broken before, so a complete one was announced after that. Nothing is written.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { MoveDependencies, MoveSide, Taken } from './move-types.ts';

const POLL_MS = 2000;
const TOLD_EVERY_MS = 60_000;

/** Waits for at most `viewTimeoutMs`. */
export async function waitUntilTaken(
  registration: ClusterRegistration,
  side: MoveSide,
  { clock, viewTimeoutMs, signal, onProgress }: MoveDependencies,
): Promise<Taken> {
  const startedMs = clock.monotonicMs();
  let toldAtMs = -Infinity;
  for (;;) {
    const waitsFor = await whatIsMissing(registration, side);
    if (waitsFor === undefined) return { kind: 'taken' };
    if (signal.aborted) return { kind: 'interrupted' };
    const waitedMs = clock.monotonicMs() - startedMs;
    if (waitedMs >= viewTimeoutMs) return { kind: 'timed-out', waitsFor };
    if (waitedMs - toldAtMs >= TOLD_EVERY_MS) {
      toldAtMs = waitedMs;
      const what = waitsFor === 'view' ? 'a complete view' : 'a token of the renewer';
      onProgress?.(`waiting for ${what} in ${side.name} …`);
    }
    await clock.sleep(POLL_MS, signal);
  }
}

async function whatIsMissing(
  { id, clusterUid, authentication }: ClusterRegistration,
  { view, credentials }: MoveSide,
): Promise<'view' | 'token' | undefined> {
  const meta = await view.readMeta(clusterUid);
  if (meta?.isComplete !== true) return 'view';
  if (authentication.kind !== 'bound-token') return undefined;
  const token = await credentials.readToken(id, 'act');
  return token?.clusterUid === clusterUid ? undefined : 'token';
}
