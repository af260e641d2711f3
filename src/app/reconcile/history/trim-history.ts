/**
 * Deletes the surplus of old revisions, last of all and only if nothing failed before (spec 2.11).
 *
 * Each is read live, and its delete carries UID and version of that read (S4, S10). A revision whose content
 * differs from the view's is kept and looked at again; a version alone does not count (protocol 8). Whether a
 * pod uses a revision only the view knows, so nothing is deleted by a view from before a restore of etcd (row
 * 71; live-daemon-set.ts). A delete returns no version, so no mark shows that the view has seen it: an older view
 * still holds the revision, and a live 404 ends the matter without a second delete (L1).
 *
 * Differs from upstream: a live read of each revision and of the DaemonSet before the deletes.
 */
import { buildRevisionDelete } from '../../../core/history/history-patches.ts';
import type { Outcome } from '../../../core/model/effects.ts';
import { resourceVersion } from '../../../core/model/identifiers.ts';
import { isSameJson } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Plan } from '../../../core/model/plan.ts';
import type { RevisionProjection } from '../../../core/model/projections.ts';
import { controllerUidOf } from '../../../core/pod/owner.ts';
import { passesFence, type NotedFence } from '../confirm/batch-fence.ts';
import { NO_OUTCOME, send } from '../run/context.ts';
import { historyFailure } from './history-result.ts';
import type { Problem } from '../run/result.ts';
import { readPlanned, type PlannedMissing } from '../confirm/live-daemon-set.ts';
import { heldWrite } from '../../../core/retry/retry.ts';

/** Sends the deletes of a plan; problems are noted in the result. */
export async function trimHistory(trims: Plan['trims'], fence: NotedFence): Promise<void> {
  const { result } = fence;
  if (trims.length === 0 || result.problems.length > 0 || result.refused.length > 0) return;
  const held = heldWrite('trim-refused', fence.input);
  if (held !== undefined) {
    result.add(held);
    return;
  }
  if (!(await passesFence(fence))) return;
  const present = await readTrims(trims, fence);
  if (present.length === 0) return;
  const found = await readPlanned(fence);
  if (found.kind !== 'found') {
    result.add(unplanned(found));
    return;
  }
  const outcomes = await send(present.map(buildRevisionDelete), fence);
  for (const [index, { name }] of present.entries()) {
    result.add(problemOf(name, outcomes[index] ?? NO_OUTCOME));
  }
}

/** Those that are there as they were seen, as of now; a doubt is noted, except for what is gone already. */
async function readTrims(
  trims: Plan['trims'],
  { access, result }: NotedFence,
): Promise<Plan['trims']> {
  const reads = await Promise.all(trims.map((trim) => access.getRevision(trim)));
  return trims.flatMap((trim, index) => {
    const read = reads[index];
    if (read?.kind === 'found') {
      const { uid, resourceVersion: version } = read.object.metadata;
      if (uid !== trim.uid) return [];
      if (isAsSeen(read.object, trim)) {
        return [{ ...trim, resourceVersion: resourceVersion(version) }];
      }
      result.add(changedProblem(trim.name));
    } else if (read?.kind === 'unavailable') {
      result.add(unplanned({ ...read, kind: 'failed' }));
    }
    return [];
  });
}

/** Owner, number and labels: what made it one of ours, an old one, and one that no pod carries. */
function isAsSeen(live: KubernetesObject, seen: RevisionProjection): boolean {
  const { deletionTimestamp, labels } = live.metadata;
  return (
    deletionTimestamp === undefined &&
    controllerUidOf(live) === seen.ownerUid &&
    Number(live['revision'] ?? 0) === seen.revision &&
    isSameJson(labels ?? {}, seen.labels)
  );
}

function changedProblem(name: string): Problem {
  const message = `revision ${name} changed since it was seen`;
  return { code: 'outcome-open', message, pace: 'soon' };
}

function unplanned(missing: PlannedMissing): Problem {
  switch (missing.kind) {
    case 'gone':
      return { code: 'daemon-set-changed', message: 'the DaemonSet is gone', pace: 'backoff' };
    case 'conflict': {
      const message = 'the DaemonSet changed since it was seen; old revisions wait';
      return { code: 'daemon-set-changed', message, pace: 'soon' };
    }
    case 'failed':
      return { code: 'cluster-unavailable', message: missing.message, pace: 'backoff' };
  }
}

function problemOf(name: string, outcome: Outcome): Problem | undefined {
  if (outcome.kind === 'done' || outcome.kind === 'gone') return undefined;
  if (outcome.kind === 'conflict') return changedProblem(name);
  const { message } = historyFailure(outcome, `revision ${name} was not deleted`);
  const code = outcome.kind === 'refused' ? 'trim-refused' : 'history';
  return { code, message, pace: 'backoff' };
}
