/**
 * Which taints a node's conditions and its cordon ask for. Pure.
 *
 * Taints of other keys, or other effects, belong to others.
 */
import type { NodeView, TimedTaint } from './shared/object-views.ts';
import { conditionOf } from './shared/object-views.ts';

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

const SCHEDULE_KEYS: ReadonlySet<string> = new Set([
  UNSCHEDULABLE,
  ...Object.values(KEYS).flatMap((byStatus) => Object.values(byStatus)),
]);
const EXECUTE_KEYS: ReadonlySet<string> = new Set([NOT_READY, UNREACHABLE]);

/** The node's taints as they should be; undefined when they are so already. */
export function planTaints(node: NodeView, nowText: string): readonly TimedTaint[] | undefined {
  const taints = node.spec.taints ?? [];
  const wanted = wantedTaints(node);
  const isWanted = ({ key, effect }: TimedTaint): boolean =>
    wanted.some((each) => each.key === key && each.effect === effect);
  const kept = taints.filter((taint) => !isManaged(taint) || isWanted(taint));
  const added = wanted
    .filter(({ key, effect }) => !taints.some((has) => has.key === key && has.effect === effect))
    .map((taint) => ({ ...taint, timeAdded: nowText }));
  if (added.length === 0 && kept.length === taints.length) return undefined;
  return [...kept, ...added];
}

function wantedTaints(node: NodeView): readonly TimedTaint[] {
  const { conditions = [] } = node.status;
  const keys = conditions.flatMap(({ type, status }) => KEYS[type]?.[status] ?? []);
  if (node.spec.unschedulable === true) keys.push(UNSCHEDULABLE);
  // A node without the condition has not said anything yet.
  const ready = conditionOf(conditions, 'Ready');
  const execute = ready === undefined ? undefined : KEYS['Ready']?.[ready.status];
  return [
    ...keys.map((key) => ({ key, effect: 'NoSchedule' as const })),
    ...(execute === undefined ? [] : [{ key: execute, effect: 'NoExecute' as const }]),
  ];
}

function isManaged({ key, effect }: TimedTaint): boolean {
  if (effect === 'NoExecute') return EXECUTE_KEYS.has(key);
  return effect === 'NoSchedule' && SCHEDULE_KEYS.has(key);
}
