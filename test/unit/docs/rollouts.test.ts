/**
 * docs/rollouts.md, "The policy": its table has every field, with its default; the example of every field is applied to a cluster,
 * and does what its row says; and every block is read as a policy.
 *
 * Ten nodes in two zones and three pools, one of them of the control plane. A row without an effect below fails, so that a
 * field which is only read, and moves nothing, cannot stay.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { policyJsonSchema } from '../../../scripts/lib/policy-json-schema.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { removalRulesOf } from '../../../src/core/removal-guard/removal-rules.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import { POLICY_ANNOTATION, type RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { node } from '../../support/core-fixtures.ts';
import { StagedWorld } from '../../support/staged-world.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const page = readFileSync(path.join(ROOT, 'docs/rollouts.md'), 'utf8');
const section = /^## The policy\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(page)?.[1] ?? '';
const table = /^### Fields\n([\s\S]*?)(?=^### )/m.exec(section)?.[1] ?? '';
const schema = policyJsonSchema() as {
  readonly properties: Readonly<Record<string, unknown>>;
};
const reader = createPolicyReader();
const DEFAULTS = reader.read('{}');
const NEW = 'bbbb';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const ZONE = 'topology.kubernetes.io/zone';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';

/** Labels of each node, by its name. */
const NODES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a0: { [ZONE]: 'zone-b', pool: 'web', [CONTROL_PLANE]: '' },
  a1: { [ZONE]: 'zone-b', pool: 'batch', canary: 'yes' },
  a2: { [ZONE]: 'zone-a', pool: 'test' },
  a3: { [ZONE]: 'zone-b', pool: 'web', pinned: '' },
  a4: { [ZONE]: 'zone-a', pool: 'batch' },
  a5: { [ZONE]: 'zone-b', pool: 'test' },
  a6: { [ZONE]: 'zone-a', pool: 'web' },
  a7: { [ZONE]: 'zone-b', pool: 'batch' },
  a8: { [ZONE]: 'zone-a', pool: 'test' },
  a9: { [ZONE]: 'zone-a', pool: 'batch' },
};
const NAMES = Object.keys(NODES);

interface Applied {
  readonly world: StagedWorld;
  readonly policy: RolloutPolicy;
}

/** A cluster whose DaemonSet has this policy, before its template is edited. */
function apply(example: string): Applied {
  const reading = reader.read(example);
  assert.equal(reading.kind, 'policy', JSON.stringify(reading));
  assert.notDeepEqual(reading, DEFAULTS);
  const { policy } = reading;
  const nodes = Object.entries(NODES).map(([name, labels]) => node(name, { labels }));
  return { world: new StagedWorld({ nodes, policy }), policy };
}

function roll(world: StagedWorld): void {
  world.hash = NEW;
  const isOver = (): boolean => world.record?.hash === NEW && world.record.step.kind === 'done';
  world.until(isOver, { stepMs: 10_000 });
}

const updatedOf = (world: StagedWorld): readonly string[] =>
  NAMES.filter((name) => world.hashes()[name] === NEW);

/** Nodes in the order in which they got the new revision, without the canary. */
function orderOf(world: StagedWorld): readonly string[] {
  const canary = new Set<string>(world.record?.canary);
  return world.made
    .filter((each) => each.endsWith(` ${NEW}`))
    .map((each) => each.slice(0, each.indexOf(' ')))
    .filter((name) => !canary.has(name));
}

/** The values of a label in the order of the rollout, each once. */
function groupsOf(world: StagedWorld, label: string): readonly (string | undefined)[] {
  const values = orderOf(world).map((name) => NODES[name]?.[label]);
  return values.filter((value, index) => index === 0 || value !== values[index - 1]);
}

/** No step opens at one moment, and one does at another. */
function expectWindow(applied: Applied, closedMs: number, openMs: number): void {
  const { world } = applied;
  world.nowMs = closedMs;
  world.hash = NEW;
  for (let look = 0; look < 6; look += 1) world.tick(10_000);
  assert.equal(updatedOf(world).length, 0, 'closed');
  world.nowMs = openMs;
  for (let look = 0; look < 6; look += 1) world.tick(10_000);
  assert.equal(updatedOf(world).length, 1, 'open');
}

/** Wednesday, 25 November 2026, and the days after it. */
const at = (day: number, hour: number): number => Date.UTC(2026, 10, 25, hour) + day * DAY_MS;

