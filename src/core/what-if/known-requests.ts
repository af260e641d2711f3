/**
 * Pods with what Rollcall's own requests have done to them already, though no view shows it yet: a plan begins with what is so.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { uid } from '../model/identifiers.ts';
import type { IntentJudgement } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import { REVISION_HASH_LABEL } from '../pod/pod-facts.ts';
import type { CreateIntent } from '../model/state.ts';

export interface Known {
  readonly intents?: IntentJudgement;
  /** The DaemonSet before the edit, and its revision. */
  readonly daemonSet: DaemonSetObject;
  readonly currentHash: string | undefined;
}

/** The pods as they are taken to be. */
export function withKnownRequests(
  pods: readonly PodProjection[],
  known: Known,
): readonly PodProjection[] {
  const { intents } = known;
  const open = [...(intents?.unseen ?? []), ...(intents?.unresolved ?? [])];
  if (open.length === 0) return pods;
  const going = new Set(open.flatMap((each) => (each.kind === 'delete' ? [each.uid] : [])));
  const shown = new Set(pods.map(({ name }) => name));
  const made = open.flatMap((each) =>
    each.kind === 'create' && !shown.has(each.name) ? podOf(each, known) : [],
  );
  return [
    ...pods.map((pod) => (going.has(pod.uid) ? { ...pod, isTerminating: true } : pod)),
    ...made,
  ];
}

/** Of one without an answer nothing is there: it is planned again. */
function podOf(
  { node, name, answer, recordedAtMs }: CreateIntent,
  { daemonSet: { metadata, spec }, currentHash }: Known,
): readonly PodProjection[] {
  if (answer === undefined) return [];
  return [
    {
      kind: 'Pod',
      namespace: metadata.namespace ?? '',
      name,
      uid: answer.uid,
      resourceVersion: answer.resourceVersion,
      ownerUid: uid(metadata.uid),
      labels: { ...spec.template.metadata?.labels, [REVISION_HASH_LABEL]: currentHash ?? '' },
      targetNode: node,
      boundNode: node,
      phase: 'Pending',
      isReady: false,
      createdAtMs: recordedAtMs,
      isTerminating: false,
    },
  ];
}
