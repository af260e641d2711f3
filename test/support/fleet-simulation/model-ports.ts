/**
 * What `stepFleets` reads of the model clusters, and how it reaches them: views from what each showed last, and API servers that answer,
 * do not, or answer otherwise than they did.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { StepFleetsDependencies } from '../../../src/app/fleet/observe/dependencies.ts';
import type { FleetManifest } from '../../../src/core/fleet/fleet-daemon-set.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { sliceCountFor } from '../../../src/core/projections/set-hash.ts';
import { isPastDeadline } from '../../../src/core/pod/request-life.ts';
import type { ApplyOptions, ManifestOutcome } from '../../../src/ports/cluster/manifest-access.ts';
import type { ModelCluster } from './model-cluster.ts';

/** By the UID of their kube-system. */
export type ClustersByUid = (uid: string) => ModelCluster | undefined;

const SMALL_BELOW = 10;

/** The views of them. */
export function modelView(find: ClustersByUid): StepFleetsDependencies['view'] {
  const nameOf = (cluster: ModelCluster): object => ({
    namespace: 'monitoring',
    name: 'agent',
    uid: cluster.seen?.metadata.uid ?? null,
  });
  const view = {
    readMeta: (uid: string): Promise<object | undefined> => {
      const cluster = find(uid);
      if (cluster === undefined) return Promise.resolve(undefined);
      const { heardAtMs, isUnclear } = cluster;
      const sliceCount = sliceCountFor(cluster.traits.nodes);
      return Promise.resolve({ lastSentAtMs: heardAtMs, isComplete: !isUnclear, sliceCount });
    },
    readSlice: ({ clusterUid }: { readonly clusterUid: string }): Promise<object | undefined> => {
      const cluster = find(clusterUid);
      return Promise.resolve(cluster && { objects: nodesIn(cluster) });
    },
    readName: (uid: string): Promise<object | undefined> => {
      const cluster = find(uid);
      return Promise.resolve(cluster && nameOf(cluster));
    },
    readDaemonSet: ({ clusterUid }: { readonly clusterUid: string }): Promise<object | undefined> =>
      Promise.resolve({ object: withStatus(find(clusterUid)) }),
    readState: ({ clusterUid }: { readonly clusterUid: string }): Promise<object | undefined> => {
      const cluster = find(clusterUid);
      const rollout = cluster?.record();
      if (cluster === undefined || rollout === undefined) return Promise.resolve(undefined);
      const generation = cluster.object?.metadata.generation;
      return Promise.resolve({ history: { generation, hash: rollout.hash }, rollout });
    },
  };
  // Of each item only what a step reads.
  return view as unknown as StepFleetsDependencies['view'];
}

/** Nodes of a small cluster; of a large one as many as make it none. */
function nodesIn({ traits, downNodes, hasNoMachines }: ModelCluster): readonly object[] {
  const count = hasNoMachines ? 0 : Math.min(traits.nodes, SMALL_BELOW);
  return Array.from({ length: count }, (_, index) => ({
    object: {
      kind: 'Node',
      name: `n${String(index)}`,
      isReady: index >= downNodes,
      labels: {},
      system: { kubeletVersion: 'v1.33.0', osImage: traits.labels['kernel'] ?? '' },
    },
  }));
}

function withStatus(cluster: ModelCluster | undefined): DaemonSetObject | null {
  if (cluster?.seen === undefined) return null;
  const updated = cluster.rolling?.updated ?? 0;
  const status = {
    desiredNumberScheduled: cluster.nodes,
    currentNumberScheduled: cluster.nodes,
    updatedNumberScheduled: updated,
    numberMisscheduled: 0,
    numberReady: cluster.nodes,
    numberAvailable: cluster.nodes,
    observedGeneration: cluster.seen.metadata.generation ?? 0,
  };
  return { ...cluster.seen, status };
}

export type ApplyFate =
  | 'answered'
  /** Nothing arrived. */
  | 'lost'
  /** It arrived, and the answer did not. */
  | 'unheard'
  /** It arrives an hour later. */
  | 'late'
  /** 429, with Retry-After. */
  | 'busy'
  | 'refused'
  | 'conflict';

