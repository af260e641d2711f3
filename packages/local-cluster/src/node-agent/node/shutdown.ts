/**
 * Graceful node shutdown (spec node-agent 9): the node is not ready any more, admits nothing, and ends its pods, ordinary
 * ones first, critical ones in the seconds that are kept for them.
 *
 * A pod gets at most the seconds of its group, less if it asks for less. Pods that outlast their group's time are left to
 * the power switch.
 */
import type { AgentContext } from '../shared/agent-context.ts';
import { isCriticalPod, podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import { endedByAgent } from './eviction.ts';

const REASON = 'Terminated';
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/** What a shutdown needs. */
export interface ShutdownOptions {
  readonly context: Pick<AgentContext, 'clock' | 'log' | 'settings'>;
  readonly workers: Pick<PodWorkers, 'update' | 'whenStopped'>;
  readonly activePods: () => readonly PodObject[];
  /** In all, for both groups. */
  readonly graceSeconds: number;
}

/** Resolves when all pods have been stopped or their time is over. */
export async function shutDownPods(options: ShutdownOptions): Promise<void> {
  const { settings } = options.context;
  const criticalSeconds = Math.min(settings.shutdownCriticalSeconds, options.graceSeconds);
  const pods = options.activePods();
  await stopGroup(options, {
    pods: pods.filter((pod) => !isCriticalPod(pod)),
    seconds: options.graceSeconds - criticalSeconds,
  });
  await stopGroup(options, { pods: pods.filter(isCriticalPod), seconds: criticalSeconds });
}

async function stopGroup(
  { context, workers }: ShutdownOptions,
  group: { readonly pods: readonly PodObject[]; readonly seconds: number },
): Promise<void> {
  if (group.pods.length === 0) return;
  for (const pod of group.pods) {
    const own = pod.spec.terminationGracePeriodSeconds ?? group.seconds;
    const graceSeconds = Math.min(own, group.seconds);
    context.log.debug('shutdown: killing pod', { pod: podName(pod), graceSeconds });
    workers.update({
      type: 'kill',
      pod,
      kill: {
        graceSeconds,
        reason: REASON,
        changeStatus: (status) => {
          const ended = endedByAgent(status, { pod, reason: REASON, message: MESSAGE });
          return status.phase === 'Succeeded' ? { ...ended, phase: 'Succeeded' } : ended;
        },
      },
    });
  }
  const timer = new AbortController();
  await Promise.race([
    Promise.all(group.pods.map((pod) => workers.whenStopped(uidOf(pod)))),
    context.clock.sleep(group.seconds * 1000, timer.signal),
  ]);
  timer.abort();
}
