/**
 * The diagram of states in docs/rollouts.md: rollouts that are edited, ordered, ill, scaled and waited for at random go from state to
 * state as it says, and each arrow of it is gone.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { OpenStep, RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { RolloutPhase } from '../../../../src/core/rollout/gate-words.ts';
import { gateOf, phaseOf } from '../../../../src/core/rollout/recorded-gate.ts';
import { applyOrder } from '../../../../src/core/stages/apply-order.ts';
import { wayBackOf } from '../../../../src/core/rollout/good-releases.ts';
import { resumeOf, type RolloutOrder } from '../../../../src/core/rollout/orders.ts';
import { isRollingBack } from '../../../../src/core/stages/former.ts';
import { awaitedApproval } from '../../../../src/core/rollout/approval.ts';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';

/** The states of the page: which one a rollout is in, by its record and what it waits for. */
const STATE_OF_STEP: Readonly<Record<OpenStep['kind'], string>> = {
  waiting: 'Canary',
  canary: 'Canary',
  group: 'Steps',
  // All are open, and pods of the last one are not available yet.
  done: 'Steps',
};

/** The word of a phase; of one that goes on, the step that is open. */
const PHASES: Readonly<Record<Exclude<RolloutPhase, 'Stopped' | 'Frozen' | 'Invalid'>, string>> = {
  Progressing: '',
  Waiting: 'Waits',
  Paused: 'Paused',
  Halted: 'Halted',
  Returning: 'Returning',
  Returned: 'Returned',
  Done: 'Done',
};

/** Which one it is in. */
function stateOf(step: Pick<OpenStep, 'kind'>, phase: RolloutPhase): string {
  if (phase === 'Stopped' || phase === 'Frozen' || phase === 'Invalid')
    throw new Error(`${phase} keeps it as it was`);
  return PHASES[phase] === '' ? STATE_OF_STEP[step.kind] : PHASES[phase];
}

/** All of them. */
const STATES: readonly string[] = [
  ...new Set([
    ...Object.values(STATE_OF_STEP),
    ...Object.values(PHASES).filter((word) => word !== ''),
  ]),
].sort();

const PAGE = path.resolve(import.meta.dirname, '../../../../docs/rollouts.md');

/** The states that go on; one of them leads to what is outside, and is led to, as all do. */
const OPEN: ReadonlySet<string> = new Set(['Canary', 'Steps', 'Waits', 'Done']);

/** What the diagram calls that; `from` is `[*]` where a revision begins. */
function transitionOf(from: string, to: string): string {
  const isInside = OPEN.has(from) && OPEN.has(to);
  const outside = (state: string): string => (!isInside && OPEN.has(state) ? 'Open' : state);
  return `${outside(from)} --> ${outside(to)}`;
}

/** `from --> to` of the diagram, each with what leads there; and the states that it draws. */
function readDiagram(): {
  readonly transitions: ReadonlyMap<string, string>;
  readonly states: readonly string[];
} {
  const text = readFileSync(PAGE, 'utf8');
  const diagram = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const lines = [...diagram.matchAll(/^ *(\S+) --> (\w+): (.+)$/gm)];
  const states = lines.flatMap(([, from = '', to = '']) => [from, to]);
  return {
    transitions: new Map(lines.map(([, from, to, by = '']) => [`${from} --> ${to}`, by])),
    states: [...new Set(states)].filter((name) => name !== '[*]' && name !== 'Open').sort(),
  };
}

const SEEDS = 120;
const STEPS = 60;
const NODES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
const POOLS = ['a', 'b', 'c'];

interface Walk {
  readonly world: StagedWorld;
  readonly pick: <Item>(items: readonly Item[]) => Item;
}

/** What happens to a rollout, by its name. */
const DEEDS: Readonly<Record<string, (walk: Walk) => void>> = {
  time: ({ world, pick }) => {
    world.tick(pick([5_000, 30_000, 120_000, 600_000]));
  },
  'a template': ({ world, pick }) => {
    world.hash = pick(['aaaa', 'bbbb', 'cccc', 'bad1', 'bad2']);
  },
  pause: (walk) => {
    give(walk, () => ({ kind: 'pause' }));
  },
  resume: (walk) => {
    give(walk, ({ hash, breach, orders }) => resumeOf({ release: hash, breach, orders }));
  },
  approve: (walk) => {
    give(walk, (record) => {
      const stepIndex = awaitedApproval(record, walk.world.policy.approval);
      return stepIndex === undefined
        ? undefined
        : { kind: 'approve', release: record.hash, stepIndex };
    });
  },
  undo: (walk) => {
    give(walk, (record) => {
      const to = walk.world.isTakeover ? wayBackOf(record)?.hash : undefined;
      if (to === undefined) return undefined;
      const order = { kind: 'undo', release: record.hash, to } as const;
      return order;
    });
  },
  'a node': ({ world, pick }) => {
    const name = nodeName(pick(NODES));
    world.setNode(name, { isReady: world.nodes.get(name)?.isReady !== true });
  },
  'the policy': ({ world }) => {
    world.policy = { ...world.policy, isPaused: !world.policy.isPaused };
  },
};

