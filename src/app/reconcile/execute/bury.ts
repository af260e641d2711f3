/**
 * What a state keeps of pods that are gone and that no view ever showed (S13, ADR 0030).
 *
 * An answered create is settled once its pod is seen, or once the view has been read past it. In the
 * second case this state alone knows that the pod's name was used. The tombstone is part of the write that
 * settles the intent, so a crash after it loses nothing. A pod that the slices have a tombstone of gets none
 * here; one that only a live read found does. Each is kept until ten minutes have passed both by the clock of
 * the run and by that of the view's messages, because either clock may be wrong (row 13).
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { DaemonSetState, Intent } from '../../../core/model/state.ts';
import { buryAnswered, keepTombstones } from '../../../core/pod/tombstones.ts';
import type { ViewedSubject } from '../run/context.ts';

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
