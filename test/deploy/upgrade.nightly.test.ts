/**
 * A stack of the previous release, with what it left in tables and queues, and this release deployed over it (14 A.8).
 *
 * The former release comes out of git history, with its own template and functions; what it left is its recording
 * (test/regression/previous-release): items of every kind, and messages, of which the timers lie in their queue while the stack
 * is updated. Two things are of this machine: an emulator says its account for a sender, so one registration expects that; and
 * the recorded clusters answer nobody, so their keys are only put off.
 */
import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DescribeTableCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { awsEnvironment, REGION } from '../../scripts/deploy/aws-environment.ts';
import { openEmulator } from '../../scripts/deploy/emulator.ts';
import type { Emulator } from '../../scripts/deploy/emulator.ts';
import { createRollcallCommand } from '../../scripts/deploy/rollcall-command.ts';
import type { RollcallCommand } from '../../scripts/deploy/rollcall-command.ts';
import { createStackDeployment } from '../../scripts/deploy/stack-deployment.ts';
import { waitFor } from '../../scripts/deploy/wait-for.ts';
import { findFreePorts } from '../../scripts/lib/ports.ts';
import { startReaper } from '../../scripts/lib/reaper.ts';
import type { Reaper } from '../../scripts/lib/reaper.ts';
import { putRecordedItems, recordedQueues } from '../support/previous-release.ts';
import type { QueuedMessage, RecordedKey } from '../support/previous-release.ts';
import { missingPrevious } from '../support/previous-sources.ts';
import { skipWithoutTools, TOOLS } from '../support/require-tool.ts';
import { makeCheckout } from './checkout.ts';
import type { Checkout } from './checkout.ts';

const ACCOUNT = '000000000000';
const TABLES = ['view', 'registry'] as const;
const QUEUES = ['events.fifo', 'reconcile.fifo', 'delay'] as const;
/** Longer than an update of the stack takes. */
const UNDER_WAY_SECONDS = 240;
const EMPTIED_MS = 420_000;

const skip = missingPrevious() ?? skipWithoutTools([TOOLS.python]);

