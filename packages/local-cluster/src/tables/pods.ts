/**
 * The table of pods: NAME READY STATUS RESTARTS AGE, and with `-o wide` where they are.
 *
 * Of READY, STATUS and RESTARTS: init containers are asked in order until one has not done its part; its word wins unless the
 * pod is initialized all the same. Else the ordinary containers are asked from last to first: the first has the last word.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { parseTime } from '../objects/timestamps.ts';
import { humanDuration, timeSince } from './human-duration.ts';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from './table.ts';
import type { Cell, TableShape } from './table.ts';

interface ContainerStateView {
  readonly waiting?: { readonly reason?: string };
  readonly running?: object;
  readonly terminated?: {
    readonly reason?: string;
    readonly exitCode: number;
    readonly signal?: number;
    readonly finishedAt?: string | null;
  };
}

interface ContainerStatusView {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly state?: ContainerStateView;
  readonly lastState?: ContainerStateView;
}

interface PodConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

/** The fields of a pod that its table reads; a stored pod has passed decoding. */
interface PodView {
  readonly metadata: ApiObject['metadata'];
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string }[];
    readonly initContainers?: readonly {
      readonly name: string;
      readonly restartPolicy?: string;
    }[];
    readonly readinessGates?: readonly { readonly conditionType: string }[];
  };
  readonly status: {
    readonly phase?: string;
    readonly reason?: string;
    readonly nominatedNodeName?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly PodConditionView[];
    readonly initContainerStatuses?: readonly ContainerStatusView[];
    readonly containerStatuses?: readonly ContainerStatusView[];
  };
}

const NONE = '<none>';

/** The table of pods. */
export const PODS_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Ready', 'Ready containers of all containers.'),
    column('Status', 'What the containers are doing, in a word.'),
    column('Restarts', 'How often containers were restarted, and when last.'),
    AGE_COLUMN,
    wideColumn('IP', 'IP address of the pod.'),
    wideColumn('Node', 'Node that the pod is bound to.'),
    wideColumn('Nominated Node', 'Node on which pods make room for this one.'),
    wideColumn('Readiness Gates', 'True conditions of all that readiness asks for.'),
  ],
  cells: podCells,
  rowConditions: podRowConditions,
};

function podCells(object: ApiObject, nowMs: number): readonly Cell[] {
  const pod = object as ApiObject & PodView;
  const { readyContainers, totalContainers, status, restarts, lastRestartMs } = summarizePod(pod);
  const since =
    restarts === 0 || lastRestartMs === undefined
      ? ''
      : ` (${humanDuration(nowMs - lastRestartMs)} ago)`;
  return [
    pod.metadata.name,
    `${String(readyContainers)}/${String(totalContainers)}`,
    status,
    `${String(restarts)}${since}`,
    timeSince(pod.metadata.creationTimestamp, nowMs),
    orNone(pod.status.podIPs?.[0]?.ip),
    orNone(pod.spec.nodeName),
    orNone(pod.status.nominatedNodeName),
    readinessGates(pod),
  ];
}

function orNone(text: string | undefined): string {
  return text === undefined || text === '' ? NONE : text;
}

function readinessGates({ spec, status }: PodView): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const passed = gates.filter(
    ({ conditionType }) =>
      (status.conditions ?? []).find(({ type }) => type === conditionType)?.status === 'True',
  );
  return `${String(passed.length)}/${String(gates.length)}`;
}

const COMPLETED = { type: 'Completed', status: 'True' };
const SUCCEEDED = [
  { ...COMPLETED, reason: 'Succeeded', message: 'The pod has completed successfully.' },
];
const FAILED = [{ ...COMPLETED, reason: 'Failed', message: 'The pod failed.' }];

function podRowConditions(object: ApiObject): readonly JsonObject[] | undefined {
  const { phase } = (object as ApiObject & PodView).status;
  if (phase === 'Succeeded') return SUCCEEDED;
  return phase === 'Failed' ? FAILED : undefined;
}

/** What is shown. */
interface PodSummary {
  readonly readyContainers: number;
  readonly totalContainers: number;
  readonly status: string;
  readonly restarts: number;
  /** When a container last ended before a restart. */
  readonly lastRestartMs?: number;
}

/** Counts of restarts and ready containers. */
interface Tally {
  restarts: number;
  lastRestartMs: number;
  ready: number;
}

const INITIALIZING_WORDS: ReadonlySet<string> = new Set(['', 'PodInitializing']);

/** Summarises a pod as the API server's table does. */
function summarizePod(pod: PodView): PodSummary {
  const sidecars = new Set(
    (pod.spec.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => name),
  );
  const init = summarizeInit(pod, sidecars);
  const isInitialized =
    init.word === undefined ||
    (pod.status.conditions ?? []).some(
      ({ type, status }) => type === 'Initialized' && status === 'True',
    );
  const main = isInitialized ? summarizeMain(pod, init) : undefined;
  const counts = main?.tally ?? init.tally;
  return {
    readyContainers: counts.ready,
    totalContainers: pod.spec.containers.length + sidecars.size,
    status: overrideByDeletion(pod, main?.word ?? init.word ?? phaseWord(pod)),
    restarts: counts.restarts,
    ...(counts.lastRestartMs === 0 ? {} : { lastRestartMs: counts.lastRestartMs }),
  };
}

