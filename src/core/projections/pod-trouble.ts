/**
 * What a pod's status says of it that is not as it should be: the raw material of evidence (issue 17, rollouts facts 1).
 *
 * Words stay those of kubelet, runtime and scheduler; what they mean is decided where a rollout is judged. Init containers are
 * read like containers, as sidecars stand among them. Nothing is told of a pod that never had trouble, nor of one that is
 * going: its kubelet ends its containers as it likes, and no failure is in that. A container that is being created is none.
 *
 * One exception to raw words. A pull that fails is tried again after 10, 20 … 300 s, and each time its word goes from
 * ImagePullBackOff to that of the failure and back: the same trouble, twice a change. All of them are told as ImagePullBackOff.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ContainerExit, PodTrouble } from '../model/projections.ts';
import { boundedWord } from './bounded-word.ts';
import { causeOfKubelet, causeOfScheduler } from './pod-cause.ts';
import { readInteger, readObject, readObjects, readText, readTimeMs } from './raw-fields.ts';
import type { Reading } from './reading.ts';

/** A container that comes up shows them; what lasts too long is told by a deadline, and by events. */
const COMING_UP: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** Words of a failed pull that take turns with ImagePullBackOff (kubelet `images/types.go`, cri-api `pkg/errors`). */
const PULL_BACK_OFF = 'ImagePullBackOff';
const FAILED_PULLS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** What keeps these from being made is named by their message, the same each time. */
const CONFIGURED: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
]);

/** More than a kubelet ever counts; keeps the sum of a status that somebody made up a whole number. */
const RESTARTS_MAX = 1_000_000_000;
/** Exit codes of containers are 32 bits. */
const EXIT_CODE_MIN = -(2 ** 31);
const EXIT_CODE_MAX = 2 ** 31 - 1;

interface Told<What> {
  readonly what: What;
  readonly container: string | undefined;
}

interface Waiting {
  readonly word: string;
  readonly cause: string | undefined;
}

interface Containers {
  readonly restarts: number;
  readonly waiting: Told<Waiting> | undefined;
  readonly exit: Told<ContainerExit> | undefined;
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Trouble of a pod that is not terminating; undefined when there is none, so that ten thousand pods hold nothing for it. */
export function readTrouble(status: JsonObject, reading: Reading): PodTrouble | undefined {
  const trouble: Writable<PodTrouble> = {};
  const { restarts, waiting, exit } = readContainers(status, reading);
  if (restarts > 0) trouble.restarts = restarts;
  if (waiting !== undefined) trouble.waiting = waiting.what.word;
  if (waiting?.what.cause !== undefined) trouble.cause = waiting.what.cause;
  if (exit !== undefined) trouble.lastExit = exit.what;
  const container = (waiting ?? exit)?.container;
  if (container !== undefined) trouble.container = container;
  addConditions(trouble, status, reading);
  return Object.keys(trouble).length === 0 ? undefined : trouble;
}

function readContainers(status: JsonObject, reading: Reading): Containers {
  const { onFault, sharing } = reading;
  let restarts = 0;
  let waiting: Told<Waiting> | undefined;
  let exit: Told<ContainerExit> | undefined;
  for (const field of ['initContainerStatuses', 'containerStatuses'] as const) {
    for (const raw of readObjects(status, field, onFault)) {
      const container = boundedWord(readText(raw, 'name', onFault), sharing);
      restarts += Math.max(readInteger(raw, 'restartCount', onFault) ?? 0, 0);
      const what = readWaiting(raw, reading);
      if (what !== undefined) waiting ??= { what, container };
      for (const ended of readExits(raw, reading)) {
        // An init container is meant to end; so is, before its pod, a sidecar: its restarts count all the same.
        const isDone = field === 'initContainerStatuses' && ended.exitCode === 0;
        if (!isDone && isLater(ended, exit?.what)) exit = { what: ended, container };
      }
    }
  }
  return { restarts: Math.min(restarts, RESTARTS_MAX), waiting, exit };
}

function readWaiting(container: JsonObject, { onFault, sharing }: Reading): Waiting | undefined {
  const waiting = readObject(readObject(container, 'state', onFault), 'waiting', onFault);
  const word = boundedWord(readText(waiting, 'reason', onFault), sharing);
  if (word === undefined || COMING_UP.has(word)) return undefined;
  if (FAILED_PULLS.has(word)) return { word: PULL_BACK_OFF, cause: undefined };
  const isConfig = CONFIGURED.has(word);
  const message = isConfig ? readText(waiting, 'message', onFault) : undefined;
  return { word, cause: causeOfKubelet(message, sharing) };
}

/** How the container ended last, and, if it is not running, how just now: the same exit moves from `state` to `lastState`. */
function readExits(container: JsonObject, reading: Reading): readonly ContainerExit[] {
  const { onFault } = reading;
  return ['lastState', 'state'].flatMap((field) => {
    const state = readObject(container, field, onFault);
    const ended = state['terminated'];
    if (ended === undefined || ended === null) return [];
    return [readExit(readObject(state, 'terminated', onFault), reading)];
  });
}

function readExit(ended: JsonObject, { onFault, sharing }: Reading): ContainerExit {
  const exitCode = readInteger(ended, 'exitCode', onFault) ?? 0;
  const exit: Writable<ContainerExit> = {
    reason: boundedWord(readText(ended, 'reason', onFault), sharing) ?? '',
    exitCode: Math.min(Math.max(exitCode, EXIT_CODE_MIN), EXIT_CODE_MAX),
  };
  const finishedAtMs = readTimeMs(ended, 'finishedAt', onFault);
  if (finishedAtMs !== undefined) exit.finishedAtMs = finishedAtMs;
  return exit;
}

/** One without a time, of which the runtime lost track, is older than any other; of two alike the later in the list counts. */
function isLater(exit: ContainerExit, known: ContainerExit | undefined): boolean {
  return known === undefined || (exit.finishedAtMs ?? 0) >= (known.finishedAtMs ?? 0);
}

function addConditions(
  trouble: Writable<PodTrouble>,
  status: JsonObject,
  { onFault, sharing }: Reading,
): void {
  const conditions = readObjects(status, 'conditions', onFault);
  const find = (type: string): JsonObject | undefined =>
    conditions.find((one) => one['type'] === type);
  const reasonOf = (type: string, state: string): string | undefined => {
    const condition = find(type);
    if (condition?.['status'] !== state) return undefined;
    return boundedWord(readText(condition, 'reason', onFault), sharing);
  };
  const unscheduled = reasonOf('PodScheduled', 'False');
  if (unscheduled !== undefined) {
    trouble.unscheduled = unscheduled;
    const message = readText(find('PodScheduled') ?? {}, 'message', onFault);
    const cause = causeOfScheduler(message, sharing);
    if (cause !== undefined) trouble.cause = cause;
  }
  const disruption = reasonOf('DisruptionTarget', 'True');
  if (disruption !== undefined) trouble.disruption = disruption;
  const ready = find('Ready');
  const isReadyWithheld = ready !== undefined && ready['status'] !== 'True';
  if (isReadyWithheld && find('ContainersReady')?.['status'] === 'True') {
    trouble.isReadyWithheld = true;
  }
}
