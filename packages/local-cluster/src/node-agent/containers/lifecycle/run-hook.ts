/**
 * Runs a lifecycle hook of a container: `sleep` waits here, everything else is the container's to answer.
 *
 * Differs from Kubernetes: a hook that cannot be asked (its container is gone) has failed, without a text of its own.
 */
import type { HookSpec } from '../shared/container-spec.ts';
import type { ContainerContext } from '../shared/container-context.ts';

/** Resolves with whether the hook succeeded; `signal` cuts a sleep short. */
export async function runHook(
  { runtime, clock }: Pick<ContainerContext, 'runtime' | 'clock'>,
  hook: {
    readonly kind: 'postStart' | 'preStop';
    readonly spec: HookSpec;
    readonly containerId: string;
    readonly timeoutSeconds: number;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  const { kind, spec, containerId, timeoutSeconds, signal } = hook;
  if (spec.sleep !== undefined) {
    await clock.sleep(spec.sleep.seconds * 1000, signal);
    return true;
  }
  const answer = await runtime.probe({ containerId, kind, timeoutSeconds });
  return answer === 'success';
}
