/**
 * Canaries of which nodes die after their update: what they had shown counts no more, one node goes in the place of one, and the soak
 * begins anew (rollouts facts 4). On a control plane that taints such nodes, and for daemons that tolerate it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, type NodeName } from '../../../../src/core/model/identifiers.ts';
import type { NodeProjection } from '../../../../src/core/model/projections.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';
import { describeGate } from '../../../../src/core/rollout/gate-words.ts';
import { describeStep, subjectOf } from '../../../../src/core/rollout/describe-record.ts';
import { standingOf, withReplacements } from '../../../../src/core/stages/replace-canaries.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { applyOrder } from '../../../../src/core/stages/apply-order.ts';
import { NOW_MS, node } from '../../../support/core-fixtures.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { stageNode } from '../../../support/stage-nodes.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';

const MINUTE_MS = 60_000;
const ZONE = 'topology.kubernetes.io/zone';
const TAINTED: Partial<NodeProjection> = {
  isReady: false,
  taints: [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' as const },
    { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' as const },
  ],
};
/** What becomes known of a node that dies: with the control plane's taints, and where the daemon tolerates them all. */
const LOST: Readonly<Record<string, Partial<NodeProjection>>> = {
  'is tainted': TAINTED,
  'keeps its place': { isReady: false },
};
const BACK = { isReady: true, taints: [] };

interface Options {
  readonly count?: number;
  readonly zones?: number;
  readonly policy?: Partial<RolloutPolicy>;
  readonly mode?: 'copilot' | 'takeover';
}

function canaryOf(count: number): RolloutPolicy['canary'] {
  return { kind: 'share', share: { kind: 'count', count }, spread: [] };
}

/** A canary of three of 24 nodes in three zones that is updated, a minute old, and soaks for ten. */
function start(options: Options = {}): StagedWorld {
  const { count = 24, zones = 3, mode = 'takeover' } = options;
  const nodes = Array.from({ length: count }, (_, index) =>
    node(nodeName(`n${String(index)}`), {
      labels: { [ZONE]: `zone-${String(index % zones)}`, pool: index < 3 ? 'canary' : 'others' },
    }),
  );
  const world = new StagedWorld({
    nodes,
    mode,
    policy: policy({
      maxUnavailable: { kind: 'count', count: 4 },
      canary: canaryOf(3),
      soakMs: 10 * MINUTE_MS,
      ...options.policy,
    }),
  });
  world.hash = 'bbbb';
  const wanted = Math.min(count, world.policy.canary.kind === 'share' ? sizeOf(world) : 3);
  assert.ok(world.until(() => world.count('bbbb') === wanted));
  world.tick(MINUTE_MS);
  return world;
}

function sizeOf({ policy: { canary } }: StagedWorld): number {
  return canary.kind === 'share' && canary.share.kind === 'count' ? canary.share.count : 0;
}

function canaries(world: StagedWorld): readonly NodeName[] {
  return world.record?.canary ?? [];
}

function lose(world: StagedWorld, names: readonly (NodeName | undefined)[], how = TAINTED): void {
  for (const name of names) if (name !== undefined) world.setNode(name, how);
  world.tick(1_000);
}

function gateOf(world: StagedWorld): string | undefined {
  return world.plan?.stages?.gate.kind;
}

function told(world: StagedWorld): readonly string[] {
  return world.events.filter((event) => event.startsWith('RolloutCanaryLost'));
}

for (const mode of ['copilot', 'takeover'] as const) {
  for (const [title, lost] of Object.entries(LOST)) {
    describe(`a canary of three in ${mode} of which a node that ${title} dies`, () => {
      it('is held at once, has one more node after a minute, and soaks anew with it before it goes on', () => {
        const world = start({ mode });
        const [first] = canaries(world);
        lose(world, [first], lost);
        assert.equal(gateOf(world), 'lost');
        assert.equal(world.count('bbbb'), 3);
        const lostAtMs = world.nowMs;
        assert.ok(world.until(() => world.count('bbbb') === 4, { stepMs: 5_000 }));
        assert.ok(world.nowMs - lostAtMs >= MINUTE_MS, 'a kubelet may only have restarted');
        assert.equal(canaries(world).length, 4);
        const added = canaries(world).at(-1);
        assert.notEqual(
          world.nodes.get(added ?? nodeName(''))?.labels[ZONE],
          world.nodes.get(first ?? nodeName(''))?.labels[ZONE],
          'in another zone',
        );
        world.until(() => gateOf(world) === 'soaking', { stepMs: 5_000 });
        const soaksFromMs = world.nowMs;
        assert.equal(world.record?.step.wellSinceMs, soaksFromMs);
        assert.ok(world.until(() => world.record?.step.kind === 'group', { stepMs: 5_000 }));
        assert.ok(world.nowMs - soaksFromMs >= 10 * MINUTE_MS, 'the whole soak, anew');
        assert.equal(world.record?.proven?.hash, 'bbbb');
        assert.equal(world.record.breach, undefined);
      });
    });
  }
}

