/**
 * Freezes and thaws of any scope, beside others who change the same: read, change, compare-and-set, and again.
 *
 * Each is one conditional write, whatever the number of clusters. Functions that run read it before their next batch.
 */
import { changeRegistration } from '../clusters/change-stored.ts';
import { freezeRegistration } from '../clusters/edit-registration.ts';
import { noteOfScope, withFreeze, withoutFreeze } from '../../core/may-act/freeze.ts';
import type { Freeze, FreezeScope } from '../../core/may-act/freeze.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { FreezeNote } from '../../core/model/registration.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';

/** Beside other operators: each of them writes once. */
const WRITES_MAX = 8;
/** For a freeze without an author. */
const NOBODY: FreezeNote = { by: '', why: '', atMs: 0 };

export interface FreezeStores {
  readonly freezes: FreezeStore;
  readonly registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>;
}

/** What came of it. */
export type FreezeChange =
  /** `note`: who froze and why, by this call or by one before. */
  | { readonly kind: 'frozen' | 'was-frozen'; readonly note: FreezeNote }
  /** As many DaemonSets are frozen by name as may be; nothing was written. */
  | { readonly kind: 'full' }
  /** `note`: of the freeze that was lifted. `left`: what of the stack is still frozen. */
  | { readonly kind: 'thawed'; readonly note: FreezeNote; readonly left: Freeze }
  | { readonly kind: 'was-not-frozen'; readonly left: Freeze }
  /** There is no such cluster. */
  | { readonly kind: 'missing' }
  /** Others changed it faster than it could be read and written. */
  | { readonly kind: 'lost' };

/** Freezes; once it answers, no function begins another batch there. One that stands keeps its note. */
export function freezeScope(
  stores: FreezeStores,
  scope: FreezeScope,
  note: FreezeNote,
): Promise<FreezeChange> {
  if (scope.kind === 'cluster') return freezeCluster(stores, scope.id, note);
  return changeStack(stores, (stored) => {
    const standing = noteOfScope(stored, scope);
    if (standing !== undefined) return { kind: 'was-frozen', note: standing };
    const next = withFreeze(stored, scope, note);
    return next === 'full' ? { kind: 'full' } : [next, { kind: 'frozen', note }];
  });
}

/** Thaws this scope alone. Who thaws has the keys looked at (wake-stack.ts): nothing else changed that would. */
export function thawScope(stores: FreezeStores, scope: FreezeScope): Promise<FreezeChange> {
  if (scope.kind === 'cluster') return thawCluster(stores, scope.id);
  return changeStack(stores, (stored) => {
    const note = noteOfScope(stored, scope);
    if (note === undefined) return { kind: 'was-not-frozen', left: stored };
    const left = withoutFreeze(stored, scope);
    return [left, { kind: 'thawed', note, left }];
  });
}

/** `change` says what to write and what came of it then, or only what came of it. */
async function changeStack(
  { freezes }: FreezeStores,
  change: (stored: Freeze) => FreezeChange | readonly [Freeze, FreezeChange],
): Promise<FreezeChange> {
  for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
    const changed = change(await freezes.readFreeze());
    if ('kind' in changed) return changed;
    const [next, result] = changed;
    if ((await freezes.writeFreeze(next)) === 'written') return result;
  }
  return { kind: 'lost' };
}

async function freezeCluster(
  { registry }: FreezeStores,
  id: ClusterId,
  note: FreezeNote,
): Promise<FreezeChange> {
  let standing: FreezeNote | undefined;
  const stored = await changeRegistration(registry, id, (found) => {
    standing = found.isFrozen ? (found.frozen ?? NOBODY) : undefined;
    return freezeRegistration(found, note);
  });
  if (typeof stored === 'string') return { kind: stored };
  return standing === undefined ? { kind: 'frozen', note } : { kind: 'was-frozen', note: standing };
}

async function thawCluster(
  { registry, freezes }: FreezeStores,
  id: ClusterId,
): Promise<FreezeChange> {
  let lifted: FreezeNote | undefined;
  const stored = await changeRegistration(registry, id, (found) => {
    lifted = found.isFrozen ? (found.frozen ?? NOBODY) : undefined;
    return freezeRegistration(found, false);
  });
  if (typeof stored === 'string') return { kind: stored };
  const left = await freezes.readFreeze();
  if (lifted === undefined) return { kind: 'was-not-frozen', left };
  return { kind: 'thawed', note: lifted, left };
}
