/**
 * Nodes on which the former revision's pod found no place: a taken host port, a full node, a Fargate node. The new pod finds none there
 * either, and that says nothing of it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, type NodeName } from '../../../../src/core/model/identifiers.ts';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';

const MINUTE_MS = 60_000;
const TAKEN = nodeName('n000');
const MODES = ['copilot', 'takeover'] as const;

function world(
  options: Parameters<typeof policy>[0] = {},
  { mode = 'takeover', count = 8 }: { mode?: 'copilot' | 'takeover'; count?: number } = {},
): StagedWorld {
  const made = new StagedWorld({
    nodes: Array.from({ length: count }, (_each, index) =>
      node(`n${String(index).padStart(3, '0')}`),
    ),
    policy: policy({ soakMs: 5 * MINUTE_MS, ...options }),
    mode,
  });
  made.behaviours.set('aaaa', { hasNoPlace: (name: NodeName) => name === TAKEN });
  made.tick(MINUTE_MS);
  return made;
}

const isTaken = { hasNoPlace: (name: NodeName): boolean => name === TAKEN };

describe('a node whose pod had no place under the former revision', () => {
  for (const mode of MODES) {
    it(`is no canary, no breach, and uses no budget (${mode})`, () => {
      const made = world({}, { mode });
      made.hash = 'bbbb';
      made.behaviours.set('bbbb', isTaken);
      made.tick(1000);
      assert.ok(!made.record?.canary.includes(TAKEN), String(made.record?.canary));
      assert.ok(
        made.until(() => made.record?.step.kind === 'done'),
        'it is rolled out',
      );
      assert.equal(made.count('bbbb'), 8);
      made.until(() => false, { maxMs: 20 * MINUTE_MS });
      assert.equal(made.record?.breach, undefined);
      assert.equal(made.record?.proven?.hash, 'bbbb');
      const gate = made.plan?.stages?.gate;
      assert.ok(gate?.kind === 'done' && gate.placelessNodes === 1 && gate.unwellNodes === 0);
    });
  }

  it('stays one over an edit, while its pod of the release before is young', () => {
    const made = world();
    for (const hash of ['bbbb', 'cccc', 'dddd']) made.behaviours.set(hash, isTaken);
    made.hash = 'bbbb';
    assert.ok(made.until(() => made.record?.step.kind === 'done'));
    made.hash = 'cccc';
    made.tick(1000);
    assert.ok(!made.record?.canary.includes(TAKEN));
    assert.ok(made.until(() => made.record?.step.kind === 'done'));
    assert.equal(made.record?.breach, undefined);
  });

  it('is as all others once its pod has a place', () => {
    const made = world();
    made.hash = 'bbbb';
    made.tick(1000);
    assert.deepEqual(made.record?.placeless, [TAKEN]);
    assert.ok(made.until(() => made.record?.step.kind === 'done'));
    made.tick(MINUTE_MS);
    assert.equal(made.record?.placeless, undefined);
    const gate = made.plan?.stages?.gate;
    assert.ok(gate?.kind === 'done' && gate.placelessNodes === undefined);
  });

  it('is the canary as before where the release before was halted for it', () => {
    const made = world({}, { count: 4 });
    made.behaviours.set('aaaa', {});
    made.tick(MINUTE_MS);
    made.hash = 'bbbb';
    made.behaviours.set('bbbb', { hasNoPlace: () => true });
    assert.ok(made.until(() => made.record?.breach?.cause === 'StartFailure'));
    const [halted] = made.record?.canary ?? [];
    made.hash = 'cccc';
    made.tick(1000);
    assert.ok(halted !== undefined && made.record?.canary.includes(halted));
  });

  it('is one of two at most: where more have no place, the rest are judged', () => {
    const made = world();
    const hasNoPlace = (): boolean => true;
    made.behaviours.set('aaaa', { hasNoPlace });
    made.tick(6 * MINUTE_MS);
    made.hash = 'bbbb';
    made.behaviours.set('bbbb', { hasNoPlace });
    assert.ok(made.until(() => made.record?.breach !== undefined));
    assert.equal(made.record?.placeless?.length, 2);
  });

  it('is left as it is where it is the only one', () => {
    const made = world({}, { count: 1 });
    made.hash = 'bbbb';
    made.tick(1000);
    assert.equal(made.record?.placeless, undefined);
    assert.deepEqual(made.record?.canary, [TAKEN]);
  });
});

describe('a node that the policy leaves out', () => {
  it('uses no budget, though it has no pod that serves', () => {
    const exclude = {
      matchExpressions: [
        { key: 'kubernetes.io/hostname', operator: 'In' as const, values: ['n001'] },
      ],
    };
    const made = world({ exclude });
    const found = made.nodes.get(nodeName('n001'));
    made.setNode(nodeName('n001'), {
      labels: { ...found?.labels, 'kubernetes.io/hostname': 'n001' },
    });
    const ready = (): { isReady: boolean; sinceMs: number } => ({ isReady: false, sinceMs: 0 });
    made.behaviours.set('aaaa', {});
    made.tick(MINUTE_MS);
    for (const each of made.pods.values()) {
      if (each.targetNode === 'n001')
        made.pods.set(each.name, {
          ...each,
          labels: { ...each.labels, 'controller-revision-hash': 'older' },
        });
    }
    made.behaviours.set('older', { ready });
    made.tick(1000);
    made.hash = 'bbbb';
    assert.ok(made.until(() => made.count('bbbb') === 7, { maxMs: 3 * 3_600_000 }));
    assert.equal(made.record?.breach, undefined);
  });
});
