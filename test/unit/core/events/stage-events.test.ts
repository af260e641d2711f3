/**
 * What a staged rollout tells as Events: each change once, in words that name the revision and the step.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { OpenStep, RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { Gate } from '../../../../src/core/model/staged-progress.ts';
import { tellStages } from '../../../../src/core/events/events.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { record } from '../../../support/stage-records.ts';

const UPDATING: Gate = { kind: 'updating', pendingNodes: 2 };
const DONE: Gate = { kind: 'done', keptNodes: 0, notReadyNodes: 0, unwellNodes: 0 };
const breach = {
  cause: 'OOMKilled',
  atMs: NOW_MS,
  message: '1 of 3 pods was killed for memory',
  nodes: [nodeName('n1')],
} as const;

function at(step: Partial<OpenStep>, options: Partial<RolloutRecord> = {}): RolloutRecord {
  const before = record();
  return { ...before, step: { ...before.step, ...step }, ...options };
}

function told(
  before: RolloutRecord | undefined,
  after: RolloutRecord,
  gate: Gate = UPDATING,
): readonly string[] {
  return tellStages({ before, after, gate }).map(
    ({ type, reason, message }) => `${type} ${reason}: ${message}`,
  );
}

const WAITING = at({ kind: 'waiting', index: -1 });
const CANARY = at({ kind: 'canary', index: 0 }, { canary: [nodeName('n1'), nodeName('n2')] });
const ZONE_A = at({ kind: 'group', name: 'zone-a', index: 1 });
const ZONE_B = at({ kind: 'group', name: 'zone-b', index: 2 });
const ENDED = at({ kind: 'done', index: 2 });

describe('events of a staged rollout', () => {
  it('tell the canary, each group by its number and name, and the end', () => {
    assert.deepEqual(told(WAITING, CANARY), [
      'Normal RolloutStep: Rollout of revision bbbb begins with 2 canary node(s)',
    ]);
    assert.deepEqual(told(CANARY, ZONE_A), [
      'Normal RolloutStep: Rollout of revision bbbb opens step 1 zone-a',
    ]);
    assert.deepEqual(told(ZONE_A, ZONE_B), [
      'Normal RolloutStep: Rollout of revision bbbb opens step 2 zone-b',
    ]);
    assert.deepEqual(told(ZONE_B, ENDED, DONE), [
      'Normal RolloutComplete: Rollout of revision bbbb has passed all steps',
    ]);
  });

  it('name no group where nothing is ordered', () => {
    assert.deepEqual(told(CANARY, at({ kind: 'group', name: '', index: 1 })), [
      'Normal RolloutStep: Rollout of revision bbbb opens step 1',
    ]);
  });

  it('say of a return that it is one', () => {
    const former = at({ kind: 'group', name: 'zone-a', index: 1 }, { hash: 'cccc' });
    assert.deepEqual(told(former, at({ kind: 'done' }, { isReturn: true })), [
      'Normal RolloutComplete: Rollout of revision bbbb goes back to a good release on all nodes',
    ]);
  });

  it('tell nothing twice, nothing of a step that waits, and nothing when a policy is first seen', () => {
    assert.deepEqual(told(CANARY, CANARY), []);
    assert.deepEqual(told(ZONE_A, ZONE_A), []);
    assert.deepEqual(told(CANARY, WAITING), []);
    assert.deepEqual(told(undefined, ENDED, UPDATING), []);
    assert.deepEqual(told(undefined, CANARY), []);
  });

  it('of another revision tell a step at once, and its end only if a node has to move for it', () => {
    const other = at({ kind: 'canary' }, { hash: 'cccc' });
    assert.equal(told(other, CANARY).length, 1);
    assert.deepEqual(told(other, ENDED, DONE), []);
    assert.equal(told(other, ENDED, UPDATING).length, 1);
    assert.equal(told(other, ZONE_A, DONE).length, 1, 'a group is a step whatever it waits for');
  });

  it('warn of a canary that was lost, and of who goes in its place, once each', () => {
    const known = { node: nodeName('n1'), atMs: NOW_MS };
    const lost = { ...CANARY, losses: [known] };
    const gate = { kind: 'lost', lostNodes: 1, addsAtMs: NOW_MS } as const;
    assert.deepEqual(told(CANARY, lost, gate), [
      'Warning RolloutCanaryLost: Rollout of revision bbbb is held on its canary: n1 is not Ready and counts for nothing',
    ]);
    assert.deepEqual(told(lost, lost, gate), []);
    const added = { ...CANARY, losses: [{ ...known, added: nodeName('n7') }] };
    assert.match(told(lost, added)[0] ?? '', /; n7 goes in its place$/);
    assert.deepEqual(told(lost, { ...added, breach }).length, 1, 'a halt says more');
    assert.deepEqual(told(lost, { ...ZONE_A, losses: added.losses }).length, 1, 'its step is over');
  });

  it('go on to say that no other node can go in the place of a canary, as what stands', () => {
    const lost = { ...CANARY, losses: [{ node: nodeName('n1'), atMs: NOW_MS }] };
    const gate = { kind: 'lost', lostNodes: 1 } as const;
    const [first] = tellStages({ before: CANARY, after: lost, gate });
    const [again] = tellStages({ before: lost, after: lost, gate });
    assert.match(first?.message ?? '', /; no other node can go in its place, so mend it/);
    assert.deepEqual(again, { ...first, isStanding: true });
    assert.equal(first?.isStanding, undefined);
  });

  it('warn of a halt once, with the cause and the numbers, and again when the cause is another one', () => {
    const halted = { ...CANARY, breach };
    const warning =
      'Warning RolloutHalted: Rollout of revision bbbb halted (OOMKilled): 1 of 3 pods was killed for memory';
    assert.deepEqual(told(CANARY, halted), [warning]);
    assert.deepEqual(told(undefined, halted), [warning]);
    assert.deepEqual(told(halted, halted), []);
    assert.deepEqual(told(halted, CANARY), [], 'a halt that was taken up again');
    const worse = { ...CANARY, breach: { ...breach, cause: 'Restarts' as const } };
    assert.equal(told(halted, worse).length, 1);
    assert.equal(told({ ...halted, hash: 'cccc' }, halted).length, 2, 'of another revision');
  });

  it('tell of a halt before the step that it stopped', () => {
    const reasons = tellStages({ before: CANARY, after: { ...ZONE_A, breach }, gate: UPDATING });
    assert.deepEqual(
      reasons.map(({ reason }) => reason),
      ['RolloutHalted', 'RolloutStep'],
    );
  });
});
