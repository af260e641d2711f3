// `rollcall fleet mirror`: one item, written over what was read; and its trouble, told beside a fleet's status.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mirrorNotes, type MirrorTrouble } from '../../../../src/core/fleet/told/fleet-mirror.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { fleetDocument } from '../../../support/fleet-samples.ts';
import { registrationOf } from '../../../support/store-suite.ts';

const TROUBLE: MirrorTrouble = {
  code: 'refused',
  message: 'there is no namespace ops in this cluster',
  sinceMs: Date.UTC(2026, 0, 1),
};

async function worldWithCluster(): Promise<CommandWorld> {
  const world = new CommandWorld();
  world.environment = { USER: 'anna' };
  await world.stores().registry.writeCluster(registrationOf('management'), 0);
  return world;
}

describe('rollcall fleet mirror', () => {
  it('names a registered cluster, says so, and forgets it', async () => {
    const world = await worldWithCluster();
    const none = await world.run(['fleet', 'mirror', 'get']);
    assert.match(none.stdout, /shown in no cluster/);
    const set = await world.run(['fleet', 'mirror', 'set', 'management', '--json']);
    assert.equal(set.exitCode, 0, set.stderr);
    const mirror = await world.stores().mirrors.readMirror();
    assert.deepEqual(
      [mirror.cluster, mirror.setBy, mirror.version],
      ['management', 'anna (Admin/ann)', 1],
    );
    assert.match((await world.run(['fleet', 'mirror', 'get'])).stdout, /management/);
    assert.equal((await world.run(['fleet', 'mirror', 'clear'])).exitCode, 0);
    assert.equal((await world.stores().mirrors.readMirror()).cluster, undefined);
  });

  it('names none that is not registered', async () => {
    const world = await worldWithCluster();
    const { exitCode, stderr } = await world.run(['fleet', 'mirror', 'set', 'elsewhere']);
    assert.equal(exitCode, 1);
    assert.match(stderr, /no cluster elsewhere/);
    assert.equal((await world.stores().mirrors.readMirror()).version, 0);
  });

  it('writes nothing when it is said twice, so that trouble stays known', async () => {
    const world = await worldWithCluster();
    await world.run(['fleet', 'mirror', 'set', 'management']);
    const { mirrors } = world.stores();
    await mirrors.writeMirror({ ...(await mirrors.readMirror()), trouble: TROUBLE });
    const again = await world.run(['fleet', 'mirror', 'set', 'management']);
    assert.match(again.stdout, /refused, .* no namespace ops/);
    assert.equal((await mirrors.readMirror()).version, 2);
  });

  it('is refused when somebody else wrote meanwhile', async () => {
    const world = await worldWithCluster();
    const { mirrors } = world.stores();
    mirrors.writeMirror = () => Promise.resolve('lost');
    const { exitCode } = await world.run(['fleet', 'mirror', 'set', 'management']);
    assert.equal(exitCode, 3);
  });
});

describe('the status of a fleet', () => {
  it('tells that its mirror is behind, and fails by nothing that is the matter with it', async () => {
    const world = await worldWithCluster();
    const { fleets, mirrors } = world.stores();
    const document = fleetDocument();
    const head = { namespace: 'monitoring', name: 'agent', uid: 'u', generation: 1 };
    const applied = {
      ...{ ...head, appliedAtMs: world.clock.nowMs(), appliedBy: 'a' },
      ...{ contentHash: 'h', history: [] },
    };
    await fleets.writeFleet({ ...applied, document }, undefined);
    await mirrors.writeMirror({
      ...(await mirrors.readMirror()),
      cluster: clusterId('management'),
      trouble: TROUBLE,
    });
    const status = await world.run(['fleet', 'status', 'monitoring/agent']);
    assert.equal(status.exitCode, 0, status.stderr);
    assert.match(status.stdout, /Its mirror in cluster management is behind since 2026-01-01/);
    mirrors.readMirror = () => Promise.reject(new Error('damaged'));
    const blind = await world.run(['fleet', 'status', 'monitoring/agent']);
    assert.equal(blind.exitCode, 0, blind.stderr);
    assert.match(blind.stdout, /Where it is mirrored cannot be read: damaged/);
  });
});

describe('mirrorNotes', () => {
  it('tells a fleet of its own trouble and of that of all, not of another one', () => {
    const fleet = { namespace: 'ops', name: 'agent' };
    const of = (trouble: MirrorTrouble): number =>
      mirrorNotes({ version: 1, cluster: clusterId('m'), setBy: '', setAtMs: 0, trouble }, fleet)
        .length;
    assert.equal(of(TROUBLE), 1);
    assert.equal(of({ ...TROUBLE, fleet: 'ops/agent' }), 1);
    assert.equal(of({ ...TROUBLE, fleet: 'ops/other' }), 0);
  });
});
