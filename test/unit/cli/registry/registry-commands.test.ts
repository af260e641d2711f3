/** `rollcall registry export` and `import`: a copy that nothing is lost in, and that unfreezes nobody (F6, F8, row 34). */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { clusterId, clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import { EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { CommandWorld } from '../../../support/command-world.ts';

const SECRET = 'canary-7d1f';

function registration(id: string, change: Partial<ClusterRegistration> = {}): ClusterRegistration {
  return {
    id: clusterId(id),
    clusterUid: clusterUid(`uid-${id}`),
    mode: 'takeover',
    isFrozen: false,
    configVersion: 1,
    senderRoleId: 'AROA1',
    server: `https://${id}.example.com`,
    authentication: { kind: 'bound-token', renewerRoleId: 'AROA2' },
    labels: { stage: 'prod' },
    sentinel: { uid: uid('s-1'), createdAtMs: 5 },
    ...change,
  };
}

const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-registry-'));
after(() => {
  rmSync(directory, { recursive: true });
});

describe('a copy of the registry', () => {
  let world: CommandWorld;
  let file: string;
  let files = 0;
  const west = registration('west');
  const held = registration('held', { isFrozen: true, mode: 'observe' });
  const secret = registration('secret', { authentication: { kind: 'bearer', token: SECRET } });

  beforeEach(async () => {
    world = new CommandWorld();
    files += 1;
    file = path.join(directory, `export-${files}.json`);
    for (const one of [west, held, secret]) await world.stores().registry.writeCluster(one, 0);
  });

  const exported = async (...more: string[]) =>
    world.run(['registry', 'export', '--file', file, '--json', ...more]);
  const imported = async (stage: string, ...more: string[]) =>
    world.run(['registry', 'import', file, '--stage', stage, '--json', ...more]);
  const resultsOf = (document: Readonly<Record<string, unknown>>) =>
    (document['clusters'] as readonly { id: string; result: string; fields: string[] }[]).map(
      ({ id, result, fields }) => [id, result, ...fields].join(' '),
    );
  const standing = (stage: string, id: string) =>
    world.stores(stage).registry.readCluster(clusterId(id));

  it('holds every registration, in a file for its owner alone, and no output tells a secret (S11)', async () => {
    const run = (await exported()).expectExit(0);
    assert.equal(run.document()['clusters'], 3);
    assert.equal(run.document()['withCredential'], 1);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!run.stdout.includes(SECRET) && !run.stderr.includes(SECRET));
    const { clusters } = JSON.parse(readFileSync(file, 'utf8')) as {
      clusters: ClusterRegistration[];
    };
    assert.deepEqual(clusters, [held, secret, west]);
    // An old file would keep its readers.
    assert.equal((await exported()).exitCode, EXIT.usage);
  });

  it('is imported frozen into an empty registry, whatever was recorded, and twice is once', async () => {
    await exported();
    const first = (await imported('new')).expectExit(0);
    assert.deepEqual(resultsOf(first.document()), [
      'held written',
      'secret written',
      'west written',
    ]);
    assert.deepEqual(await standing('new', 'west'), { ...west, isFrozen: true });
    assert.deepEqual(await standing('new', 'secret'), { ...secret, isFrozen: true });
    const again = (await imported('new')).expectExit(0);
    assert.deepEqual(resultsOf(again.document()), ['held same', 'secret same', 'west same']);
    assert.ok(!first.stdout.includes(SECRET) && !first.stderr.includes(SECRET));
  });

  it('keeps each freeze as recorded when that is asked for', async () => {
    await exported();
    (await imported('new', '--as-recorded')).expectExit(0);
    assert.equal((await standing('new', 'west'))?.isFrozen, false);
    assert.equal((await standing('new', 'held'))?.isFrozen, true);
  });

  it('replaces nothing that stands and differs, unless it is asked to, and freezes it then', async () => {
    await exported();
    const { registry } = world.stores();
    await registry.writeCluster({ ...west, mode: 'observe', labels: {} }, 1);
    const kept = (await imported('dev')).expectExit(0);
    assert.ok(resultsOf(kept.document()).includes('west differs labels mode'));
    assert.equal((await standing('dev', 'west'))?.mode, 'observe');
    (await imported('dev', '--replace')).expectExit(0);
    const replaced = await standing('dev', 'west');
    assert.deepEqual(replaced, { ...west, isFrozen: true, configVersion: 3 });
  });

  it('of a table restored beside the standing one brings back what was lost (F8)', async () => {
    const { registry } = world.stores('restored');
    await registry.writeCluster(registration('lost'), 0);
    (await exported('--table', 'restored')).expectExit(0);
    const run = (await imported('dev')).expectExit(0);
    assert.deepEqual(resultsOf(run.document()), ['lost written']);
    assert.equal((await standing('dev', 'lost'))?.isFrozen, true);
    assert.equal((await standing('dev', 'west'))?.isFrozen, false, 'what stands is left alone');
  });

  it('is compared without a write in a dry run', async () => {
    await exported();
    const run = (await imported('new', '--dry-run')).expectExit(0);
    assert.deepEqual(resultsOf(run.document()), ['held planned', 'secret planned', 'west planned']);
    assert.equal(await standing('new', 'west'), undefined);
  });

  it('names a cluster whose UID another id has, and ends with 1', async () => {
    await exported();
    const other = registration('other', { clusterUid: west.clusterUid });
    await world.stores('new').registry.writeCluster(other, 0);
    const run = (await imported('new')).expectExit(EXIT.failed);
    assert.ok(resultsOf(run.document()).includes('west uid-taken'));
  });

  const first = (document: Document): object => document.clusters[0] ?? {};
  const spoilt: readonly (readonly [string, (document: Document) => void, RegExp])[] = [
    ['another document', (document) => (document.kind = 'ClusterList'), /field kind/],
    ['a later schema', (document) => (document.schema = 2), /field schema/],
    ['no list', (document) => Object.assign(document, { clusters: SECRET }), /field clusters/],
    [
      'an unknown field',
      (document) => Object.assign(first(document), { exec: SECRET }),
      /0\]: exec/,
    ],
    ['a strange mode', (document) => Object.assign(first(document), { mode: SECRET }), /0\]: mode/],
    [
      'a missing field',
      (document) => delete document.clusters[2]?.['senderRoleId'],
      /clusters\[2\]: senderRoleId/,
    ],
    [
      'a cluster that comes twice',
      (document) => document.clusters.push({ ...first(document) }),
      /clusters\[3\]: id/,
    ],
  ];
  for (const [what, spoil, words] of spoilt) {
    it(`is refused as a whole when it is ${what}, and the field is named, never its value`, async () => {
      await exported();
      const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
      spoil(document);
      writeFileSync(file, JSON.stringify(document));
      const run = (await imported('new')).expectExit(EXIT.usage);
      assert.match(run.stdout, words);
      assert.ok(!run.stdout.includes(SECRET) && !run.stderr.includes(SECRET));
      assert.equal(await standing('new', 'held'), undefined);
    });
  }

  it('is refused when it is no JSON, without a word of it', async () => {
    writeFileSync(file, `{"token": "${SECRET}"`);
    const run = (await imported('new')).expectExit(EXIT.usage);
    assert.match(run.stdout, /no JSON document/);
    assert.ok(!run.stdout.includes(SECRET) && !run.stderr.includes(SECRET));
  });
});

/** An export that a test spoils. */
interface Document {
  kind: string;
  schema: number;
  clusters: Record<string, unknown>[];
}
