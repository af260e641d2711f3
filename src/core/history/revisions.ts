/**
 * ControllerRevisions as objects: their data, hash, number, order, and how a new one is built (spec 2.10).
 *
 * Which of them holds the template: history-match.ts; what is done about them: history-plan.ts. The label of a
 * matching revision is always reused; our own hash only names revisions that we make.
 *
 * Differs from upstream: that hash is not the FNV hash of a Go dump, which nothing outside Go can reproduce.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { meaningOf } from './history-meaning.ts';
import { nameHash } from '../pod/naming.ts';
import { ownerReferenceOf } from '../pod/owner.ts';
import { REVISION_HASH_LABEL } from '../pod/pod-facts.ts';

/** Kubernetes cuts the prefix of a revision's name here, so that a hash always fits. */
const REVISION_PREFIX_MAX = 223;

/** The longest text that can be a label's value. */
const LABEL_VALUE_MAX = 63;

/** The data of a revision: the whole pod template, with the directive that replaces it. */
export function revisionData(daemonSet: DaemonSetObject): JsonObject {
  const template: object = daemonSet.spec.template;
  return { spec: { template: { ...template, $patch: 'replace' } } };
}

/** True if a revision still has to be given its hash (spec 2.10 step 2). */
export function lacksHash(revision: KubernetesObject): boolean {
  return (revision.metadata.labels?.[REVISION_HASH_LABEL] ?? '') === '';
}

/**
 * controller-revision-hash of a revision; one without the label gets its own name (spec 2.10 step 2).
 * A name that no label can hold, which upstream would fail on for ever, is hashed.
 */
export function revisionHashOf(revision: Pick<KubernetesObject, 'metadata'>): string {
  const { name, labels } = revision.metadata;
  const hash = labels?.[REVISION_HASH_LABEL] ?? '';
  if (hash !== '') return hash;
  return name.length <= LABEL_VALUE_MAX ? name : nameHash(`revision name\n${name}`);
}

/** The number of a revision; 0 where it has none. */
export function revisionNumberOf(revision: KubernetesObject): number {
  const number = revision['revision'];
  return typeof number === 'number' ? number : 0;
}

/** Ascending by number, then by name. */
export function compareRevisions(left: KubernetesObject, right: KubernetesObject): number {
  const byNumber = revisionNumberOf(left) - revisionNumberOf(right);
  return byNumber === 0 ? compareText(left.metadata.name, right.metadata.name) : byNumber;
}

/** Our own hash of the present template: deterministic, and different for each collisionCount. */
export function revisionHash(daemonSet: DaemonSetObject, collisionCount: number): string {
  return nameHash(`revision\n${collisionCount}\n${meaningOf(revisionData(daemonSet))}`);
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
