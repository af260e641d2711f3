/** When a container that has ended is started again: the container's own restartPolicy, else the pod's. */
import type { RuntimeContainer } from '../../runtime/cri.ts';
import type { ContainerSpec, PodObject, PodSpec } from '../shared/pod-object.ts';

/** Is a container that ended with this exit code started again? Differs from Kubernetes: no restartPolicyRules. */
export function shouldRestartAfterExit(
  container: ContainerSpec,
  spec: PodSpec,
  exitCode: number,
): boolean {
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** Would the next sync start this container? `latest` is its newest instance in the runtime. */
export function shouldBeStarted(
  container: ContainerSpec,
  pod: PodObject,
  latest: RuntimeContainer | undefined,
): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (latest === undefined) return true;
  if (latest.state !== 'exited') return latest.state === 'created';
  return shouldRestartAfterExit(container, pod.spec, latest.exitCode ?? 0);
}
