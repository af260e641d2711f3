/**
 * Writes counts over the DaemonSet as it was seen, in one request (ADR 0050, protocol 8, S7).
 *
 *   JSON Patch, what was seen as its tests ── written
 *        │ not that any more, not seen whole, or refused
 *   write-status.ts: read, compare, PUT
 *
 * The API server compares and writes in one step, so nothing lies between the two. An answer from behind what was seen
 * means that etcd was restored: it ends like a conflict, and the next look counts anew. What cannot be told by counts (a
 * notice of a pause, a status that has none yet) takes the other way.
 *
 * Differs from upstream: a patch of the counters that differ, where spec 2.12 sends the whole object.
 */
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import { statusPatch } from '../../../core/status/status-patch.ts';
import { isStoreRestored } from '../../../core/view/freshness.ts';
import { keyOf } from '../run/context.ts';
import type { Step, Subject } from '../run/context.ts';
import { reportBreach, statusWriteOf, writeStatus } from './write-status.ts';
import type { StatusFor, StatusWrite } from './write-status.ts';

/**
 * The counts over the DaemonSet as it was seen, in one request; by read and PUT where that is not what it is any more, or
 * cannot be patched.
 */
export async function writeCounts(statusFor: StatusFor, input: Step): Promise<StatusWrite> {
  const tried = await tryPatch(statusFor, input);
  if (tried.kind !== 'unfit' && tried.kind !== 'forbidden') return tried;
  if (tried.kind === 'forbidden') {
    const { clock, warmth } = input.context.dependencies;
    warmth.statusPatches.noteRefused(input.subject.basis.meta.clusterUid, clock.monotonicMs());
  }
  return writeStatus(statusFor, input);
}

type PatchTry =
  | StatusWrite
  /** It was not sent, or the DaemonSet is another one than was seen. */
  | { readonly kind: 'unfit' }
  /** Patches are refused; a PUT may not be. */
  | { readonly kind: 'forbidden' };

async function tryPatch(statusFor: StatusFor, input: Step): Promise<PatchTry> {
  const { context, subject, access } = input;
  const { daemonSet: seen, basis } = subject;
  const { clock, warmth } = context.dependencies;
  if (!warmth.statusPatches.mayPatch(basis.meta.clusterUid, clock.monotonicMs())) {
    return { kind: 'unfit' };
  }
  const status = statusFor(seen);
  if (status === undefined) return { kind: 'unfit' };
  const body = statusPatch(seen, status);
  if (body === undefined) return { kind: 'unfit' };
  const breach = reportBreach({ live: seen, status }, input);
  if (breach !== undefined) return breach;
  const [outcome] = await access.execute(
    [{ kind: 'update-status', ...keyOf(context), uid: basis.ref.uid, body }],
    { deadlineMs: context.run.deadlineMs },
  );
  switch (outcome?.kind) {
    case 'conflict':
      return { kind: 'unfit' };
    case 'refused': // 422 is a test that failed, among others
      return { kind: outcome.code === 'invalid' ? 'unfit' : 'forbidden' };
    default: {
      const write = statusWriteOf(outcome, () => true);
      const isLost = write.kind === 'written' && isOfLostStore(write.version, subject);
      return isLost ? { kind: 'conflict' } : write;
    }
  }
}

/** An answer from behind what was seen: etcd was restored, and what was counted is of a lost history (row 71). */
function isOfLostStore(version: ResourceVersion | undefined, { basis }: Subject): boolean {
  return isStoreRestored(version, { meta: basis.meta, written: basis.state?.written });
}
