/** The table server in this process: a client that hangs up, or a stop under load, must not end the process. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { it } from 'node:test';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import { eventually } from './local-aws-fixture.ts';

const listTables = (endpoint: string): Promise<Response> =>
  fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.ListTables',
      'x-amz-date': '20260101T000000Z',
      authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=s',
    },
    body: '{}',
  });

it('survives a client that hangs up in the middle of a request, and still stops', async () => {
  const server = await startDynamoDbServer();
  const socket = connect(Number(new URL(server.endpoint).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"half":');
  await eventually(() => socket.bytesWritten > 0, 'half a request');
  await (await listTables(server.endpoint)).text();
  socket.destroy();
  await once(socket, 'close');
  assert.equal((await listTables(server.endpoint)).status, 200);
  await server.stop();
  await server.stop();
});

it('gives whole answers or none when it stops under load', async () => {
  const server = await startDynamoDbServer();
  const answers = Array.from({ length: 20 }, async () => {
    const answer = await listTables(server.endpoint);
    return answer.text();
  });
  const settled = Promise.allSettled(answers);
  await Promise.race(answers);
  await server.stop();
  for (const answer of await settled) {
    // A connection may be refused once the server stops; an answer that comes is a whole one.
    if (answer.status === 'fulfilled')
      assert.deepEqual(JSON.parse(answer.value), { TableNames: [] });
  }
});
