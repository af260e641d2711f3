/**
 * How a staged rollout begins: what is proven, who is the canary, what is held.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRelease } from '../../../../src/core/model/rollout-record.ts';
import { recordFor } from '../../../../src/core/stages/start-record.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { policy } from '../../../support/staged-world.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { NEW_HASH, OLD_HASH, stageNode } from '../../../support/stage-nodes.ts';

const OLD = ['n1', 'n2', 'n3', 'n4'].map((name) => stageNode(name));
const share = (count: number) =>
  ({ kind: 'share', share: { kind: 'count', count }, spread: [] }) as const;

function release(hash: string, other: Partial<ClusterRelease> = {}): ClusterRelease {
  return { id: hash, hash, goodAtMs: 1, isBaseline: false, ...other };
}

describe('a record', () => {
  it('goes on as long as the revision is the same', () => {
    const before = record();
    assert.equal(recordFor(stagesInput({ record: before, nodes: OLD })), before);
  });

  it('knows what its template asks for, and what that of the good revision asked', () => {
    const small = { requests: { cpu: 1 }, hostPorts: [] };
    const large = { requests: { cpu: 2 }, hostPorts: [] };
    const known = record({ hash: OLD_HASH, demand: small });
    const made = recordFor(stagesInput({ record: known, nodes: OLD, demand: large }));
    assert.deepEqual(made.demand, large);
    assert.deepEqual(made.formerDemand, small);
    const halted = { ...made, hash: 'cccc' };
    const fixed = recordFor(stagesInput({ record: halted, nodes: OLD, demand: small }));
    assert.deepEqual(fixed.formerDemand, small, 'of what is proven, not of what was halted');
    const unknown = recordFor(
      stagesInput({ record: { ...halted, good: [release('dddd')] }, nodes: OLD, demand: small }),
    );
    assert.equal(unknown.formerDemand, undefined);
  });

  it('remembers what was edited away half-way, until it comes again or is proven', () => {
    const begin = (before: ReturnType<typeof record>) =>
      recordFor(stagesInput({ record: before, nodes: OLD })).abandoned;
    const canary = { ...record().step, kind: 'canary' } as const;
    const half = record({ hash: 'cccc', step: canary, abandoned: ['dddd', NEW_HASH, OLD_HASH] });
    assert.deepEqual(begin(half), ['cccc', 'dddd']);
    assert.deepEqual(begin({ ...half, step: { ...canary, kind: 'waiting' } }), ['dddd']);
    const breach = { cause: 'Restarts', atMs: NOW_MS, message: '', nodes: [] } as const;
    assert.deepEqual(begin({ ...half, breach }), ['dddd'], 'it is refused');
    const proven = { hash: 'cccc', provenAtMs: NOW_MS, isBaseline: false };
    assert.deepEqual(begin({ ...half, proven }), ['dddd', OLD_HASH]);
    const many = Array.from({ length: 9 }, (_, index) => `e${index}`);
    assert.deepEqual(begin({ ...half, abandoned: many }), ['cccc', ...many.slice(0, 7)]);
    assert.equal(begin(record({ hash: 'cccc', step: canary, proven })), undefined);
  });

  it('keeps how long requests took before it', () => {
    const answers = { 'get pods': [[NOW_MS, 5]] } as const;
    const made = recordFor(stagesInput({ record: record({ hash: 'cccc', answers }), nodes: OLD }));
    assert.deepEqual(made.answers, answers);
    assert.equal(made.triedAtMs, undefined);
  });

  it('takes what runs first for the baseline, where nothing ran: nobody goes back to what never ran', () => {
    const empty = ['n1', 'n2'].map((name) => stageNode(name, { is: 'empty' }));
    const first = recordFor(stagesInput({ nodes: empty }));
    assert.deepEqual([first.step.kind, first.proven], ['done', undefined]);
    const edited = { record: first, hash: 'cccc' };
    const second = recordFor(stagesInput({ ...edited, nodes: empty }));
    assert.deepEqual(
      [second.proven, second.former, second.abandoned],
      [undefined, undefined, undefined],
    );
    const running = ['n1', 'n2'].map((name) => stageNode(name, { is: 'unwell' }));
    const pending = recordFor(stagesInput({ ...edited, record: second, nodes: running }));
    assert.equal(pending.proven, undefined, 'no pod is available');
    const serving = ['n1', 'n2'].map((name) => stageNode(name, { is: 'well' }));
    const seen = recordFor(stagesInput({ ...edited, record: second, nodes: serving }));
    assert.deepEqual(seen.proven, { hash: 'cccc', provenAtMs: NOW_MS, isBaseline: true });
    const between = recordFor(stagesInput({ ...edited, nodes: OLD }));
    assert.equal(between.proven?.hash, OLD_HASH, 'pods that nobody had seen yet');
    assert.equal(between.abandoned, undefined);
  });

  it('takes what all nodes run for the baseline', () => {
    const nodes = ['n1', 'n2'].map((name) => stageNode(name, { is: 'well' }));
    const made = recordFor(stagesInput({ nodes }));
    assert.deepEqual(made.proven, { hash: NEW_HASH, provenAtMs: NOW_MS, isBaseline: true });
    assert.equal(made.former, undefined);
    assert.equal(made.step.kind, 'done');
    assert.equal(made.step.index, 0);
    assert.deepEqual(made.canary, []);
    assert.equal(made.isReturn, false);
  });

  it('takes what most Ready old pods run for the baseline, by name where two are as many', () => {
    const hashed = (name: string, hash: string, isReady = true) =>
      stageNode(name, {
        pod: { labels: { app: 'agent', 'controller-revision-hash': hash }, isReady },
      });
    const nodes = [
      hashed('n1', 'cccc'),
      hashed('n2', 'dddd', false),
      hashed('n3', 'dddd', false),
      hashed('n4', 'aaaa'),
    ];
    const made = recordFor(stagesInput({ nodes }));
    assert.equal(made.proven?.hash, 'aaaa');
    assert.equal(made.former?.hash, 'aaaa');
    const more = recordFor(stagesInput({ nodes: [...nodes, hashed('n5', 'cccc')] }));
    assert.equal(more.proven?.hash, 'cccc');
    const unready = nodes.map(({ node }) => hashed(node.name, 'dddd', false));
    assert.equal(recordFor(stagesInput({ nodes: unready })).proven, undefined);
  });

  it('waits with its canary chosen, and percentages of the nodes that are there', () => {
    const made = recordFor(
      stagesInput({ nodes: OLD, policy: policy({ canary: share(2) }), record: undefined }),
    );
    assert.equal(made.step.kind, 'waiting');
    assert.equal(made.step.index, -1);
    assert.equal(made.canary.length, 2);
    assert.equal(made.baseNodes, 4);
    const percent = { kind: 'percent', percent: 26 } as const;
    const canary = { kind: 'share', share: percent, spread: [] } as const;
    assert.equal(
      recordFor(stagesInput({ nodes: OLD, policy: policy({ canary }) })).canary.length,
      2,
    );
    assert.equal(
      recordFor(stagesInput({ nodes: OLD, policy: policy({ canary: share(0) }) })).canary.length,
      0,
    );
  });

  it('takes canaries by a selector, and never an excluded node', () => {
    const nodes = [
      stageNode('n1', { labels: { pool: 'canary' } }),
      stageNode('n2', { labels: { pool: 'canary' }, isExcluded: true }),
      stageNode('n3'),
    ];
    const canary = { kind: 'selector', selector: { matchLabels: { pool: 'canary' } } } as const;
    const made = recordFor(stagesInput({ nodes, policy: policy({ canary }) }));
    assert.deepEqual(made.canary, [nodeName('n1')]);
    const all = recordFor(stagesInput({ nodes, policy: policy({ canary: share(9) }) }));
    assert.deepEqual(all.canary, ['n1', 'n3'].map(nodeName));
  });

  it('needs no canary for a return to a good release, and leaves nothing that a node is given', () => {
    const good = [release('cccc'), release(NEW_HASH, { leftAtMs: NOW_MS - 1 })];
    const made = recordFor(stagesInput({ record: record({ hash: 'cccc', good }), nodes: OLD }));
    assert.equal(made.isReturn, true);
    assert.equal(made.step.kind, 'done');
    assert.deepEqual(made.canary, []);
    assert.equal(made.former, undefined);
    assert.deepEqual(made.good, [good[1]], 'what it left is good no more');
  });

  it('keeps all gates of a return where the policy says so, and gives no node what it left', () => {
    const good = [release('cccc'), release(NEW_HASH, { leftAtMs: NOW_MS - 1 })];
    const returns = policy({ returns: 'staged' });
    const before = record({ hash: 'cccc', good });
    const made = recordFor(stagesInput({ record: before, nodes: OLD, policy: returns }));
    assert.deepEqual([made.isReturn, made.step.kind, made.former], [false, 'waiting', undefined]);
    const undo = { by: 'ann', atMs: NOW_MS, to: NEW_HASH };
    const asked = { ...before, orders: { undo } };
    const sent = recordFor(stagesInput({ record: asked, nodes: OLD, policy: returns }));
    assert.equal(sent.isReturn, true, 'an undo asked for it by name');
  });

  it('rolls an older good release out like a new one, and knows why', () => {
    const old = record().startedAtMs - 14 * 86_400_000;
    const good = [release('cccc'), release(NEW_HASH, { leftAtMs: old })];
    const made = recordFor(stagesInput({ record: record({ hash: 'cccc', good }), nodes: OLD }));
    assert.deepEqual([made.isReturn, made.older, made.good], [false, 'too-old', []]);
    assert.equal(made.former, undefined, 'nobody is given what was left for it');
  });

  it('goes on with a release that was left half-way after its canary, at the step where it was', () => {
    const step = { ...record().step, kind: 'group', name: 'b', index: 2 } as const;
    const proven = { hash: NEW_HASH, provenAtMs: 1, isBaseline: false };
    const orders = { approved: { by: 'ann', atMs: 1, stepIndex: 2 } };
    const half = record({ step, proven, orders });
    const other = recordFor(stagesInput({ record: half, hash: 'cccc', nodes: OLD }));
    assert.deepEqual([other.former?.hash, other.proven?.hash], [OLD_HASH, OLD_HASH]);
    const again = recordFor(stagesInput({ record: other, nodes: OLD }));
    assert.deepEqual([again.step.kind, again.step.name, again.step.index], ['group', 'b', 2]);
    assert.deepEqual([again.step.wellSinceMs, again.orders], [undefined, {}], 'soaked anew');
    assert.deepEqual([again.isReturn, again.proven?.hash], [false, NEW_HASH]);
    const back = recordFor(stagesInput({ record: other, hash: OLD_HASH, nodes: OLD }));
    const anew = recordFor(stagesInput({ record: back, nodes: OLD }));
    assert.equal(anew.step.kind, 'waiting', 'it was left for an older good one');
  });

  it('knows a good release by what its template means, and by its revision', () => {
    const good = [release('cccc'), { ...release('dddd', { leftAtMs: NOW_MS - 1 }), id: 'meaning' }];
    const before = record({ hash: 'cccc', good });
    const trimmed = recordFor(stagesInput({ record: before, id: 'meaning', nodes: OLD }));
    assert.deepEqual([trimmed.isReturn, trimmed.good[0]?.hash], [true, NEW_HASH]);
    const extended = recordFor(
      stagesInput({ record: before, hash: 'dddd', id: 'more', nodes: OLD }),
    );
    assert.deepEqual([extended.isReturn, extended.good[0]?.id], [true, 'more']);
  });

  it('remembers what was halted, and holds it when it comes again', () => {
    const breach = { cause: 'OOMKilled', atMs: 5, message: '', nodes: [] } as const;
    const older = Array.from({ length: 8 }, (_each, index) => ({
      id: `old-${String(index)}`,
      hash: `old-${String(index)}`,
      cause: 'Restarts' as const,
      atMs: index,
    }));
    const before = record({ hash: 'cccc', breach, refused: older });
    const made = recordFor(stagesInput({ record: before, nodes: OLD }));
    assert.equal(made.breach, undefined);
    assert.deepEqual(made.refused[0], { id: 'cccc', hash: 'cccc', cause: 'OOMKilled', atMs: 5 });
    assert.equal(made.refused.length, 8);
    const again = recordFor(stagesInput({ record: made, nodes: OLD, hash: 'cccc' }));
    assert.equal(again.breach?.cause, 'KnownBad');
    assert.match(again.breach.message, /cccc was halted before \(OOMKilled\)/);
    assert.equal(again.breach.atMs, NOW_MS);
    const third = recordFor(stagesInput({ record: again, nodes: OLD }));
    assert.equal(third.refused[0]?.cause, 'OOMKilled', 'the first cause stays');
    assert.equal(third.refused.filter(({ hash }) => hash === 'cccc').length, 1);
  });

  it('begins, of a halted revision that went far, with nodes whose pods serve nobody alone', () => {
    const of = (name: string, isReady: boolean): StageNode =>
      stageNode(name, {
        pod: { labels: { app: 'agent', 'controller-revision-hash': 'cccc' }, isReady },
      });
    const nodes = [...OLD, of('left1', true), of('left2', true), of('left3', false)];
    const breach = { cause: 'NodesFailed', atMs: 5, message: '', nodes: [] } as const;
    const before = record({ hash: 'cccc', breach });
    const begun = recordFor(
      stagesInput({ record: before, nodes, policy: policy({ canary: share(2) }) }),
    );
    assert.equal(begun.canary[0], 'left3');
    assert.ok(begun.canary.length <= 3, begun.canary.join());
  });

  it('begins with the nodes that a halted revision was left on', () => {
    const left = { labels: { app: 'agent', 'controller-revision-hash': 'cccc' } };
    const nodes = [
      ...OLD,
      stageNode('n5', { pod: left }),
      stageNode('n6', { pod: left, isReady: false }),
      stageNode('n7', { pod: left, isExcluded: true }),
    ];
    const breach = { cause: 'OOMKilled', atMs: 5, message: '', nodes: [] } as const;
    const before = record({ hash: 'cccc', breach });
    const one = policy({ canary: share(1) });
    const made = recordFor(stagesInput({ record: before, nodes, policy: one }));
    assert.deepEqual(made.canary, ['n5'].map(nodeName));
    const canary = { kind: 'selector', selector: { matchLabels: { pool: 'x' } } } as const;
    const selected = recordFor(stagesInput({ record: before, nodes, policy: policy({ canary }) }));
    assert.deepEqual(selected.canary, []);
  });

  it('is no wider for nodes that a halted revision was left on and that serve, whichever are chosen beside them', () => {
    const of = (name: string, isReady: boolean): StageNode =>
      stageNode(name, {
        pod: { labels: { app: 'agent', 'controller-revision-hash': 'cccc' }, isReady },
      });
    const breach = { cause: 'Restarts', atMs: 5, message: '', nodes: [] } as const;
    const before = record({ hash: 'cccc', breach });
    const two = policy({ canary: share(2) });
    const begin = (nodes: readonly StageNode[], rolloutId: string): readonly string[] =>
      recordFor(stagesInput({ record: before, nodes, policy: two, rolloutId })).canary;
    for (let seed = 0; seed < 20; seed += 1) {
      const serving = begin([...OLD, of('left1', true)], `r${String(seed)}`);
      assert.ok(serving.length === 2 && serving.includes('left1'), serving.join());
      const all = begin([...OLD, of('left1', true), of('left2', true)], `r${String(seed)}`);
      assert.deepEqual(all, ['left1', 'left2']);
      const broken = begin([...OLD, of('left1', true), of('left2', false)], `r${String(seed)}`);
      assert.ok(broken.length <= 3 && broken.includes('left1'), broken.join());
      assert.equal(broken[0], 'left2');
    }
  });

  it('keeps a pause over an edit, and no other order', () => {
    const note = { by: 'somebody', atMs: 1 };
    const orders = { paused: note, approved: { ...note, stepIndex: 3 } };
    const before = record({ hash: 'cccc', orders });
    assert.deepEqual(recordFor(stagesInput({ record: before, nodes: OLD })).orders, {
      paused: note,
    });
    assert.deepEqual(recordFor(stagesInput({ nodes: OLD })).orders, {});
  });

  it('starts from what pods of the revision had gone through before', () => {
    const trouble = { restarts: 3 };
    const nodes = [...OLD, stageNode('n5', { is: 'well', pod: { uid: uid('u5'), trouble } })];
    const made = recordFor(stagesInput({ nodes, record: record({ hash: 'cccc' }) }));
    assert.deepEqual(made.baselines, [{ uid: 'u5', restarts: 3 }]);
    assert.equal(made.restarts, 3);
    assert.equal(made.step.updatedNodes, 1);
    assert.equal(made.proven?.hash, OLD_HASH);
  });
});
