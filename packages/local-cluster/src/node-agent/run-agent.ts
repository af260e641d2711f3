/**
 * A node agent: the pods' stages and the node's duties together (spec node-agent).
 *
 * The runtime's driver and the prober come from outside, so that each stage can be tested with a real one or a scripted
 * one. Order at start: the node registers, its Lease and status follow, then pods are taken.
 */
import type { AgentContext } from './shared/agent-context.ts';
import { createHousekeeping } from './housekeeping.ts';
import type { Housekeeping } from './housekeeping.ts';
import { createNodeDuties } from './node/node-duties.ts';
import type { NodeDuties } from './node/node-duties.ts';
import { shutDownPods } from './node/shutdown.ts';
import { activePods, handlePodUpdate } from './pod-handlers.ts';
import type { PodHandlersOptions } from './pod-handlers.ts';
import type { PodObject } from './shared/pod-object.ts';
import { startPodStages } from './pods/pod-stages.ts';
import type { AgentParts, PodStages } from './pods/pod-stages.ts';

/** A running agent, without its power switch. */
export interface RunningAgent {
  /** The node is registered, its Lease and first status are written, or the agent has been stopped. */
  readonly ready: Promise<void>;
  /** Takes no more work; resolves when what is being written has been. */
  readonly stop: () => Promise<void>;
  readonly shutDown: (graceSeconds: number) => Promise<void>;
}

/** Runs an agent until stopped. */
export function runAgent(agent: AgentContext, parts: AgentParts): RunningAgent {
  const stopping = new AbortController();
  let isShuttingDown = false;

  const stages: PodStages = startPodStages(agent, parts, {
    onUpdate: (update) => {
      handlePodUpdate(handlers, update);
    },
    onHousekeeping: () => {
      housekeeping.run();
    },
    requestHousekeeping: () => {
      housekeeping.request();
    },
  });
  const { context, workers, loop } = stages;
  const housekeeping: Housekeeping = createHousekeeping(context, workers, () => {
    loop.push({ kind: 'housekeeping' });
  });
  const active = (): readonly PodObject[] => activePods(context, workers);
  const duties: NodeDuties = createNodeDuties({
    agent,
    workers,
    activePods: active,
    errors: () => nodeErrors(agent, context.networkError(), isShuttingDown),
  });
  const handlers: PodHandlersOptions = {
    context,
    workers,
    nodeForAdmission: () => ({
      node: duties.node(),
      pressures: duties.pressures(),
      isShuttingDown,
    }),
    requestHousekeeping: housekeeping.request,
  };
  const stopListening = parts.runtime.onStatusChange(duties.syncStatus);
  const start = async (): Promise<void> => {
    if (!(await duties.start())) return;
    stages.startSources();
    housekeeping.request();
  };
  const idle = async (): Promise<void> => {
    await Promise.all([context.statuses.idle(), duties.idle()]);
  };
  return {
    ready: Promise.race([start(), aborted(stopping.signal)]),
    stop: async () => {
      stopping.abort();
      stopListening();
      stages.stop();
      duties.stop();
      await idle();
    },
    shutDown: async (graceSeconds) => {
      isShuttingDown = true;
      duties.syncStatus();
      await shutDownPods({ context: agent, workers, activePods: active, graceSeconds });
      await idle();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

/** What keeps the node from being ready, in the kubelet's words. */
function nodeErrors(
  { machine }: AgentContext,
  networkError: string | undefined,
  isShuttingDown: boolean,
): readonly string[] {
  return [
    ...(machine.readiness === 'never' ? ['kubelet is misconfigured, as the machine asks'] : []),
    ...(networkError === undefined ? [] : [networkError]),
    ...(isShuttingDown ? ['node is shutting down'] : []),
  ];
}
