/**
 * Any requests that the stores make, and some that are refused, one after the other: the local table answers each as
 * DynamoDB Local does, refusals too.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { createKeyTable } from '../../support/create-key-table.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { startDynamoDbLocal, type RunningServer } from './reference-servers.ts';

const TABLE = 'view';
const STEPS = 1500;
const AUTHORIZATION = 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=s';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface Sent {
  readonly operation: string;
  readonly fields: Record<string, unknown>;
}

async function send({ endpoint }: RunningServer, { operation, fields }: Sent): Promise<Answer> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: AUTHORIZATION,
    },
    body: JSON.stringify(fields),
  });
  const { __type: type, ...body } = (await answer.json()) as Record<string, unknown>;
  const kind = typeof type === 'string' ? { type: type.slice(type.indexOf('#') + 1) } : {};
  return { status: answer.status, body: { ...body, ...kind } };
}

/** A batch comes in any order, and so do the attributes of an item. */
function sorted({ status, body }: Answer): unknown {
  // DynamoDB Local tells what a delete consumed, unasked.
  const { ConsumedCapacity: _units, message: _words, Message: _others, ...answered } = body;
  const { Responses: responses, ...others } = answered;
  if (responses === undefined) return { status, others };
  const items = Object.values(responses as object)
    .flat()
    .map((item) => JSON.stringify(Object.entries(item as object).toSorted(byName)));
  const { UnprocessedKeys: _none, ...rest } = others;
  return { status, rest, items: items.toSorted() };
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return compareText(one, other);
}

const CONDITIONS = [
  'attribute_not_exists(pk)',
  'attribute_exists(pk) AND stamp = :s',
  'attribute_not_exists(pk) OR stamp < :s',
  '(attribute_not_exists(a) OR a < :n) AND NOT (stamp > :s)',
  'a <> :n',
  '#a >= :n OR #a <= :s',
  'stamp = :s AND attribute_exists(b)',
];

/** Requests that the stores make, and some that are refused. */
class Requests {
  readonly #random: () => number;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#random = () => random.next();
  }

  next(): Sent {
    const kind = this.#below(10);
    if (kind < 2) return { operation: 'GetItem', fields: { ...this.#read(), Key: this.#key() } };
    if (kind < 4) {
      const Keys = [...new Set([this.#below(4), this.#below(4)])].map((n) => keyOf(n));
      return {
        operation: 'BatchGetItem',
        fields: { RequestItems: { [TABLE]: { ...this.#read(), TableName: undefined, Keys } } },
      };
    }
    if (kind === 4)
      return { operation: 'DeleteItem', fields: { TableName: TABLE, Key: this.#key() } };
    return kind < 7 ? this.#put() : this.#update();
  }

  #read(): Record<string, unknown> {
    const ProjectionExpression = this.#below(2) === 0 ? 'pk, sk, stamp' : undefined;
    return { TableName: TABLE, ConsistentRead: true, ProjectionExpression };
  }

  #put(): Sent {
    const item = {
      ...this.#key(),
      stamp: this.#text(),
      ...(this.#below(2) === 0 ? { a: this.#value() } : {}),
    };
    return {
      operation: 'PutItem',
      fields: { TableName: TABLE, Item: item, ...this.#condition({}) },
    };
  }

  #update(): Sent {
    const UpdateExpression =
      ['SET stamp = :v', 'SET #b = :v, a = :v', 'SET a = :v REMOVE b', 'SET pk = :v'][
        this.#below(4)
      ] ?? '';
    const names = UpdateExpression.includes('#b') ? { '#b': 'b' } : undefined;
    const values = { ':v': this.#value() };
    // DynamoDB Local looks at the condition before it refuses a change of the key.
    const isOfKey = UpdateExpression === 'SET pk = :v';
    const condition = isOfKey
      ? { ExpressionAttributeValues: values }
      : this.#condition(values, names);
    return {
      operation: 'UpdateItem',
      fields: { TableName: TABLE, Key: this.#key(), UpdateExpression, ...condition },
    };
  }

  /** With the placeholders that it uses, and rarely one more. */
  #condition(
    others: Record<string, unknown>,
    names: Record<string, string> = {},
  ): Record<string, unknown> {
    const text = CONDITIONS[this.#below(CONDITIONS.length + 1)];
    const values: Record<string, unknown> = { ...others };
    if (text?.includes(':s') === true || this.#below(40) === 0) values[':s'] = this.#text();
    if (text?.includes(':n') === true) values[':n'] = this.#value();
    const named = { ...names, ...(text?.includes('#a') === true ? { '#a': 'a' } : {}) };
    return {
      ConditionExpression: text,
      ExpressionAttributeNames: Object.keys(named).length === 0 ? undefined : named,
      ExpressionAttributeValues: Object.keys(values).length === 0 ? undefined : values,
    };
  }

  #key(): Record<string, unknown> {
    return keyOf(this.#below(4));
  }

  #text(): unknown {
    return { S: `s${this.#below(4)}` };
  }

  #value(): unknown {
    const values = [this.#text(), { N: String(this.#below(30)) }, { B: 'AAECAw==' }, { N: '1.5' }];
    return values[this.#below(values.length)];
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }
}

function keyOf(number: number): Record<string, unknown> {
  return { pk: { S: `p${number % 2}` }, sk: { S: `s${number}` } };
}

const skip = skipWithoutTools([TOOLS.java, TOOLS.maven]);

describe('the local table beside DynamoDB Local', { skip }, () => {
  let servers: readonly RunningServer[] = [];

  before(async () => {
    servers = await Promise.all([startDynamoDbServer(), startDynamoDbLocal()]);
    for (const { endpoint } of servers) {
      const client = new DynamoDBClient({
        region: 'us-east-1',
        endpoint,
        credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      });
      await createKeyTable(client, TABLE);
      client.destroy();
    }
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function askBoth(sent: Sent, step: string): Promise<Answer> {
    const [answer, expected] = await Promise.all(servers.map((server) => send(server, sent)));
    assert.ok(answer !== undefined && expected !== undefined);
    assert.deepEqual(sorted(answer), sorted(expected), `${step}: ${JSON.stringify(sent)}`);
    return answer;
  }

  it('answers any requests as DynamoDB Local does', async (context) => {
    const seed = Number(process.env['ROLLCALL_TEST_SEED'] ?? '16');
    context.diagnostic(`replay: ROLLCALL_TEST_SEED=${seed}`);
    const requests = new Requests(seed);
    for (let step = 0; step < STEPS; step += 1) await askBoth(requests.next(), `step ${step}`);
  });

  it('refuses a table that is not there, and keys that are none, by the same names', async () => {
    const read = { TableName: 'nowhere', Key: keyOf(1) };
    const nowhere = await askBoth({ operation: 'GetItem', fields: read }, 'no table');
    assert.equal(nowhere.body['type'], 'ResourceNotFoundException');
    const odd = { TableName: TABLE, Key: { pk: { S: 'p' }, sk: { N: '1' } } };
    const twice = { RequestItems: { [TABLE]: { Keys: [keyOf(1), keyOf(1)] } } };
    for (const [operation, fields] of [
      ['GetItem', odd],
      ['BatchGetItem', twice],
    ] as const) {
      const refused = await askBoth({ operation, fields }, operation);
      assert.equal(refused.body['type'], 'ValidationException');
    }
  });
});
