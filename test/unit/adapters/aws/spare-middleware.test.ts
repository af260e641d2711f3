/**
 * What clients of the SDK are spared: they sign as ever, with the credentials of the time, and call themselves rollcall.
 */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { spareMiddleware } from '../../../../src/adapters/aws/spare-middleware.ts';

type Headers = Readonly<Record<string, string>>;

/** A client that is spared, and the headers of each request that it sends. */
function sparedClient(config: DynamoDBClientConfig): {
  readonly client: DynamoDBClient;
  readonly sent: Headers[];
} {
  const sent: Headers[] = [];
  const client = new DynamoDBClient({ region: 'us-east-1', maxAttempts: 1, ...config });
  client.middlewareStack.add(
    (next) => async (step) => {
      sent.push({ ...(step.request as { readonly headers: Headers }).headers });
      return next(step);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'seen' },
  );
  client.middlewareStack.add(
    () => () => Promise.resolve({ response: {}, output: { $metadata: {} } }),
    { step: 'deserialize', priority: 'low', name: 'answered', override: true },
  );
  client.middlewareStack.remove('deserializerMiddleware');
  spareMiddleware(client);
  return { client, sent };
}

const ask = (client: DynamoDBClient): Promise<unknown> =>
  client.send(new GetItemCommand({ TableName: 'view', Key: { pk: { S: 'a' }, sk: { S: 'b' } } }));

describe('spareMiddleware', () => {
  it('lets requests call themselves rollcall, signed as ever', async () => {
    const credentials = { accessKeyId: 'one', secretAccessKey: 'secret' };
    const { client, sent } = sparedClient({ credentials });
    await ask(client);
    const [headers] = sent;
    assert.equal(headers?.['user-agent'], 'rollcall');
    assert.equal(headers['x-amz-user-agent'], undefined);
    assert.match(headers['authorization'] ?? '', /^AWS4-HMAC-SHA256 Credential=one\//);
  });

  it('signs each request with the credentials of its time', async () => {
    let asked = 0;
    const { client, sent } = sparedClient({
      // Ended already, so that the next request asks again.
      credentials: () => {
        asked += 1;
        const accessKeyId = `key${asked}`;
        return Promise.resolve({
          ...{ accessKeyId, secretAccessKey: 'secret' },
          expiration: new Date(0),
        });
      },
    });
    await ask(client);
    await ask(client);
    const signed = sent.map(
      ({ authorization = '' }) => /Credential=(\w+)/.exec(authorization)?.[1],
    );
    assert.notEqual(signed[0], signed[1]);
  });

  it('makes one signer for each scheme', async () => {
    const made: string[] = [];
    const signer = (scheme?: { readonly signingRegion?: string }): Promise<string> => {
      made.push(scheme?.signingRegion ?? '');
      return Promise.resolve(`signer ${made.length}`);
    };
    const config = { signer };
    spareMiddleware({ config });
    const here = { signingName: 'dynamodb', signingRegion: 'us-east-1' };
    const there = { ...here, signingRegion: 'eu-west-1' };
    const signers = await Promise.all([here, here, there].map((scheme) => config.signer(scheme)));
    assert.deepEqual(signers, ['signer 1', 'signer 1', 'signer 2']);
  });

  it('makes a signer again that could not be made', async () => {
    let tries = 0;
    const config = {
      signer: (): Promise<string> => {
        tries += 1;
        return tries === 1 ? Promise.reject(new Error('no region yet')) : Promise.resolve('signer');
      },
    };
    spareMiddleware({ config });
    await assert.rejects(config.signer(), /no region yet/);
    assert.equal(await config.signer(), 'signer');
  });
});
