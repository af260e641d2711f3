/**
 * Is a node heard of? Pure: one step of what is remembered of a node.
 *
 * A sign of life is a renewed Lease or a new heartbeat of the condition Ready. Times are this controller's own
 * (monotonic), taken when it sees the sign, so skewed node clocks do no harm. After the grace without a sign, all that
 * the node said of itself is unknown.
 */
import type { NodeCondition, NodeView } from './shared/object-views.ts';
import { conditionOf } from './shared/object-views.ts';

/** What is remembered. */
export interface NodeHealth {
  readonly uid: string;
  /** When the last sign was seen. */
  readonly seenAtMs: number;
  /** The Lease's renewTime then. */
  readonly renewTime: string | undefined;
  /** lastHeartbeatTime of Ready then; undefined while there is no such condition. */
  readonly heartbeat: string | undefined;
  readonly hasReady: boolean;
}

/** What the API shows of a node now. */
export interface NodeSigns {
  readonly node: NodeView;
  readonly renewTime: string | undefined;
  readonly nowMs: number;
}

/** Conditions that a silent node loses; NetworkUnavailable is not the node's own. */
const OWN_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** Takes in what the API shows. */
export function observeNode(before: NodeHealth | undefined, signs: NodeSigns): NodeHealth {
  const { node, renewTime, nowMs } = signs;
  const ready = conditionOf(node.status.conditions, 'Ready');
  const health: NodeHealth = {
    uid: node.metadata.uid,
    seenAtMs: nowMs,
    renewTime,
    heartbeat: ready?.lastHeartbeatTime ?? undefined,
    hasReady: ready !== undefined,
  };
  if (before?.uid !== health.uid) return health;
  const isRenewed =
    renewTime !== undefined && (before.renewTime === undefined || renewTime > before.renewTime);
  const hasSpoken = before.hasReady !== health.hasReady || before.heartbeat !== health.heartbeat;
  return isRenewed || hasSpoken ? health : { ...health, seenAtMs: before.seenAtMs };
}

/** The conditions to write for a node that has been silent for too long; none when it is known to be. */
export function planUnknownConditions(node: NodeView, nowText: string): readonly NodeCondition[] {
  return OWN_CONDITIONS.flatMap((type): readonly NodeCondition[] => {
    const before = conditionOf(node.status.conditions, type);
    if (before === undefined) {
      return [
        {
          type,
          status: 'Unknown',
          reason: 'NodeStatusNeverUpdated',
          message: 'Kubelet never posted node status.',
          lastHeartbeatTime: node.metadata.creationTimestamp,
          lastTransitionTime: nowText,
        },
      ];
    }
    if (before.status === 'Unknown') return [];
    return [
      {
        ...before,
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastTransitionTime: nowText,
      },
    ];
  });
}
