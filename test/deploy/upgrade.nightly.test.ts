/**
 * A stack of the release before, with what it left in tables and queues, and this release deployed over it (14 A.8).
 *
 * The release before comes out of git history, with its own template and functions. Its simulation says what a watcher of a
 * cluster in the middle of two rollouts says; its deployed functions store that. What lay in queues then is sent once this
 * release is there; the timers lie in their queue while the stack is updated. Two things are of this machine: an emulator says
 * its account for a sender, so the registration expects that; and the cluster answers nobody, so its keys are only put off.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { awsEnvironment, REGION } from '../../scripts/deploy/aws-environment.ts';
import { openEmulator, type Emulator } from '../../scripts/deploy/emulator.ts';
import { createRollcallCommand } from '../../scripts/deploy/rollcall-command.ts';
import type { RollcallCommand } from '../../scripts/deploy/rollcall-command.ts';
import { createStackDeployment } from '../../scripts/deploy/stack-deployment.ts';
import { waitFor } from '../../scripts/deploy/wait-for.ts';
import { findFreePorts } from '../../scripts/lib/ports.ts';
import { startReaper, type Reaper } from '../../scripts/lib/reaper.ts';
import { createDocumentClient } from '../../src/adapters/aws/document-client.ts';
import type * as registries from '../../src/adapters/dynamodb/registry-store.ts';
import {
  leaveHalfWay,
  missingReleaseBefore,
  openReleaseBefore,
} from '../support/release-before.ts';
import type { LeftHalfWay, ReleaseBefore, SentMessage } from '../support/release-before.ts';
import { registrationOf } from '../support/store-suite.ts';
import { skipWithoutTools, TOOLS } from '../support/require-tool.ts';
import { makeCheckout, type Checkout } from './checkout.ts';

const ACCOUNT = '000000000000';
const TABLES = ['view', 'registry'] as const;
const QUEUES = ['events.fifo', 'reconcile.fifo', 'delay'] as const;
/** Longer than an update of the stack takes. */
const UNDER_WAY_SECONDS = 240;
const EMPTIED_MS = 420_000;

interface StoredKey {
  readonly table: string;
  readonly key: { readonly pk: AttributeValue; readonly sk: AttributeValue };
}

const skip = missingReleaseBefore() ?? skipWithoutTools([TOOLS.python]);

