// `--dry-run=server` and `--no-server-check`: who is asked before something is stored, and what is told of it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { stringify } from 'yaml';
import type { JsonObject } from '@rollcall/base/json.ts';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { ManifestOutcome } from '../../../../src/ports/cluster/manifest-access.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { fleetDocument } from '../../../support/fleet-samples.ts';
import { SimulatedCluster } from '../../../support/simulated-cluster.ts';
import { SimulatedConnector } from '../../../support/simulated-connector.ts';
import { metaOf, registrationOf, sliceOf, stampAt } from '../../../support/store-suite.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-server-check-'));
after(() => {
  rmSync(directory, { recursive: true });
});

const KEY = { namespace: 'monitoring', name: 'agent' };
const CONFLICT: ManifestOutcome = {
  kind: 'conflict',
  conflicts: [{ manager: 'argocd', field: '.spec.template' }],
};
const REFUSED: ManifestOutcome = { kind: 'refused', status: 403, message: 'quota is exceeded' };

describe('the server-side dry run of rollcall fleet', () => {
  let world: CommandWorld;
  let connector: SimulatedConnector;
  beforeEach(async () => {
    world = new CommandWorld();
    connector = new SimulatedConnector();
    world.connector = connector;
    for (const id of ['a', 'b', 'c', 'sealed']) await addCluster(id);
    connector.clusters.delete('sealed');
  });

  async function addCluster(id: string): Promise<void> {
    const { registry, view } = world.stores();
    await registry.writeCluster({ ...registrationOf(id), mode: 'takeover' }, 0);
    const cluster = clusterUid(`uid-of-${id}`);
    const slice = { clusterUid: cluster, set: 'nodes' as const, index: 0 };
    await view.writeSlice(slice, sliceOf(stampAt(1), 2), undefined);
    const lastSentAtMs = world.clock.nowMs();
    await view.writeMeta({ ...metaOf(`uid-of-${id}`), isComplete: true, lastSentAtMs });
    connector.clusters.set(id, new SimulatedCluster(cluster, world.clock));
  }

  function answer(id: string, outcome: ManifestOutcome): void {
    const cluster = connector.clusters.get(id) ?? assert.fail();
    cluster.hooks = { beforeApply: () => Promise.resolve(outcome) };
  }

  function fileOf(spec: JsonObject = {}): string {
    const file = path.join(directory, 'fleet.yaml');
    writeFileSync(file, stringify(fleetDocument(spec)));
    return file;
  }

  const isStored = async (): Promise<boolean> =>
    (await world.stores().fleets.readFleet(KEY)) !== undefined;

  it('plan asks nobody by itself', async () => {
    const run = (await world.run(['fleet', 'plan', '-f', fileOf(), '--json'])).expectExit(0);
    assert.equal(connector.connects, 0);
    assert.equal(run.document()['serverCheck'], undefined);
  });

  it('plan --dry-run=server tells conflicts by manager and field, refusals by their message; leaves with 3', async () => {
    answer('a', CONFLICT);
    answer('b', REFUSED);
    const argv = ['fleet', 'plan', '-f', fileOf(), '--dry-run=server'];
    const run = (await world.run(argv)).expectExit(3);
    assert.match(
      run.stdout,
      /dry run: 1 would take it, 1 have conflicts, 1 refuse it, 1 not checked\.$/m,
    );
    assert.match(run.stdout, /^ {2}a \.spec\.template: is owned by argocd$/m);
    assert.match(run.stdout, /^ {2}b: quota is exceeded$/m);
    assert.match(run.stdout, /^ {2}sealed: there is no credential for it here$/m);
    assert.match(run.stderr, /^asked 4 of 4 clusters/m);
    const json = (await world.run([...argv, '--json'])).document()['serverCheck'];
    assert.ok(Array.isArray(json));
    const byId = (one: { id: string }, other: { id: string }): number =>
      one.id.localeCompare(other.id);
    assert.deepEqual((json as { id: string }[]).sort(byId), [
      { id: 'a', result: 'conflict', conflicts: CONFLICT.conflicts },
      { id: 'b', result: 'refused', message: 'quota is exceeded' },
      { id: 'c', result: 'accepted' },
      { id: 'sealed', result: 'not-checked', message: 'there is no credential for it here' },
    ]);
  });

  it('says in a comment what clusters say as text alone', async () => {
    answer('a', { ...REFUSED, message: 'see ``` @all [x](y)' });
    const argv = ['fleet', 'plan', '-f', fileOf(), '--dry-run=server', '--format', 'markdown'];
    const { stdout } = (await world.run(argv)).expectExit(3);
    assert.match(stdout, /^```text\n[^`]*^ {2}a: see ''' @all \[x\]\(y\)\n[^`]*^```$/m);
  });

  for (const [what, outcome] of [
    ['a conflict', CONFLICT],
    ['a refusal', REFUSED],
  ] as const) {
    it(`apply stores nothing beside ${what}, and everything with --no-server-check`, async () => {
      answer('a', outcome);
      const argv = ['fleet', 'apply', '-f', fileOf()];
      const run = (await world.run(argv)).expectExit(3);
      assert.match(run.stderr, /^ {2}a[ :]/m);
      assert.equal(await isStored(), false);
      connector.connects = 0;
      (await world.run([...argv, '--no-server-check'])).expectExit(0);
      assert.equal(await isStored(), true);
      assert.equal(connector.connects, 0);
    });
  }

  it('apply asks before it stores, and those that cannot be asked are no reason against it', async () => {
    answer('a', { kind: 'unavailable', message: 'no route' });
    const run = (await world.run(['fleet', 'apply', '-f', fileOf()])).expectExit(0);
    assert.match(run.stdout, /2 would take it, 0 have conflicts, 0 refuse it, 2 not checked/);
    assert.equal(await isStored(), true);
    connector.connects = 0;
    const again = (await world.run(['fleet', 'apply', '-f', fileOf()])).expectExit(0);
    assert.match(again.stdout, /stands so already/);
    assert.equal(connector.connects, 0, 'what is stored already is not asked about');
  });

  it('apply --dry-run=server asks and stores nothing, also of what is stored already', async () => {
    const argv = ['fleet', 'apply', '-f', fileOf(), '--dry-run=server', '--json'];
    const { result, dryRun, generation } = (await world.run(argv)).expectExit(0).document();
    assert.deepEqual([result, dryRun, generation], ['created', 'server', 1]);
    assert.equal(await isStored(), false);
    (await world.run(['fleet', 'apply', '-f', fileOf()])).expectExit(0);
    answer('a', CONFLICT);
    (await world.run(argv)).expectExit(3);
    (await world.run([...argv, '--no-server-check'])).expectExit(2);
  });

  it('apply asks no cluster about what renders to no DaemonSet somewhere', async () => {
    const jsonPatch = [{ op: 'remove', path: '/spec/selector' }];
    const overrides = [{ name: 'odd', clusterNames: ['c'], jsonPatch }];
    (await world.run(['fleet', 'apply', '-f', fileOf({ overrides })])).expectExit(3);
    assert.equal(connector.connects, 0);
  });

  it('apply stores nothing after Ctrl-C', async () => {
    const cluster = connector.clusters.get('a') ?? assert.fail();
    cluster.hooks = {
      beforeApply: () => {
        world.controller.abort();
        return Promise.resolve(undefined);
      },
    };
    (await world.run(['fleet', 'apply', '-f', fileOf()])).expectExit(130);
    assert.equal(await isStored(), false);
  });
});
