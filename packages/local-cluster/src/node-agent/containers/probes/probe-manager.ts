/**
 * Runs the probes of the pods of one node (spec node-agent 6): startup first, then liveness and readiness.
 *
 * Workers exist only for probes of containers that run; a container without probes costs nothing. Liveness and startup
 * failures are told as results for the sync loop, which restarts the container; `failures` holds them until the
 * container has ended. A pod that is being deleted keeps its readiness probes only. A container that ran before the
 * agent did counts as started and ready until a probe says otherwise, so that restarting an agent disturbs no pod.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ProbeKind, RuntimeContainer } from '../../../runtime/cri.ts';
import type { ProbeManager, ProbeResult, RuntimePodStatus } from '../../shared/pod-runtime.ts';
import { isSidecar, podName } from '../../shared/pod-object.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import { recordContainerEvent } from '../shared/container-context.ts';
import type { ContainerContext } from '../shared/container-context.ts';
import { asPod, containersOf, initContainersOf } from '../shared/container-spec.ts';
import type { ProbeSpec, RunnableContainer } from '../shared/container-spec.ts';
import { latestContainer } from '../shared/pod-actions.ts';
import { probeOutput } from './probe-output.ts';
import { startProbeWorker } from './probe-worker.ts';
import type { ProbeAnswer, ProbeWorker } from './probe-worker.ts';

interface ProbedContainer {
  readonly spec: RunnableContainer;
  readonly workers: Map<ProbeKind, ProbeWorker>;
}

interface ProbedPod {
  pod: PodObject;
  podIp: string;
  readonly containers: ReadonlyMap<string, ProbedContainer>;
}

const KINDS: readonly ProbeKind[] = ['startup', 'liveness', 'readiness'];
const NO_FAILURES: ReadonlyMap<string, 'liveness' | 'startup'> = new Map();

/** Makes the probe manager of one node agent. */
export function createProbeManager(context: ContainerContext): ProbeManager {
  const pods = new Map<string, ProbedPod>();
  const bornAtMs = context.clock.nowMs();
  const listeners = new Set<(result: ProbeResult) => void>();
  const tell = (result: ProbeResult): void => {
    for (const listener of listeners) listener(result);
  };
  const find = (podUid: string, name: string): ProbedContainer | undefined =>
    pods.get(podUid)?.containers.get(name);

  /** Has the container succeeded in its probe of that kind, or has it none? */
  const has = (
    podUid: string,
    { id, config, startedAtMs = bornAtMs }: RuntimeContainer,
    kind: 'readiness' | 'startup',
  ): boolean => {
    const probed = find(podUid, config.name);
    if (probed === undefined || probeOf(probed.spec, kind) === undefined) return true;
    return verdictOf(probed, kind, id) ?? startedAtMs < bornAtMs;
  };

  return {
    update: (object, status) => {
      const pod = asPod(object);
      const probed = pods.get(pod.metadata.uid) ?? admit(pods, pod);
      if (probed === undefined) return;
      probed.pod = pod;
      probed.podIp = status.sandboxes[0]?.podIp ?? probed.podIp;
      for (const container of probed.containers.values()) {
        adjust({ context, probed, container, tell }, status);
      }
    },
    remove: (podUid) => {
      const probed = pods.get(podUid);
      pods.delete(podUid);
      if (probed !== undefined) stopAll(probed);
    },
    isReady: (podUid, container) => has(podUid, container, 'readiness'),
    isStarted: (podUid, container) => has(podUid, container, 'startup'),
    failures: (podUid) => failuresOf(pods.get(podUid)),
    onResult: (listener): Cancel => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => {
      for (const probed of pods.values()) stopAll(probed);
      pods.clear();
      listeners.clear();
    },
  };
}

/** Remembers a pod if it has probes at all. Containers that run once and end have none that count. */
function admit(pods: Map<string, ProbedPod>, pod: PodObject): ProbedPod | undefined {
  const candidates = [...containersOf(pod), ...initContainersOf(pod).filter(isSidecar)];
  const withProbes = candidates.filter((spec) => KINDS.some((kind) => probeOf(spec, kind)));
  if (withProbes.length === 0) return undefined;
  const containers = new Map(
    withProbes.map((spec) => [spec.name, { spec, workers: new Map<ProbeKind, ProbeWorker>() }]),
  );
  const probed: ProbedPod = { pod, podIp: '', containers };
  pods.set(pod.metadata.uid, probed);
  return probed;
}

function probeOf(spec: RunnableContainer, kind: ProbeKind): ProbeSpec | undefined {
  if (kind === 'startup') return spec.startupProbe;
  return kind === 'liveness' ? spec.livenessProbe : spec.readinessProbe;
}