/** Whoever watches over applies. */
export interface ApplyWatch {
  readonly fateOf: (cluster: ModelCluster) => ApplyFate;
  /** Before it has an effect. */
  readonly onSend: (cluster: ModelCluster, manifest: FleetManifest) => void;
  /** At a dry run. */
  readonly onAsk: (cluster: ModelCluster) => void;
  readonly later: (effect: () => void) => void;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly onConnect: (registration: ClusterRegistration) => void;
}

/** Connections to them. */
export function modelConnector(
  find: ClustersByUid,
  watch: ApplyWatch,
): StepFleetsDependencies['connector'] {
  const connector = {
    connect: (registration: ClusterRegistration): Promise<object> => {
      watch.onConnect(registration);
      const cluster = find(registration.clusterUid);
      if (cluster === undefined || cluster.isOffline || cluster.isSilenced) {
        const refusal = { kind: 'unavailable', message: 'no route' };
        return Promise.resolve({ kind: 'refused', refusal });
      }
      return Promise.resolve({ kind: 'connected', access: accessOf(cluster, watch) });
    },
    forget: (): void => undefined,
  };
  // Of the access only what a step uses.
  return connector as unknown as StepFleetsDependencies['connector'];
}

function accessOf(cluster: ModelCluster, watch: ApplyWatch): object {
  return {
    getDaemonSet: (): Promise<object> =>
      Promise.resolve(
        cluster.object === undefined
          ? { kind: 'missing' }
          : { kind: 'found', object: cluster.object },
      ),
    applyDaemonSet: (manifest: FleetManifest, options: ApplyOptions): Promise<ManifestOutcome> =>
      Promise.resolve(apply(cluster, { manifest, options }, watch)),
  };
}

interface Request {
  readonly manifest: FleetManifest;
  readonly options: ApplyOptions;
}

/** For as long a busy API server asks to be left alone: longer than any wait of our own. */
export const BUSY_MS = 2_400_000;
const UNHEARD: ManifestOutcome = { kind: 'unavailable', message: 'timed out' };

/** Where nothing has an effect. */
const ANSWERS: Readonly<Partial<Record<ApplyFate, ManifestOutcome>>> = {
  lost: UNHEARD,
  busy: { kind: 'unavailable', message: '429', retryAfterMs: BUSY_MS },
  refused: { kind: 'refused', status: 422, message: 'spec.selector is immutable' },
  conflict: {
    kind: 'conflict',
    conflicts: [{ manager: 'argocd-controller', field: '.spec.template' }],
  },
};

function apply(cluster: ModelCluster, request: Request, watch: ApplyWatch): ManifestOutcome {
  const times = { monotonicMs: watch.monotonicMs(), wallMs: watch.nowMs() };
  if (isPastDeadline(request.options, times)) return { kind: 'unavailable', message: 'too late' };
  const { refusal, object } = cluster;
  if (request.options.isDryRun) {
    watch.onAsk(cluster);
    if (refusal !== undefined) return { kind: 'refused', status: 403, message: refusal };
    // Of what is answered a step reads nothing.
    const shown = object ?? (request.manifest as unknown as DaemonSetObject);
    return { kind: 'applied', object: shown, isCreated: object === undefined };
  }
  watch.onSend(cluster, request.manifest);
  if (refusal !== undefined) return { kind: 'refused', status: 403, message: refusal };
  const fate = watch.fateOf(cluster);
  const answer = ANSWERS[fate];
  if (answer !== undefined) return answer;
  if (fate === 'late') {
    watch.later(() => {
      takeEffect(cluster, request, watch.nowMs());
    });
    return UNHEARD;
  }
  const outcome = takeEffect(cluster, request, watch.nowMs());
  return fate === 'unheard' ? UNHEARD : outcome;
}

function takeEffect(
  cluster: ModelCluster,
  { manifest, options }: Request,
  nowMs: number,
): ManifestOutcome {
  const { object } = cluster;
  const isAsked = options.resourceVersion !== undefined;
  if (isAsked && object?.metadata.resourceVersion !== options.resourceVersion) {
    return { kind: 'changed' };
  }
  return {
    kind: 'applied',
    object: cluster.apply(manifest, nowMs),
    isCreated: object === undefined,
  };
}
