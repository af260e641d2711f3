// `rollcall fleet rights`: of which FleetDaemonSets, and that nobody loses a right unseen.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import type { JsonObject } from '@rollcall/base/json.ts';
import { fleetNames, fleetRights } from '../../../../src/cli/fleet/fleet-manifests.ts';
import { packageFile } from '../../../../src/engine/package-files.ts';
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

async function worldOf(): Promise<CommandWorld> {
  const world = new CommandWorld();
  const authentication = { kind: 'bearer', token: 'hunter2' } as const;
  const labels = { ring: 'one' };
  await world
    .stores()
    .registry.writeCluster({ ...registrationOf('a'), mode: 'takeover', labels, authentication }, 0);
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

describe('rollcall fleet rights', () => {
  it('names all that are placed there and no other, in RBAC alone', async () => {
    const world = await worldOf();
    const run = (await world.run(['fleet', 'rights', 'a'])).expectExit(0);
    const objects = objectsOf(run.stdout);
    assert.deepEqual(
      objects.map(({ kind }) => kind),
      ['Role', 'RoleBinding', 'Role', 'RoleBinding'],
    );
    assert.doesNotMatch(run.stdout, /elsewhere/);
    const rule = /"resourceNames":\["collector"\],"verbs":\["patch","roll-out"\]/;
    assert.match(JSON.stringify(objects), rule);
  });

  it('prints what the example of a fleet has', () => {
    assert.deepEqual(
      objectsOf(readFileSync(packageFile('examples/fleet/rights.yaml'), 'utf8')),
      fleetRights(fleetNames(['node-agents/fleet-agent'])),
    );
  });

  it('adds that of a file that was not applied yet', async () => {
    const world = await worldOf();
    const file = fileOf('edge', 'proxy', 'one');
    const run = (await world.run(['fleet', 'rights', 'a', '-f', file, '--json'])).expectExit(0);
    const { fleets } = JSON.parse(run.stdout) as { readonly fleets: readonly string[] };
    assert.deepEqual(fleets.toSorted(), ['edge/proxy', 'logs/collector', 'monitoring/agent']);
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
