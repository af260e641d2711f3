/**
 * Writes the node's status (spec node-agent 9): at once when something has changed, else every five minutes.
 *
 * One write is under way at a time; a change meanwhile is written after it. Nothing is asked in between: whoever knows of
 * a change calls `sync`. Node events tell of conditions that changed sides.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import { withJitter } from '../shared/agent-context.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import { isEqualJson } from '../shared/equal-json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { Condition } from '../shared/pod-object.ts';
import {
  conditionEventReason,
  conditionsOf,
  hasChangedConditions,
  nodeConditions,
} from './node-conditions.ts';
import type { NodeHealth } from './node-conditions.ts';
import { nodeReference } from './node-reference.ts';
import type { OwnNode } from './own-node.ts';
import { machineStatus } from './register-node.ts';

/** The node status of one agent. */
export interface NodeStatusReporter {
  /** Something may have changed. */
  readonly sync: () => void;
  /** Resolves when nothing is being written. */
  readonly idle: () => Promise<void>;
  readonly stop: Cancel;
}

const RETRY_MS = 1000;

type Outcome = 'written' | 'unchanged' | 'failed';

/** Starts reporting a registered node; `health` says how it is now. */
export function startNodeStatus(
  context: AgentContext,
  ownNode: OwnNode,
  health: () => NodeHealth,
): NodeStatusReporter {
  const { clock, random, settings } = context;
  let writing: Promise<void> | undefined;
  let isAgain = false;
  let isStopped = false;
  let cancelTimer: Cancel = () => undefined;
  let reportedAtMs = clock.monotonicMs();

  const run = async (): Promise<void> => {
    let outcome: Outcome;
    do {
      isAgain = false;
      const isDue = clock.monotonicMs() - reportedAtMs >= settings.nodeStatusReportMs;
      outcome = await report(context, { ownNode, health: health(), isDue });
      if (outcome === 'written') reportedAtMs = clock.monotonicMs();
    } while (mayGoOn());
    writing = undefined;
    schedule(outcome);
  };
  const mayGoOn = (): boolean => isAgain && !isStopped;
  const schedule = (outcome: Outcome): void => {
    if (isStopped) return;
    cancelTimer();
    const remainingMs = reportedAtMs + settings.nodeStatusReportMs - clock.monotonicMs();
    const regularMs = withJitter(random, Math.max(0, remainingMs), 0.04);
    const delayMs = outcome === 'failed' ? RETRY_MS : regularMs;
    cancelTimer = clock.after(delayMs, sync);
  };
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
  input: { readonly ownNode: OwnNode; readonly health: NodeHealth; readonly isDue: boolean },
): Promise<Outcome> {
  const { client, machine, log } = context;
  const node = input.ownNode.get();
  if (node === undefined) return 'unchanged';
  const previous = conditionsOf(node['status']);
  const next = nodeConditions(input.health, previous, formatTime(context.clock.nowMs()));
  const facts = changedFacts(context, node);
  const hasChanged = hasChangedConditions(previous, next) || Object.keys(facts).length > 0;
  if (!hasChanged && !input.isDue) return 'unchanged';
  const outcome = await client.patch(
    { resource: 'nodes', name: machine.name },
    {
      type: 'strategic',
      body: {
        status: {
          ...facts,
          '$setElementOrder/conditions': next.map(({ type }) => ({ type })),
          conditions: next,
        },
      },
      subresource: 'status',
    },
  );
  if (outcome.kind === 'refused') {
    log.warn('node status not written', { because: outcome.status.message });
    return outcome.status.reason === 'NotFound' ? 'unchanged' : 'failed';
  }
  log.debug('node status', { ready: next.at(-1)?.status });
  input.ownNode.put(outcome.object);
  recordNodeChanges(context, previous, next);
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

/** Events of conditions that changed sides; a node that starts tells only whether it is ready. */
export function recordNodeChanges(
  context: Pick<AgentContext, 'record' | 'machine'>,
  previous: readonly Condition[],
  next: readonly Condition[],
): void {
  for (const condition of next) {
    const known = previous.find(({ type }) => type === condition.type);
    if (known?.status === condition.status) continue;
    if (known === undefined && condition.type !== 'Ready') continue;
    const reason = conditionEventReason(condition);
    context.record({
      about: nodeReference(context.machine.name),
      type: 'Normal',
      reason,
      message: `Node ${context.machine.name} status is now: ${reason}`,
    });
  }
}
