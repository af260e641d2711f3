/**
 * The end of containers: event Killing, pre-stop hook, SIGTERM with what is left of the grace, SIGKILL.
 *
 *     |<------------------ graceSeconds ------------------>|
 *     Killing  pre-stop hook   SIGTERM ............... SIGKILL   (at least 2 s between the last two)
 *
 * Of a whole pod ordinary containers end in parallel, then its sidecars, then its sandboxes.
 */
import type { RuntimeContainer } from '../../runtime/cri.ts';
import { isSidecar, podName } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import { containersOf, initContainersOf, recordContainerEvent } from './container-spec.ts';
import type { ContainerContext, HookSpec } from './container-spec.ts';

/** What SIGTERM always gets. */
const MINIMUM_GRACE_SECONDS = 2;

/** What to kill, and what the Killing event says. */
export interface KillInput {
  readonly pod: PodObject;
  readonly container: RuntimeContainer;
  readonly message: string;
  readonly graceSeconds: number;
}

/** Resolves when the container has ended. */
export async function killContainer(context: ContainerContext, input: KillInput): Promise<void> {
  const { pod, container, message, graceSeconds } = input;
  const { name } = container.config;
  recordContainerEvent(context, { pod, name }, { type: 'Normal', reason: 'Killing', message });
  const spec = [...containersOf(pod), ...initContainersOf(pod)].find((each) => each.name === name);
  const hook = spec?.lifecycle?.preStop;
  const isHooked = hook !== undefined && container.state === 'running' && graceSeconds > 0;
  const spentSeconds = isHooked ? await preStop(context, input, hook) : 0;
  const stopSeconds = Math.max(graceSeconds - spentSeconds, MINIMUM_GRACE_SECONDS);
  await context.runtime.stopContainer(container.id, stopSeconds);
  context.log.debug('container killed', {
    pod: podName(pod),
    container: name,
    because: message,
    graceSeconds: stopSeconds,
  });
}

/** How many whole seconds it took, as upstream counts them. */
async function preStop(
  context: ContainerContext,
  { pod, container, graceSeconds }: KillInput,
  hook: HookSpec,
): Promise<number> {
  const startMs = context.clock.monotonicMs();
  const asked = {
    kind: 'preStop',
    containerId: container.id,
    timeoutSeconds: graceSeconds,
  } as const;
  if (!(await runHook(context, hook, asked))) {
    const event = { reason: 'FailedPreStopHook', message: 'PreStopHook failed' };
    const about = { pod, name: container.config.name };
    recordContainerEvent(context, about, { type: 'Warning', ...event });
  }
  return Math.floor((context.clock.monotonicMs() - startMs) / 1000);
}

/**
 * Runs a lifecycle hook: `sleep` waits here, everything else is the container's to answer. Differs from Kubernetes: a
 * hook of a container that is gone has failed, without a text of its own.
 */
export async function runHook(
  { runtime, clock }: ContainerContext,
  hook: HookSpec,
  asked: {
    readonly kind: 'postStart' | 'preStop';
    readonly containerId: string;
    readonly timeoutSeconds: number;
  },
): Promise<boolean> {
  if (hook.sleep !== undefined) {
    await clock.sleep(Math.min(hook.sleep.seconds, asked.timeoutSeconds) * 1000);
    return true;
  }
  return (await runtime.probe(asked)) === 'success';
}

/** Resolves when nothing of the pod runs any more, whatever its containers do with SIGTERM. */
export async function killPod(
  context: ContainerContext,
  { pod, graceSeconds }: { readonly pod: PodObject; readonly graceSeconds: number },
): Promise<void> {
  const { runtime, clock } = context;
  const { uid } = pod.metadata;
  const startMs = clock.monotonicMs();
  const sidecars = new Set(
    initContainersOf(pod)
      .filter(isSidecar)
      .map(({ name }) => name),
  );
  const live = runtime.listContainers(uid).filter(({ state }) => state !== 'exited');
  for (const areSidecars of [false, true]) {
    const spentSeconds = Math.floor((clock.monotonicMs() - startMs) / 1000);
    const killing = live
      .filter(({ config }) => sidecars.has(config.name) === areSidecars)
      .map((container) => {
        const message = `Stopping container ${container.config.name}`;
        const left = Math.max(0, graceSeconds - spentSeconds);
        return killContainer(context, { pod, container, message, graceSeconds: left });
      });
    await Promise.all(killing);
  }
  for (const { id } of runtime.listPodSandboxes(uid)) await runtime.stopPodSandbox(id);
}
