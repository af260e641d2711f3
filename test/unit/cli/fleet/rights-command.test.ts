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

/** A file of one with this name, placed on clusters with this ring, whose pods have this besides. */
function fileOf(key: string, ring: string, pod: JsonObject = {}): string {
  const [namespace = '', name = ''] = key.split('/');
  const file = path.join(directory, `${namespace}-${name}.yaml`);
  const placement = { clusterSelector: { matchLabels: { ring } } };
  // As clusters in copilot take it.
  const spec = { updateStrategy: { type: 'OnDelete' }, template: { spec: pod } };
  const overrides = [{ name: 'all', strategicMerge: { spec } }];
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
  for (const [key, ring] of [
    ['monitoring/agent', 'one'],
    ['logs/collector', 'one'],
    ['logs/elsewhere', 'two'],
  ] as const) {
    const file = fileOf(key, ring);
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
    const file = fileOf('edge/proxy', 'one');
    const run = (await world.run(['fleet', 'rights', 'a', '-f', file, '--json'])).expectExit(0);
    const { fleets } = JSON.parse(run.stdout) as { readonly fleets: readonly string[] };
    assert.deepEqual(fleets.toSorted(), ['edge/proxy', 'logs/collector', 'monitoring/agent']);
  });

  it('fences each by the manifest of its cluster, and with a file by the one before it as well', async () => {
    const world = await worldOf();
    const file = fileOf('logs/collector', 'one', { serviceAccountName: 'it"s', hostPID: true });
    const fenceOf = async (...options: readonly string[]): Promise<string> => {
      const run = await world.run(['fleet', 'rights', 'a', '--fence', ...options]);
      const objects = objectsOf(run.expectExit(0).stdout);
      const policies = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
      assert.equal(policies.length, 1);
      const { spec } = policies[0] as {
        readonly spec: { readonly variables: readonly { readonly expression: string }[] };
      };
      return spec.variables[0]?.expression ?? '';
    };
    const without = ['allowPrivilegeEscalation', 'hostUsers', 'root', 'serviceAccountName default'];
    const words = (list: readonly string[]): string =>
      `[${list.map((word) => JSON.stringify(word)).join(', ')}]`;
    const agent = `'monitoring/agent': ${words(without)}`;
    assert.equal(await fenceOf(), `{'logs/collector': ${words(without)}, ${agent}}`);
    const more = [...without, 'hostPID', 'serviceAccountName it"s'].sort();
    assert.equal(await fenceOf('-f', file), `{${agent}, 'logs/collector': ${words(more)}}`);
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
