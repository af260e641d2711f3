/**
 * Every server that this process tree opens on 127.0.0.1 refuses what a browser sends there: under a name that somebody made lead to loopback,
 * or from a page of another origin. Keys and tokens do not help such a request.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import { startEventsServer } from '@rollcall/local-aws/events/server.ts';
import { startSqsServer } from '@rollcall/local-aws/sqs/server/server.ts';
import { startStsServer } from '@rollcall/local-aws/sts/server.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';

interface Server {
  readonly endpoint: string;
  /** What a program of this machine asks, and gets 200 for. */
  readonly asked: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly stop: () => Promise<void>;
}

const clock = createSystemClock();
const random = createSystemRandom();
const newId = (): string => random.uniqueId();
/** These servers ask for no signature, so that nothing but name and origin can be what they refuse. */
const authorization =
  'AWS4-HMAC-SHA256 Credential=a/20260101/r/s/aws4_request, SignedHeaders=host, Signature=0';
const posted = (target: string, body: object): Server['asked'] => ({
  ...{ method: 'POST', path: '/' },
  headers: {
    'x-amz-target': target,
    'x-amz-date': '20260101T000000Z',
    'content-type': 'application/x-amz-json-1.0',
    authorization,
  },
  body: JSON.stringify(body),
});
const ENTRY = { Source: 'somebody', DetailType: 'something', Detail: '{}' };

const SERVERS: Readonly<Record<string, () => Promise<Server>>> = {
  'the tables': async () => ({
    ...(await startDynamoDbServer()),
    asked: posted('DynamoDB_20120810.ListTables', {}),
  }),
  'the queues': async () => ({
    ...(await startSqsServer({ clock, newId })),
    asked: posted('AmazonSQS.ListQueues', {}),
  }),
  'the event bus': async () => ({
    ...(await startEventsServer({ clock, newId })),
    asked: posted('AWSEvents.PutEvents', { Entries: [ENTRY] }),
  }),
  'the caller’s identity': async () => {
    const server = await startStsServer({
      // Nobody signs here: name and origin come first.
      authorizer: { signerOf: () => 'KEY', arnOf: () => 'arn:aws:iam::000000000000:user/operator' },
      newId,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'Action=GetCallerIdentity&Version=2011-06-15';
    return { ...server, asked: { method: 'POST', path: '/', headers, body } };
  },
  'the API server of a local cluster': async () => {
    const cluster = await startLocalCluster({
      ...{ name: 'mine', port: 0, machines: [], clock, random, log: new MemoryLog() },
      runsComponents: false,
    });
    const headers = { authorization: `Bearer ${cluster.tokens.admin}` };
    return {
      endpoint: cluster.server,
      asked: { method: 'GET', path: '/api/v1/namespaces', headers },
      stop: () => cluster.stop(),
    };
  },
};

for (const [name, open] of Object.entries(SERVERS)) {
  describe(`${name} on 127.0.0.1`, () => {
    let server: Server;
    before(async () => {
      server = await open();
    });
    after(async () => {
      await server.stop();
    });

    async function ask(more: Readonly<Record<string, string>>) {
      const { asked, endpoint } = server;
      const { hostname, port, protocol } = new URL(endpoint);
      const send = protocol === 'https:' ? httpsRequest : httpRequest;
      const { method, path, headers, body } = asked;
      const request = send({
        ...{ hostname, port, method, path, headers: { ...headers, ...more } },
        rejectUnauthorized: false,
      });
      request.end(body);
      const [response] = (await once(request, 'response')) as [
        NodeJS.ReadableStream & { readonly statusCode: number },
      ];
      return { status: response.statusCode, said: await text(response) };
    }

    it('answers programs under each name of this machine, by whatever port it is forwarded', async () => {
      for (const host of ['127.0.0.1', 'localhost:8080', 'LOCALHOST', '[::1]:1']) {
        const { status, said } = await ask({ host });
        assert.equal(status, 200, `${host}: ${said}`);
      }
    });

    it('refuses a foreign name in a sentence', async () => {
      for (const host of [
        'evil.example',
        '127.0.0.1.evil.example',
        '10.0.0.1:80',
        'localhost.:80',
      ]) {
        const { status, said } = await ask({ host });
        assert.equal(status, 403, `${host}: ${said}`);
        assert.match(said, /answers at 127\.0\.0\.1, localhost and \[::1\] alone/);
      }
    });

    it('refuses a browser in a sentence', async () => {
      for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:3000']) {
        const { status, said } = await ask({ origin });
        assert.equal(status, 403, `${origin}: ${said}`);
        assert.match(said, /does not answer browsers/);
      }
    });
  });
}
