/**
 * Changes of the stack's freeze beside others who change it: read, change, compare-and-set, and again.
 *
 * Each is one conditional write, whatever the number of clusters. Functions that run read it before their next batch.
 */
import { noteOfScope, withFreeze, withoutFreeze } from '../../core/takeover/freeze.ts';
import type { Freeze, FreezeScope } from '../../core/takeover/freeze.ts';
import type { FreezeNote } from '../../core/model/registration.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';

/** Beside other operators: each of them writes once. */
const WRITES_MAX = 8;

/** What came of it. */
export type FreezeChange =
  /** `note`: who froze and why, by this call or by one before. */
  | { readonly kind: 'frozen' | 'was-frozen'; readonly note: FreezeNote }
  /** As many DaemonSets are frozen by name as may be; nothing was written. */
  | { readonly kind: 'full' }
  /** `note`: of the freeze that was lifted; absent: there was none. `left`: what is still frozen. */
  | { readonly kind: 'thawed'; readonly note: FreezeNote; readonly left: Freeze }
  | { readonly kind: 'was-not-frozen'; readonly left: Freeze }
  /** Others changed it faster than it could be read and written. */
  | { readonly kind: 'lost' };

/** Freezes; once it answers, no function begins another batch there. Rejects when the store fails. */
export async function freezeScope(
  freezes: FreezeStore,
  scope: FreezeScope,
  note: FreezeNote,
): Promise<FreezeChange> {
  for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
    const stored = await freezes.readFreeze();
    const standing = noteOfScope(stored, scope);
    if (standing !== undefined) return { kind: 'was-frozen', note: standing };
    const next = withFreeze(stored, scope, note);
    if (next === 'full') return { kind: 'full' };
    if ((await freezes.writeFreeze(next)) === 'written') return { kind: 'frozen', note };
  }
  return { kind: 'lost' };
}

/** Thaws this scope alone. Whoever thaws has the keys looked at (wake-stack.ts): nothing else changed that would. */
export async function thawScope(freezes: FreezeStore, scope: FreezeScope): Promise<FreezeChange> {
  for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
    const stored = await freezes.readFreeze();
    const note = noteOfScope(stored, scope);
    if (note === undefined) return { kind: 'was-not-frozen', left: stored };
    const left = withoutFreeze(stored, scope);
    if ((await freezes.writeFreeze(left)) === 'written') return { kind: 'thawed', note, left };
  }
  return { kind: 'lost' };
}
