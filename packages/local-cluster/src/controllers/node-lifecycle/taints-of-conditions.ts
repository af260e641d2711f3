/**
 * Which taints a node's conditions ask for. Pure.
 *
 * NoSchedule follows the conditions and the cordon at once. NoExecute follows the condition Ready, but not always: the
 * caller says whether new ones may be put on (zones.ts). Taints of other keys, or other effects, are somebody else's.
 */
import type { NodeView, TimedTaint } from '../shared/object-views.ts';
import { conditionOf } from '../shared/object-views.ts';

const PREFIX = 'node.kubernetes.io/';
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;
const UNSCHEDULABLE = `${PREFIX}unschedulable`;

/** Taint key by condition type and status. */
const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: `${PREFIX}memory-pressure` },
  DiskPressure: { True: `${PREFIX}disk-pressure` },
  NetworkUnavailable: { True: `${PREFIX}network-unavailable` },
  PIDPressure: { True: `${PREFIX}pid-pressure` },
};

const MANAGED_KEYS: ReadonlySet<string> = new Set([
  UNSCHEDULABLE,
  ...Object.values(KEYS).flatMap((byStatus) => Object.values(byStatus)),
]);

/**
 * What may be done about NoExecute taints: `follow` the condition; `hold`: put no new one on, only exchange and remove;
 * `clear`: take both off, because no node is ready and that is likelier our own fault.
 */
export type ExecutePolicy = 'follow' | 'hold' | 'clear';

/** True when the node's Ready condition asks for a NoExecute taint that it does not have in either form. */
export function lacksExecuteTaint(node: NodeView): boolean {
  return executeKey(node) !== undefined && !(node.spec.taints ?? []).some(isManagedExecute);
}

/** The node's taints as they should be; undefined when they are so already. */
export function planTaints(input: {
  readonly node: NodeView;
  readonly executePolicy: ExecutePolicy;
  readonly nowText: string;
}): readonly TimedTaint[] | undefined {
  const { node, nowText } = input;
  const taints = node.spec.taints ?? [];
  const wanted = [
    ...scheduleKeys(node).map((key) => ({ key, effect: 'NoSchedule' as const })),
    ...executeKeys(node, input.executePolicy).map((key) => ({
      key,
      effect: 'NoExecute' as const,
    })),
  ];
  const kept = taints.filter(
    (taint) => !isManaged(taint) || wanted.some((each) => isSameTaint(each, taint)),
  );
  const added = wanted
    .filter((each) => !taints.some((taint) => isSameTaint(each, taint)))
    .map((taint) => ({ ...taint, timeAdded: nowText }));
  if (added.length === 0 && kept.length === taints.length) return undefined;
  return [...kept, ...added];
}

function scheduleKeys(node: NodeView): readonly string[] {
  const keys = (node.status.conditions ?? []).flatMap(({ type, status }) => {
    const key = KEYS[type]?.[status];
    return key === undefined ? [] : [key];
  });
  return node.spec.unschedulable === true ? [...keys, UNSCHEDULABLE] : keys;
}

function executeKeys(node: NodeView, policy: ExecutePolicy): readonly string[] {
  const key = executeKey(node);
  if (key === undefined || policy === 'clear') return [];
  if (policy === 'hold' && lacksExecuteTaint(node)) return [];
  return [key];
}

/** The taint key of the Ready condition; a node without one has not said anything yet. */
function executeKey(node: NodeView): string | undefined {
  const ready = conditionOf(node.status.conditions, 'Ready');
  return ready === undefined ? undefined : KEYS['Ready']?.[ready.status];
}

function isManaged(taint: TimedTaint): boolean {
  return (taint.effect === 'NoSchedule' && MANAGED_KEYS.has(taint.key)) || isManagedExecute(taint);
}

function isManagedExecute({ key, effect }: TimedTaint): boolean {
  return effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE);
}

function isSameTaint(
  left: Pick<TimedTaint, 'key' | 'effect'>,
  right: Pick<TimedTaint, 'key' | 'effect'>,
): boolean {
  return left.key === right.key && left.effect === right.effect;
}
