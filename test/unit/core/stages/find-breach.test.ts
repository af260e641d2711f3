/**
 * What halts a staged rollout besides the evidence of pods: refusals, missing pods, too many bad nodes, no progress.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { Breach, RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import {
  findStagesBreach,
  judgingMoments,
  lookAt,
} from '../../../../src/core/stages/find-breach.ts';
import type { StagesInput } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { stageNode } from '../../../support/stage-nodes.ts';

const MINUTE_MS = 60_000;
const EMPTIED = stageNode('n1', { is: 'empty', emptySinceMs: NOW_MS - 30_000 });

function found(input: Partial<StagesInput>, kept: Partial<RolloutRecord> = {}): Breach | undefined {
  return findStagesBreach(lookAt(record(kept), stagesInput(input)));
}

function overruled(cause: Breach['cause'], ...nodes: readonly string[]): Partial<RolloutRecord> {
  const breach = { cause, atMs: 1, message: '', nodes: nodes.map(nodeName) };
  return { orders: { resumed: { by: 'somebody', atMs: NOW_MS - 1, breach } } };
}

const REFUSAL = {
  node: nodeName('n1'),
  generation: 1,
  code: 'quota',
  message: 'secret words',
  delayMs: 1_000,
  notBeforeMs: NOW_MS,
};

describe('room that is missing', () => {
  const refused = stageNode('n1', {
    is: 'unwell',
    pod: { phase: 'Failed', reason: 'OutOfcpu' },
  });
  const of = (cpu: number) => ({ requests: { cpu }, hostPorts: [] });

  it('is the release’s where it asks for more than the good one', () => {
    const grown = found({ nodes: [refused] }, { formerDemand: of(1), demand: of(2) });
    assert.equal(grown?.cause, 'StartFailure');
    assert.equal(found({ nodes: [refused] }, { formerDemand: of(2), demand: of(2) }), undefined);
    assert.equal(found({ nodes: [refused] }), undefined);
    const pod = { phase: 'Pending', trouble: { unscheduled: 'Unschedulable' } } as const;
    const homeless = { nodes: [stageNode('n1', { is: 'unwell', pod })] };
    const same = { formerDemand: of(1), demand: of(1) };
    assert.equal(found(homeless, same)?.cause, 'StartFailure', 'under surge there are two');
  });
});

describe('containers that ended with their node', () => {
  const lastExit = { reason: 'Error', exitCode: 137, finishedAtMs: NOW_MS };
  const system = {
    kernelVersion: '',
    osImage: '',
    containerRuntimeVersion: '',
    kubeletVersion: '',
  };
  const times = { createdAtMs: NOW_MS - MINUTE_MS, readyChangedAtMs: NOW_MS - MINUTE_MS };
  const trouble = { restarts: 2, lastExit };
  const ended = stageNode('n1', { is: 'unwell', pod: { ...times, trouble } });
  const node = { ...ended.node, system: { ...system, bootId: 'after-the-boot' } };
  const watched = (boot: string) => {
    const of = { node: node.name, changedAtMs: 0, isReady: true, turns: 0, boot };
    return { turns: ended.updated === undefined ? [] : [{ uid: ended.updated.uid, ...of }] };
  };

  it('are restarts, unless the node was booted since the pod was watched', () => {
    const input = { nodes: [{ ...ended, node }] };
    assert.equal(found(input, watched('after-th'))?.cause, 'Restarts');
    assert.equal(found(input, watched('before-t')), undefined);
  });
});

describe('a breach', () => {
  it('is a refused create on a node that the rollout emptied', () => {
    const breach = found({ nodes: [EMPTIED], refusals: [REFUSAL] });
    assert.equal(breach?.cause, 'CreateRefused');
    assert.deepEqual(breach.nodes, ['n1']);
    assert.match(breach.message, /is refused \(quota\) where the old one is gone: n1$/);
    assert.doesNotMatch(breach.message, /secret/);
    const before = stageNode('n1', { is: 'empty', emptySinceMs: NOW_MS - 3_600_000 });
    assert.equal(found({ nodes: [before], refusals: [REFUSAL] }), undefined);
    assert.equal(
      found({ nodes: [stageNode('n1', { is: 'empty' })], refusals: [REFUSAL] }),
      undefined,
    );
    const excluded = { ...EMPTIED, isExcluded: true };
    assert.equal(found({ nodes: [excluded], refusals: [REFUSAL] }), undefined);
    const victim = { ...REFUSAL, victim: EMPTIED.node.uid };
    assert.equal(found({ nodes: [EMPTIED], refusals: [victim] }), undefined);
    const by = overruled('CreateRefused', 'n1');
    assert.equal(found({ nodes: [EMPTIED], refusals: [REFUSAL] }, by), undefined);
  });

  it('is a pod that nobody makes, in copilot: one of the canary, two later', () => {
    const copilot = { nodes: [EMPTIED], isStageTrue: false };
    assert.equal(found(copilot)?.cause, 'NotRecreated');
    assert.equal(found({ nodes: [EMPTIED] }), undefined, 'in takeover Rollcall knows why');
    const sooner = stageNode('n1', { is: 'empty', emptySinceMs: NOW_MS - 29_999 });
    assert.equal(found({ ...copilot, nodes: [sooner] }), undefined);
    const lost = stageNode('n1', { is: 'empty', emptySinceMs: NOW_MS - 30_000, isReady: false });
    assert.equal(found({ ...copilot, nodes: [lost] }), undefined);
    const step = { ...record().step, kind: 'group' } as const;
    assert.equal(found(copilot, { step }), undefined);
    const other = stageNode('n2', { is: 'empty', emptySinceMs: NOW_MS - 30_000 });
    assert.deepEqual(found({ ...copilot, nodes: [EMPTIED, other] }, { step })?.nodes, ['n1', 'n2']);
    assert.equal(found(copilot, overruled('NotRecreated', 'n1')), undefined);
  });

  it('is more bad nodes than go bad by themselves, with an attributed budget', () => {
    const bad = ['n1', 'n2', 'n3'].map((name) => stageNode(name, { is: 'well', isReady: false }));
    const attributed = policy({ budget: 'attributed' });
    assert.equal(found({ nodes: bad, policy: attributed })?.cause, 'Unexplained');
    assert.equal(found({ nodes: bad }), undefined);
    assert.equal(found({ nodes: bad.slice(1), policy: attributed }), undefined);
    const good = Array.from({ length: 57 }, (_each, index) => stageNode(`g${String(index)}`));
    const ofMany = { nodes: [...bad, ...good], policy: attributed };
    assert.equal(found(ofMany, { baseNodes: 60 }), undefined);
    const { trial } = record();
    const outside = { trial: { ...trial, outside: [nodeName('n1')] } };
    assert.equal(found({ nodes: bad, policy: attributed }, outside), undefined);
    const all = overruled('Unexplained', 'n1', 'n2', 'n3');
    assert.equal(found({ nodes: bad, policy: attributed }, all), undefined);
    const some = overruled('Unexplained', 'n1', 'n2');
    assert.equal(found({ nodes: bad, policy: attributed }, some)?.cause, 'Unexplained');
  });

  it('is no progress until the deadline, unless something holds it', () => {
    const input = { policy: policy({ progressDeadlineMs: 10 * MINUTE_MS }), nodes: [EMPTIED] };
    const { wellSinceMs: _since, ...step } = record().step;
    const breach = found(input, { step });
    assert.equal(breach?.cause, 'ProgressDeadlineExceeded');
    assert.match(breach.message, /for 10 min; 1 node/);
    assert.deepEqual(breach.nodes, ['n1']);
    assert.equal(found(input), undefined, 'a soak is progress');
    assert.equal(
      found(input, { step: { ...step, progressedAtMs: step.progressedAtMs + 1 } }),
      undefined,
    );
    assert.equal(found(input, { step: { ...step, kind: 'waiting' } }), undefined);
    assert.equal(found(input, { step: { ...step, isHeld: true } }), undefined);
    const paused = { ...input, policy: { ...input.policy, isPaused: true } };
    assert.equal(found(paused, { step }), undefined);
    assert.equal(found({ nodes: [EMPTIED] }, { step }), undefined);
  });

  it('is what its pods show, counted from what they had gone through before', () => {
    const trouble = { restarts: 2, lastExit: { reason: 'Error', exitCode: 1 }, container: 'main' };
    const node = stageNode('n1', { is: 'well', pod: { trouble } });
    const full = Array.from({ length: 64 }, (_, index) => {
      return { uid: uid(`other-${String(index)}`), restarts: 1 };
    });
    assert.equal(found({ nodes: [node] }, { baselines: full }), undefined, 'it was made before');
    const known = { uid: node.updated?.uid ?? node.node.uid, restarts: 2 };
    assert.equal(found({ nodes: [node] }, { baselines: [known] }), undefined);
    assert.equal(found({ nodes: [node] })?.cause, 'Restarts', 'it had none when it began');
    const made = { trouble, createdAtMs: NOW_MS - MINUTE_MS };
    const fresh = stageNode('n1', { is: 'well', pod: made });
    assert.equal(found({ nodes: [fresh] })?.cause, 'Restarts');
    const baselines = [{ uid: fresh.updated?.uid ?? node.node.uid, restarts: 1 }];
    assert.equal(found({ nodes: [fresh] }, { baselines }), undefined);
    const peer = stageNode('n2', { pod: made });
    assert.equal(found({ nodes: [fresh, peer] }), undefined, 'an old pod shows the same');
    assert.equal(found({ nodes: [fresh] }, overruled('Restarts', 'n1')), undefined);
  });
});

describe('a pod that comes up', () => {
  const pulls = (agoMs: number): Partial<StagesInput> => {
    const trouble = { waiting: 'ImagePullBackOff', container: 'main' };
    const createdAtMs = NOW_MS - agoMs;
    const pod = { trouble, phase: 'Pending', createdAtMs, readyChangedAtMs: createdAtMs } as const;
    return { nodes: [stageNode('n1', { is: 'unwell', pod })] };
  };

  it('is looked at again when it is too late, since no event tells', () => {
    const young = stagesInput(pulls(10_000));
    const [again] = judgingMoments(lookAt(record(), young));
    assert.equal(again, NOW_MS + 20_000);
    assert.equal(findStagesBreach(lookAt(record(), young)), undefined);
    assert.equal(
      findStagesBreach(lookAt(record(), { ...young, nowMs: again }))?.cause,
      'StartFailure',
    );
    assert.deepEqual(judgingMoments(lookAt(record(), { ...young, nowMs: again })), []);
  });

  it('is not looked at while nothing is judged', () => {
    const young = stagesInput(pulls(10_000));
    const { step } = record();
    const breach = { cause: 'Restarts', atMs: 1, message: '', nodes: [] } as const;
    assert.deepEqual(judgingMoments(lookAt(record({ breach }), young)), []);
    assert.deepEqual(
      judgingMoments(lookAt(record({ isReturn: true, returnedAtMs: 1 }), young)),
      [],
    );
    assert.notDeepEqual(judgingMoments(lookAt(record({ isReturn: true }), young)), []);
    for (const kind of ['waiting', 'done'] as const) {
      assert.deepEqual(judgingMoments(lookAt(record({ step: { ...step, kind } }), young)), []);
    }
  });
});
