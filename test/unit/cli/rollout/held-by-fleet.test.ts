/** `rollcall rollout …` in a cluster whose first nodes alone a fleet gave a release: what follows there is the fleet's to say. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetRecord } from '../../../../src/core/fleet/rollout/fleet-record.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { recordOf, stepOf } from '../../../support/rollout-records.ts';
import { storeHoldingFleet, storeRollout } from '../../../support/rollout-stores.ts';
import type { StoredRollout } from '../../../support/rollout-stores.ts';

const AGENT = ['prod', 'ops/agent'];

async function worldWith(options: StoredRollout): Promise<CommandWorld> {
  const world = new CommandWorld();
  world.environment = { USER: 'ann' };
  await storeRollout(world.stores(), options);
  return world;
}

describe('a rollout that a fleet has in its first nodes', () => {
  const SOAKED = 'approval: after-canary\nsoak: 1s';
  const UNTIL_MS = Date.UTC(2100, 0);
  const record = recordOf({ step: stepOf({ wellSinceMs: 1 }) });

  async function heldWorld(fleet: Partial<FleetRecord> = {}): Promise<CommandWorld> {
    const world = await worldWith({ policy: SOAKED, record });
    await storeHoldingFleet(world.stores(), fleet);
    return world;
  }

  it('waits for the fleet, and names it with the command that goes on', async () => {
    const world = await heldWorld({ gate: { kind: 'soaking', untilMs: UNTIL_MS } });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /^prod\/ops\/agent: Waiting\n/);
    assert.match(
      stdout,
      /gate: +held by fleet ops\/agent, stage first \(1 of 3\), which gave it to these nodes alone: soaks until 2100-01-01T00:00:00Z\n/,
    );
    assert.match(stdout, /! .*rollcall fleet status ops\/agent --watch\n/);
    assert.doesNotMatch(stdout, /approval of step/);
    const document = (await world.run(['rollout', 'status', ...AGENT, '--json'])).document();
    const { gate } = document['staged'] as Readonly<Record<string, unknown>>;
    const { kind, fleet } = gate as Readonly<Record<string, unknown>>;
    assert.deepEqual([kind, fleet], ['fleet', 'ops/agent']);
  });

  it('names the order that the fleet waits for', async () => {
    const nextOf = async (fleet: Partial<FleetRecord>): Promise<string> => {
      const run = await (await heldWorld(fleet)).run(['rollout', 'status', ...AGENT]);
      return /^! .*: (rollcall fleet .*)$/m.exec(run.stdout)?.[1] ?? '';
    };
    assert.equal(
      await nextOf({ gate: { kind: 'approval', stepIndex: 1 } }),
      'rollcall fleet approve ops/agent',
    );
    assert.equal(await nextOf({ gate: { kind: 'paused' } }), 'rollcall fleet resume ops/agent');
    assert.equal(await nextOf({ gate: { kind: 'breach' } }), 'rollcall fleet status ops/agent');
  });

  it('is approved, resumed and undone by the fleet alone (3), unless --yes says so; a pause is always safe', async () => {
    const world = await heldWorld();
    for (const order of ['approve', 'resume', 'undo']) {
      const run = (await world.run(['rollout', order, ...AGENT])).expectExit(3);
      assert.match(run.stderr, /held by fleet ops\/agent/);
      assert.match(run.stderr, /--yes/);
    }
    (await world.run(['rollout', 'approve', ...AGENT, '--yes'])).expectExit(0);
    (await world.run(['rollout', 'pause', ...AGENT])).expectExit(0);
    (await world.run(['rollout', 'resume', ...AGENT])).expectExit(3);
    (await world.run(['rollout', 'resume', ...AGENT, '--yes'])).expectExit(0);
    (await world.run(['rollout', 'undo', ...AGENT, '--yes'])).expectExit(0);
  });

  it('is its own again once the fleet gave it to all nodes, or is done', async () => {
    const whole = await worldWith({ policy: SOAKED, record });
    await storeHoldingFleet(whole.stores(), {}, { isPartial: false });
    (await whole.run(['rollout', 'approve', ...AGENT])).expectExit(0);
    const over = await heldWorld({ gate: { kind: 'done' } });
    (await over.run(['rollout', 'approve', ...AGENT])).expectExit(0);
  });
});
