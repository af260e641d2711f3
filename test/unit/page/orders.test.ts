/** Orders from the page: which are offered, what has to be said first, and the command line that does the same. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetStatus, RolloutStatus } from '../../../src/page/model/documents.ts';
import {
  bodyOf,
  freezeOrders,
  isAnswered,
  lineOfOrder,
  ordersOfFleet,
  ordersOfRollout,
} from '../../../src/page/model/orders.ts';
import type { Order } from '../../../src/page/model/orders.ts';

const FORMER = { hash: '5d8f7c9b6', provenAtMs: 1, isBaseline: false };

/** As far as orders look at it. */
function rollout(gate: string, more: object = {}): RolloutStatus {
  const staged = { gate: { kind: gate }, former: FORMER };
  const status = { cluster: 'prod-1', namespace: 'ops', name: 'agent', staged, ...more };
  return status as unknown as RolloutStatus;
}

function fleet(gate: string, more: object = {}): FleetStatus {
  const staged = { gate: { kind: gate } };
  const status = { namespace: 'ops', name: 'agent', staged, former: {}, ...more };
  return status as unknown as FleetStatus;
}

function words(orders: readonly Order[]): readonly string[] {
  return orders.map((order) => order.words);
}

function named(orders: readonly Order[], name: string): Order {
  const order = orders.find((each) => each.words === name);
  assert.ok(order, `no order ${name}`);
  return order;
}

describe('the orders of a rollout', () => {
  const offered: readonly (readonly [string, readonly string[]])[] = [
    ['updating', ['rollout/pause', 'rollout/undo']],
    ['approval', ['rollout/approve', 'rollout/pause', 'rollout/undo']],
    ['no-evidence', ['rollout/approve', 'rollout/pause', 'rollout/undo']],
    ['breach', ['rollout/resume', 'rollout/undo']],
    ['paused', ['rollout/resume', 'rollout/undo']],
    ['returned', ['rollout/resume']],
    ['returning', ['rollout/pause']],
    ['done', ['rollout/undo']],
  ];
  for (const [gate, expected] of offered) {
    it(`offers ${expected.join(', ')} at ${gate}`, () => {
      assert.deepEqual(words(ordersOfRollout(rollout(gate))), expected);
    });
  }

  it('offers none without a policy, but the confirmation of a held removal', () => {
    assert.deepEqual(ordersOfRollout(rollout('done', { staged: undefined })), []);
    const held = rollout('done', { staged: undefined, removal: {} });
    assert.deepEqual(words(ordersOfRollout(held)), ['rollout/confirm']);
  });

  it('overrules a halt with a reason and a typed name alone', () => {
    const order = named(ordersOfRollout(rollout('breach')), 'rollout/resume');
    assert.equal(isAnswered(order, { why: 'looked at it', typed: '' }), false);
    assert.equal(isAnswered(order, { why: ' ', typed: 'ops/agent' }), false);
    const answers = { why: "it's the registry", typed: 'ops/agent' };
    assert.equal(isAnswered(order, answers), true);
    assert.deepEqual(bodyOf(order, answers), {
      ...{ cluster: 'prod-1', daemonset: 'ops/agent', why: "it's the registry", yes: true },
    });
    assert.equal(
      lineOfOrder(order, answers),
      `rollcall rollout resume prod-1 ops/agent --why 'it'\\''s the registry' --yes`,
    );
  });

  it('asks for the name where a fleet holds the rollout, but for a pause', () => {
    const orders = ordersOfRollout(rollout('approval', { fleet: { name: 'ops/agent-fleet' } }));
    assert.equal(named(orders, 'rollout/approve').typed, 'ops/agent');
    assert.equal(named(orders, 'rollout/undo').typed, 'ops/agent');
    assert.equal(named(orders, 'rollout/pause').typed, undefined);
  });

  it('sends no confirmation that was not asked for', () => {
    const order = named(ordersOfRollout(rollout('approval')), 'rollout/approve');
    const answers = { why: '', typed: '' };
    assert.deepEqual(bodyOf(order, answers), { cluster: 'prod-1', daemonset: 'ops/agent' });
    assert.equal(lineOfOrder(order, answers), 'rollcall rollout approve prod-1 ops/agent');
  });
});

describe('the orders of a fleet', () => {
  it('offers what its gate waits for, and the way back', () => {
    assert.deepEqual(words(ordersOfFleet(fleet('approval'))), [
      ...['fleet/approve', 'fleet/pause', 'fleet/undo'],
    ]);
    assert.deepEqual(words(ordersOfFleet(fleet('returned'))), ['fleet/resume']);
  });

  it('offers an undo once more where the way back failed', () => {
    const staged = { gate: { kind: 'returning' }, breach: { cause: 'ReturnFailed' } };
    assert.ok(words(ordersOfFleet(fleet('returning', { staged }))).includes('fleet/undo'));
  });
});

describe('a freeze', () => {
  it('takes a reason', () => {
    const { freeze } = freezeOrders({ kind: 'cluster', id: 'prod-1' });
    assert.equal(isAnswered(freeze, { why: '', typed: '' }), false);
    assert.equal(
      lineOfOrder(freeze, { why: 'INC-1', typed: '' }),
      "rollcall freeze --cluster prod-1 --why 'INC-1'",
    );
  });

  it('of the whole stack, and its thaw, are typed', () => {
    const { freeze, thaw } = freezeOrders({ kind: 'stack' });
    assert.equal(isAnswered(freeze, { why: 'INC-1', typed: '' }), false);
    assert.equal(lineOfOrder(thaw, { why: '', typed: '' }), 'rollcall thaw --yes');
  });

  it('of a DaemonSet is by its name', () => {
    const { thaw } = freezeOrders({ kind: 'daemon-set', name: 'ops/agent' });
    assert.deepEqual(bodyOf(thaw, { why: '', typed: '' }), { daemonSet: 'ops/agent' });
  });
});
