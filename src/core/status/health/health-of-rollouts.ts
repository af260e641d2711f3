/** Rollouts that are halted, wait for a person, or cannot go on; of a cluster, and of fleets. And DaemonSets that are frozen by name. */
import type { Gate } from '../../model/staged-progress.ts';
import { timeText } from '../../rollout/gate-words.ts';
import { describeFreeze, type Freeze } from '../../may-act/freeze.ts';
import type { NextStep } from '../next-steps.ts';
import type {
  ClusterFacts,
  FleetRolloutFacts,
  HealthFinding,
  HealthState,
  RolloutFacts,
  SetFacts,
  Severity,
} from './health-facts.ts';

/** The health that a gate means; absent: it goes on by itself. */
const OF_GATES: Readonly<Partial<Record<Gate['kind'], readonly [HealthState, Severity]>>> = {
  breach: ['Halted', 'failing'],
  returning: ['Returning', 'coming'],
  returned: ['Returned', 'waiting'],
  'no-canary': ['Stuck', 'failing'],
  refused: ['Stuck', 'failing'],
  'no-evidence': ['AwaitsApproval', 'waiting'],
  approval: ['AwaitsApproval', 'waiting'],
  paused: ['Paused', 'waiting'],
  frozen: ['Frozen', 'waiting'],
  invalid: ['Invalid', 'failing'],
};

/** A refusal whose wait has grown so long was repeated several times. */
const STUCK_AFTER_MS = 30_000;

type Words = Pick<HealthFinding, 'message' | 'remedy' | 'next' | 'subject'>;

/** Judges one DaemonSet of a cluster, but for the pods that it lacks. */
export function judgeSet(
  set: SetFacts,
  { id, mode, outages }: ClusterFacts,
): readonly HealthFinding[] {
  const { rollout, removal, retry, paused, unknown } = set;
  const key = `${id} ${set.namespace}/${set.name}`;
  const about = { name: `${set.namespace}/${set.name}`, clusters: [id] };
  const one = (state: HealthState, severity: Severity, words: Words): HealthFinding => ({
    state,
    severity,
    ...about,
    ...words,
  });
  const subject = 'daemonset';
  const findings: HealthFinding[] = [];
  if (unknown !== undefined) {
    const remedy = `rollcall rollout status ${key}`;
    const message = `how it stands in ${id} is not known: ${unknown}`;
    findings.push(one('Unknown', 'failing', { subject, message, remedy }));
  }
  if (rollout !== undefined) findings.push(...judgeRollout(rollout, key, one));
  if (removal !== undefined && mode === 'takeover') {
    const message = `in ${id} ${removal}`;
    const remedy = `take the change back, or: rollcall rollout confirm ${key}`;
    findings.push(one('RemovalHeld', 'waiting', { subject, message, remedy }));
  }
  // An API server that does not answer is told of its cluster.
  const isReached = outages.every(({ code }) => code !== 'api-server-unreachable');
  if (retry !== undefined && retry.delayMs >= STUCK_AFTER_MS && isReached) {
    const next = `it is tried again at ${timeText(retry.notBeforeMs)}`;
    const message = `runs in ${id} cannot go on (${retry.code}); ${next}`;
    const remedy = `rollcall cluster doctor ${id}`;
    findings.push(one('Stuck', 'failing', { subject, message, remedy }));
  }
  if (paused !== undefined) {
    const message = `left alone in ${id} until ${timeText(paused.untilMs)}, as ${paused.manager} writes its status`;
    const remedy = `switch that one off, or look: rollcall cluster doctor ${id}`;
    findings.push(one('Stuck', 'failing', { subject, message, remedy }));
  }
  return findings;
}

function judgeRollout(
  { gate, summary, next }: RolloutFacts,
  key: string,
  one: (state: HealthState, severity: Severity, words: Words) => HealthFinding,
): readonly HealthFinding[] {
  const [cluster = ''] = key.split(' ');
  const judged = judgeGate(gate);
  if (judged === undefined) return [];
  const words = { subject: 'rollout', message: `in ${cluster}, ${summary}` } as const;
  return [one(...judged, { ...words, ...remedyOf(next, `rollcall rollout status ${key}`) })];
}

function judgeGate(gate: Gate): readonly [HealthState, Severity] | undefined {
  // No other canary can be added, or no window opens within eight days.
  if (gate.kind === 'lost' && gate.addsAtMs === undefined) return ['Stuck', 'failing'];
  if (gate.kind === 'window' && gate.opensAtMs === undefined) return ['Stuck', 'failing'];
  return OF_GATES[gate.kind];
}

/** The remedy of its own status; where that has no command, it says what it waits for. */
function remedyOf(next: readonly NextStep[], look: string): Pick<HealthFinding, 'remedy' | 'next'> {
  const [first] = next;
  return first === undefined ? { remedy: look } : { remedy: first.command, next };
}

export function judgeFleet(fleet: FleetRolloutFacts): readonly HealthFinding[] {
  const { namespace, name, gate, phase, summary, next, isUnreadable } = fleet;
  const remedy = remedyOf(next, `rollcall fleet status ${namespace}/${name}`);
  const about = { subject: 'fleet', name: `${namespace}/${name}`, clusters: [] } as const;
  const one = (state: HealthState, severity: Severity): readonly HealthFinding[] => [
    { state, severity, ...about, message: summary, ...remedy },
  ];
  if (isUnreadable === true) return one('Unknown', 'failing');
  if (phase === 'Stopped') return one('Behind', 'failing');
  const judged = gate && judgeGate(gate);
  return judged === undefined ? [] : one(...judged);
}

export function judgeFreezes(
  frozen: Freeze['daemonSets'],
  clusters: readonly ClusterFacts[],
): readonly HealthFinding[] {
  return Object.entries(frozen).map(([name, note]) => ({
    ...{ state: 'Frozen', severity: 'waiting', subject: 'daemonset', name },
    clusters: clusters.filter((one) => hasSet(one, name)).map(({ id }) => id),
    message: `${describeFreeze({ scope: 'daemon-set', note })}, since ${timeText(note.atMs)}`,
    remedy: `rollcall thaw --daemon-set ${name}`,
  }));
}

function hasSet({ daemonSets }: ClusterFacts, key: string): boolean {
  return daemonSets.some(({ namespace, name }) => `${namespace}/${name}` === key);
}
