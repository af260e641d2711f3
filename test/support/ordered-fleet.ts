/** Records of fleets' rollouts for tests: a small one in the middle of its first stage, changed by whoever needs something else. */
import type { FleetRecord } from '../../src/core/fleet/rollout/fleet-record.ts';

/** Generation 2 of monitoring/agent; its stages are first, early and rest. */
export function fleetRecord(changes: Partial<FleetRecord> = {}): FleetRecord {
  const stageOf = (name: string, count: number): FleetRecord['stages'][number] => ({
    name,
    members: { id: `list-of-${name}`, count },
    namesNobody: false,
  });
  return {
    namespace: 'monitoring',
    name: 'agent',
    uid: 'uid-1',
    version: 3,
    release: {
      generation: 2,
      documentId: 'document-2',
      appliedAtMs: 1000,
      appliedBy: 'somebody',
      contentHash: 'content',
    },
    startedAtMs: 1000,
    stage: 0,
    stageOpenedAtMs: 2000,
    progressedAtMs: 2000,
    stages: [stageOf('first', 1), stageOf('early', 3), stageOf('rest', 8)],
    ring: { id: '', count: 0 },
    registryRevision: 1,
    dealtAtMs: 1000,
    untouchedClusters: 0,
    ringDueAtMs: 0,
    driftDueAtMs: 0,
    good: [],
    refused: [],
    orders: {},
    untold: [],
    gate: { kind: 'updating' },
    counts: { waiting: 0, rolling: 1, well: 0, failed: 0, offline: 0, untouched: 0, returning: 0 },
    dueAtMs: 7000,
    ...changes,
  };
}
