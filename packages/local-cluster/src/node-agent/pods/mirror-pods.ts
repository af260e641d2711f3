/**
 * Mirror pods: what the API shows of static pods (spec node-agent 1).
 *
 * A mirror carries the static pod's hash; one with another hash is deleted and made anew. Somebody who deletes a mirror
 * does not delete the static pod: the next sync makes it again.
 */
import type { AgentContext } from '../shared/agent-context.ts';
import {
  CONFIG_HASH_ANNOTATION,
  CONFIG_MIRROR_ANNOTATION,
  podName,
  uidOf,
} from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';

type Context = Pick<AgentContext, 'client' | 'log'>;

/** Makes the mirror if the API has none that fits. */
export async function ensureMirrorPod(
  context: Context,
  staticPod: PodObject,
  mirror: PodObject | undefined,
): Promise<void> {
  const hash = staticPod.metadata.annotations?.[CONFIG_HASH_ANNOTATION] ?? '';
  if (mirror !== undefined) {
    const isCurrent = mirror.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] === hash;
    if (isCurrent && mirror.metadata.deletionTimestamp === undefined) return;
    await deleteMirrorPod(context, mirror);
  }
  const { name, namespace = 'default', labels, annotations } = staticPod.metadata;
  const outcome = await context.client.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...annotations, [CONFIG_MIRROR_ANNOTATION]: hash },
    },
    spec: staticPod.spec,
  });
  if (outcome.kind === 'refused' && outcome.status.reason !== 'AlreadyExists') {
    const because = outcome.status.message ?? '';
    context.log.warn('mirror pod not created', { pod: podName(staticPod), because });
  }
}

/** Deletes a mirror whose static pod is gone or another. */
export async function deleteMirrorPod({ client, log }: Context, mirror: PodObject): Promise<void> {
  const { name, namespace = 'default' } = mirror.metadata;
  const outcome = await client.delete(
    { resource: 'pods', namespace, name },
    { gracePeriodSeconds: 0, uid: uidOf(mirror) },
  );
  if (outcome.kind === 'refused' && outcome.status.reason !== 'NotFound') {
    log.warn('mirror pod not deleted', { pod: podName(mirror), because: outcome.status.message });
  }
}
