/**
 * What a live read says, as the projection that a watcher would have sent.
 *
 * Live objects are raw JSON from an API server that we trust with its own cluster: a field that is not as documented
 * counts as absent, and whoever controls a pod is its owner, a DaemonSet or not.
 */
import { resourceVersion, uid } from '../model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';
import { controllerUidOf } from '../pod/owner.ts';
import { projectNode, projectPod } from './project.ts';
import type { RawObject, Reading } from './project.ts';

const LIVE: Reading = {
  onFault: () => undefined,
  sharing: { text: (value) => value, labels: (value) => value },
};

/** A pod as it is now. */
export function projectLivePod(pod: KubernetesObject): PodProjection {
  return projectPod(rawObjectOf(pod), LIVE);
}

/** A node as it is now. */
export function projectLiveNode(node: KubernetesObject): NodeProjection {
  return projectNode(rawObjectOf(node), LIVE);
}

function rawObjectOf(raw: KubernetesObject): RawObject {
  const { name, namespace, uid: ownUid, resourceVersion: version } = raw.metadata;
  const ownerUid = controllerUidOf(raw);
  return {
    identity: {
      name,
      uid: uid(ownUid),
      resourceVersion: resourceVersion(version),
      ...(namespace === undefined ? {} : { namespace }),
    },
    ...(ownerUid === undefined ? {} : { ownerUid: uid(ownerUid) }),
    raw,
  };
}