const EFFECTS: Readonly<Record<string, (applied: Applied) => void>> = {
  paused: ({ world }) => {
    roll(world);
    assert.deepEqual(updatedOf(world), []);
    assert.deepEqual(world.plan?.stages?.gate, { kind: 'paused', by: 'policy' });
  },
  maxUnavailable: ({ world }) => {
    roll(world);
    assert.equal(world.unreadyNodesMax, 2);
    assert.equal(updatedOf(world).length, 10);
  },
  partition: ({ world }) => {
    roll(world);
    assert.equal(updatedOf(world).length, 5);
  },
  order: ({ world }) => {
    roll(world);
    assert.deepEqual(groupsOf(world, ZONE), ['zone-a', 'zone-b']);
  },
  'order[].label': ({ world }) => {
    roll(world);
    assert.deepEqual(groupsOf(world, 'pool'), ['batch', 'test', 'web']);
  },
  'order[].values': ({ world }) => {
    roll(world);
    assert.deepEqual(groupsOf(world, 'pool'), ['test', 'batch', 'web']);
  },
  'order[].last': ({ world }) => {
    roll(world);
    assert.equal(orderOf(world).at(-1), 'a0');
  },
  canary: ({ world }) => {
    roll(world);
    assert.equal(world.record?.canary.length, 1, '5 % of ten, rounded up');
  },
  'canary.nodes': ({ world }) => {
    roll(world);
    assert.equal(world.record?.canary.length, 3);
  },
  'canary.spread': ({ world }) => {
    roll(world);
    const pools = world.record?.canary.map((name) => NODES[name]?.['pool']);
    assert.deepEqual(pools?.toSorted(), ['batch', 'test', 'web']);
  },
  'canary.selector': ({ world }) => {
    roll(world);
    assert.deepEqual(world.record?.canary, ['a1']);
  },
  soak: ({ world }) => {
    world.hash = NEW;
    const beganMs = world.nowMs;
    world.until(() => world.count(NEW) > 1, { stepMs: MINUTE_MS, maxMs: DAY_MS });
    const lastedMs = world.nowMs - beganMs;
    assert.ok(lastedMs >= 90 * MINUTE_MS && lastedMs < 95 * MINUTE_MS, String(lastedMs));
  },
  approval: ({ world }) => {
    roll(world);
    assert.equal(updatedOf(world).length, 1);
    assert.deepEqual(world.plan?.stages?.gate, { kind: 'approval', stepIndex: 1 });
  },
  progressDeadline: ({ world }) => {
    world.hash = NEW;
    world.until(() => world.count(NEW) === 1);
    const beganMs = world.nowMs;
    world.isViewFresh = false;
    world.until(() => world.record?.breach !== undefined, { stepMs: MINUTE_MS, maxMs: DAY_MS });
    assert.equal(world.record?.breach?.cause, 'ProgressDeadlineExceeded');
    assert.ok(world.nowMs - beganMs <= 62 * MINUTE_MS);
  },
  window: (applied) => {
    expectWindow(applied, at(0, 12), at(0, 22));
  },
  'window.days': (applied) => {
    expectWindow(applied, at(2, 12), at(3, 12));
  },
  'window.from': (applied) => {
    // 01:00 to 05:00 in Tokyo is 16:00 to 20:00 UTC.
    expectWindow(applied, at(0, 15), at(0, 17));
  },
  'window.timeZone': (applied) => {
    // Sunday in Santiago begins at 03:00 UTC in November.
    expectWindow(applied, at(4, 2), at(4, 4));
  },
  onHalt: ({ world }) => {
    const lastExit = { reason: 'OOMKilled', exitCode: 137 };
    world.behaviours.set(NEW, {
      trouble: (ageMs) => (ageMs < 10_000 ? undefined : { restarts: 1, lastExit }),
    });
    world.hash = NEW;
    assert.ok(world.until(() => world.record?.breach !== undefined, { stepMs: 5_000 }));
    assert.ok(
      world.until(() => world.count(NEW) === 0, { stepMs: 5_000 }),
      'nodes go back',
    );
  },
  returns: ({ world }) => {
    const former = world.hash;
    roll(world);
    world.hash = former;
    world.tick(1_000);
    assert.equal(world.record?.step.kind, 'canary', 'the way back has its gates');
  },
  exclude: ({ world }) => {
    roll(world);
    assert.deepEqual(
      NAMES.filter((name) => !updatedOf(world).includes(name)),
      ['a3'],
    );
  },
  budget: ({ world }) => {
    world.setNode(nodeName('a7'), { isReady: false });
    world.tick(1_000);
    roll(world);
    assert.equal(updatedOf(world).length, 9, 'a dead node costs no budget');
  },
  // Removals are played in test/unit/app/reconcile/removal-rules.test.ts.
  removalGuard: ({ policy }) => {
    assert.equal(removalRulesOf({ kind: 'policy', policy }).percent, 35);
  },
};

const codesOf = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [fields = '', , byDefault = '', example = ''] = line.split(' | ');
    const [policy = ''] = codesOf(example);
    return { fields: codesOf(fields), byDefault: /^`([^`]+)`$/.exec(byDefault)?.[1], policy };
  });

describe('docs/rollouts.md', () => {
  it('has a row for every field of the schema, and for no other', () => {
    const written = rows.flatMap(({ fields }) => fields).filter((field) => /^\w+$/.test(field));
    assert.deepEqual(written.toSorted(), Object.keys(schema.properties).toSorted());
  });

  for (const { fields, byDefault, policy } of rows) {
    const [field = ''] = fields;

    it(`has an example of ${fields.join(', ')} that does what its row says`, () => {
      for (const name of fields) assert.ok(policy.includes(`${name.split('.').at(-1) ?? ''}:`));
      const effect = EFFECTS[field];
      assert.ok(effect !== undefined, `say what ${field} does`);
      effect(apply(policy));
    });

    if (byDefault === undefined || field.includes('[]')) continue;
    it(`tells the default of ${field}`, () => {
      const [outer, inner] = field.split('.');
      const text = inner === undefined ? byDefault : `{${inner}: ${byDefault}}`;
      assert.deepEqual(reader.read(`${outer ?? ''}: ${text}`), DEFAULTS);
    });
  }

  const blocks = [...section.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, body = '']) => body);

  it('has blocks of YAML whose annotations are policies', () => {
    assert.ok(blocks.length > 0);
    for (const block of blocks) {
      const { metadata } = parse(block) as {
        readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      };
      assert.equal(reader.read(metadata.annotations[POLICY_ANNOTATION]).kind, 'policy', block);
    }
  });

  it('says how large a policy may be', () => {
    const characters = Number(
      /more than ([0-9,]+) characters/.exec(section)?.[1]?.replace(',', ''),
    );
    const fitting = `paused: true #${'x'.repeat(characters - 14)}`;
    assert.equal(reader.read(fitting).kind, 'policy');
    assert.equal(reader.read(`${fitting}x`).kind, 'invalid');
  });
});
