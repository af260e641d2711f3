/**
 * DaemonSets that lack pods: one finding for a name, over all clusters that lack pods of it, with the reasons that were asked for.
 */
import type {
  ClusterFacts,
  HealthFinding,
  HealthState,
  MissingReason,
  SetFacts,
  Severity,
} from './health-facts.ts';
import { groupDigits, namesText } from './health-words.ts';

/** Nodes that should have an available pod and have none, by the status that was told last. */
export function missingPodsOf({ counts }: Pick<SetFacts, 'counts'>): number {
  return counts === undefined ? 0 : Math.max(0, counts.desired - counts.available);
}

/** A DaemonSet of a cluster that lacks pods, or whose status is of an older generation. */
interface Lack {
  readonly cluster: string;
  readonly set: SetFacts;
}

export function judgeMissingPods(clusters: readonly ClusterFacts[]): readonly HealthFinding[] {
  const lacks = clusters.flatMap(({ id, daemonSets }) =>
    daemonSets.map((set) => ({ cluster: id, set })),
  );
  const lacking = lacks.filter(({ set }) => missingPodsOf(set) > 0);
  // Of one that lacks pods it goes without saying.
  const unseen = lacks.filter(({ set }) => missingPodsOf(set) === 0 && isUnseen(set));
  return [...byName(lacking).map(lackOf), ...byName(unseen).map(unseenOf)];
}

function isUnseen({ counts }: SetFacts): boolean {
  return counts !== undefined && counts.observedGeneration < counts.generation;
}

function byName(lacks: readonly Lack[]): readonly (readonly [Lack, ...Lack[]])[] {
  const groups = Map.groupBy(lacks, ({ set }) => `${set.namespace}/${set.name}`);
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others] as const],
  );
}

function lackOf(lacks: readonly [Lack, ...Lack[]]): HealthFinding {
  const missing = sum(lacks, ({ set }) => missingPodsOf(set));
  const desired = sum(lacks, ({ set }) => set.counts?.desired ?? 0);
  const reasons = mergeReasons(lacks);
  const unexplained = missing - sum(reasons, ({ nodes }) => nodes);
  const why = reasons.map(({ nodes, title }) => `${title} (${groupDigits(nodes)})`).join(', ');
  const lack = `lacks ${groupDigits(missing)} of ${groupDigits(desired)} pods`;
  return {
    ...about(lacks, 'Lacking', severityOf(reasons, unexplained)),
    message: `${lack} in ${namesText(lacks.map(({ cluster }) => cluster))}${why === '' ? '' : `: ${why}`}`,
    pods: { missing, desired },
    reasons,
  };
}

function unseenOf(lacks: readonly [Lack, ...Lack[]]): HealthFinding {
  const where = namesText(lacks.map(({ cluster }) => cluster));
  return {
    ...about(lacks, 'Unseen', 'coming'),
    message: `waits until its newest generation is looked at in ${where}`,
  };
}

function about(
  [{ set, cluster }, ...others]: readonly [Lack, ...Lack[]],
  state: HealthState,
  severity: Severity,
): Omit<HealthFinding, 'message'> {
  const name = `${set.namespace}/${set.name}`;
  const one = others.length === 0 ? ` --cluster ${cluster}` : '';
  return {
    ...{ state, severity, subject: 'daemonset', name },
    clusters: [cluster, ...others.map((each) => each.cluster)],
    remedy: `rollcall why ${name}${one}`,
  };
}

/** Without a request, it is unknown whether it comes by itself. */
function severityOf(reasons: readonly MissingReason[], unexplained: number): Severity {
  const kinds = new Set(reasons.map(({ kind }) => kind));
  if (unexplained > 0 || kinds.has('failing')) return 'failing';
  return kinds.has('held') ? 'waiting' : 'coming';
}

/** Those of all clusters together, the most first. */
function mergeReasons(lacks: readonly Lack[]): readonly MissingReason[] {
  const all = lacks.flatMap(({ set }) => set.reasons ?? []);
  const groups = Map.groupBy(all, ({ code }) => code);
  const merged = [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, nodes: sum([first, ...others], ({ nodes }) => nodes) }],
  );
  return merged.sort((left, right) => right.nodes - left.nodes);
}

function sum<T>(items: readonly T[], valueOf: (item: T) => number): number {
  return items.reduce((total, item) => total + valueOf(item), 0);
}
