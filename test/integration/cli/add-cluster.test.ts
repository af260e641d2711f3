/**
 * `rollcall cluster add` from end to end: a local cluster, and a registry in local DynamoDB tables.
 *
 * The cluster is reached by its kubeconfig, as a person would; with a real API server: test/conformance/cli.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { parseAllDocuments } from 'yaml';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { addClusterCommand } from '../../../src/cli/cluster/add/add-cluster.ts';
import { importClustersCommand } from '../../../src/cli/cluster/import/import-clusters.ts';
import { runProgram } from '../../../src/cli/command-line/run-program.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { LoopbackServer } from '@rollcall/local-aws/server/loopback-server.ts';
import { renderKubeconfig } from '@rollcall/local-cluster/cluster/kubeconfig.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import type { RegistryStore } from '../../../src/ports/stores/registry-store.ts';
import { CommandRun, CommandWorld } from '../../support/command-world.ts';
import { createHeldTimers } from '../../support/held-timers.ts';
import { createTestHttpsClient } from '../../../packages/local-cluster/test/support/https-client.ts';
import type { TestRequest } from '../../../packages/local-cluster/test/support/https-client.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { createKeyTable } from '../../support/create-key-table.ts';

const ROLE_ARN = 'arn:aws:iam::111122223333:role/rollcall/dev/rollcall-dev-a-watcher';
const ROLES = ['--sender-role-id', 'AROATEST', '--watcher-role-arn', ROLE_ARN];
const random = createSystemRandom();

describe('rollcall cluster add, against a local cluster', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-add-'));
  const kubeconfig = path.join(directory, 'kubeconfig');
  const clusters: LocalCluster[] = [];
  let tables: LoopbackServer;
  let client: DynamoDBDocumentClient;
  let registry: RegistryStore;

  before(async () => {
    for (const name of ['alpha', 'beta']) {
      clusters.push(
        await startLocalCluster({
          name,
          port: 0,
          machines: [],
          runsComponents: false,
          clock: createSystemClock(),
          random,
          log: new MemoryLog(),
        }),
      );
    }
    writeFileSync(kubeconfig, renderKubeconfig(clusters), { mode: 0o600 });
    tables = await startDynamoDbServer();
    client = createDocumentClient({
      endpoint: tables.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    await createKeyTable(client, 'registry');
    registry = createDynamoRegistryStore({ client, tableName: 'registry', random });
  });

  after(async () => {
    client.destroy();
    await tables.stop();
    for (const cluster of clusters) await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  /** What happens while a command waits. */
  let meanwhile = (): Promise<unknown> => Promise.resolve();

  async function run(...argv: readonly string[]): Promise<CommandRun> {
    const out: string[] = [];
    const said: string[] = [];
    const world = new CommandWorld();
    const exitCode = await runProgram({
      argv,
      name: 'rollcall',
      version: '0.0.0-test',
      modules: [addClusterCommand, importClustersCommand],
      environment: {},
      clock: { ...createHeldTimers(), sleep: () => meanwhile().then(() => undefined) },
      random,
      writeOut: (text) => out.push(text),
      writeError: (text) => said.push(text),
      terminals: { out: false, error: false },
      signal: new AbortController().signal,
      openCluster: () => Promise.reject(new Error('not asked for here')),
      openStack: (globals) => Promise.resolve({ ...world.open(globals), registry }),
    });
    const result = new CommandRun(exitCode, out.join(''), said.join(''));
    for (const { tokens } of clusters) {
      assert.ok(!`${result.stdout}${result.stderr}`.includes(tokens.admin), 'a token is printed');
    }
    return result;
  }

  const add = (id: string, ...more: readonly string[]): Promise<CommandRun> =>
    run('cluster', 'add', id, '--kubeconfig', kubeconfig, ...ROLES, ...more);

  async function get(cluster: LocalCluster | undefined, where: string): Promise<number> {
    return send(cluster, { path: where });
  }

  async function send(
    cluster: LocalCluster | undefined,
    request: Pick<TestRequest, 'method' | 'path' | 'body' | 'headers'>,
  ): Promise<number> {
    assert.ok(cluster !== undefined);
    const https = createTestHttpsClient(cluster);
    const headers = {
      authorization: `Bearer ${cluster.tokens.admin}`,
      'content-type': 'application/json',
      ...request.headers,
    };
    const { status } = await https.fetch({ ...request, headers });
    https.close();
    return status;
  }

  const NAMESPACE = '/api/v1/namespaces/rollcall-system';

  it('tells at once all that is missing, each with its remedy, and writes nothing', async () => {
    const argv = ['cluster', 'add', 'a', '--kubeconfig', kubeconfig, '--context', 'alpha'];
    const refused = (await run(...argv, '--apply', '--json')).expectExit(2);
    const { problems } = refused.document() as {
      readonly problems: readonly { readonly message: string; readonly remedy: string }[];
    };
    assert.deepEqual(
      problems.map(({ message }) => message),
      [
        'The watcher needs a role in the account where the cluster is.',
        'Nothing can be applied without the image of the watcher.',
        'The API server does not say who issues its tokens.',
      ],
    );
    assert.match(
      problems.map(({ remedy }) => remedy).join(),
      /--cluster-profile.*--image.*--oidc-issuer/,
    );
    const lines = ['error: 3 things are missing or cannot be used:'];
    for (const { message, remedy } of problems) lines.push(`  ${message}`, `    → ${remedy}`);
    assert.equal(refused.stderr, `${lines.join('\n')}\n`);
    const nowhere = await run('cluster', 'add', 'a', '--kubeconfig', '/none', '--apply');
    assert.match(nowhere.expectExit(2).stderr, /needs a role.*image of.*\/none cannot be used/s);
    assert.equal(await registry.readCluster(clusterId('a')), undefined);
  });

  it('writes nothing in a dry run', async () => {
    const dry = (await add('a', '--context', 'alpha', '--dry-run', '--json')).expectExit(0);
    assert.equal(dry.document()['result'], 'planned');
    assert.equal(await registry.readCluster(clusterId('a')), undefined);
    assert.equal(await get(clusters[0], NAMESPACE), 404);
  });

  it('registers the cluster by its own identity, in observe, without any credential (S6, S11)', async () => {
    const added = (await add('a', '--context', 'alpha', '--label', 'ring=1')).expectExit(0);
    const registration = await registry.readCluster(clusterId('a'));
    assert.ok(registration !== undefined);
    const { clusterUid, caPem, ...rest } = registration;
    assert.match(clusterUid, /^[0-9a-f-]{36}$/);
    assert.equal(caPem, clusters[0]?.caPem);
    assert.deepEqual(rest, {
      id: 'a',
      mode: 'observe',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROATEST',
      server: clusters[0]?.server,
      authentication: { kind: 'none' },
      labels: { ring: '1' },
    });
    const objects = parseAllDocuments(added.stdout).map((one) => one.get('kind'));
    assert.ok(objects.includes('Deployment'), 'manifests are on stdout');
    assert.equal(await get(clusters[0], NAMESPACE), 404, 'and nowhere else');
  });

  it('goes on where it was when it is run again, and applies what is not refused', async () => {
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'other' };
    const taken = { metadata: { name: 'rollcall-watcher' }, roleRef };
    const body = JSON.stringify(taken);
    assert.equal(await send(clusters[0], { method: 'POST', path: bindings, body }), 201);
    const again = await add('a', '--context', 'alpha', '--image', 'i', '--apply', '--json');
    const document = again.document();
    assert.equal(document['result'], 'present');
    assert.equal((await registry.readCluster(clusterId('a')))?.configVersion, 1);
    const applied = document['applied'] as readonly { object: string; result: string }[];
    const failed = applied.filter(({ result }) => result === 'failed').map(({ object }) => object);
    assert.deepEqual(failed, ['ClusterRoleBinding rollcall-watcher'], 'its roleRef is another');
    assert.equal(again.exitCode, 1, 'a refused object is a failure');
    for (const where of ['serviceaccounts/rollcall-watcher', 'configmaps/rollcall-watcher']) {
      assert.equal(await get(clusters[0], `${NAMESPACE}/${where}`), 200);
    }
    const deployment = '/apis/apps/v1/namespaces/rollcall-system/deployments/rollcall-watcher';
    assert.equal(await get(clusters[0], deployment), 200);
    const path = `${bindings}/rollcall-watcher`;
    assert.equal(await send(clusters[0], { method: 'DELETE', path }), 200);
    const second = await add('a', '--context', 'alpha', '--image', 'i', '--apply', '--json');
    const results = second.document()['applied'] as readonly { result: string }[];
    const created = results.filter(({ result }) => result === 'created');
    assert.equal(created.length, 1);
    assert.ok(results.every(({ result }) => result !== 'failed'));
    second.expectExit(0);
  });

  it('refuses to put its watcher over one of another installation that is at work, and applies nothing (ADR 0024)', async () => {
    const [, cluster] = clusters;
    const leases = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
    const lease = (second: number): string =>
      JSON.stringify({
        metadata: {
          name: 'rollcall-watcher',
          annotations: { 'rollcall.dev/installation': 'eu-1/1/rollcall-prod' },
        },
        spec: {
          holderIdentity: 'its-watcher',
          leaseDurationSeconds: 40,
          renewTime: `2026-11-27T12:00:0${String(second)}.000000Z`,
        },
      });
    const namespace = JSON.stringify({ metadata: { name: 'rollcall-system' } });
    await send(cluster, { method: 'POST', path: '/api/v1/namespaces', body: namespace });
    assert.equal(await send(cluster, { method: 'POST', path: leases, body: lease(0) }), 201);
    const path = `${leases}/rollcall-watcher`;
    let renewals = 0;
    const headers = { 'content-type': 'application/merge-patch+json' };
    meanwhile = () => {
      renewals += 1;
      return send(cluster, { method: 'PATCH', path, body: lease(renewals), headers });
    };
    const refused = await add('b', '--context', 'beta', '--image', 'i', '--apply');
    meanwhile = () => Promise.resolve();
    refused.expectExit(3);
    assert.equal(renewals, 1);
    assert.match(refused.stderr, /b is looked after by .*eu-1\/1\/rollcall-prod.*free at/);
    assert.equal(await get(cluster, `${NAMESPACE}/serviceaccounts/rollcall-watcher`), 404);
    assert.equal(await registry.readCluster(clusterId('b')), undefined);
    assert.equal(await send(cluster, { method: 'DELETE', path: NAMESPACE }), 200);
  });

  it('refuses to change what is registered, and says what would', async () => {
    const changed = await add('a', '--context', 'alpha', '--label', 'ring=2');
    changed.expectExit(3);
    assert.match(changed.stderr, /label ring \(1 → 2\).*rollcall cluster set a/s);
  });

  it('refuses one cluster under two ids, and two clusters under one (S6)', async () => {
    const twice = (await add('other', '--context', 'alpha')).expectExit(3);
    assert.match(twice.stderr, /registered as a/);
    const rebuilt = (await add('a', '--context', 'beta')).expectExit(3);
    assert.match(rebuilt.stderr, /rollcall cluster reset a/);
    assert.equal(await registry.readCluster(clusterId('other')), undefined);
  });

  it('refuses a role that speaks for another cluster (S6)', async () => {
    const shared = (await add('b', '--context', 'beta')).expectExit(3);
    assert.match(shared.stderr, /speaks for a already/);
    assert.equal(await registry.readCluster(clusterId('b')), undefined);
  });

  it('says which cluster cannot be reached, and adds the others of an import', async () => {
    const plan = await run('cluster', 'import', '--kubeconfig', kubeconfig, '--same-account');
    const { stderr, stdout } = plan.expectExit(0);
    assert.match(stdout, /alpha +elsewhere +alpha +registered as a\nbeta +new +beta/);
    assert.match(stderr, /nothing was written/i);
    const list = path.join(directory, 'list.json');
    const common = { kubeconfig, credentials: 'static' };
    const gone = path.join(directory, 'gone');
    writeFileSync(
      list,
      JSON.stringify([
        { ...common, id: 'a', context: 'alpha', senderRoleId: 'AROATEST' },
        { ...common, id: 'b', context: 'beta', senderRoleId: 'AROAOTHER' },
        { ...common, id: 'c', kubeconfig: gone, senderRoleId: 'AROATHIRD' },
        { ...common, id: 'd', context: 'beta', token: 'secret', senderRoleId: 'AROAFOURTH' },
      ]),
    );
    const imported = await run('cluster', 'import', '--file', list, '--yes', '--json');
    imported.expectExit(1);
    const rows = imported.document()['clusters'] as readonly { cluster: string; state: string }[];
    assert.deepEqual(
      rows.map(({ cluster, state }) => `${cluster} ${state}`),
      ['a registered', 'b added', 'c failed', 'd failed'],
    );
    assert.equal((await registry.readCluster(clusterId('b')))?.mode, 'observe');
  });
});