describe('this release over a stack of the previous one', { skip, timeout: 1_700_000 }, () => {
  let reaper: Reaper;
  let emulator: Emulator;
  let checkout: Checkout;
  let rollcall: RollcallCommand;
  let dynamo: DynamoDBClient;
  let sqs: SQSClient;
  let keys: readonly RecordedKey[] = [];
  let standing: readonly string[] = [];
  const note = (text: string): void => {
    process.stderr.write(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
  };

  before(async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-upgrade-'));
    reaper = startReaper({ temporaryDirectory: directory });
    const [port = 0] = await findFreePorts(1);
    const endpoint = new URL(`http://127.0.0.1:${String(port)}`);
    const { env } = process;
    emulator = await openEmulator({ endpoint, directory, reaper, environment: env, say: note });
    const environment = awsEnvironment(emulator.endpoint, env);
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    dynamo = new DynamoDBClient({ endpoint: emulator.endpoint, region: REGION, credentials });
    sqs = new SQSClient({ endpoint: emulator.endpoint, region: REGION, credentials });
    checkout = await makeCheckout('previous');
    const stack = createStackDeployment({ directory: checkout.directory, environment });
    await stack.package();
    await stack.deploy();
    note('the previous release is deployed');
    keys = await putRecordedItems(dynamo, tableNamed);
    await expectEmulatedSender();
    for (const message of recordedQueues()) if (message.queue === 'delay') await send(message);
    standing = await ageOfHolders();
    const version = await checkout.becomeNextRelease();
    await stack.package();
    await stack.deploy();
    rollcall = createRollcallCommand(stack.commandFile, environment);
    note(`upgraded to ${version}`);
  });

  after(async () => {
    // `before` may have failed half-way.
    (dynamo as DynamoDBClient | undefined)?.destroy();
    (sqs as SQSClient | undefined)?.destroy();
    await (emulator as Emulator | undefined)?.stop();
    await (checkout as Checkout | undefined)?.remove();
    await (reaper as Reaper | undefined)?.close();
  });

  it('makes no table and no queue anew: they are as old as before', async () => {
    assert.deepEqual(await ageOfHolders(), standing);
  });

  it('keeps every item, and the registrations answer', async () => {
    for (const { table, key } of keys) {
      const Key = { pk: key.pk, sk: key.sk };
      const found = await dynamo.send(new GetItemCommand({ TableName: tableNamed(table), Key }));
      assert.notEqual(found.Item, undefined, JSON.stringify(key));
    }
    // The present command refuses a stack that lacks an output of its release.
    const { clusters } = await rollcall(['cluster', 'list']);
    const ids = (clusters as readonly { readonly id: string }[]).map(({ id }) => id);
    assert.deepEqual(ids.sort(), ['alpha', 'beta', 'gamma']);
  });

  it('takes what was under way: no message is left, and no dead letter more', async () => {
    const before = await letters();
    assert.ok((await waitingIn('delay')) > 0, 'the timers of the former release are still there');
    for (const message of recordedQueues()) if (message.queue !== 'delay') await send(message);
    await waitFor({ what: 'all queues are empty', deadlineMs: EMPTIED_MS, periodMs: 3000 }, () =>
      isEmpty(),
    );
    assert.deepEqual(await letters(), before);
  });

  const tableNamed = (table: string): string => `rollcall-local-${table}`;
  const urlOf = (queue: string): string =>
    `${emulator.endpoint}/${ACCOUNT}/rollcall-local-${queue}`;

  /** One of the recorded clusters may be spoken for by whoever the emulator says it is. */
  async function expectEmulatedSender(): Promise<void> {
    await dynamo.send(
      new UpdateItemCommand({
        TableName: tableNamed('registry'),
        Key: { pk: { S: 'CLUSTER#alpha' }, sk: { S: 'CLUSTER' } },
        UpdateExpression: 'SET registration.senderRoleId = :sender',
        ExpressionAttributeValues: { ':sender': { S: ACCOUNT } },
      }),
    );
  }

  async function send(message: QueuedMessage): Promise<void> {
    const { queue, body, groupId, deduplicationId, attributes } = message;
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: urlOf(queue),
        MessageBody: body,
        ...(groupId === undefined
          ? { DelaySeconds: UNDER_WAY_SECONDS }
          : { MessageGroupId: groupId }),
        ...(deduplicationId === undefined ? {} : { MessageDeduplicationId: deduplicationId }),
        ...(attributes === undefined ? {} : { MessageAttributes: attributes }),
      }),
    );
  }

  /** Of each table and queue, when it was made. */
  async function ageOfHolders(): Promise<readonly string[]> {
    const tables = TABLES.map(async (table) => {
      const TableName = tableNamed(table);
      const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }));
      return `${table} ${String(Table?.CreationDateTime?.getTime())}`;
    });
    const queues = QUEUES.map(async (queue) => {
      const { CreatedTimestamp } = await attributesOf(queue);
      return `${queue} ${String(CreatedTimestamp)}`;
    });
    return Promise.all([...tables, ...queues]);
  }

  async function attributesOf(queue: string): Promise<Readonly<Record<string, string>>> {
    const request = { QueueUrl: urlOf(queue), AttributeNames: ['All' as const] };
    return (await sqs.send(new GetQueueAttributesCommand(request))).Attributes ?? {};
  }

  async function waitingIn(queue: string): Promise<number> {
    const attributes = await attributesOf(queue);
    const counts = ['', 'NotVisible', 'Delayed'].map((kind) =>
      Number(attributes[`ApproximateNumberOfMessages${kind}`] ?? 0),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Not the timers: those of the former release lie there still, and keys whose cluster does not answer make new ones. */
  async function isEmpty(): Promise<true | undefined> {
    const counts = await Promise.all(['events.fifo', 'reconcile.fifo'].map(waitingIn));
    return counts.every((count) => count === 0) ? true : undefined;
  }

  async function letters(): Promise<readonly string[]> {
    const list = await rollcall(['dead-letter', 'list']);
    return (list['letters'] as readonly { readonly id: string }[]).map(({ id }) => id).sort();
  }
});
