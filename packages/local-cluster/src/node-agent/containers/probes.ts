/**
 * Runs the probes of the pods of one node: startup first, then liveness and readiness.
 *
 *     running --initialDelay--> probe --period--> probe ... --threshold reached--> result
 *
 * A result of a startup probe, and a failure of a liveness probe, are the last of an instance of a container: the sync
 * loop is told, and the container restarted. A container without probes costs nothing. Differs from Kubernetes: the first
 * probe comes when the initial delay is over, not at a tick.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ContainerRuntime, ProbeKind, RuntimeContainer } from '../../runtime/cri.ts';
import { isSidecar, podName } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { ProbeManager, ProbeResult } from '../shared/pod-runtime.ts';
import {
  asRuntimeError,
  containersOf,
  initContainersOf,
  latestContainer,
  recordContainerEvent,
} from './container-spec.ts';
import type { ContainerContext, ProbeSpec, RunnableContainer } from './container-spec.ts';

type ProbeAnswer = Awaited<ReturnType<ContainerRuntime['probe']>>;

/** One probe of one instance of a container. */
interface ProbeWorker {
  readonly containerId: string;
  /** The last result; undefined before the first. */
  result: boolean | undefined;
  last: boolean | undefined;
  runLength: number;
  isStopped: boolean;
  cancel: Cancel;
}

interface ProbedContainer {
  pod: PodObject;
  readonly spec: RunnableContainer;
  readonly workers: Map<ProbeKind, ProbeWorker>;
}

const KINDS: readonly ProbeKind[] = ['startup', 'liveness', 'readiness'];
const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_FAILURE_THRESHOLD = 3;

/** Makes the probe manager of one node agent. */
export function createProbeManager(context: ContainerContext): ProbeManager {
  return new Prober(context);
}

class Prober implements ProbeManager {
  readonly #context: ContainerContext;
  /** By pod, those of its containers that have probes. */
  readonly #pods = new Map<string, readonly ProbedContainer[]>();
  readonly #listeners = new Set<(result: ProbeResult) => void>();

  constructor(context: ContainerContext) {
    this.#context = context;
  }

  readonly update: ProbeManager['update'] = (pod, status) => {
    const { uid } = pod.metadata;
    const probed = this.#pods.get(uid) ?? probedContainers(pod);
    if (probed.length === 0) return;
    this.#pods.set(uid, probed);
    for (const container of probed) {
      container.pod = pod;
      const latest = latestContainer(status, container.spec.name);
      this.#adjust(container, latest?.state === 'running' ? latest : undefined);
    }
  };

