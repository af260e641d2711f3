/**
 * Reads a pod's image pull secrets (spec node-agent 4h). A missing one is a warning, not an obstacle: the image may well
 * be pulled without.
 */
import type { AgentContext } from '../shared/agent-context.ts';
import type { PodObject } from '../shared/pod-object.ts';

/** Warns with FailedToRetrieveImagePullSecret about those that cannot be read. */
export async function readPullSecrets(
  { client, record }: Pick<AgentContext, 'client' | 'record'>,
  pod: PodObject,
): Promise<void> {
  const missing: string[] = [];
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    if (name === '') continue;
    const namespace = pod.metadata.namespace ?? 'default';
    const outcome = await client.get({ resource: 'secrets', namespace, name });
    if (outcome.kind === 'refused') missing.push(name);
  }
  if (missing.length === 0) return;
  record({
    about: pod,
    type: 'Warning',
    reason: 'FailedToRetrieveImagePullSecret',
    message: `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`,
  });
}
