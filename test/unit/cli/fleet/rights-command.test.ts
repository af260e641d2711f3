// `rollcall fleet rights`: of which FleetDaemonSets, by which mode, and that nobody loses a right unseen.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import type { JsonObject } from '@rollcall/base/json.ts';
import { fleetsNamedBy } from '../../../../src/cli/fleet/fleet-manifests.ts';
import type { ClusterMode } from '../../../../src/core/model/registration.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { fleetDocument } from '../../../support/fleet-samples.ts';
import { registrationOf } from '../../../support/store-suite.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-rights-'));
after(() => {
  rmSync(directory, { recursive: true });
});

/** A file of one with this name, placed on clusters with this ring. */
function fileOf(namespace: string, name: string, ring: string): string {
  const file = path.join(directory, `${namespace}-${name}.yaml`);
  const placement = { clusterSelector: { matchLabels: { ring } } };
  // As clusters in copilot take it.
  const strategicMerge = { spec: { updateStrategy: { type: 'OnDelete' } } };
  const overrides = [{ name: 'all', strategicMerge }];
  const document = fleetDocument({ placement, overrides });
  writeFileSync(file, stringify({ ...document, metadata: { namespace, name } }));
  return file;
}

async function worldOf(mode: ClusterMode = 'takeover'): Promise<CommandWorld> {
  const world = new CommandWorld();
  const authentication = { kind: 'bearer', token: 'hunter2' } as const;
  const labels = { ring: 'one' };
  await world
    .stores()
    .registry.writeCluster({ ...registrationOf('a'), mode, labels, authentication }, 0);
  for (const [namespace, name, ring] of [
    ['monitoring', 'agent', 'one'],
    ['logs', 'collector', 'one'],
    ['logs', 'elsewhere', 'two'],
  ] as const) {
    const file = fileOf(namespace, name, ring);
    (await world.run(['fleet', 'apply', '--no-server-check', '-f', file])).expectExit(0);
  }
  return world;
}

function objectsOf(stdout: string): readonly JsonObject[] {
  return parseAllDocuments(stdout).map((document) => document.toJS() as JsonObject);
}

const named = (objects: readonly JsonObject[], name: string): JsonObject | undefined =>
  objects.find(
    ({ kind, metadata }) =>
      kind === 'ValidatingAdmissionPolicy' && JSON.stringify(metadata).includes(`"${name}"`),
  );

describe('rollcall fleet rights', () => {
  it('names all that are placed there and no other, in RBAC and in every policy of the mode', async () => {
    for (const [mode, exception] of [
      ['takeover', 'rollcall-status'],
      ['copilot', 'rollcall-copilot-daemon-sets'],
    ] as const) {
      const world = await worldOf(mode);
      const run = (await world.run(['fleet', 'rights', 'a'])).expectExit(0);
      const objects = objectsOf(run.stdout);
      const all = ['logs/collector', 'monitoring/agent'];
      for (const policy of ['rollcall-fleets', exception]) {
        const found = named(objects, policy);
        assert.ok(found !== undefined, policy);
        assert.deepEqual(fleetsNamedBy(found).toSorted(), all);
      }
      assert.doesNotMatch(run.stdout, /elsewhere/);
      const roles = objects.filter(({ kind }) => kind === 'Role');
      assert.equal(roles.length, 2);
      assert.match(JSON.stringify(roles), /"resourceNames":\["collector"\],"verbs":\["patch"\]/);
    }
  });

  it('adds that of a file that was not applied yet', async () => {
    const world = await worldOf();
    const file = fileOf('edge', 'proxy', 'one');
    const run = (await world.run(['fleet', 'rights', 'a', '-f', file, '--json'])).expectExit(0);
    const { fleets } = JSON.parse(run.stdout) as { readonly fleets: readonly string[] };
    assert.deepEqual(fleets.toSorted(), ['edge/proxy', 'logs/collector', 'monitoring/agent']);
  });

  it('prints RBAC alone where there are no admission policies, and excepts from none in observe', async () => {
    const world = await worldOf('observe');
    const all = (await world.run(['fleet', 'rights', 'a'])).expectExit(0);
    assert.equal(
      objectsOf(all.stdout).filter(({ kind }) => kind === 'ValidatingAdmissionPolicy').length,
      1,
    );
    const rbac = (await world.run(['fleet', 'rights', 'a', '--no-admission'])).expectExit(0);
    assert.deepEqual(
      [...new Set(objectsOf(rbac.stdout).map(({ kind }) => kind))],
      ['Role', 'RoleBinding'],
    );
  });

  it('is refused where nothing is placed, and where one cannot be read: it would lose its right', async () => {
    const world = await worldOf();
    const { registry, fleets } = world.stores();
    await registry.writeCluster({ ...registrationOf('b') }, 0);
    const none = (await world.run(['fleet', 'rights', 'b'])).expectExit(1);
    assert.match(none.stderr, /No FleetDaemonSet is placed on b/);
    const key = { namespace: 'monitoring', name: 'agent' };
    const stored = await fleets.readFleet(key);
    assert.ok(stored !== undefined);
    const spec = { fromTheFuture: true };
    await fleets.writeFleet(
      { ...stored.head, contentHash: 'h', document: { ...stored.document, spec } },
      stored.head,
    );
    const unread = (await world.run(['fleet', 'rights', 'a'])).expectExit(1);
    assert.match(unread.stderr, /cannot read: monitoring\/agent/);
    (await world.run(['fleet', 'rights', 'nowhere'])).expectExit(1);
  });
});
