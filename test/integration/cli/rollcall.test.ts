/**
 * `rollcall` as a process of its own, against the local tables and queues that serverless.yml declares:
 * by the launcher of a clone, bundled, and unbuilt.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { clusterId, uid } from '../../../src/core/model/identifiers.ts';
import type { EngineStores } from '../../../src/engine/engine-stores.ts';
import { metaOf, registrationOf, stampAt } from '../../support/store-suite.ts';
import { ROLLCALL, ROOT, openCommandStage, type CommandStage } from './command-stage.ts';

const UNBUILT = path.join(ROOT, 'src/cli/rollcall.ts');
const BUILT = path.join(ROOT, 'dist/cli');
const ID = clusterId('prod');

describe('rollcall as a process', () => {
  let stage: CommandStage;
  let stores: EngineStores;
  let run: CommandStage['run'];

  before(async () => {
    stage = await openCommandStage();
    ({ stores, run } = stage);
  });
  after(() => stage.close());

  it('runs in a clone by its launcher, which builds what is older than its sources', async () => {
    const sources = path.join(BUILT, 'sources.json');
    await mkdir(BUILT, { recursive: true });
    await writeFile(sources, JSON.stringify(['package.json']));
    await utimes(sources, 0, 0);
    const first = await run(['cluster', 'list']);
    assert.match(first.stdout, /^No clusters/, first.stderr);
    const builtMs = (await stat(sources)).mtimeMs;
    assert.ok(builtMs > 0, 'what is older is built again');
    await run(['cluster', 'list']);
    assert.equal((await stat(sources)).mtimeMs, builtMs, 'what is new enough stays');
  });

  it('is a bundle that plain Node runs, also as a plugin of kubectl', async () => {
    const plugin = path.join(stage.directory, 'kubectl-rollcall');
    await symlink(path.join(BUILT, 'rollcall.mjs'), plugin);
    const help = await promisify(execFile)(process.execPath, [plugin, '--help']);
    assert.match(help.stdout, /^Usage: kubectl rollcall/);
    const listed = await run(['cluster', 'list'], { entry: plugin });
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stdout, /^No clusters/);
  });

  it('runs unbuilt', async () => {
    const listed = await run(['cluster', 'list'], { entry: UNBUILT });
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stdout, /^No clusters/);
  });

  it('lists, freezes, wakes and forgets a cluster over real tables and queues', async () => {
    await stores.registry.writeCluster(registrationOf(ID), 0);
    const { clusterUid } = registrationOf(ID);
    await stores.view.writeMeta({ ...metaOf(clusterUid), isComplete: true });
    const name = { namespace: 'ops', name: 'logs', uid: uid('u1'), stamp: stampAt(1) };
    await stores.view.writeName(clusterUid, name);

    const listed = await run(['cluster', 'list', '--json']);
    assert.equal(listed.code, 0, listed.stderr);
    const { clusters } = JSON.parse(listed.stdout) as { readonly clusters: readonly unknown[] };
    assert.equal(clusters.length, 1);

    assert.equal((await run(['freeze', '--cluster', ID, '--why', 'CVE-0'])).code, 0);
    assert.equal((await stores.registry.readCluster(ID))?.isFrozen, true);
    const lifted = await run(['thaw', '--cluster', ID]);
    assert.match(lifted.stdout, /1 DaemonSet is looked at now/, lifted.stderr);

    const set = ['--daemon-set', 'ops/logs'];
    assert.equal((await run(['freeze', '--why', 'CVE-1', '--yes'])).code, 0);
    assert.equal((await run(['freeze', ...set, '--why', 'loses lines'])).code, 0);
    const frozen = await stores.freezes.readFreeze();
    assert.deepEqual(
      [frozen.all?.why, frozen.daemonSets['ops/logs']?.why],
      ['CVE-1', 'loses lines'],
    );
    const thawed = await run(['thaw', '--yes']);
    assert.match(thawed.stdout, /Still: The DaemonSet ops\/logs/, thawed.stderr);
    assert.equal((await run(['thaw', ...set])).code, 0);
    assert.deepEqual((await stores.freezes.readFreeze()).daemonSets, {});

    const removed = await run(['cluster', 'remove', ID]);
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal(await stores.registry.readCluster(ID), undefined);
    assert.deepEqual((await stores.view.listNames(clusterUid, { limit: 9 })).names, []);
  });

  it('notes whom AWS knows the command as; a freeze waits for no STS that is silent', async () => {
    const byOf = async (): Promise<string | undefined> =>
      (await stores.freezes.readFreeze()).all?.by;
    assert.equal((await run(['freeze', '--why', 'CVE-2', '--yes'])).code, 0);
    assert.equal(await byOf(), 'ann (user/operator)');
    assert.equal((await run(['thaw', '--yes'])).code, 0);

    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const env = { AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${String(port)}` };
    const frozen = await run(['freeze', '--why', 'CVE-3', '--yes'], { env });
    silent.close();
    assert.equal(frozen.code, 0, frozen.stderr);
    assert.match(frozen.stderr, /^! AWS did not tell who you are \(.+\): the order is given, and/);
    assert.equal(await byOf(), 'ann (identity unknown)');
    assert.equal((await run(['thaw', '--yes'])).code, 0);
  });

  it('says which Node it needs, to an older one that could not read the bundle', async () => {
    const entry = path.join(ROOT, 'scripts/build/command-entry.mjs');
    for (const version of ['14.21.3', '20.20.2', '22.14.0']) {
      const old = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
      const argv = ['--import', `data:text/javascript,${old}`, entry, 'cluster', 'list'];
      const stderr = `error: rollcall needs Node 22.15 or later; this is ${version}.\n`;
      await assert.rejects(promisify(execFile)(process.execPath, argv), (error: object) => {
        assert.ok('stderr' in error && String(error.stderr).startsWith(stderr));
        return 'code' in error && error.code === 1;
      });
    }
  });

  it('leaves at once with 130 on Ctrl-C, though AWS does not answer', async () => {
    const asked = Promise.withResolvers<undefined>();
    const silent = createServer(() => {
      asked.resolve(undefined);
    });
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    const { port } = silent.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${String(port)}`;
    const env = { ...stage.environment, AWS_ENDPOINT_URL_DYNAMODB: endpoint };
    const child = spawn(process.execPath, [ROLLCALL, 'cluster', 'list', '--json'], { env });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    await asked.promise;
    child.kill('SIGINT');
    const code = await new Promise((resolve) => {
      child.on('close', resolve);
    });
    assert.equal(code, 130);
    assert.equal((JSON.parse(stdout) as { readonly kind: string }).kind, 'CommandError');
    silent.close();
  });
});
