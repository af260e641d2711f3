/**
 * `rollcall fleet …` as processes of their own, beside each other, against the local tables that serverless.yml declares
 * (issue 18): the example of docs/fleet.md is planned, stored once, and forgotten.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { writeSecondTerminal } from '../../../src/cli/start/second-terminal.ts';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import { SERVERLESS_FILE, STAGE, openStores } from '../../../src/engine/engine-stores.ts';
import type { EngineStores } from '../../../src/engine/engine-stores.ts';
import { metaOf, registrationOf, sliceOf, stampAt } from '../../support/store-suite.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const ENTRY = path.join(ROOT, 'src/cli/rollcall.ts');
const FLEET = 'monitoring/agent';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('rollcall fleet as a process', () => {
  let aws: LocalAws;
  let stores: EngineStores;
  let directory = '';
  let file = '';
  let environment: NodeJS.ProcessEnv = {};

  before(async () => {
    aws = await startLocalAws({ serverlessFile: SERVERLESS_FILE, stage: STAGE });
    Object.assign(process.env, aws.environment);
    stores = openStores(aws);
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-fleet-'));
    const text = await readFile(await writeSecondTerminal({ directory, aws }), 'utf8');
    const exports = [...text.matchAll(/^export (\w+)='(.*)'$/gm)];
    environment = Object.fromEntries(exports.map(([, name = '', value = '']) => [name, value]));
    const page = await readFile(path.join(ROOT, 'docs/fleet.md'), 'utf8');
    file = path.join(directory, 'fleet.yaml');
    await writeFile(file, /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    for (const id of ['prod-eu-1', 'prod-eu-2', 'lab']) await addCluster(id);
  });

  after(async () => {
    stores.destroy();
    await aws.stop();
    await rm(directory, { recursive: true });
  });

  async function addCluster(id: string): Promise<void> {
    const labels: Readonly<Record<string, string>> = id === 'lab' ? {} : { stage: 'prod' };
    const registration = { ...registrationOf(id), mode: 'takeover' as const, labels };
    await stores.registry.writeCluster(registration, 0);
    const cluster = clusterUid(`uid-of-${id}`);
    const slice = { clusterUid: cluster, set: 'nodes' as const, index: 0 };
    await stores.view.writeSlice(slice, sliceOf(stampAt(1), 5), undefined);
    const meta = { ...metaOf(cluster), isComplete: true, lastSentAtMs: Date.now() };
    await stores.view.writeMeta(meta);
  }

  const run = (...argv: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const env = { PATH, NODE_COMPILE_CACHE, ...environment, USER: 'ann' };
      execFile(process.execPath, [ENTRY, 'fleet', ...argv], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });

  it('plans the example of docs/fleet.md', async () => {
    const plan = await run('plan', '-f', file, '--json');
    assert.equal(plan.code, 0, plan.stderr);
    const { stages, totals } = JSON.parse(plan.stdout) as {
      readonly stages: readonly { readonly name: string; readonly clusters: readonly unknown[] }[];
      readonly totals: Readonly<Record<string, number>>;
    };
    assert.deepEqual(
      stages.map(({ name, clusters }) => [name, clusters.length]),
      [
        ['first', 1],
        ['early', 1],
        ['rest', 0],
      ],
    );
    assert.deepEqual([totals['created'], totals['changedNodes']], [2, 10]);
    assert.equal((await run('diff', '-f', file)).code, 6);
  });

  it('of several who apply at once one creates it, and the others say so', async () => {
    const ended = await Promise.all([1, 2, 3].map(() => run('apply', '-f', file, '--json')));
    const results = ended.map(({ code, stdout, stderr }) =>
      code === 3
        ? 'changed meanwhile'
        : (JSON.parse(stdout || stderr) as { result: string }).result,
    );
    assert.equal(results.filter((result) => result === 'created').length, 1, results.join());
    const others = results.filter((result) => result !== 'created');
    assert.ok(
      others.every((result) => result === 'unchanged' || result === 'changed meanwhile'),
      results.join(),
    );
    const list = await run('get');
    assert.match(list.stdout, /^monitoring\/agent +1 +\d+s ago +ann \(user\/operator\)$/m);
  });

  it('describes it, and forgets it', async () => {
    const described = await run('describe', FLEET);
    assert.equal(described.code, 0, described.stderr);
    assert.match(
      described.stdout,
      /^2 clusters: 2 get it, 0 change, 0 have it; 10 nodes change\.$/m,
    );
    assert.equal((await run('delete', FLEET)).code, 0);
    assert.equal((await run('describe', FLEET)).code, 1);
  });
});
