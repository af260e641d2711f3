/**
 * The deployed function `fleet` on the local AWS: what it decides stands on the bus as CloudEvents, and can be read back (issue 18).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startFunctionWorld } from '../../support/rights/function-world.ts';
import { takeFleetTurns } from '../../support/rights/fleet-turns.ts';

it('puts a CloudEvent on the bus for what the function decides, the same one when it is told again', async () => {
  const world = await startFunctionWorld();
  try {
    await takeFleetTurns(world, () => undefined);
    const events = world.aws.bus.events().filter(({ source }) => source === 'dev.rollcall');
    const started = events.filter(
      (one) => one['detail-type'] === 'dev.rollcall.fleet.rollout-started',
    );
    const [first = assert.fail('nothing was told')] = started;
    const { detail } = first;
    assert.equal(detail['specversion'], '1.0');
    assert.equal(detail['type'], first['detail-type']);
    assert.equal(detail['source'], '/rollcall/stacks/rollcall-local/fleets');
    assert.equal(detail['subject'], 'ops/agent');
    const sameIds = started.filter((one) => one.detail['id'] === detail['id']);
    // Told with its write and once more by the next step: under one id, of one moment.
    for (const again of sameIds) assert.equal(again.detail['time'], detail['time']);
  } finally {
    await world.stop();
  }
});
