/**
 * Whether everything is well: what is not, over the whole fleet, the gravest first; and how much is.
 *
 * Judged from counts and records that are stored (app/status). Counts of a DaemonSet are believed only while a controller keeps its status
 * up to date and the watcher tells it: of a cluster where that is not so nothing counts as well.
 */
import { HEALTH_STATES } from './health-facts.ts';
import type {
  ClusterFacts,
  FleetFacts,
  FleetHealth,
  HealthFinding,
  HealthState,
  SetFacts,
  Severity,
  WellOf,
} from './health-facts.ts';
import { judgeCluster, judgeUnreadable } from './health-of-clusters.ts';
import { judgeMissingPods, missingPodsOf } from './health-of-pods.ts';
import { judgeFleet, judgeFreezes, judgeSet } from './health-of-rollouts.ts';
import { groupDigits } from './health-words.ts';
import { standstillOf, type Outage } from '../outages.ts';

/** Judges it. */
export function judgeFleetHealth(facts: FleetFacts): FleetHealth {
  const { outages, clusters, unreadable, fleets, frozen } = facts;
  const isStandingStill = standstillOf(outages) !== undefined;
  const all = [
    ...judgeEmptiness(facts),
    ...unreadable.map(judgeUnreadable),
    ...clusters.flatMap(judgeCluster),
    ...judgeMissingPods(clusters),
    ...clusters.flatMap((cluster) => cluster.daemonSets.flatMap((set) => judgeSet(set, cluster))),
    ...fleets.flatMap(judgeFleet),
    ...judgeFreezes(frozen, clusters),
  ];
  // Where nothing acts at all, that is said above: not once more of each.
  const findings = all
    .filter(({ state }) => !(isStandingStill && state === 'Behind'))
    .sort(byGravity);
  const isWell = findings.length + outages.length === 0;
  return {
    standing: isStopped(facts) ? 'stopped' : isWell ? 'well' : 'not-well',
    outages,
    findings,
    ...countWell(facts, findings),
  };
}

/** True if what is told of its pods is of now. */
export function isTold(cluster: ClusterFacts, ofStack: readonly Outage[]): boolean {
  const { mode, heardAtMs, isViewComplete, conflict, rebuilt } = cluster;
  const outages = [...ofStack, ...cluster.outages];
  if (heardAtMs === undefined || !isViewComplete || rebuilt !== undefined) return false;
  if (standstillOf(outages, mode) !== undefined) return false;
  // Elsewhere the built-in controller writes the status, whatever reaches the functions.
  if (mode !== 'takeover') return true;
  return conflict === undefined && outages.every(({ code }) => code !== 'api-server-unreachable');
}

/** Why nothing of its pods can be told now, in words; undefined: it can. */
export function whyUntold(
  cluster: ClusterFacts,
  { bySubject, outages }: Judged,
): string | undefined {
  if (isTold(cluster, outages)) return undefined;
  const [stopped] = [...outages, ...cluster.outages];
  const own = bySubject.get(cluster.id)?.find(({ subject }) => subject === 'cluster');
  return own?.message ?? stopped?.message ?? 'nothing acts there now';
}

/** `97 of 100 clusters, 412 of 415 DaemonSets, 19,988 of 20,000 pods are well`. */
export function describeWell(health: Omit<FleetHealth, 'findings' | 'outages'>): string {
  const { clusters, daemonSets, pods, fleets, untold, withoutNodes } = health;
  const parts = [
    wellText(clusters, 'clusters'),
    wellText(daemonSets, 'DaemonSets'),
    wellText(pods, 'pods'),
    ...(fleets.total === 0 ? [] : [wellText(fleets, 'fleets')]),
  ];
  const notes = [
    untold.daemonSets === 0
      ? undefined
      : `${nounOf(untold.daemonSets, 'DaemonSet')} with ${nounOf(untold.pods, 'pod')} cannot be told now`,
    withoutNodes === 0
      ? undefined
      : `${nounOf(withoutNodes, 'DaemonSet')} without an eligible node`,
  ].filter((note) => note !== undefined);
  return [`${parts.join(', ')} are well`, ...notes].join('; ');
}

