/**
 * Deletes a pod of a DaemonSet of a local cluster, as an operator does who replaces nodes one after the other.
 *
 * For plays that need traffic; never used on a cluster of a kubeconfig.
 */
import { jsonItems, jsonMember, type Json } from '@rollcall/base/json.ts';
import type { Transport } from '../../adapters/kubernetes/transport/transport.ts';

/** The oldest that runs this image and is not going already; false: there is none, or it could not be deleted. */
export async function deleteOldestPod(
  transport: Transport | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  image: string,
): Promise<boolean> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const answer = await transport?.send({ method: 'GET', path });
  if (answer?.kind !== 'answered') return false;
  const pods = jsonItems(jsonMember(answer.body, 'items'))
    .filter((pod) => ownerOf(pod) === name && runs(pod, image) && !isGoing(pod))
    .sort((left, right) => (createdAt(left) < createdAt(right) ? -1 : 1));
  const podName = jsonMember(jsonMember(pods[0], 'metadata'), 'name');
  if (typeof podName !== 'string') return false;
  const deleted = await transport?.send({ method: 'DELETE', path: `${path}/${podName}` });
  return deleted?.kind === 'answered' && deleted.status < 400;
}

function ownerOf(pod: Json): Json | undefined {
  const [owner] = jsonItems(jsonMember(jsonMember(pod, 'metadata'), 'ownerReferences'));
  return jsonMember(owner, 'name');
}

function runs(pod: Json, image: string): boolean {
  const containers = jsonItems(jsonMember(jsonMember(pod, 'spec'), 'containers'));
  return containers.some((container) => jsonMember(container, 'image') === image);
}

function isGoing(pod: Json): boolean {
  return jsonMember(jsonMember(pod, 'metadata'), 'deletionTimestamp') !== undefined;
}

function createdAt(pod: Json): string {
  const at = jsonMember(jsonMember(pod, 'metadata'), 'creationTimestamp');
  return typeof at === 'string' ? at : '';
}
