/**
 * The current revision where the built-in controller keeps history (mode copilot): read, never made or changed.
 *
 * It makes, or renumbers, the revision of a new template before anything else, so that one bears the highest number once
 * `status.observedGeneration` has reached the generation. Only the newest one is therefore asked about, by the rules of
 * history-match.ts. Where it does not hold the template, or bears no hash yet, its turn is to come: wait, and change
 * nothing. If the controller makes a second revision of an equal template (a field that an API server newly fills in),
 * the newer one counts, as it does in the status: its pods are labelled so.
 */
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import type { RevisionProjection } from '../model/projections.ts';
import { controllerUidOf } from '../pod/owner.ts';
import { findCurrentRevisions } from './history-match.ts';
import { lacksHash } from './revisions.ts';

/** The owned revision with the highest number, by the view; undefined: there is none. */
export function newestRevision(
  daemonSet: DaemonSetObject,
  seen: readonly RevisionProjection[],
): RevisionProjection | undefined {
  return seen
    .filter(({ ownerUid }) => ownerUid === daemonSet.metadata.uid)
    .sort((left, right) => left.revision - right.revision || compareText(left.name, right.name))
    .at(-1);
}

/** True if the live revision is the DaemonSet's, holds its present template, and says by which hash pods know it. */
export function isBuiltInCurrent(
  daemonSet: DaemonSetObject,
  revision: KubernetesObject,
  knownUid: string | undefined,
): boolean {
  if (controllerUidOf(revision) !== daemonSet.metadata.uid || lacksHash(revision)) return false;
  return findCurrentRevisions(daemonSet, [revision], knownUid).length > 0;
}