function give({ world }: Walk, orderOf: (record: RolloutRecord) => RolloutOrder | undefined): void {
  const { record } = world;
  const order = record && orderOf(record);
  if (record === undefined || order === undefined) return;
  const result = applyOrder(record, order, { by: 'ann', atMs: world.nowMs });
  if (result.kind === 'changed') world.record = result.record;
}

function begin(seed: number): Walk {
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random.next() * items.length)];
    assert.ok(item !== undefined);
    return item;
  };
  const world = new StagedWorld({
    mode: pick(['takeover', 'takeover', 'copilot']),
    nodes: NODES.map((name, index) =>
      node(name, { labels: { pool: POOLS[index % POOLS.length] ?? '' } }),
    ),
    policy: policy({
      maxUnavailable: { kind: 'count', count: 2 },
      soakMs: 60_000,
      order: [{ label: 'pool', values: [], isLast: false }],
      approval: pick(['none', 'after-canary', 'each-step']),
      onHalt: pick(['pause', 'rollback']),
    }),
  });
  for (const hash of ['bad1', 'bad2']) {
    world.behaviours.set(hash, {
      trouble: (ageMs) =>
        ageMs < 5_000 ? undefined : { waiting: 'ImagePullBackOff', container: 'main' },
      ready: () => ({ isReady: false, sinceMs: 0 }),
    });
  }
  return { world, pick };
}

/** As `rollcall rollout status` tells it. */
function stateIn({ world }: Walk): { readonly hash: string; readonly state: string } | undefined {
  const { record, plan, nowMs } = world;
  if (record === undefined || plan?.stages === undefined) return undefined;
  const reading = { kind: 'policy', policy: world.policy } as const;
  const pods = [...world.pods.values()];
  const updated = pods.filter(({ labels }) => labels['controller-revision-hash'] === record.hash);
  const available = pods.filter(({ isReady }) => isReady).length;
  const desired = world.nodes.size;
  const counts = {
    ...{ desired, updated: updated.length, available },
    ...{ generation: 1, observedGeneration: 1 },
  };
  const planned = plan.stages.gate;
  const gate = gateOf({ record, policy: reading, nowMs, planned, counts });
  const phase = phaseOf(gate, {
    isRollingBack: isRollingBack(record, { policy: world.policy, isStageTrue: world.isTakeover }),
    isBack: updated.length === 0 && available >= desired,
  });
  return { hash: record.hash, state: stateOf(record.step, phase) };
}

/** Transitions that were seen, with an example of each. */
function walkAll(): ReadonlyMap<string, string> {
  const seen = new Map<string, string>();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const walk = begin(seed);
    let before = stateIn(walk);
    for (let step = 0; step < STEPS; step += 1) {
      const deed = walk.pick(['time', 'time', 'time', ...Object.keys(DEEDS)]);
      DEEDS[deed]?.(walk);
      walk.world.tick(0);
      const now = stateIn(walk);
      if (now === undefined) continue;
      const from = before?.hash === now.hash ? before.state : '[*]';
      const key = transitionOf(from, now.state);
      const where = `seed ${String(seed)}, step ${String(step)}: ${deed}`;
      if (from !== now.state && !seen.has(key)) seen.set(key, where);
      before = now;
    }
  }
  return seen;
}

test('rollouts go from state to state as the diagram of docs/rollouts.md says, and by each of its arrows', () => {
  const seen = walkAll();
  const { transitions: drawn } = readDiagram();
  const missing = [...seen].filter(([key]) => !drawn.has(key));
  assert.deepEqual(missing, [], 'draw them in docs/rollouts.md');
  const unseen = [...drawn.keys()].filter((key) => !seen.has(key));
  assert.deepEqual(unseen, [], 'no rollout goes so: take them out of docs/rollouts.md');
});

test('the diagram has each state of a rollout, and no other', () => {
  assert.deepEqual(readDiagram().states, STATES);
});
