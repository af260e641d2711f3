/**
 * Records and inputs of staged rollouts for tests: the canary is open and has been well, nothing is the matter.
 */
import { nodeName } from '../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../src/core/model/rollout-record.ts';
import { startTrial } from '../../src/core/health/trial.ts';
import type { StagesInput } from '../../src/core/stages/stages-input.ts';
import { NOW_MS } from './core-fixtures.ts';
import { NEW_HASH, OLD_HASH } from './stage-nodes.ts';
import { policy } from './staged-world.ts';

/** A record in its canary step, which opened ten minutes ago and has been well since. */
export function record(options: Partial<RolloutRecord> = {}): RolloutRecord {
  const startedAtMs = NOW_MS - 600_000;
  const proven = { hash: OLD_HASH, provenAtMs: startedAtMs, isBaseline: true };
  return {
    hash: NEW_HASH,
    id: options.hash ?? NEW_HASH,
    good: [{ hash: OLD_HASH, id: OLD_HASH, goodAtMs: startedAtMs, isBaseline: true }],
    startedAtMs,
    baseNodes: 10,
    step: {
      kind: 'canary',
      name: '',
      index: 0,
      openedAtMs: startedAtMs,
      wellSinceMs: startedAtMs,
      progressedAtMs: startedAtMs,
      updatedNodes: 1,
    },
    canary: [nodeName('n1')],
    isReturn: false,
    trial: startTrial([], startedAtMs),
    restarts: 0,
    seenView: '1/1000',
    proven,
    former: proven,
    refused: [],
    orders: {},
    ...options,
  };
}

/** What a run knows: no nodes, a fresh view, in takeover. */
export function stagesInput(options: Partial<StagesInput> = {}): StagesInput {
  return {
    policy: policy(),
    record: undefined,
    hash: NEW_HASH,
    id: options.hash ?? NEW_HASH,
    nodes: [],
    refusals: [],
    nowMs: NOW_MS,
    seenView: '1/1000',
    isViewFresh: true,
    unheardMs: 0,
    minReadyMs: 0,
    strategyUnavailable: 1,
    isStageTrue: true,
    generation: 1,
    rolloutId: 'uid/bbbb',
    ...options,
  };
}
