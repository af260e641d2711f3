/**
 * Records of fleets for tests of what others are told: a rollout in its second of three stages, changed by whoever needs something else.
 */
import type { FleetDecision } from '../../src/core/fleet/rollout/fleet-decision.ts';
import type { FleetGate, FleetRecord } from '../../src/core/fleet/rollout/fleet-record.ts';
import { clusterId } from '../../src/core/model/identifiers.ts';
import { poolOf } from './fleet-pools.ts';
import { fleetRecord as firstStageRecord } from './fleet-records.ts';

/** The moment of the samples. */
export const AT_MS = Date.UTC(2026, 10, 25, 12);

const RELEASE = {
  generation: 3,
  documentId: 'd3',
  appliedAtMs: AT_MS - 3_600_000,
  appliedBy: 'ann',
  contentHash: 'content-3',
};

/** A record. */
export function fleetRecord(changes: Partial<FleetRecord> = {}): FleetRecord {
  return firstStageRecord({
    uid: 'fleet-uid',
    version: 7,
    release: RELEASE,
    stage: 1,
    ...{ startedAtMs: AT_MS - 3_000_000, stageOpenedAtMs: AT_MS - 60_000 },
    counts: { waiting: 1, rolling: 1, well: 1, failed: 0, offline: 0, untouched: 0, returning: 0 },
    ...changes,
  });
}

/** Two clusters failed. */
export const BREACH = {
  cause: 'ClustersFailed',
  atMs: AT_MS - 1000,
  message: '2 of 3 clusters failed: ImagePull',
  clusters: [clusterId('c1'), clusterId('c2')],
} as const;

const PAUSE = { by: 'bob', atMs: AT_MS - 5000 };

/** By name, the records of every way in which a fleet may stand: each gate, with and without what may stand beside it. */
export const STANDINGS: Readonly<Record<string, FleetRecord>> = Object.fromEntries(
  (
    [
      ['updating', { kind: 'updating' }],
      ['soaking', { kind: 'soaking', untilMs: AT_MS + 3_600_000 }, { pool: poolOf() }],
      ['next', { kind: 'next' }],
      ['window', { kind: 'window', opensAtMs: AT_MS + 3_600_000 }],
      ['approval', { kind: 'approval', stepIndex: 3 }],
      ['frozen', { kind: 'frozen', by: 'eve', why: 'an incident' }],
      ['no-evidence', { kind: 'no-evidence', stage: 'early', stepIndex: 3 }],
      [
        'refused',
        {
          ...{ kind: 'refused', cluster: clusterId('c4'), message: 'no right to patch' },
          ...{ sinceMs: AT_MS - 60_000, askAtMs: AT_MS + 60_000 },
        },
      ],
      ['invalid', { kind: 'invalid', message: 'spec.template renders to no DaemonSet in c4' }],
      ['paused', { kind: 'paused' }, { orders: { paused: PAUSE } }],
      ['paused while it rolls', { kind: 'updating' }, { orders: { paused: PAUSE } }],
      ['halted', { kind: 'breach' }, { breach: BREACH }],
      ['halted and paused', { kind: 'paused' }, { breach: BREACH, orders: { paused: PAUSE } }],
      ['rolling back', { kind: 'returning' }, { breach: BREACH }],
      ['rolled back', { kind: 'returned' }, { breach: BREACH }],
      ['undone', { kind: 'returned' }, { orders: { undo: PAUSE } }],
      [
        'overruled',
        { kind: 'updating' },
        { breach: BREACH, orders: { resumed: { ...PAUSE, breach: BREACH } } },
      ],
      ['done', { kind: 'done' }, { stage: 3 }],
    ] as readonly (readonly [string, FleetGate, Partial<FleetRecord>?])[]
  ).map(([name, gate, changes]) => [name, fleetRecord({ gate, ...changes })]),
);

/** The sample with this name. */
export function standing(name: string): FleetRecord {
  const found = STANDINGS[name];
  if (found === undefined) throw new RangeError(`no sample ${name}`);
  return found;
}

/** A decision of the sample. */
export function fleetDecision(changes: Partial<FleetDecision> = {}): FleetDecision {
  return {
    id: 'fleet-uid/3/7/stage-opened',
    kind: 'stage-opened',
    atMs: AT_MS,
    message: 'stage 2 of 3 (early) opened for 3 clusters',
    record: fleetRecord(),
    ...changes,
  };
}

/** As large as a record may be, with text that JSON makes six times as long. */
export function largestRecord(): FleetRecord {
  const text = (length: number): string => '\u0001"é'.repeat(length).slice(0, length);
  return fleetRecord({
    release: { ...RELEASE, appliedBy: text(10_000), contentHash: text(10_000) },
    stages: Array.from({ length: 40 }, (_, index) => ({
      name: `${String(index)}${text(10_000)}`,
      members: { id: text(1000), count: 10_000 },
      namesNobody: false,
    })),
    breach: {
      ...BREACH,
      message: text(100_000),
      clusters: Array.from({ length: 1000 }, () => clusterId('c'.repeat(63))),
    },
  });
}
