/**
 * The node's status as its agent reports it: at once when it changes, else every five minutes.
 *
 * The conditions are MemoryPressure, DiskPressure and PIDPressure, which are never true, and Ready, in the kubelet's words;
 * lastTransitionTime moves only when a status does. One write is under way at a time. Differs from Kubernetes: there is
 * no pressure, and no eviction because of it.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';
import { withJitter } from '../shared/agent-context.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import { isEqualJson } from '../shared/equal-json.ts';
import type { Condition } from '../shared/pod-object.ts';
import { machineStatus } from './register-node.ts';

/** The node status of one agent. */
export interface NodeStatusReporter {
  /** Something may have changed. */
  readonly sync: () => void;
  /** Resolves when nothing is being written. */
  readonly idle: () => Promise<void>;
  readonly stop: Cancel;
}

/** What a report follows from. */
export interface NodeReport {
  /** The node as it is known now; undefined when it is gone. */
  readonly node: () => ApiObject | undefined;
  /** Takes what a write has answered. */
  readonly onWritten: (node: ApiObject) => void;
  /** What keeps the node from being ready; empty when nothing does. */
  readonly errors: () => readonly string[];
}

type Outcome = 'written' | 'unchanged' | 'failed';

const REPORT_MS = 5 * 60_000;
const RETRY_MS = 1000;
const JITTER = 0.04;
const NO_PRESSURE: readonly Condition[] = [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'kubelet has no disk pressure',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
];

/** The conditions now; `previous` lends the times of those that have not changed sides. */
export function nodeConditions(
  errors: readonly string[],
  previous: readonly Condition[],
  nowText: string,
): readonly Condition[] {
  const [error] = errors;
  const message = errors.length > 1 ? `[${errors.join(', ')}]` : (error ?? '');
  const ready =
    error === undefined
      ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { status: 'False', reason: 'KubeletNotReady', message };
  return [...NO_PRESSURE, { type: 'Ready', ...ready }].map((condition) => {
    const known = previous.find(({ type }) => type === condition.type);
    const since = known?.status === condition.status ? known.lastTransitionTime : undefined;
    const times = { lastHeartbeatTime: nowText, lastTransitionTime: since ?? nowText };
    return { ...condition, ...times };
  });
}

/** conditions of a node's status. */
export function conditionsOf(status: Json | undefined): readonly Condition[] {
  return jsonItems(jsonMember(status, 'conditions')) as readonly Condition[];
}

/** Starts reporting a registered node. */
export function startNodeStatus(context: AgentContext, of: NodeReport): NodeStatusReporter {
  const { clock, random } = context;
  let writing: Promise<void> | undefined;
  let isAgain = false;
  let isStopped = false;
  let cancelTimer: Cancel = () => undefined;
  let reportedAtMs = clock.monotonicMs();

  const run = async (): Promise<void> => {
    let outcome: Outcome;
    do {
      isAgain = false;
      outcome = await report(context, of, clock.monotonicMs() - reportedAtMs >= REPORT_MS);
      if (outcome === 'written') reportedAtMs = clock.monotonicMs();
    } while (mayGoOn());
    writing = undefined;
    if (isStopped) return;
    cancelTimer();
    const leftMs = Math.max(0, reportedAtMs + REPORT_MS - clock.monotonicMs());
    const delayMs = outcome === 'failed' ? RETRY_MS : withJitter(random, leftMs, JITTER);
    cancelTimer = clock.after(delayMs, sync);
  };
  const mayGoOn = (): boolean => isAgain && !isStopped;
  const sync = (): void => {
    if (isStopped) return;
    isAgain = true;
    writing ??= run();
  };
  sync();
  return {
    sync,
    idle: async () => {
      while (writing !== undefined) await writing;
    },
    stop: () => {
      isStopped = true;
      cancelTimer();
    },
  };
}

async function report(
  context: AgentContext,
  { node: read, onWritten, errors }: NodeReport,
  isDue: boolean,
): Promise<Outcome> {
  const { client, machine, log, clock } = context;
  const node = read();
  if (node === undefined) return 'unchanged';
  const previous = conditionsOf(node['status']);
  const next = nodeConditions(errors(), previous, formatTime(clock.nowMs()));
  const facts = changedFacts(context, node);
  const says = (condition: Condition): string =>
    `${condition.type} ${condition.status} ${condition.message ?? ''}`;
  const said = new Set(previous.map(says));
  const hasChanged = next.some((each) => !said.has(says(each))) || Object.keys(facts).length > 0;
  if (!hasChanged && !isDue) return 'unchanged';
  const body = { status: { ...facts, conditions: next } };
  const patch = { type: 'strategic', body, subresource: 'status' } as const;
  const outcome = await client.patch({ resource: 'nodes', name: machine.name }, patch);
  if (outcome.kind === 'refused') {
    log.warn('node status not written', { because: outcome.status.message });
    return outcome.status.reason === 'NotFound' ? 'unchanged' : 'failed';
  }
  log.debug('node status', { ready: next.at(-1)?.status });
  onWritten(outcome.object);
  recordReadiness(context, previous, next);
  return 'written';
}

/** Capacity, addresses and the like, where the Node tells nothing; what the machine runs since it booted, also otherwise. */
function changedFacts(context: AgentContext, node: ApiObject): JsonObject {
  const status = isJsonObject(node['status']) ? node['status'] : {};
  const facts = Object.entries(machineStatus(context)).filter(
    ([key, value]) =>
      !isEqualJson(status[key], value) && (status[key] === undefined || key === 'nodeInfo'),
  );
  return Object.fromEntries(facts);
}

/** The event of a node that became ready or not ready. */
export function recordReadiness(
  { record, machine }: Pick<AgentContext, 'record' | 'machine'>,
  previous: readonly Condition[],
  next: readonly Condition[],
): void {
  const statusOf = (conditions: readonly Condition[]): string | undefined =>
    conditions.find(({ type }) => type === 'Ready')?.status;
  if (statusOf(previous) === statusOf(next)) return;
  const reason = statusOf(next) === 'True' ? 'NodeReady' : 'NodeNotReady';
  const message = `Node ${machine.name} status is now: ${reason}`;
  record({ about: nodeReference(machine.name), type: 'Normal', reason, message });
}

/** The node as the kubelet's events name it: its name stands for its UID, and no version. */
export function nodeReference(name: string): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '' },
  };
}
