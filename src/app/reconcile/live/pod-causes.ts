/**
 * Asks the Events of pods that never started for the cause, when a rollout is about to halt for them: once, and of a few.
 *
 * Whatever the answer is, the rollout halts: a refusal, a limit or silence is a cause that is not known.
 */
import { causeOfEvents } from '../../../core/health/event-causes.ts';
import type { PodCause, PodProjection } from '../../../core/model/projections.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';

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
