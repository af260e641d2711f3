/**
 * What a pod's status says of it that is not as it should be, in the words of kubelet, runtime and scheduler: the raw
 * material of evidence.
 *
 * Init containers are read like containers, as sidecars stand among them. Nothing is told of a pod that never had
 * trouble, or that is going. A pull that fails goes from ImagePullBackOff to the word of the failure and back: all are
 * told as ImagePullBackOff.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ContainerExit, PodTrouble } from '../model/projections.ts';
import {
  boundedWord,
  readInteger,
  readObject,
  readObjects,
  readText,
  readTimeMs,
  type Reading,
  type Sharing,
} from './raw-fields.ts';

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

/** More than a kubelet ever counts; keeps the sum of an invented status a whole number. */
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

const NAME = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';
const KEY = '[-._a-zA-Z0-9]{1,253}';

/** What is searched for, and what is told of it; `$1` and `$2` stand for names. */
type Known = readonly (readonly [pattern: RegExp, told: string])[];

/** Of schedulers, one to a node: filters in the words of `kube-scheduler`. */
const OF_SCHEDULERS: Known = [
  [/Insufficient ([a-zA-Z0-9](?:[-._/a-zA-Z0-9]{0,251}[a-zA-Z0-9])?)/g, 'Insufficient $1'],
  [/Too many pods/g, 'Too many pods'],
  [/node\(s\) didn't have free ports/g, 'no free host port'],
  [/node\(s\) were unschedulable/g, 'the node is cordoned'],
  [/untolerated taint \{([-._/a-zA-Z0-9]{1,317})/g, 'taint $1'],
  [/untolerated taint\(s\)/g, 'a taint'],
  [/node\(s\) didn't match pod (anti-affinity|affinity) rules/g, 'pod $1'],
  [/node\(s\) didn't satisfy existing pods anti-affinity rules/g, 'anti-affinity of other pods'],
  [/node\(s\) didn't match pod topology spread constraints/g, 'topology spread'],
  [/volume node affinity conflict/g, 'a volume of another node'],
  [/exceed max volume count/g, 'no room for another volume'],
  [/unbound immediate PersistentVolumeClaims/g, 'an unbound PersistentVolumeClaim'],
  [new RegExp(`persistentvolumeclaim "(${NAME})" not found`, 'g'), 'PersistentVolumeClaim $1'],
];

/** Of kubelets, where a container's configuration cannot be put together. */
const OF_KUBELETS: Known = [
  [new RegExp(`configmap "(${NAME})" not found`, 'g'), 'ConfigMap $1 is missing'],
  [new RegExp(`secret "(${NAME})" not found`, 'g'), 'Secret $1 is missing'],
  [
    new RegExp(`couldn't find key (${KEY}) in (ConfigMap|Secret) ${NAME}/(${NAME})`, 'g'),
    'key $1 of $2 $3 is missing',
  ],
  [/runAsNonRoot and image will run as root/g, 'runAsNonRoot, and the image runs as root'],
];

/**
 * What a scheduler's message says that keeps a pod from its node (ADR 0079); undefined: nothing that is known. Counts
 * of nodes go, since a daemon's pod is pinned to one: what is left changes only when the cause does.
 */
function causeOfScheduler(message: string | undefined, sharing: Sharing): string | undefined {
  // What follows is of preemption, and says the same of fewer pods.
  const [own] = (message ?? '').split('preemption:', 1);
  return findKnown(own, OF_SCHEDULERS, sharing);
}

function causeOfKubelet(message: string | undefined, sharing: Sharing): string | undefined {
  return findKnown(message, OF_KUBELETS, sharing);
}

/** More of a message is not searched. */
const SEARCHED_MAX = 4096;

function findKnown(text: string | undefined, known: Known, sharing: Sharing): string | undefined {
  const searched = (text ?? '').slice(0, SEARCHED_MAX);
  const found = known.flatMap(([pattern, told]) =>
    [...searched.matchAll(pattern)].map((match) =>
      told.replaceAll(/\$(\d)/g, (_sign, index: string) => match[Number(index)] ?? ''),
    ),
  );
  return boundedWord([...new Set(found)].sort().join(', '), sharing);
}
