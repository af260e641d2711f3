/**
 * Mounts and unmounts the volumes of pods (spec node-agent 4g): a pod goes on when every volume of its spec is mounted.
 *
 * A mount that fails is tried again after 0.5 s, doubling to 2 min, each time with a FailedMount event; a sync waits
 * for about two minutes and then comes back. Mounted volumes stay mounted, whatever becomes of the objects behind them,
 * until the pod is gone. Which mounts are slow or fail is asked for by the pod (runtime/simulation-request.ts). No file
 * is touched. Differs from Kubernetes: contents of ConfigMaps and Secrets are not refreshed, because nobody reads them.
 */
import type { AgentContext } from '../shared/agent-context.ts';
import { findMissing } from '../shared/config-references.ts';
import { podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject, VolumeSpec } from '../shared/pod-object.ts';
import { volumeReferences } from './volume-source.ts';

/** What waiting for volumes came to. */
export type VolumeOutcome =
  | { readonly kind: 'mounted' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'timeout'; readonly message: string };

/** The volumes of one node. */
export interface VolumeManager {
  /** Mounts what is not mounted yet. */
  readonly waitForMount: (pod: PodObject, signal: AbortSignal) => Promise<VolumeOutcome>;
  readonly unmount: (podUid: string) => void;
  readonly podUids: () => readonly string[];
}

/** How one attempt to mount is made to fare: asked by the pod's annotation. */
export interface MountRequest {
  readonly delayMs: number;
  /** So many first attempts fail. */
  readonly failures: number;
}

const BACK_OFF_MIN_MS = 500;
const BACK_OFF_MAX_MS = 122_000;

interface PodVolumes {
  readonly mounted: Set<string>;
  /** Failed attempts, by volume. */
  readonly attempts: Map<string, number>;
}

type Context = Pick<AgentContext, 'client' | 'clock' | 'record' | 'log' | 'settings'>;

/** Starts with nothing mounted. `mountRequest` says what the pod wants simulated. */
export function createVolumeManager(
  context: Context,
  mountRequest: (pod: PodObject) => MountRequest,
): VolumeManager {
  const byPod = new Map<string, PodVolumes>();
  return {
    waitForMount: async (pod, signal) => {
      const volumes = pod.spec.volumes ?? [];
      const state = byPod.get(uidOf(pod)) ?? { mounted: new Set(), attempts: new Map() };
      byPod.set(uidOf(pod), state);
      const deadlineMs = context.clock.monotonicMs() + context.settings.volumeTimeoutMs;
      for (;;) {
        const outcome = await mountAll({ context, pod, state, request: mountRequest(pod), signal });
        if (outcome === 'mounted') return { kind: 'mounted' };
        if (signal.aborted) return { kind: 'aborted' };
        const remainingMs = deadlineMs - context.clock.monotonicMs();
        if (remainingMs <= 0) return { kind: 'timeout', message: timeoutMessage(volumes, state) };
        await context.clock.sleep(Math.min(backOffMs(state, volumes), remainingMs), signal);
      }
    },
    unmount: (uid) => {
      byPod.delete(uid);
    },
    podUids: () => [...byPod.keys()],
  };
}

async function mountAll(input: {
  readonly context: Context;
  readonly pod: PodObject;
  readonly state: PodVolumes;
  readonly request: MountRequest;
  readonly signal: AbortSignal;
}): Promise<'mounted' | 'failed'> {
  const { context, pod, state, request, signal } = input;
  let hasFailed = false;
  for (const volume of pod.spec.volumes ?? []) {
    if (state.mounted.has(volume.name)) continue;
    if (request.delayMs > 0) await context.clock.sleep(request.delayMs, signal);
    if (signal.aborted) return 'failed';
    const attempts = state.attempts.get(volume.name) ?? 0;
    const error = await mountError({
      context,
      pod,
      volume,
      isAskedToFail: attempts < request.failures,
    });
    if (error === undefined) {
      state.mounted.add(volume.name);
      context.log.debug('volume mounted', { pod: podName(pod), volume: volume.name });
      continue;
    }
    hasFailed = true;
    state.attempts.set(volume.name, attempts + 1);
    context.record({
      about: pod,
      type: 'Warning',
      reason: 'FailedMount',
      message: `MountVolume.SetUp failed for volume "${volume.name}" : ${error}`,
    });
  }
  return hasFailed ? 'failed' : 'mounted';
}

async function mountError(input: {
  readonly context: Context;
  readonly pod: PodObject;
  readonly volume: VolumeSpec;
  readonly isAskedToFail: boolean;
}): Promise<string | undefined> {
  const { context, pod, volume } = input;
  if (input.isAskedToFail) return 'the simulated mount failed, as the pod asks';
  for (const reference of volumeReferences(volume)) {
    const missing = await findMissing(
      context.client,
      pod.metadata.namespace ?? 'default',
      reference,
    );
    if (missing !== undefined) return missing;
  }
  return undefined;
}

/** The shortest wait of the volumes that are not mounted. */
function backOffMs({ mounted, attempts }: PodVolumes, volumes: readonly VolumeSpec[]): number {
  const waits = volumes
    .filter(({ name }) => !mounted.has(name))
    .map(({ name }) => BACK_OFF_MIN_MS * 2 ** Math.max(0, (attempts.get(name) ?? 1) - 1));
  return Math.min(BACK_OFF_MAX_MS, ...waits);
}

function timeoutMessage(volumes: readonly VolumeSpec[], { mounted }: PodVolumes): string {
  const missing = volumes.filter(({ name }) => !mounted.has(name)).map(({ name }) => name);
  return `unmounted volumes=[${missing.join(' ')}], unattached volumes=[], failed to process volumes=[]: context deadline exceeded`;
}
