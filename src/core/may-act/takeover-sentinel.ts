/**
 * The sentinel: the DaemonSet of the takeover probe, kept after a quiet probe (design 5).
 *
 * It matches no node. A built-in DaemonSet loop that comes back syncs every DaemonSet at its start and
 * raises the sentinel's observedGeneration within a moment; the watcher reports that as it reports
 * every change. Rollcall itself never writes its status, creates nothing for it and does not list it.
 * Only the sentinel of the present takeover tells anything: it is known by its UID.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { TakeoverSentinel } from '../model/registration.ts';

/** Where the sentinel stands; there is one name, so that none can pile up. */
export const SENTINEL_KEY = {
  namespace: 'rollcall-system',
  name: 'rollcall-takeover-probe',
} as const;

/** Label by which a probe or sentinel is known to be Rollcall's. */
const PROBE_LABEL = 'rollcall.dev/probe';

/** True if the names are those of the sentinel. */
export function hasSentinelName(key: {
  readonly namespace?: string;
  readonly name: string;
}): boolean {
  return key.namespace === SENTINEL_KEY.namespace && key.name === SENTINEL_KEY.name;
}

/** True if the object is a probe or sentinel of Rollcall's, by name, namespace and label. */
export function isSentinel({ metadata }: KubernetesObject): boolean {
  return hasSentinelName(metadata) && metadata.labels?.[PROBE_LABEL] !== undefined;
}

/** True once a controller has synced it. */
export function isObserved({ status }: DaemonSetObject): boolean {
  return (status?.observedGeneration ?? 0) > 0;
}

/**
 * What the sentinel gives away, in words; undefined while it is untouched, and for one that
 * belongs to another takeover (a view that has not caught up may still hold its predecessor).
 */
export function findSentinelEvidence(
  object: DaemonSetObject,
  sentinel: TakeoverSentinel | undefined,
): string | undefined {
  if (sentinel === undefined || object.metadata.uid !== sentinel.uid) return undefined;
  if (!isObserved(object)) return undefined;
  const observed = object.status?.observedGeneration ?? 0;
  return (
    `status.observedGeneration of DaemonSet ${SENTINEL_KEY.namespace}/${SENTINEL_KEY.name}, ` +
    `which only a DaemonSet controller writes, became ${observed}`
  );
}

/** The body of a new probe; `uniqueId` keeps its selector from ever matching an older one's pods. */
export function sentinelBody(uniqueId: string): JsonObject {
  const labels = { 'app.kubernetes.io/name': SENTINEL_KEY.name, [PROBE_LABEL]: uniqueId };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...SENTINEL_KEY, labels },
    spec: {
      selector: { matchLabels: { [PROBE_LABEL]: uniqueId } },
      template: {
        metadata: { labels },
        spec: {
          // No node has this label; were one to have it, a paused container would be all there is.
          nodeSelector: { 'rollcall.dev/takeover-probe': 'matches-no-node' },
          containers: [{ name: 'probe', image: 'registry.k8s.io/pause:3.10' }],
        },
      },
    },
  };
}
