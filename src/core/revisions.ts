/**
 * History as far as created pods need it: the current revision and its hash (spec 2.10).
 *
 * A revision matches by *meaning*: canonical JSON without nulls. Never by bytes, never by a
 * recomputed hash: either would restart every pod when a cluster is taken over (spec 2.10, #78633).
 * The label of a matching revision is always reused; our own hash only names revisions that we make.
 * No foreign revision is considered (S10). Deduplication, renumbering and trimming come later.
 *
 * Differs from upstream: matching by meaning instead of bytes.
 */
import { canonicalJson, isJsonObject } from './model/json.ts';
import type { Json, JsonObject } from './model/json.ts';
import type { DaemonSetObject, KubernetesObject } from './model/kubernetes.ts';
import { compareText } from './compare-text.ts';
import { compileSelector } from './label-selector.ts';
import { hashLetters } from './letters.ts';
import { controllerUidOf, ownerReferenceOf } from './owner.ts';
import { REVISION_HASH_LABEL } from './pod-facts.ts';

/** Kubernetes cuts the prefix of a revision's name here, so that a hash always fits. */
const REVISION_PREFIX_MAX = 223;

/** The data of a revision: the whole pod template, with the directive that replaces it. */
export function revisionData(daemonSet: DaemonSetObject): JsonObject {
  const template: object = daemonSet.spec.template;
  return { spec: { template: { ...template, $patch: 'replace' } } };
}

/**
 * The revision that holds the DaemonSet's present template, the highest if there are several. Owned
 * revisions and orphans that the selector matches are considered; an orphan must be adopted before
 * its hash is relied upon (spec 2.4, 2.10).
 */
export function findMatchingRevision(
  daemonSet: DaemonSetObject,
  revisions: readonly KubernetesObject[],
): KubernetesObject | undefined {
  const wanted = meaningOf(revisionData(daemonSet));
  let found: KubernetesObject | undefined;
  for (const revision of claimRevisions(daemonSet, revisions)) {
    if (meaningOf(revision['data'] as Json | undefined) !== wanted) continue;
    if (found === undefined || compareRevisions(revision, found) > 0) found = revision;
  }
  return found;
}

/** controller-revision-hash of a revision; one without the label has its own name (spec 2.10). */
export function revisionHashOf(revision: KubernetesObject): string {
  const hash = revision.metadata.labels?.[REVISION_HASH_LABEL] ?? '';
  return hash === '' ? revision.metadata.name : hash;
}

/** The number after the highest of the claimed revisions; 1 for the first (spec 2.10). */
export function nextRevisionNumber(
  daemonSet: DaemonSetObject,
  revisions: readonly KubernetesObject[],
): number {
  const numbers = claimRevisions(daemonSet, revisions).map(numberOf);
  return Math.max(0, ...numbers) + 1;
}

/**
 * Our own hash of the present template: deterministic, and different for each collisionCount.
 * Differs from upstream: not the FNV hash of a Go dump, which nothing outside Go can reproduce.
 */
export function revisionHash(daemonSet: DaemonSetObject, collisionCount: number): string {
  return hashLetters(`revision\n${collisionCount}\n${meaningOf(revisionData(daemonSet))}`);
}

/** A new ControllerRevision of the present template (spec 2.10, snapshot). */
export function buildRevision(
  daemonSet: DaemonSetObject,
  at: { readonly hash: string; readonly revision: number },
): JsonObject {
  const { metadata, spec } = daemonSet;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${metadata.name.slice(0, REVISION_PREFIX_MAX)}-${at.hash}`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: { ...spec.template.metadata?.labels, [REVISION_HASH_LABEL]: at.hash },
      ...(metadata.annotations === undefined ? {} : { annotations: { ...metadata.annotations } }),
      ownerReferences: [ownerReferenceOf(daemonSet)],
    },
    data: revisionData(daemonSet),
    revision: at.revision,
  };
}

/** Owned revisions, and orphans that may be adopted: same namespace, matching, not terminating. */
function claimRevisions(
  daemonSet: DaemonSetObject,
  revisions: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  const selector = compileSelector(daemonSet.spec.selector);
  return revisions.filter((revision) => {
    const { metadata } = revision;
    const owner = controllerUidOf(revision);
    if (owner !== undefined) return owner === daemonSet.metadata.uid;
    return (
      metadata.namespace === daemonSet.metadata.namespace &&
      metadata.deletionTimestamp === undefined &&
      selector.matches(metadata.labels ?? {})
    );
  });
}

function compareRevisions(left: KubernetesObject, right: KubernetesObject): number {
  const byNumber = numberOf(left) - numberOf(right);
  return byNumber === 0 ? compareText(left.metadata.name, right.metadata.name) : byNumber;
}

function numberOf(revision: KubernetesObject): number {
  const number = revision['revision'];
  return typeof number === 'number' ? number : 0;
}

/** Canonical text without null members: some API servers write an absent field as null. */
function meaningOf(value: Json | undefined): string {
  return canonicalJson(withoutNulls(value));
}

function withoutNulls(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => withoutNulls(item) ?? null);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}
