/** Clusters that have their turn in the next walk of `resync`, for tests that call it once. */
import { defaultResyncOptions } from '../../../src/app/resync/dependencies.ts';
import { FIRST_WALK_MS, turnWithin } from '../../../src/core/hints/resync-walk.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';

/**
 * Id of a cluster that has its turn in a walk that looks back for a quarter of an hour: for hints, or for
 * due times alone (src/core/hints/resync-walk.ts).
 */
export function nameWithTurn(kind: 'hints' | 'due-times'): string {
  const untilMs = Date.now();
  for (let count = 0; ; count += 1) {
    const name = `turn-${kind}-${String(count)}`;
    const turn = { spread: hash48(name), fromMs: untilMs - FIRST_WALK_MS / 2, untilMs };
    const { hintEveryMs, overdueEveryMs } = defaultResyncOptions;
    const isHinting = turnWithin(hintEveryMs, turn) !== undefined;
    const isChecking = turnWithin(overdueEveryMs, turn) !== undefined;
    if (isChecking && isHinting === (kind === 'hints')) return name;
  }
}

/** The walk before began a quarter of an hour ago; there is none where a right is missing. */
export async function ageWalk(view: ViewStore): Promise<void> {
  const walk = await view.readWalk();
  if (walk === undefined) return;
  const untilMs = walk.untilMs - FIRST_WALK_MS;
  const written = await view.writeWalk({ ...walk, untilMs });
  if (written !== 'written') throw new Error('somebody else walks');
}
