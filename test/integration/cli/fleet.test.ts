/**
 * `rollcall fleet …` as processes of their own, beside each other, against the local tables that serverless.yml declares
 * (issue 18): the example of docs/fleet.md is planned, stored once, and forgotten.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exampleFleet, openCommandStage, storeCluster } from './command-stage.ts';
import type { CommandStage, Ended } from './command-stage.ts';

const FLEET = 'monitoring/agent';

describe('rollcall fleet as a process', () => {
  let stage: CommandStage;
  let file = '';

  before(async () => {
    stage = await openCommandStage();
    file = path.join(stage.directory, 'fleet.yaml');
    await writeFile(file, await exampleFleet());
    for (const id of ['prod-eu-1', 'prod-eu-2']) await storeCluster(stage, id, { stage: 'prod' });
    await storeCluster(stage, 'lab', {});
  });
  after(() => stage.close());

  const run = (...argv: readonly string[]): Promise<Ended> => stage.run(['fleet', ...argv]);

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