interface Adjustment {
  readonly context: ContainerContext;
  readonly probed: ProbedPod;
  readonly container: ProbedContainer;
  readonly tell: (result: ProbeResult) => void;
}

/** Starts the workers that should run and ends the others. */
function adjust(adjustment: Adjustment, status: RuntimePodStatus): void {
  const { probed, container } = adjustment;
  const latest = latestContainer(status, container.spec.name);
  const running = latest?.state === 'running' ? latest : undefined;
  endWorkersOfOthers(container, running);
  if (running === undefined) return;
  if (probed.pod.metadata.deletionTimestamp === undefined) startWanted(adjustment, running);
  else for (const kind of ['startup', 'liveness'] as const) container.workers.get(kind)?.stop();
}

function endWorkersOfOthers(
  { workers }: ProbedContainer,
  running: RuntimeContainer | undefined,
): void {
  for (const [kind, worker] of workers) {
    if (worker.containerId === running?.id) continue;
    worker.stop();
    workers.delete(kind);
  }
}

function startWanted(adjustment: Adjustment, running: RuntimeContainer): void {
  const { container } = adjustment;
  const isStarted =
    container.spec.startupProbe === undefined ||
    verdictOf(container, 'startup', running.id) === true;
  if (isStarted) startOthers(adjustment, running);
  else if (!container.workers.has('startup')) startWorker(adjustment, { kind: 'startup', running });
}

function startWorker(
  adjustment: Adjustment,
  { kind, running }: { readonly kind: ProbeKind; readonly running: RuntimeContainer },
): void {
  const { context, probed, container, tell } = adjustment;
  const { spec, workers } = container;
  const probe = probeOf(spec, kind);
  if (probe === undefined) return;
  const worker = startProbeWorker({
    runtime: context.runtime,
    clock: context.clock,
    containerId: running.id,
    startedAtMs: running.startedAtMs ?? context.clock.nowMs(),
    kind,
    spec: probe,
    onFailure: (answer) => {
      tellFailure(adjustment, { kind, probe, answer });
    },
    onResult: (isSuccess) => {
      const { uid } = probed.pod.metadata;
      const { id } = running;
      logProbe(adjustment, { kind, verdict: isSuccess ? 'success' : 'failure' });
      // Started: the other probes need not wait until the pod is looked at next.
      if (kind === 'startup' && isSuccess) startOthers(adjustment, running);
      tell({ podUid: uid, containerName: spec.name, containerId: id, kind, isSuccess });
    },
  });
  workers.set(kind, worker);
}

function startOthers(adjustment: Adjustment, running: RuntimeContainer): void {
  for (const kind of ['liveness', 'readiness'] as const) {
    if (!adjustment.container.workers.has(kind)) startWorker(adjustment, { kind, running });
  }
}

function tellFailure(
  adjustment: Adjustment,
  failure: { readonly kind: ProbeKind; readonly probe: ProbeSpec; readonly answer: ProbeAnswer },
): void {
  const { context, probed, container } = adjustment;
  const { kind, probe, answer } = failure;
  const output = probeOutput(probe, { isTimeout: answer === 'timeout', podIp: probed.podIp });
  recordContainerEvent(
    context,
    { pod: probed.pod, containerName: container.spec.name },
    {
      type: 'Warning',
      reason: 'Unhealthy',
      message: `${capitalised(kind)} probe failed: ${output}`,
    },
  );
  logProbe(adjustment, { kind, answer });
}

function logProbe(
  { context, probed, container }: Adjustment,
  fields: { readonly kind: ProbeKind; readonly answer?: string; readonly verdict?: string },
): void {
  const { name } = container.spec;
  context.log.debug('probe', { pod: podName(probed.pod), container: name, ...fields });
}

function capitalised(kind: ProbeKind): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}

function verdictOf(
  { workers }: ProbedContainer,
  kind: ProbeKind,
  containerId: string,
): boolean | undefined {
  const worker = workers.get(kind);
  return worker?.containerId === containerId ? worker.result() : undefined;
}

function failuresOf(probed: ProbedPod | undefined): ReadonlyMap<string, 'liveness' | 'startup'> {
  if (probed === undefined) return NO_FAILURES;
  const failures = new Map<string, 'liveness' | 'startup'>();
  for (const { workers } of probed.containers.values()) {
    for (const kind of ['startup', 'liveness'] as const) {
      const worker = workers.get(kind);
      if (worker?.result() === false) failures.set(worker.containerId, kind);
    }
  }
  return failures;
}

function stopAll({ containers }: ProbedPod): void {
  for (const { workers } of containers.values()) {
    for (const worker of workers.values()) worker.stop();
  }
}