describe('this release over a stack of the one before', { skip, timeout: 1_700_000 }, () => {
  let directory: string;
  let reaper: Reaper;
  let emulator: Emulator;
  let checkout: Checkout;
  let rollcall: RollcallCommand;
  let dynamo: DynamoDBClient;
  let sqs: SQSClient;
  let release: ReleaseBefore;
  let left: LeftHalfWay;
  let keys: readonly StoredKey[] = [];
  let standing: readonly string[] = [];
  const note = (text: string): void => {
    process.stderr.write(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
  };

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-upgrade-'));
    reaper = startReaper({ temporaryDirectory: directory });
    const [port = 0] = await findFreePorts(1);
    const endpoint = new URL(`http://127.0.0.1:${String(port)}`);
    emulator = await openEmulator({ endpoint, directory, reaper, say: note });
    const environment = awsEnvironment(emulator.endpoint, process.env);
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    dynamo = new DynamoDBClient({ endpoint: emulator.endpoint, region: REGION, credentials });
    sqs = new SQSClient({ endpoint: emulator.endpoint, region: REGION, credentials });
    release = openReleaseBefore();
    left = await leaveHalfWay(release);
    checkout = await makeCheckout('before');
    const stack = createStackDeployment({ directory: checkout.directory, environment });
    await stack.package();
    await stack.deploy();
    note('the release before is deployed');
    await register();
    const late = new Set(left.queued.map(({ message }) => message.body));
    for (const each of left.sent) {
      if (each.queue === 'events.fifo' && !late.has(each.message.body)) await send(each);
    }
    await waitFor({ what: 'its view is stored', deadlineMs: EMPTIED_MS, periodMs: 3000 }, isEmpty);
    for (const each of left.sent) if (each.queue === 'delay') await send(each);
    keys = (await Promise.all(TABLES.map(keysIn))).flat();
    note(`it stored ${String(keys.length)} items`);
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
    (release as ReleaseBefore | undefined)?.remove();
    await (reaper as Reaper | undefined)?.close();
  });

  it('makes no table and no queue anew: they are as old as before', async () => {
    assert.deepEqual(await ageOfHolders(), standing);
  });

  it('keeps every item, and the registrations answer', async () => {
    const kinds = new Set(keys.map(({ key }) => key.sk.S?.split('#')[0]));
    for (const kind of ['META', 'DAEMONSET', 'SLICE', 'CLUSTER'])
      assert.ok(kinds.has(kind), `${kind}: ${[...kinds].join(' ')}`);
    for (const { table, key } of keys) {
      const Key = { pk: key.pk, sk: key.sk };
      const found = await dynamo.send(new GetItemCommand({ TableName: tableNamed(table), Key }));
      assert.notEqual(found.Item, undefined, JSON.stringify(key));
    }
    // The present command refuses a stack that lacks an output of its release.
    const { clusters } = await rollcall(['cluster', 'list']);
    const ids = (clusters as readonly { readonly id: string }[]).map(({ id }) => id);
    assert.deepEqual(ids, [left.events[0]?.cluster]);
  });

  it('takes what was under way: no message is left, and no dead letter more', async () => {
    const before = await letters();
    assert.ok((await waitingIn('delay')) > 0, 'the timers of the release before are still there');
    for (const each of left.queued) if (each.queue !== 'delay') await send(each);
    const emptied = { what: 'all queues are empty', deadlineMs: EMPTIED_MS, periodMs: 3000 };
    await waitFor(emptied, isEmpty);
    assert.deepEqual(await letters(), before);
  });

  const tableNamed = (table: string): string => `rollcall-local-${table}`;
  const urlOf = (queue: string): string =>
    `${emulator.endpoint}/${ACCOUNT}/rollcall-local-${queue}`;

  /** By the store of the release before; spoken for by whoever the emulator says it is. */
  async function register(): Promise<void> {
    const { createDynamoRegistryStore } = await release.load<typeof registries>(
      'src/adapters/dynamodb/registry-store.ts',
    );
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = createDocumentClient({
      endpoint: emulator.endpoint,
      region: REGION,
      credentials,
    });
    const on = { client, random: createSystemRandom(), tableName: tableNamed('registry') };
    const { cluster: id, clusterUid } = left.events[0] ?? assert.fail('nothing was said');
    const registration = { ...registrationOf(id), id, clusterUid, senderRoleId: ACCOUNT };
    assert.equal(await createDynamoRegistryStore(on).writeCluster(registration, 0), 'written');
    client.destroy();
  }

  async function keysIn(table: string): Promise<readonly StoredKey[]> {
    const { Items = [] } = await dynamo.send(new ScanCommand({ TableName: tableNamed(table) }));
    return Items.map(({ pk, sk }) => {
      if (pk === undefined || sk === undefined) throw new Error('an item without a key');
      return { table, key: { pk, sk } };
    });
  }

  async function send({ queue, message }: SentMessage): Promise<void> {
    const { body, groupId, deduplicationId, attributes = {} } = message;
    await sqs.send(
      new SendMessageCommand({
        QueueUrl: urlOf(queue),
        MessageBody: body,
        ...(groupId === undefined
          ? { DelaySeconds: UNDER_WAY_SECONDS }
          : { MessageGroupId: groupId }),
        ...(deduplicationId === undefined ? {} : { MessageDeduplicationId: deduplicationId }),
        MessageAttributes: attributes as Record<string, { DataType: string; StringValue: string }>,
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

  /** Not the timers: those of the release before lie there still, and keys whose cluster does not answer make new ones. */
  async function isEmpty(): Promise<true | undefined> {
    const counts = await Promise.all(['events.fifo', 'reconcile.fifo'].map(waitingIn));
    return counts.every((count) => count === 0) ? true : undefined;
  }

  /** What the deployed function `dead-letter` said: logs of functions are in that of the emulator. */
  async function letters(): Promise<readonly string[]> {
    const lines = (await readFile(path.join(directory, 'ministack.log'), 'utf8')).split('\n');
    return lines.filter((line) => line.includes('dead letter'));
  }
});
