/**
 * Kills one container (spec node-agent 8): event Killing, pre-stop hook, its turn among sidecars, SIGTERM with what is
 * left of the grace, SIGKILL.
 *
 *     |<------------------ graceSeconds ------------------>|
 *     Killing  pre-stop hook   turn     SIGTERM ........ SIGKILL   (at least 2 s between the last two)
 *
 * Seconds that the hook and the turn took are cut down to whole ones, as upstream does.
 */
import { podName } from '../../shared/pod-object.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import type { RuntimeContainer } from '../../../runtime/cri.ts';
import { findContainer } from '../shared/container-spec.ts';
import type { HookSpec } from '../shared/container-spec.ts';
import { recordContainerEvent } from '../shared/container-context.ts';
import type { ContainerContext } from '../shared/container-context.ts';
import { runHook } from './run-hook.ts';
import type { TerminationOrder } from '../shared/termination-order.ts';
import { settlesWithin } from '../shared/waiting.ts';

/** Which container, why and how. */
export interface KillInput {
  readonly pod: PodObject;
  readonly container: RuntimeContainer;
  readonly message: string;
  readonly graceSeconds: number;
  readonly order?: TerminationOrder;
  /** Ends the waiting for hook and turn: SIGTERM comes now. */
  readonly signal: AbortSignal;
}

/** A container gets at least this long between SIGTERM and SIGKILL. */
export const MINIMUM_GRACE_SECONDS = 2;

/** Resolves when the container has ended. */
export async function killContainer(context: ContainerContext, input: KillInput): Promise<void> {
  const { pod, container, order } = input;
  const { name } = container.config;
  recordContainerEvent(
    context,
    { pod, containerName: name },
    { type: 'Normal', reason: 'Killing', message: input.message },
  );
  let graceSeconds = input.graceSeconds;
  const hook = findContainer(pod, name)?.lifecycle?.preStop;
  if (hook !== undefined && graceSeconds > 0 && container.state === 'running') {
    graceSeconds -= await secondsOf(context, () => preStop(context, input, hook));
  }
  const turn = order?.turnOf(name);
  if (turn !== undefined && graceSeconds > 0) {
    const withinMs = graceSeconds * 1000;
    graceSeconds -= await secondsOf(context, () =>
      settlesWithin(turn, { clock: context.clock, withinMs, signal: input.signal }),
    );
  }
  const stopGraceSeconds = Math.max(graceSeconds, MINIMUM_GRACE_SECONDS);
  await context.runtime.stopContainer(container.id, stopGraceSeconds);
  order?.ended(name);
  context.log.debug('container killed', {
    pod: podName(pod),
    container: name,
    because: input.message,
    graceSeconds: stopGraceSeconds,
  });
}

async function preStop(
  context: ContainerContext,
  { pod, container, graceSeconds, signal }: KillInput,
  spec: HookSpec,
): Promise<void> {
  const { name } = container.config;
  const hook = runHook(context, {
    kind: 'preStop',
    spec,
    containerId: container.id,
    timeoutSeconds: graceSeconds,
    signal,
  }).then((isSuccess) => {
    if (isSuccess) return;
    recordContainerEvent(
      context,
      { pod, containerName: name },
      { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' },
    );
  });
  await settlesWithin(hook, { clock: context.clock, withinMs: graceSeconds * 1000, signal });
}

async function secondsOf(
  { clock }: ContainerContext,
  wait: () => Promise<unknown>,
): Promise<number> {
  const startMs = clock.monotonicMs();
  await wait();
  return Math.floor((clock.monotonicMs() - startMs) / 1000);
}