function phaseWord({ status }: PodView): string {
  const isGated = (status.conditions ?? []).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  if (isGated) return 'SchedulingGated';
  return isSet(status.reason) ? status.reason : (status.phase ?? '');
}

function overrideByDeletion({ metadata, status }: PodView, word: string): string {
  if (metadata.deletionTimestamp === undefined) return word;
  if (status.reason === 'NodeLost') return 'Unknown';
  const isTerminal = status.phase === 'Succeeded' || status.phase === 'Failed';
  return isTerminal ? word : 'Terminating';
}

interface InitSummary {
  /** Of all init containers that were asked; shown while the pod is being initialized. */
  readonly tally: Tally;
  /** Of the sidecars among them; they count on when the pod runs. */
  readonly sidecarTally: Tally;
  /** Undefined when no init container holds the pod up. */
  readonly word?: string;
}

function summarizeInit(pod: PodView, sidecars: ReadonlySet<string>): InitSummary {
  const tally: Tally = { restarts: 0, lastRestartMs: 0, ready: 0 };
  const sidecarTally: Tally = { restarts: 0, lastRestartMs: 0, ready: 0 };
  const total = (pod.spec.initContainers ?? []).length;
  for (const [index, container] of (pod.status.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name);
    countRestarts(tally, container);
    if (isSidecar) countRestarts(sidecarTally, container);
    if (container.state?.terminated?.exitCode === 0) continue;
    if (isSidecar && container.started === true) {
      if (container.ready) tally.ready += 1;
      continue;
    }
    const word = initWord(container) ?? `${String(index)}/${String(total)}`;
    return { tally, sidecarTally: { ...sidecarTally, ready: tally.ready }, word: `Init:${word}` };
  }
  return { tally, sidecarTally: { ...sidecarTally, ready: tally.ready } };
}

function initWord({ state }: ContainerStatusView): string | undefined {
  if (state?.terminated !== undefined) return terminatedWord(state.terminated);
  const waiting = state?.waiting?.reason ?? '';
  return INITIALIZING_WORDS.has(waiting) ? undefined : waiting;
}

function summarizeMain(
  pod: PodView,
  init: InitSummary,
): { readonly tally: Tally; readonly word: string } {
  const tally = { ...init.sidecarTally };
  let word = init.word ?? phaseWord(pod);
  let errorWord: string | undefined;
  let hasRunning = false;
  for (const container of (pod.status.containerStatuses ?? []).toReversed()) {
    countRestarts(tally, container);
    word = mainWord(container) ?? word;
    if (hasFailed(container)) errorWord = word;
    if (isReadyAndRunning(container)) {
      hasRunning = true;
      tally.ready += 1;
    }
  }
  return { tally, word: refineCompleted(pod, { word, errorWord, hasRunning }) };
}

/** What an ordinary container that does not run has to say. */
function mainWord({ state }: ContainerStatusView): string | undefined {
  if (isSet(state?.waiting?.reason)) return state.waiting.reason;
  return state?.terminated === undefined ? undefined : terminatedWord(state.terminated);
}

function hasFailed({ state }: ContainerStatusView): boolean {
  return state?.terminated !== undefined && state.terminated.exitCode !== 0;
}

function isReadyAndRunning({ state, ready }: ContainerStatusView): boolean {
  return ready && state?.running !== undefined;
}

/** A pod of which one container has ended well is not Completed while another still runs or has failed. */
function refineCompleted(
  pod: PodView,
  found: {
    readonly word: string;
    readonly errorWord: string | undefined;
    readonly hasRunning: boolean;
  },
): string {
  if (found.word !== 'Completed') return found.word;
  const isReady = (pod.status.conditions ?? []).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  if (found.hasRunning && isReady) return 'Running';
  if (found.errorWord !== undefined) return found.errorWord;
  return found.hasRunning ? 'NotReady' : 'Completed';
}

function terminatedWord(terminated: {
  readonly reason?: string;
  readonly exitCode: number;
  readonly signal?: number;
}): string {
  if (isSet(terminated.reason)) return terminated.reason;
  const { signal = 0, exitCode } = terminated;
  return signal === 0 ? `ExitCode:${String(exitCode)}` : `Signal:${String(signal)}`;
}

function countRestarts(tally: Tally, { restartCount, lastState }: ContainerStatusView): void {
  const finishedAt = lastState?.terminated?.finishedAt ?? '';
  const finishedMs = finishedAt === '' ? 0 : (parseTime(finishedAt) ?? 0);
  Object.assign(tally, {
    restarts: tally.restarts + restartCount,
    lastRestartMs: Math.max(tally.lastRestartMs, finishedMs),
  });
}

function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
