/**
 * The run-book for a deleted queue or table, followed: what the packaged template says is made again, and it is the
 * same as before (F7). On the local SQS and DynamoDB servers, by the very words that scripts/recreate.ts prints.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { recreateCommands } from '../../../scripts/recreate/recreate-commands.ts';
import type { CommandLine, PackagedTemplate } from '../../../scripts/recreate/recreate-commands.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { LoopbackServer } from '@rollcall/local-aws/server/loopback-server.ts';
import { startSqsServer, type SqsServer } from '@rollcall/local-aws/sqs/server/server.ts';
import { createQueues } from '@rollcall/local-aws/deployment/create-queues.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';
import { SERVERLESS_FILE } from '../../../src/engine/engine-stores.ts';
import { packageTemplate } from '../../support/template/package-template.ts';

const STAGE = 'ring1';
const ORGANISATION = 'o-example123';
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

function wordAfter(line: CommandLine, option: string): string {
  return line[line.indexOf(option) + 1] ?? '';
}

const attributesIn = (line: CommandLine): Record<string, string> =>
  JSON.parse(wordAfter(line, '--attributes')) as Record<string, string>;

describe('a queue or table that was deleted (F7)', () => {
  let template: PackagedTemplate;
  let queues: SqsServer;
  let tables: LoopbackServer;
  let sqs: SQSClient;
  let place: { readonly account: string; readonly region: string };

  before(async () => {
    template = await packageTemplate(STAGE, { organisationId: ORGANISATION });
    const random = createSystemRandom();
    const clock = createSystemClock({ timers: 'unreferenced' });
    queues = await startSqsServer({ clock, newId: () => random.uniqueId(), senderIds: new Map() });
    tables = await startDynamoDbServer();
    sqs = new SQSClient({ endpoint: queues.endpoint, region: queues.region, credentials });
    const created = await createQueues(sqs, readService(SERVERLESS_FILE, STAGE).queues);
    const [, , , region = '', account = ''] = created.get('EventsQueue')?.arn.split(':') ?? [];
    place = { account, region };
  });
  after(async () => {
    sqs.destroy();
    await Promise.all([queues.stop(), tables.stop()]);
  });

  const describeQueue = async (name: string): Promise<Record<string, string>> => {
    const QueueUrl = queues.urlOf(name);
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
    );
    const timed = /^(Created|LastModified)Timestamp$|^Approximate/;
    return Object.fromEntries(Object.entries(Attributes).filter(([key]) => !timed.test(key)));
  };

  /** Carries one printed line out, as the AWS CLI would. */
  async function carryOut(line: CommandLine): Promise<void> {
    const [, service, verb] = line;
    if (service === 'lambda') return;
    assert.equal(service, 'sqs');
    const name = wordAfter(line, '--queue-url').split('/').at(-1) ?? '';
    if (verb === 'create-queue') {
      const QueueName = wordAfter(line, '--queue-name');
      await sqs.send(new CreateQueueCommand({ QueueName, Attributes: attributesIn(line) }));
    } else {
      assert.equal(verb, 'set-queue-attributes');
      const QueueUrl = queues.urlOf(name);
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: attributesIn(line) }));
    }
  }

  it('a queue comes back as it was, with its policy, and its mappings are switched on', async () => {
    const ids = Object.entries(template.Resources)
      .filter(([, { Type: type }]) => type === 'AWS::SQS::Queue')
      .map(([id]) => id);
    assert.equal(ids.length, 8);
    for (const id of ids) {
      const name = template.Resources[id]?.Properties?.['QueueName'] as string;
      const lines = recreateCommands(template, id, place);
      const former = await describeQueue(name);
      await sqs.send(new DeleteQueueCommand({ QueueUrl: queues.urlOf(name) }));
      await assert.rejects(describeQueue(name));
      for (const line of lines) await carryOut(line);
      const { Policy: policy, ...now } = await describeQueue(name);
      assert.deepEqual(now, former, id);
      const hasPolicy = ['EventsQueue', 'CredentialsQueue'].includes(id);
      assert.equal(policy?.includes(ORGANISATION) ?? false, hasPolicy, id);
      const last = lines.at(-1)?.join(' ') ?? '';
      assert.match(last, /lambda update-event-source-mapping .*--enabled/);
    }
  });

  it('without an organisation no queue gets a policy', () => {
    const none = { 'Fn::Not': [{ 'Fn::Equals': ['', ''] }] };
    const plain = { ...template, Conditions: { ...template.Conditions, HasOrganisation: none } };
    const lines = recreateCommands(plain, 'EventsQueue', place);
    assert.ok(lines.every((line) => !line.includes('set-queue-attributes')));
  });

  it('a table is made with the template’s keys, encryption and recovery', async () => {
    const client = new DynamoDBClient({ endpoint: tables.endpoint, region: 'x', credentials });
    const [create, wait, recovery] = recreateCommands(template, 'RegistryTable', place);
    assert.ok(create !== undefined && recovery !== undefined);
    const parse = (option: string): unknown => JSON.parse(wordAfter(create, option));
    const TableName = wordAfter(create, '--table-name');
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: wordAfter(create, '--billing-mode') as 'PAY_PER_REQUEST',
        KeySchema: parse('--key-schema') as CreateTableCommandInput['KeySchema'],
        AttributeDefinitions: parse(
          '--attribute-definitions',
        ) as CreateTableCommandInput['AttributeDefinitions'],
      }),
    );
    const { Table: table } = await client.send(new DescribeTableCommand({ TableName }));
    assert.deepEqual(
      table?.KeySchema?.map(({ AttributeName: name, KeyType: type }) => [name, type]),
      [
        ['pk', 'HASH'],
        ['sk', 'RANGE'],
      ],
    );
    assert.deepEqual(parse('--sse-specification'), { Enabled: true });
    assert.ok(wait?.includes('table-exists'));
    assert.match(recovery.join(' '), /PointInTimeRecoveryEnabled":true/);
    client.destroy();
  });

  it('anything else is refused by name, and nothing is printed with a hole in it', () => {
    assert.throws(
      () => recreateCommands(template, 'IngestRole', place),
      /is none of: .*EventsQueue/,
    );
    const strange = structuredClone(template) as {
      Resources: Record<string, { Properties: object }>;
    };
    Object.assign(strange.Resources['EventsQueue']?.Properties ?? {}, {
      KmsMasterKeyId: { 'Fn::ImportValue': 'x' },
    });
    const broken = strange as unknown as PackagedTemplate;
    assert.throws(() => recreateCommands(broken, 'EventsQueue', place), /Fn::ImportValue/);
  });
});