function nounOf(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function wellText({ well, total }: WellOf, nouns: string): string {
  return `${groupDigits(well)} of ${groupDigits(total)} ${nouns}`;
}

function judgeEmptiness({ clusters, unreadable }: FleetFacts): readonly HealthFinding[] {
  if (clusters.length + unreadable.length > 0) return [];
  const message = 'no cluster is registered, so nothing is kept anywhere';
  const remedy = 'rollcall cluster add';
  const about = { subject: 'stack', name: '', clusters: [] } as const;
  return [{ state: 'NoClusters', severity: 'failing', ...about, message, remedy }];
}

function isStopped({ outages, clusters }: FleetFacts): boolean {
  if (standstillOf(outages) !== undefined) return true;
  const stands = clusters.filter(({ mode, outages: own }) => standstillOf(own, mode) !== undefined);
  return clusters.length > 0 && stands.length === clusters.length;
}

const SEVERITIES: readonly Severity[] = ['failing', 'waiting', 'coming'];

function byGravity(left: HealthFinding, right: HealthFinding): number {
  const rank = ({ severity, state }: HealthFinding): number =>
    SEVERITIES.indexOf(severity) * HEALTH_STATES.length + HEALTH_STATES.indexOf(state);
  const missing = ({ pods }: HealthFinding): number => pods?.missing ?? 0;
  return rank(left) - rank(right) || missing(right) - missing(left);
}

/** Findings, by whom they are about: a cluster's id (also of its DaemonSets), `cluster/namespace/name`, `fleet namespace/name`. */
export type FindingsOf = ReadonlyMap<string, readonly HealthFinding[]>;

/** Sorts findings by whom they are about; the gravest of each stays first. */
export function findingsBySubject(findings: readonly HealthFinding[]): FindingsOf {
  const bySubject = new Map<string, HealthFinding[]>();
  for (const finding of findings) {
    for (const key of keysOf(finding)) {
      const known = bySubject.get(key);
      if (known === undefined) bySubject.set(key, [finding]);
      else known.push(finding);
    }
  }
  return bySubject;
}

function keysOf({ subject, name, clusters }: HealthFinding): readonly string[] {
  if (subject === 'cluster') return clusters;
  if (subject === 'fleet') return [`fleet ${name}`];
  return clusters.flatMap((cluster) => [cluster, `${cluster}/${name}`]);
}

export interface Judged {
  readonly bySubject: FindingsOf;
  /** Of the whole stack. */
  readonly outages: readonly Outage[];
}

/** The STATE of a cluster: the gravest of it, or of its DaemonSets. `Stopped`: nothing acts in the whole stack. */
export function stateOfCluster(
  cluster: ClusterFacts,
  { bySubject, outages }: Judged,
): HealthState | 'Stopped' | 'Well' {
  const [gravest] = bySubject.get(cluster.id) ?? [];
  if (gravest !== undefined) return gravest.state;
  return isTold(cluster, outages) ? 'Well' : 'Stopped';
}

/** The STATE of a DaemonSet: its own, or what keeps it from being known. `NoNodes`: no node is eligible. */
export function stateOfSet(
  { namespace, name, counts }: SetFacts,
  cluster: ClusterFacts,
  { bySubject, outages }: Judged,
): HealthState | 'Stopped' | 'NoNodes' | 'Well' {
  const [own] = bySubject.get(`${cluster.id}/${namespace}/${name}`) ?? [];
  if (own !== undefined) return own.state;
  if (isTold(cluster, outages)) return counts?.desired === 0 ? 'NoNodes' : 'Well';
  const ofCluster = bySubject.get(cluster.id)?.find(({ subject }) => subject === 'cluster');
  return ofCluster?.state ?? 'Stopped';
}

function countWell(
  { clusters, unreadable, outages, fleets }: FleetFacts,
  findings: readonly HealthFinding[],
): Omit<FleetHealth, 'standing' | 'outages' | 'findings'> {
  const judged = { bySubject: findingsBySubject(findings), outages };
  const tally = {
    sets: 0,
    wellSets: 0,
    pods: 0,
    wellPods: 0,
    untoldSets: 0,
    untoldPods: 0,
    none: 0,
  };
  for (const cluster of clusters) {
    const isKnown = isTold(cluster, outages);
    for (const set of cluster.daemonSets) {
      const { desired = 0 } = { ...set.counts };
      const isSetKnown = isKnown && set.counts !== undefined;
      const state = stateOfSet(set, cluster, judged);
      tally.sets += 1;
      tally.wellSets += state === 'Well' || state === 'NoNodes' ? 1 : 0;
      tally.none += state === 'NoNodes' ? 1 : 0;
      tally.pods += desired;
      tally.wellPods += isSetKnown ? desired - missingPodsOf(set) : 0;
      tally.untoldSets += isSetKnown ? 0 : 1;
      tally.untoldPods += isSetKnown ? 0 : desired;
    }
  }
  const wellClusters = clusters.filter((one) => stateOfCluster(one, judged) === 'Well');
  const wellFleets = fleets.filter(
    ({ namespace, name, phase }) =>
      phase !== 'Stopped' && !judged.bySubject.has(`fleet ${namespace}/${name}`),
  );
  return {
    clusters: { well: wellClusters.length, total: clusters.length + unreadable.length },
    daemonSets: { well: tally.wellSets, total: tally.sets },
    pods: { well: tally.wellPods, total: tally.pods },
    fleets: { well: wellFleets.length, total: fleets.length },
    untold: { daemonSets: tally.untoldSets, pods: tally.untoldPods },
    withoutNodes: tally.none,
  };
}