describe('S16: a canary that loses a node', () => {
  it('says so in an Event, in its step and in its gate', () => {
    const world = start();
    const [first = nodeName('')] = canaries(world);
    lose(world, [first]);
    assert.match(told(world)[0] ?? '', new RegExp(`held on its canary: ${first} is not Ready and`));
    const { record, plan } = world;
    assert.ok(record !== undefined && plan?.stages !== undefined);
    assert.match(describeStep(record), new RegExp(`^canary of 3 nodes \\(${first} is not Ready`));
    assert.match(
      describeGate(plan.stages.gate, subjectOf(record)),
      /^held, as 1 canary node went NotReady: another node goes in its place at 20/,
    );
    world.until(() => world.count('bbbb') === 4, { stepMs: 5_000 });
    assert.equal(told(world).length, 2);
    const added = canaries(world).at(-1) ?? '';
    assert.match(told(world)[1] ?? '', new RegExp(`; ${added} goes in its place$`));
    world.until(() => world.record?.step.kind === 'group');
    assert.equal(told(world).length, 2, 'no more than that');
  });

  it('goes to another zone, wherever the first one was', () => {
    for (const at of [0, 1, 2]) {
      const world = start();
      const gone = canaries(world)[at] ?? nodeName('');
      lose(world, [gone]);
      world.until(() => world.count('bbbb') === 4, { stepMs: 5_000 });
      const added = canaries(world).at(-1) ?? nodeName('');
      const zoneOf = (name: NodeName) => world.nodes.get(name)?.labels[ZONE];
      assert.notEqual(zoneOf(added), zoneOf(gone));
    }
  });

  it('asks for a run when it is to be replaced: nothing else would wake it', () => {
    const world = start();
    lose(world, canaries(world).slice(0, 1));
    assert.equal(world.plan?.dueAtMs, world.nowMs + MINUTE_MS);
  });

  it('waits for one that is back within the minute, adds nobody, and soaks anew', () => {
    const world = start();
    const [first = nodeName('')] = canaries(world);
    lose(world, [first]);
    world.tick(30_000);
    world.setNode(first, BACK);
    world.tick(1_000);
    const backAtMs = world.nowMs;
    assert.ok(world.until(() => world.record?.step.kind === 'group', { stepMs: 5_000 }));
    assert.ok(world.nowMs - backAtMs >= 10 * MINUTE_MS);
    assert.equal(canaries(world).length, 3);
  });

  it('adds one for one: of a second loss that no control tells of it waits, and goes on once that one is back', () => {
    // Each node is a zone of its own: nothing to compare with.
    const world = start({ zones: 24 });
    const [first, second = nodeName('')] = canaries(world);
    lose(world, [first]);
    world.until(() => world.count('bbbb') === 4, { stepMs: 5_000 });
    world.tick(5 * MINUTE_MS);
    lose(world, [second]);
    world.until(() => false, { maxMs: 60 * MINUTE_MS });
    assert.equal(world.count('bbbb'), 4);
    assert.equal(world.record?.step.kind, 'canary');
    assert.equal(gateOf(world), 'lost');
    assert.match(told(world).at(-1) ?? '', /no other node can go in its place, so mend it/);
    world.setNode(second, BACK);
    assert.ok(world.until(() => world.record?.step.kind === 'group', { maxMs: 11 * MINUTE_MS }));
  });

  it('begins its soak anew for a node that is lost while another stands for one that came back', () => {
    const world = start({ zones: 24 });
    const [first = nodeName(''), second] = canaries(world);
    lose(world, [first]);
    world.until(() => world.count('bbbb') === 4, { stepMs: 5_000 });
    world.setNode(first, BACK);
    world.until(() => gateOf(world) === 'soaking', { stepMs: 5_000 });
    world.tick(8 * MINUTE_MS);
    lose(world, [second]);
    assert.equal(gateOf(world), 'soaking', 'three are left, as many as the policy wants');
    assert.equal(world.record?.step.wellSinceMs, world.nowMs);
  });

  it('halts when the added node dies as well, and names both', () => {
    const world = start({ zones: 24 });
    const [first = ''] = canaries(world);
    lose(world, [nodeName(first)]);
    world.until(() => world.count('bbbb') === 4, { stepMs: 5_000 });
    const added = canaries(world).at(-1) ?? nodeName('');
    lose(world, [added]);
    assert.ok(world.until(() => world.record?.breach !== undefined, { maxMs: 2 * MINUTE_MS }));
    const { breach } = world.record ?? {};
    assert.equal(breach?.cause, 'NodesFailed');
    assert.deepEqual([...breach.nodes].sort(), [first, added].sort());
    assert.match(breach.message, /and so did what went in their place \(E = \d+\)/);
    world.until(() => false, { maxMs: 60 * MINUTE_MS });
    assert.equal(world.count('bbbb'), 4, 'no other node is given it');
  });

  it('that was overruled halts no more for them, and others go in their place', () => {
    const world = start({ zones: 24 });
    lose(world, canaries(world).slice(0, 1));
    world.until(() => world.count('bbbb') === 4, { stepMs: 5_000 });
    lose(world, canaries(world).slice(-1));
    world.until(() => world.record?.breach !== undefined, { maxMs: 2 * MINUTE_MS });
    const { record } = world;
    assert.ok(record?.breach !== undefined);
    const resume = { kind: 'resume', release: 'bbbb', breachAtMs: record.breach.atMs } as const;
    const resumed = applyOrder(record, resume, { by: 'me', atMs: world.nowMs });
    assert.equal(resumed.kind, 'changed');
    world.record = resumed.record;
    assert.ok(world.until(() => world.record?.step.kind === 'group', { maxMs: 30 * MINUTE_MS }));
    assert.equal(world.count('bbbb') >= 5, true);
    assert.equal(world.record.breach, undefined);
  });

  it('halts by E where controls tell, before anybody is added for the second one', () => {
    const world = start();
    const names = canaries(world);
    lose(world, names.slice(0, 1));
    lose(world, names.slice(1, 2));
    assert.equal(world.record?.breach?.cause, 'NodesFailed');
    assert.equal(world.count('bbbb'), 3);
  });
});

