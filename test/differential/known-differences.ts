/**
 * Differences that are known and wanted, each with its name and its row in docs/parity.md: recognised one by one,
 * never by loosening a comparison as a whole. Two more are handled where they arise: `revision-generation` in
 * portrait.ts, and what the original notices only when it is touched in settle.ts.
 */
import type { Difference } from './compare.ts';
import type { QuietPoint } from './settle.ts';

/** The fifty seconds of docs/parity.md (a run, and twice its request's time-out), and a look. */
const STATE_MISSING_MS = 60_000;
const BACK_OFF_MS = 150_000;
/** A busy machine explains less: nothing happened on either side, and then something. */
const LATE_MS = 6000;

/**
 * Known difference `refused-back-off` (docs/parity.md, execute-creates.ts): a node whose pod was refused is tried again
 * after its own back-off, whatever happens; the original tries again at every event of the DaemonSet.
 */
export function isBackingOff({ refusedAtMs }: { readonly refusedAtMs: number }): boolean {
  return performance.now() - refusedAtMs < BACK_OFF_MS;
}

/**
 * Known difference `state-missing` (protocol 6, docs/parity.md, planning.ts): a DaemonSet that finds pods, but no state
 * of its own, deletes no available pod until no forgotten request can be alive, and may create none. It may have
 * forgotten what it did.
 */
export function isForgetful({ adoptedAtMs }: { readonly adoptedAtMs: number }): boolean {
  return performance.now() - adoptedAtMs < STATE_MISSING_MS;
}

/** Why Rollcall, or the original, changed later than both had been quiet. */
export function lateReason(
  point: Pick<QuietPoint, 'changedByNudge' | 'waitedMs' | 'longestQuietMs'>,
  since: {
    readonly isRefusing: boolean;
    readonly refusedAtMs: number;
    readonly adoptedAtMs: number;
  },
): string {
  const { changedByNudge, waitedMs, longestQuietMs } = point;
  if (!changedByNudge.includes('rollcall') || since.isRefusing) return 'original-touched';
  if (isBackingOff(since)) return 'refused-back-off';
  const wasForgetful = isForgetful({ adoptedAtMs: since.adoptedAtMs + waitedMs });
  if (wasForgetful) return 'state-missing';
  return longestQuietMs < LATE_MS ? 'rollcall-slow' : 'rollcall-late';
}

/**
 * Known difference `refusal-starves-original` (docs/parity.md, execute-creates.ts): one refused create keeps the
 * original from the creates, and the rollouts, of other nodes, until luck or its back-off helps. Accepted only
 * while admission refuses pods, and only where it is the original that has fewer pods; the nodes concerned are
 * left alone until they agree again.
 */
export function starvedNodes(differences: readonly Difference[]): ReadonlySet<string> | undefined {
  const nodes = new Set<string>();
  for (const { comparison, subject, original, rollcall } of differences) {
    if (comparison === 'status') continue;
    const [mine, theirs] = [rollcall, original].map((it) => (Array.isArray(it) ? it.length : 0));
    if (comparison !== 'placement' || (mine ?? 0) <= (theirs ?? 0)) return undefined;
    nodes.add(subject.split(' on ')[1] ?? '');
  }
  return nodes.size === 0 ? undefined : nodes;
}
