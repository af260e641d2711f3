/** Records and policies of staged rollouts for tests: a canary of three that soaks, unless told otherwise. */
import { startTrial } from '../../src/core/health/trial.ts';
import { nodeName } from '../../src/core/model/identifiers.ts';
import type { Breach, RolloutRecord } from '../../src/core/model/rollout-record.ts';
import type { PolicyReading, RolloutPolicy } from '../../src/core/policy/rollout-policy.ts';

/** When the records of this file began. */
export const STARTED_MS = Date.UTC(2026, 10, 25, 9, 0, 0);
/** When tests look at them. */
export const LOOKED_MS = STARTED_MS + 300_000;
/** Of the policy of this file. */
export const SOAK_MS = 600_000;

const OLD_PROVEN = { hash: 'old', provenAtMs: STARTED_MS - 1000, isBaseline: true };
const OLD_RELEASE = { hash: 'old', id: 'old', goodAtMs: STARTED_MS - 1000, isBaseline: true };

/** A record of revision `new`. */
export function recordOf(changes: Partial<RolloutRecord> = {}): RolloutRecord {
  return {
    hash: 'new',
    id: changes.hash ?? 'new',
    good: [OLD_RELEASE],
    startedAtMs: STARTED_MS,
    baseNodes: 50,
    step: {
      kind: 'canary',
      name: '',
      index: 0,
      openedAtMs: STARTED_MS,
      wellSinceMs: STARTED_MS + 60_000,
      progressedAtMs: STARTED_MS + 30_000,
      updatedNodes: 3,
    },
    groups: 3,
    canary: ['a', 'b', 'c'].map(nodeName),
    isReturn: false,
    trial: startTrial([], STARTED_MS),
    restarts: 0,
    seenView: 'e1',
    proven: OLD_PROVEN,
    former: OLD_PROVEN,
    refused: [],
    orders: {},
    ...changes,
  };
}

/** With another step. */
export function stepOf(changes: Partial<RolloutRecord['step']>): RolloutRecord['step'] {
  return { ...recordOf().step, ...changes };
}

/** An OOMKilled canary. */
export function breachOf(changes: Partial<Breach> = {}): Breach {
  return {
    cause: 'OOMKilled',
    atMs: STARTED_MS + 120_000,
    message: '1 of 3 canaries was killed for its memory',
    nodes: [nodeName('b')],
    ...changes,
  };
}

/** A policy of ten minutes' soak, as read. */
export function policyOf(changes: Partial<RolloutPolicy> = {}): PolicyReading {
  return {
    kind: 'policy',
    policy: {
      isPaused: false,
      order: [],
      canary: { kind: 'share', share: { kind: 'count', count: 3 }, spread: [] },
      soakMs: SOAK_MS,
      approval: 'none',
      windows: [],
      onHalt: 'pause',
      returns: 'at-once',
      budget: 'parity',
      removalPercent: 20,
      ...changes,
    },
  };
}
