/**
 * What the next step of a staged rollout waits for, one reason at a time and in their order.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { judgeGate, wellnessOf, type GateInput } from '../../../../src/core/stages/judge-gate.ts';
import type { StagesInput } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';

const WELL = [stageNode('n1', { is: 'well' })];

const END = { keptNodes: 9, notReadyNodes: 0, unwellNodes: 0 };

function gate(
  options: {
    readonly record?: Partial<RolloutRecord>;
    readonly input?: Partial<StagesInput>;
    readonly gate?: Partial<Omit<GateInput, 'record' | 'well'>>;
  } = {},
): ReturnType<typeof judgeGate> {
  const stage = record({
    step: {
      kind: 'canary',
      name: '',
      index: 0,
      openedAtMs: NOW_MS - 600_000,
      progressedAtMs: NOW_MS,
      updatedNodes: 1,
      wellSinceMs: NOW_MS - 60_000,
    },
    ...options.record,
  });
  const facts: Omit<GateInput, 'record' | 'well'> = {
    input: stagesInput({ policy: policy({ soakMs: 60_000 }), nodes: WELL, ...options.input }),
    steps: { open: WELL, next: { name: 'zone-a' }, left: 1 },
    turns: [],
    excused: new Set(),
    canary: { lost: new Set(), kept: [], missing: 0 },
    roomNodes: 10,
    end: END,
    ...options.gate,
  };
  return judgeGate({ ...facts, record: stage, well: wellnessOf(stage, facts) });
}

const STEP = record().step;

describe('a gate', () => {
  it('opens the next step once the open one has soaked', () => {
    assert.deepEqual(gate(), { kind: 'next' });
  });

  it('waits while nodes of open steps have their turn', () => {
    const turns = [stageNode('n2'), stageNode('n3')];
    assert.deepEqual(gate({ gate: { turns } }), { kind: 'updating', pendingNodes: 2 });
  });

  it('waits for a view that is fresh, for pods to be well on nodes that are Ready, and for the soak', () => {
    assert.deepEqual(gate({ input: { isViewFresh: false } }), { kind: 'view' });
    const open = [
      stageNode('n1', { is: 'unwell' }),
      stageNode('n2', { is: 'well', isReady: false }),
      stageNode('n3', { is: 'empty' }),
      stageNode('n4', { is: 'well' }),
      stageNode('n5', { isReady: false }),
    ];
    const steps = { open, next: undefined, left: 1 };
    assert.deepEqual(gate({ gate: { steps } }), { kind: 'settling', unwellNodes: 3 });
    assert.deepEqual(gate({ gate: { steps, excused: new Set(['n1', 'n2']) } }), {
      kind: 'settling',
      unwellNodes: 1,
    });
    const step = { ...record().step, kind: 'canary', wellSinceMs: NOW_MS - 59_999 } as const;
    assert.deepEqual(gate({ record: { step } }), { kind: 'soaking', untilMs: NOW_MS + 1 });
    const { wellSinceMs: _since, ...unknown } = step;
    assert.deepEqual(gate({ record: { step: unknown } }), {
      kind: 'soaking',
      untilMs: NOW_MS + 60_000,
    });
  });

  it('waits for canary nodes that were lost, and says when another one is added; others stand for the rest', () => {
    const lost = { lost: new Set([nodeName('n1')]), kept: [], missing: 1 };
    assert.deepEqual(gate({ gate: { canary: lost } }), { kind: 'lost', lostNodes: 1 });
    const addsAtMs = NOW_MS + 5;
    assert.deepEqual(gate({ gate: { canary: { ...lost, addsAtMs } } }), {
      kind: 'lost',
      lostNodes: 1,
      addsAtMs,
    });
    const down = [stageNode('n1', { is: 'well', isReady: false })];
    const steps = { open: down, next: undefined, left: 1 };
    assert.deepEqual(gate({ gate: { steps, canary: { ...lost, missing: 0 } } }), { kind: 'next' });
    const kept = [stageNode('n5', { is: 'unwell' })];
    assert.deepEqual(gate({ gate: { canary: { lost: new Set(), kept, missing: 0 } } }), {
      kind: 'settling',
      unwellNodes: 1,
    });
  });

  it('waits for its window, unless nothing is left to open', () => {
    const days = [0, 1, 2, 3, 4, 5, 6] as const;
    const at = (startMinute: number): Partial<StagesInput> => ({
      policy: policy({
        windows: [{ days, startMinute, endMinute: startMinute + 60, timeZone: 'UTC' }],
      }),
    });
    // NOW_MS is noon.
    assert.deepEqual(gate({ input: at(720) }), { kind: 'next' });
    const closed = at(780);
    const opensAtMs = NOW_MS + 3_600_000;
    assert.deepEqual(gate({ input: closed }), { kind: 'window', opensAtMs });
    const steps = { open: WELL, next: undefined, left: 1 };
    assert.deepEqual(gate({ input: closed, gate: { steps } }), { kind: 'next' });
  });

  it('is over when all steps passed, or the partition keeps the rest', () => {
    const done = { step: { ...STEP, kind: 'done' } } as const;
    assert.deepEqual(gate({ record: done }), { kind: 'done', ...END });
    assert.deepEqual(gate({ gate: { roomNodes: 0 } }), { kind: 'done', ...END });
  });

  it('opens nothing for a selector without nodes', () => {
    const selector = { matchLabels: { pool: 'canary' } };
    const input = { policy: policy({ canary: { kind: 'selector', selector } }) };
    const waiting = { step: { ...STEP, kind: 'waiting', index: -1 } } as const;
    assert.deepEqual(gate({ input, record: { ...waiting, canary: [] } }), { kind: 'no-canary' });
    assert.deepEqual(gate({ input, record: waiting }), { kind: 'next' });
  });
});
