/**
 * Which revisions hold the present template (spec 2.10 step 3), never by bytes or a recomputed hash: a field that
 * an API server newly fills in must not restart a fleet (#78633, #134773).
 *
 * 1. By meaning: equal data (history-meaning.ts).
 * 2. By generation: the revision that was current at this metadata.generation, which any edit of the spec raises; named by
 *    the caller only if the template does not contradict it: a restored etcd repeats generations (row 71).
 * 3. Else by template generation, which the API server raises exactly when the template changes. One that the built-in
 *    controller renumbered keeps its old annotation, and only misses the rule. One of an earlier DaemonSet of this name
 *    may carry the number by chance: it must be owned, not older than the DaemonSet, and not contradict the template.
 *
 * Differs from upstream: matching by meaning and generations instead of bytes.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { isExtension, meaningOf } from './history-meaning.ts';
import { controllerUidOf } from '../pod/owner.ts';
import { TEMPLATE_GENERATION_ANNOTATION } from '../pod/pod-facts.ts';
import { compareRevisions, revisionData, lacksHash } from './revisions.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import type { RevisionProjection } from '../model/projections.ts';

/** True if the revision's data mean the DaemonSet's present template. */
export function holdsTemplate(daemonSet: DaemonSetObject, revision: KubernetesObject): boolean {
  return meaningOf(dataOf(revision)) === meaningOf(revisionData(daemonSet));
}

/**
 * True if the data of a revision differ from the template in more than members that one of the two lacks: no API
 * server filled that in or left it out, so they are of different edits.
 */
export function contradictsTemplate(daemonSet: DaemonSetObject, data: Json | undefined): boolean {
  return !isExtension(data, revisionData(daemonSet));
}

/**
 * The claimed revisions that hold the present template, in their order; several are duplicates of each other
 * (rule 3 names one only: nothing is deleted on its word).
 * `knownUid`: the revision that history found before at this generation of the DaemonSet.
 */
export function findCurrentRevisions(
  daemonSet: DaemonSetObject,
  claimed: readonly KubernetesObject[],
  knownUid: string | undefined,
): readonly KubernetesObject[] {
  const wanted = meaningOf(revisionData(daemonSet));
  const certain = claimed.filter(
    (revision) => revision.metadata.uid === knownUid || meaningOf(dataOf(revision)) === wanted,
  );
  if (certain.length > 0) return certain;
  return claimed
    .filter((revision) => isOfTemplateGeneration(daemonSet, revision))
    .sort(compareRevisions)
    .slice(-1);
}

function isOfTemplateGeneration(daemonSet: DaemonSetObject, revision: KubernetesObject): boolean {
  // Stryker disable next-line StringLiteral: no revision carries the text that would stand for absent
  const generation = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION] ?? '';
  if (generation === '') return false;
  return (
    revision.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION] === generation &&
    controllerUidOf(revision) === daemonSet.metadata.uid &&
    createdAtMs(revision) >= createdAtMs(daemonSet) &&
    !contradictsTemplate(daemonSet, dataOf(revision))
  );
}

/** NaN where it is unknown: no comparison holds then. */
function createdAtMs({ metadata }: Pick<KubernetesObject, 'metadata'>): number {
  // Stryker disable next-line StringLiteral: any text that is no date is NaN, too
  return Date.parse(metadata.creationTimestamp ?? '');
}

function dataOf(revision: KubernetesObject): Json | undefined {
  return revision['data'] as Json | undefined; // raw JSON of an API server
}

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

/**
 * True if the live revision is the DaemonSet's, holds its present template, and says by which hash pods know it (mode
 * copilot, where the built-in controller keeps history). It makes, or renumbers, the revision of a new template before
 * anything else, so only the newest one is asked about; where it does not fit, the controller's turn is to come. Of two
 * with an equal template the newer counts, as in the status.
 */
export function isBuiltInCurrent(
  daemonSet: DaemonSetObject,
  revision: KubernetesObject,
  knownUid: string | undefined,
): boolean {
  if (controllerUidOf(revision) !== daemonSet.metadata.uid || lacksHash(revision)) return false;
  return findCurrentRevisions(daemonSet, [revision], knownUid).length > 0;
}
