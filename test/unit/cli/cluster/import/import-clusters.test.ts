/** `rollcall cluster import`: what a plan, a dry run and the real run leave behind. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import { CommandWorld } from '../../../../support/command-world.ts';

describe('rollcall cluster import', () => {
  let directory = '';
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-import-'));
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('writes registrations and manifests with --yes, and neither in a plan or a dry run', async () => {
    const file = path.join(directory, 'clusters.json');
    const manifests = path.join(directory, 'manifests');
    const cluster = { id: 'west', clusterUid: 'uid-1', server: 'https://west.example' };
    const given = { credentials: 'static', senderRoleId: 'AROAWEST', auth: 'none' };
    writeFileSync(file, JSON.stringify([{ ...cluster, ...given }]));
    const world = new CommandWorld();
    const argv = ['cluster', 'import', '--file', file, '--manifests-dir', manifests];
    for (const more of [[], ['--dry-run'], ['--yes', '--dry-run'], ['--yes']]) {
      const run = (await world.run([...argv, ...more])).expectExit(0);
      const isCarriedOut = more.join() === '--yes';
      const stored = await world.stores().registry.readCluster(clusterId('west'));
      assert.equal(stored !== undefined, isCarriedOut, run.stdout + run.stderr);
      assert.equal(existsSync(path.join(manifests, 'west.yaml')), isCarriedOut, more.join());
    }
  });
});
