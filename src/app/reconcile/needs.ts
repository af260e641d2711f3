/**
 * A subject whose pods are those of one live LIST, for a budget that the view is too old for (S3, protocol 1).
 *
 * Asked for only once a deferral was capped: the cluster is silent, and work is left that spends availability. All
 * pods of the selector, each reduced to what a projection has; those of others are left out, and what the list does
 * not show is gone. Intents are judged anew by it, as by single live reads. A list that fails in part is not used.
 */
import type { Uid } from '../../core/model/identifiers.ts';
import type { IntentJudgement } from '../../core/model/plan.ts';
import type { PodProjection, PodCause } from '../../core/model/projections.ts';
import { buryMissing } from '../../core/pod/tombstones.ts';
import { computeView } from '../../core/view/view.ts';
import type { RunContext, ReconcileInput } from './run/context.ts';
import { judgeByLive } from './confirm/guard.ts';
import { projectLivePod } from '../../core/projections/project.ts';
import { selectorText } from './confirm/live-pods.ts';
import { causeOfEvents } from '../../core/health/event-causes.ts';
import type { ClusterReader } from '../../ports/cluster/cluster-access.ts';

/** The subject as it is live, with its intents judged by that; or why it cannot be told. */
export type Relisted =
  | {
      readonly kind: 'listed';
      readonly input: ReconcileInput;
      readonly intents: IntentJudgement;
    }
  | { readonly kind: 'unavailable'; readonly message: string };

/** Lists the DaemonSet's pods live and computes its view from them. */
export async function relistPods(input: ReconcileInput, context: RunContext): Promise<Relisted> {
  const access = await input.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access' };
  const { namespace, uid, daemonSet } = input.view;
  const listed = await access.listPods(namespace, selectorText(daemonSet.spec.selector));
  if (listed.kind !== 'found') {
    const message = 'the pods of the DaemonSet cannot be listed';
    return { kind: 'unavailable', message };
  }
  const isOurs = ({ ownerUid }: PodProjection): boolean =>
    ownerUid === uid || ownerUid === undefined;
  const pods = listed.object.map(projectLivePod).filter(isOurs);
  const live = liveByUid(input, pods);
  // The list was made now: minReadySeconds counts until then.
  const nowMs = context.dependencies.clock.nowMs();
  const { nodes, revisions } = input.read;
  const gone = [...input.view.gone, ...buryMissing(input.read.pods, pods, nowMs)];
  const view = computeView({ daemonSet, nodes, pods, gone, revisions, nowMs });
  return {
    kind: 'listed',
    input: { ...input, nowMs, read: { ...input.read, pods }, view },
    // By what the slices show: what they do not show yet, the next run does not know either.
    intents: judgeByLive({ ...input, read: { ...input.read, pods: input.shown } }, context, live),
  };
}

/** Every pod that was listed, and null for each that the view or an intent knows and the list does not. */
function liveByUid(
  input: ReconcileInput,
  pods: readonly PodProjection[],
): Map<Uid, PodProjection | null> {
  const live = new Map<Uid, PodProjection | null>();
  for (const pod of input.read.pods) live.set(pod.uid, null);
  for (const intent of input.state.intents) {
    const wanted = intent.kind === 'delete' ? intent.uid : intent.answer?.uid;
    if (wanted !== undefined) live.set(wanted, null);
  }
  for (const pod of pods) live.set(pod.uid, pod);
  return live;
}

/** What the Events of these pods tell, in their order. */
export function readPodCauses(
  pods: readonly PodProjection[],
  reader: Pick<ClusterReader, 'listPodEvents'> | undefined,
): Promise<readonly PodCause[]> {
  return Promise.all(
    pods.map(async ({ namespace, uid }): Promise<PodCause> => {
      const read = await reader?.listPodEvents(namespace, uid);
      return read?.kind === 'found' ? causeOfEvents(read.object) : { kind: 'unreadable' };
    }),
  );
}