describe('a canary that dies with its zone', () => {
  it('has a node elsewhere in the place of each, and the rollout goes on', () => {
    const world = start({ count: 30, policy: { canary: pinned() } });
    assert.deepEqual([...canaries(world)].sort(), ['n0', 'n1', 'n2']);
    const zone = [...world.nodes.values()].filter(({ labels }) => labels[ZONE] === 'zone-0');
    lose(
      world,
      zone.map(({ name }) => name),
    );
    assert.equal(world.record?.breach, undefined);
    assert.equal(gateOf(world), 'lost');
    assert.match(told(world).at(-1) ?? '', /no other node can/, 'the selector names no other one');
    const [fresh = nodeName('')] = [...world.nodes.values()]
      .filter(({ labels }) => labels[ZONE] === 'zone-1' && labels['pool'] === 'others')
      .map(({ name }) => name);
    world.setNode(fresh, { labels: { [ZONE]: 'zone-1', pool: 'canary' } });
    assert.ok(world.until(() => world.record?.step.kind === 'group', { maxMs: 20 * MINUTE_MS }));
    assert.ok(canaries(world).includes(fresh), 'whoever labels one more lets it go on');
  });

  it('is replaced whole where all of it was in that zone', () => {
    const world = start({ count: 60, zones: 2, policy: { canary: canaryOf(4) } });
    const here = canaries(world).filter((name) => world.nodes.get(name)?.labels[ZONE] === 'zone-0');
    assert.equal(here.length, 2);
    const zone = [...world.nodes.values()].filter(({ labels }) => labels[ZONE] === 'zone-0');
    lose(
      world,
      zone.map(({ name }) => name),
    );
    assert.ok(world.until(() => world.record?.step.kind === 'group', { maxMs: 30 * MINUTE_MS }));
    assert.equal(world.record?.breach, undefined);
    assert.equal(canaries(world).length, 6);
    const added = canaries(world).slice(4);
    assert.ok(added.every((name) => world.nodes.get(name)?.labels[ZONE] === 'zone-1'));
  });

  it('takes peers that are told half a minute later for its like', () => {
    const world = start({ count: 60, zones: 2, policy: { canary: canaryOf(4) } });
    const zone = [...world.nodes.values()].filter(({ labels }) => labels[ZONE] === 'zone-0');
    const here = canaries(world).filter((name) => zone.some((each) => each.name === name));
    lose(world, here);
    world.tick(30_000);
    lose(
      world,
      zone.map(({ name }) => name),
    );
    assert.ok(world.until(() => world.record?.step.kind === 'group', { maxMs: 30 * MINUTE_MS }));
    assert.equal(canaries(world).length, 6);
  });
});

