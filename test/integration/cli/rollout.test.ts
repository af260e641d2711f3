/**
 * `rollcall rollout …` as processes of their own, beside each other, against the local tables and queues that
 * serverless.yml declares (issue 17): an order is written once, and wakes its DaemonSet.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { EngineStores } from '../../../src/engine/engine-stores.ts';
import { recordOf, stepOf } from '../../support/rollout-records.ts';
import { agentRef, storeRollout } from '../../support/rollout-stores.ts';
import { openCommandStage, type CommandStage, type Ended } from './command-stage.ts';

describe('rollcall rollout as a process', () => {
  let stage: CommandStage;
  let stores: EngineStores;

  before(async () => {
    stage = await openCommandStage();
    ({ stores } = stage);
  });
  after(() => stage.close());

  const run = (argv: readonly string[], user = 'ann'): Promise<Ended> =>
    stage.run(['rollout', ...argv], { env: { USER: user } });

  const waiting = async (): Promise<number> => {
    const client = new SQSClient({});
    const QueueUrl = stage.aws.queueUrls['ReconcileQueue'];
    const AttributeNames = ['ApproximateNumberOfMessages'] as const;
    const answer = await client.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] }),
    );
    client.destroy();
    return Number(answer.Attributes?.['ApproximateNumberOfMessages']);
  };

  it('reads the file for a second terminal, and shows how a rollout stands', async () => {
    await storeRollout(stores, { cluster: 'shown', lastSentAtMs: Date.now() });
    const shown = await run(['status', 'shown', 'ops/agent', '--json']);
    assert.equal(shown.code, 0, shown.stderr);
    const { kind, update } = JSON.parse(shown.stdout) as Record<string, unknown>;
    assert.deepEqual([kind, update], ['RolloutStatus', 'staged']);
  });

  it('is on the PATH by that file, also for kubectl, and starts the command', async () => {
    for (const name of ['rollcall', 'kubectl-rollcall']) {
      const shell = [
        '-c',
        `. "$1"; ${name} --help`,
        'sh',
        path.join(stage.directory, 'rollcall.env'),
      ];
      const { stdout } = await promisify(execFile)('sh', shell);
      assert.match(stdout, new RegExp(`^Usage: ${name.replace('-', ' ')} `));
    }
  });

  it('pauses, wakes the DaemonSet, resumes, and follows with --watch', async () => {
    await storeRollout(stores, { cluster: 'held', lastSentAtMs: Date.now() });
    const before = await waiting();
    const paused = await run(['pause', 'held', 'ops/agent']);
    assert.equal(paused.code, 0, paused.stderr);
    assert.equal(await waiting(), before + 1);
    const state = await stores.view.readState(agentRef('held'));
    assert.equal(state?.rollout?.orders.paused?.by, 'ann (user/operator)');
    const watched = await run(['status', 'held', 'ops/agent', '--watch']);
    assert.equal(watched.code, 5, watched.stderr);
    assert.equal((await run(['resume', 'held', 'ops/agent'])).code, 0);
    const again = await stores.view.readState(agentRef('held'));
    assert.deepEqual(again?.rollout?.orders, {});
  });

  it('approves one step, however many people approve at the same moment', async () => {
    const record = recordOf({ step: stepOf({ wellSinceMs: 1 }) });
    const policy = 'approval: each-step\nsoak: 1s';
    await storeRollout(stores, { cluster: 'busy', record, policy });
    const people = ['ann', 'bob', 'eve', 'joe'];
    const runs = await Promise.all(people.map((who) => run(['approve', 'busy', 'ops/agent'], who)));
    assert.deepEqual(
      runs.map(({ code }) => code),
      [0, 0, 0, 0],
      runs.map(({ stderr }) => stderr).join(''),
    );
    const { rollout, version } = (await stores.view.readState(agentRef('busy'))) ?? {};
    assert.equal(rollout?.orders.approved?.stepIndex, 1);
    assert.equal(version, 2, 'one of them wrote');
  });

  it('leaves with a word and a code where there is nothing to order', async () => {
    const unknown = await run(['pause', 'nowhere', 'ops/agent']);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /^error: There is no cluster nowhere in this stack/);
  });
});
