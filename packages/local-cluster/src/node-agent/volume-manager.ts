/**
 * Mounts and unmounts the volumes of pods: a pod goes on when every volume of its spec is mounted. No file is touched.
 *
 * A mount that fails is told as FailedMount and tried again after 0.5 s, doubling to 2 min. Mounted volumes stay mounted
 * until the pod is gone. Differs from Kubernetes: contents of ConfigMaps and Secrets are not refreshed, as no program reads them.
 */
import { readVolumeSimulation } from '../runtime/simulation-request.ts';
import type { AgentContext } from './shared/agent-context.ts';
import { findMissingOfVolume } from './shared/config-references.ts';
import { podName, uidOf } from './shared/pod-object.ts';
import type { PodObject, VolumeSpec } from './shared/pod-object.ts';

/** What mounting the volumes of a pod came to. */
export type VolumeOutcome =
  | { readonly kind: 'mounted' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryAfterMs: number };

/** The volumes of one node. */
export interface VolumeManager {
  /** Mounts what is not mounted yet. */
  readonly mount: (pod: PodObject, signal: AbortSignal) => Promise<VolumeOutcome>;
  readonly unmount: (podUid: string) => void;
}

const BACK_OFF_MIN_MS = 500;
const BACK_OFF_MAX_MS = 122_000;

interface PodVolumes {
  readonly mounted: Set<string>;
  /** Failed attempts, by volume. */
  readonly attempts: Map<string, number>;
}

function newVolumes(): PodVolumes {
  return { mounted: new Set(), attempts: new Map() };
}

type Context = Pick<AgentContext, 'client' | 'clock' | 'record' | 'log'>;

/** Starts with nothing mounted. */
export function createVolumeManager(context: Context): VolumeManager {
  const byPod = new Map<string, PodVolumes>();
  return {
    mount: async (pod, signal) => {
      const state: PodVolumes = byPod.get(uidOf(pod)) ?? newVolumes();
      byPod.set(uidOf(pod), state);
      for (const volume of pod.spec.volumes ?? []) {
        if (!state.mounted.has(volume.name))
          await mountOne(context, { pod, volume, state, signal });
      }
      const missing = (pod.spec.volumes ?? [])
        .map(({ name }) => name)
        .filter((name) => !state.mounted.has(name));
      if (missing.length === 0) return { kind: 'mounted' };
      const attempts = Math.min(...missing.map((name) => state.attempts.get(name) ?? 1));
      const retryAfterMs = Math.min(BACK_OFF_MIN_MS * 2 ** (attempts - 1), BACK_OFF_MAX_MS);
      const message = `unmounted volumes=[${missing.join(' ')}]`;
      return { kind: 'failed', message, retryAfterMs };
    },
    unmount: (uid) => {
      byPod.delete(uid);
    },
  };
}

async function mountOne(
  { client, clock, log, record }: Context,
  of: {
    readonly pod: PodObject;
    readonly volume: VolumeSpec;
    readonly state: PodVolumes;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { pod, volume, state, signal } = of;
  const { delayMs, failures } = readVolumeSimulation(pod.metadata.annotations ?? {});
  if (delayMs > 0) await clock.sleep(delayMs, signal);
  if (signal.aborted) return;
  const attempts = state.attempts.get(volume.name) ?? 0;
  const error =
    attempts < failures
      ? 'the simulated mount failed, as the pod asks'
      : await findMissingOfVolume(client, pod, volume);
  if (error === undefined) {
    state.mounted.add(volume.name);
    log.debug('volume mounted', { pod: podName(pod), volume: volume.name });
    return;
  }
  state.attempts.set(volume.name, attempts + 1);
  const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${error}`;
  record({ about: pod, type: 'Warning', reason: 'FailedMount', message });
}
