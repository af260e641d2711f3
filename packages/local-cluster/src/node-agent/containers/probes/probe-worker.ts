/**
 * Probes one container of a pod with one of its probes (spec node-agent 6), for as long as one instance of it runs.
 *
 *     running --initialDelay--> probe --period--> probe ... --threshold reached--> result
 *
 * One timer at a time. A result of a startup probe, and a failure of a liveness probe, are the last: the worker rests
 * until there is a new instance. Differs from Kubernetes: the first probe comes when the initial delay is over, not at
 * the next tick of a period that began with the pod.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { ContainerRuntime, ProbeKind } from '../../../runtime/cri.ts';
import type { ProbeSpec } from '../shared/container-spec.ts';
import { asRuntimeError } from '../shared/runtime-words.ts';

/** Answer to one probe. */
export type ProbeAnswer = Awaited<ReturnType<ContainerRuntime['probe']>>;

/** What a worker probes, and whom it tells. */
export interface ProbeWorkerOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly containerId: string;
  readonly startedAtMs: number;
  readonly kind: ProbeKind;
  readonly spec: ProbeSpec;
  /** Every answer that is no success, as it comes. */
  readonly onFailure: (answer: ProbeAnswer) => void;
  /** A threshold was reached and the result is another than before. */
  readonly onResult: (isSuccess: boolean) => void;
}

/** A worker. */
export interface ProbeWorker {
  readonly containerId: string;
  /** The last result; undefined before the first. */
  readonly result: () => boolean | undefined;
  stop(): void;
}

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_FAILURE_THRESHOLD = 3;

/** Starts probing. */
export function startProbeWorker(options: ProbeWorkerOptions): ProbeWorker {
  const { runtime, clock, containerId, kind, spec } = options;
  const periodMs = (spec.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
  const timeoutSeconds = spec.timeoutSeconds ?? 1;
  let result: boolean | undefined;
  let last: boolean | undefined;
  let runLength = 0;
  let isStopped = false;
  let cancel: Cancel = () => undefined;

  const conclude = (isSuccess: boolean): void => {
    runLength = isSuccess === last ? runLength + 1 : 1;
    last = isSuccess;
    const threshold = isSuccess
      ? (spec.successThreshold ?? 1)
      : (spec.failureThreshold ?? DEFAULT_FAILURE_THRESHOLD);
    if (runLength < threshold) return;
    if (kind === 'startup' || (kind === 'liveness' && !isSuccess)) isStopped = true;
    if (result === isSuccess) return;
    result = isSuccess;
    options.onResult(isSuccess);
  };

  const probe = async (): Promise<void> => {
    const startMs = clock.monotonicMs();
    const answer = await runtime.probe({ containerId, kind, timeoutSeconds });
    if (isStopped) return;
    if (answer !== 'success') options.onFailure(answer);
    conclude(answer === 'success');
    if (!stopped()) schedule(periodMs - (clock.monotonicMs() - startMs));
  };
  /** Asked anew: a result stops the worker, and so may whoever is told of it. */
  const stopped = (): boolean => isStopped;
  const schedule = (delayMs: number): void => {
    cancel = clock.after(Math.max(0, delayMs), () => {
      probe().catch((cause: unknown) => {
        // The runtime cannot be asked: the machine is off, and nobody waits for a result.
        asRuntimeError(cause);
        isStopped = true;
      });
    });
  };

  schedule(options.startedAtMs + (spec.initialDelaySeconds ?? 0) * 1000 - clock.nowMs());
  return {
    containerId,
    result: () => result,
    stop: () => {
      isStopped = true;
      cancel();
    },
  };
}