  readonly remove = (podUid: string): void => {
    for (const { workers } of this.#pods.get(podUid) ?? []) workers.forEach(stopWorker);
    this.#pods.delete(podUid);
  };

  readonly isReady = (podUid: string, container: RuntimeContainer): boolean =>
    this.#hasSucceeded(podUid, container, 'readiness');

  readonly isStarted = (podUid: string, container: RuntimeContainer): boolean =>
    this.#hasSucceeded(podUid, container, 'startup');

  readonly failures: ProbeManager['failures'] = (podUid) => {
    const failures = new Map<string, 'liveness' | 'startup'>();
    for (const { workers } of this.#pods.get(podUid) ?? []) {
      for (const kind of ['startup', 'liveness'] as const) {
        const worker = workers.get(kind);
        if (worker?.result === false) failures.set(worker.containerId, kind);
      }
    }
    return failures;
  };

  readonly onResult = (listener: (result: ProbeResult) => void): Cancel => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly stop = (): void => {
    for (const uid of [...this.#pods.keys()]) this.remove(uid);
    this.#listeners.clear();
  };

  /** Has the container succeeded in its probe of that kind, or has it none? */
  #hasSucceeded(
    podUid: string,
    { id, config }: RuntimeContainer,
    kind: 'readiness' | 'startup',
  ): boolean {
    const probed = this.#pods.get(podUid)?.find(({ spec }) => spec.name === config.name);
    if (probed === undefined || probeOf(probed.spec, kind) === undefined) return true;
    const worker = probed.workers.get(kind);
    return worker?.containerId === id && worker.result === true;
  }

  /** Starts the workers that should run and ends the others. */
  #adjust(container: ProbedContainer, running: RuntimeContainer | undefined): void {
    const { spec, workers, pod } = container;
    for (const [kind, worker] of workers) {
      if (worker.containerId === running?.id) continue;
      stopWorker(worker);
      workers.delete(kind);
    }
    if (running === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) {
      for (const kind of ['startup', 'liveness'] as const) stopWorker(workers.get(kind));
      return;
    }
    const isStarted = spec.startupProbe === undefined || workers.get('startup')?.result === true;
    for (const kind of KINDS) {
      if (isStarted === (kind !== 'startup')) this.#start(container, running, kind);
    }
  }

  #start(container: ProbedContainer, running: RuntimeContainer, kind: ProbeKind): void {
    const { clock } = this.#context;
    const { spec, workers } = container;
    const probe = probeOf(spec, kind);
    if (probe === undefined || workers.has(kind)) return;
    const worker: ProbeWorker = {
      containerId: running.id,
      result: undefined,
      last: undefined,
      runLength: 0,
      isStopped: false,
      cancel: () => undefined,
    };
    workers.set(kind, worker);
    const periodMs = (probe.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
    const ask = async (): Promise<void> => {
      const startMs = clock.monotonicMs();
      const answer = await this.#context.runtime.probe({
        containerId: running.id,
        kind,
        timeoutSeconds: probe.timeoutSeconds ?? 1,
      });
      if (worker.isStopped) return;
      if (answer !== 'success') this.#tellFailure(container, { kind, probe, answer });
      if (conclude(worker, { kind, probe, isSuccess: answer === 'success' })) {
        this.#tellResult(container, running, { kind, isSuccess: answer === 'success' });
      }
      schedule(periodMs - (clock.monotonicMs() - startMs));
    };
    const schedule = (delayMs: number): void => {
      if (worker.isStopped) return;
      worker.cancel = clock.after(Math.max(0, delayMs), () => {
        ask().catch((cause: unknown) => {
          // The runtime cannot be asked: the machine is off, and no caller waits for a result.
          asRuntimeError(cause);
          worker.isStopped = true;
        });
      });
    };
    const startedAtMs = running.startedAtMs ?? clock.nowMs();
    schedule(startedAtMs + (probe.initialDelaySeconds ?? 0) * 1000 - clock.nowMs());
  }

  #tellResult(
    container: ProbedContainer,
    running: RuntimeContainer,
    { kind, isSuccess }: Pick<ProbeResult, 'kind' | 'isSuccess'>,
  ): void {
    const { pod, spec } = container;
    const about = { pod: podName(pod), container: spec.name, kind };
    this.#context.log.debug('probe', { ...about, verdict: isSuccess ? 'success' : 'failure' });
    // Started: the other probes need not wait until the pod is looked at next.
    if (kind === 'startup' && isSuccess) this.#adjust(container, running);
    const { uid } = pod.metadata;
    const result = { podUid: uid, containerName: spec.name, containerId: running.id };
    for (const listener of this.#listeners) listener({ ...result, kind, isSuccess });
  }

  #tellFailure(
    { pod, spec }: ProbedContainer,
    of: { readonly kind: ProbeKind; readonly probe: ProbeSpec; readonly answer: ProbeAnswer },
  ): void {
    const kind = `${of.kind.charAt(0).toUpperCase()}${of.kind.slice(1)}`;
    const message = `${kind} probe failed: ${failureText(of.probe, of.answer)}`;
    const event = { type: 'Warning', reason: 'Unhealthy', message } as const;
    recordContainerEvent(this.#context, { pod, name: spec.name }, event);
    const about = { pod: podName(pod), container: spec.name };
    this.#context.log.debug('probe', { ...about, kind: of.kind, answer: of.answer });
  }
}

/** Containers that run once and end have no probes that count. */
function probedContainers(pod: PodObject): readonly ProbedContainer[] {
  return [...containersOf(pod), ...initContainersOf(pod).filter(isSidecar)]
    .filter((spec) => KINDS.some((kind) => probeOf(spec, kind) !== undefined))
    .map((spec) => ({ pod, spec, workers: new Map() }));
}

function probeOf(spec: RunnableContainer, kind: ProbeKind): ProbeSpec | undefined {
  if (kind === 'startup') return spec.startupProbe;
  return kind === 'liveness' ? spec.livenessProbe : spec.readinessProbe;
}

/** Takes an answer in; true when a threshold is reached and the result is another than before. */
function conclude(
  worker: ProbeWorker,
  of: { readonly kind: ProbeKind; readonly probe: ProbeSpec; readonly isSuccess: boolean },
): boolean {
  const { kind, probe, isSuccess } = of;
  worker.runLength = isSuccess === worker.last ? worker.runLength + 1 : 1;
  worker.last = isSuccess;
  const threshold = isSuccess
    ? (probe.successThreshold ?? 1)
    : (probe.failureThreshold ?? DEFAULT_FAILURE_THRESHOLD);
  if (worker.runLength < threshold) return false;
  if (kind === 'startup' || (kind === 'liveness' && !isSuccess)) worker.isStopped = true;
  const isNews = worker.result !== isSuccess;
  worker.result = isSuccess;
  return isNews;
}

function stopWorker(worker: ProbeWorker | undefined): void {
  if (worker === undefined) return;
  worker.isStopped = true;
  worker.cancel();
}

/** What the kubelet's prober would have seen. */
function failureText(probe: ProbeSpec, answer: ProbeAnswer): string {
  if (answer === 'timeout') return `timed out after ${probe.timeoutSeconds ?? 1}s`;
  if (isJsonObject(probe['httpGet'])) return 'HTTP probe failed with statuscode: 503';
  if (isJsonObject(probe['tcpSocket'])) return 'connect: connection refused';
  return isJsonObject(probe['grpc']) ? 'service unhealthy (responded with "NOT_SERVING")' : '';
}