describe('a canary of which a node dies where no other one can be added', () => {
  const small = (options: Partial<RolloutPolicy> = {}): StagedWorld =>
    start({ count: 3, policy: { canary: canaryOf(3), ...options } });

  it('waits, says so, and goes on when the node is back, or is deleted', () => {
    for (const how of ['back', 'deleted'] as const) {
      const world = small();
      const [first = nodeName('')] = canaries(world);
      lose(world, [first]);
      world.until(() => false, { maxMs: 60 * MINUTE_MS });
      assert.equal(gateOf(world), 'lost');
      assert.equal(world.record?.step.kind, 'canary');
      assert.match(told(world).at(-1) ?? '', /no other node can go in its place/);
      if (how === 'back') world.setNode(first, BACK);
      else world.nodes.delete(first);
      assert.ok(world.until(() => world.record?.step.kind === 'done', { maxMs: 12 * MINUTE_MS }));
    }
  });

  it('is halted by its progressDeadline, which names it', () => {
    const world = small({ progressDeadlineMs: 30 * MINUTE_MS });
    const [first = ''] = canaries(world);
    lose(world, [nodeName(first)]);
    assert.ok(world.until(() => world.record?.breach !== undefined, { maxMs: 31 * MINUTE_MS }));
    assert.equal(world.record?.breach?.cause, 'ProgressDeadlineExceeded');
    assert.match(world.record.breach.message, new RegExp(`of the canary ${first} is not Ready`));
  });

  it('goes on with those that are left under an attributed budget, and with none of them never', () => {
    const world = small({ budget: 'attributed' });
    const names = canaries(world);
    lose(world, names.slice(0, 1));
    assert.ok(world.until(() => world.record?.step.kind === 'done', { maxMs: 20 * MINUTE_MS }));
    const one = start({ count: 1, policy: { canary: canaryOf(1), budget: 'attributed' } });
    lose(one, canaries(one));
    one.until(() => false, { maxMs: 60 * MINUTE_MS });
    assert.equal(one.record?.step.kind, 'canary');
  });

  it('is not replaced beyond the partition', () => {
    const world = start({ policy: { partition: { kind: 'count', count: 21 } } });
    lose(world, canaries(world).slice(0, 1));
    world.until(() => false, { maxMs: 60 * MINUTE_MS });
    assert.equal(world.count('bbbb'), 3);
    assert.equal(gateOf(world), 'lost');
    assert.notEqual(world.record?.proven?.hash, 'bbbb');
  });
});

it('a canary that was lost after its soak, while it waits for approval, has to soak anew, and its deadline counts from then', () => {
  const world = start({
    policy: { approval: 'after-canary', progressDeadlineMs: 60 * MINUTE_MS },
  });
  assert.ok(world.until(() => gateOf(world) === 'approval'));
  assert.notEqual(world.record?.step.soakedAtMs, undefined);
  world.until(() => false, { maxMs: 120 * MINUTE_MS });
  lose(world, canaries(world).slice(0, 1));
  assert.equal(world.record?.step.soakedAtMs, undefined, 'a fleet is told that it has not soaked');
  assert.equal(gateOf(world), 'lost');
  world.tick(5_000);
  assert.equal(world.record?.breach, undefined, 'an approval is no lack of progress');
  assert.ok(world.until(() => gateOf(world) === 'approval', { maxMs: 20 * MINUTE_MS }));
  assert.equal(world.record?.step.soakedAtMs, world.nowMs);
  assert.ok(world.nowMs > NOW_MS);
});

/** Canaries by a label. */
function pinned(): RolloutPolicy['canary'] {
  return { kind: 'selector', selector: { matchLabels: { pool: 'canary' } } };
}

describe('a canary that was made wider for a node that a halted revision left broken', () => {
  const lost = nodeName('left');
  const losses = [{ node: lost, atMs: NOW_MS - 10 * MINUTE_MS }];
  const dead = stageNode(lost, { is: 'well', isReady: false });
  const look = (canary: readonly string[], nodes: readonly StageNode[]): readonly unknown[] => {
    const input = stagesInput({ nodes: [...nodes, stageNode('free'), stageNode('other')] });
    const of = record({ canary: canary.map(nodeName), losses });
    return [withReplacements(of, input).canary.length, standingOf(of, input).missing];
  };

  it('needs nobody in its place where it dies, while it is as wide as the policy says without it', () => {
    assert.deepEqual(
      look(['left', 'n1'], [dead, stageNode('n1')]),
      [2, 1],
      'and waits for the turn of the other',
    );
    assert.deepEqual(look(['left', 'n1'], [dead, stageNode('n1', { is: 'well' })]), [2, 0]);
    assert.deepEqual(look(['left'], [dead]), [2, 1]);
  });

  it('has another one in its place where those that are left wait, since they serve again', () => {
    const healed = ['h1', 'h2'].map((name) => stageNode(name));
    const refused = [{ id: 'aaaa', hash: 'aaaa', cause: 'Restarts', atMs: 5 } as const];
    const of = record({ canary: ['h1', 'h2', 'left'].map(nodeName), losses, refused });
    const made = withReplacements(of, stagesInput({ nodes: [...healed, dead, stageNode('free')] }));
    assert.deepEqual(made.canary.at(-1), nodeName('free'));
  });
});
