/**
 * What a state keeps of pods that are gone and that no view ever showed (S13, ADR 0030).
 *
 * An answered create is settled once its pod is seen, or once the view has been read past it. In the
 * second case nobody else knows that its name was borne. Written with the very write that settles the
 * intent: a run that dies after it has forgotten nothing. What the slices know is not kept twice; what only
 * a live read found, they do not know. Each is kept until ten minutes have passed by the clock of the run
 * and by that of the view's messages: either may be wrong (row 13).
 */
import type { Uid } from '../../core/model/identifiers.ts';
import type { DaemonSetState, Intent } from '../../core/model/state.ts';
import { buryAnswered, keepTombstones } from '../../core/tombstones.ts';
import type { ViewedSubject } from './context.ts';

/** `buried` of a state after these intents were settled; an empty object when there is nothing to keep. */
export function buriedAfter(
  stored: Pick<DaemonSetState, 'buried'>,
  settled: readonly Intent[],
  { read, shown, nowMs, basis }: Pick<ViewedSubject, 'read' | 'shown' | 'nowMs' | 'basis'>,
): Pick<DaemonSetState, 'buried'> {
  const { lastSentAtMs: toldAtMs } = basis.meta;
  const all = [...(stored.buried ?? []), ...buryAnswered(settled, nowMs)].map((each) => ({
    toldAtMs,
    ...each,
  }));
  if (all.length === 0) return {};
  const known = new Set<Uid>([...shown, ...read.gone].map(({ uid }) => uid));
  const buried = keepTombstones(all, { nowMs, toldAtMs, isLiving: (uid) => known.has(uid) });
  return buried.length === 0 ? {} : { buried };
}
