/** Mappings of a stack's functions, as Lambda is asked for them (F3). */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repositoryRoot } from '../../../../scripts/lib/run-tool.ts';
import { MAPPED_FUNCTIONS, openMappings } from '../../../../src/cli/stack/triggers.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';

describe('MAPPED_FUNCTIONS', () => {
  it('knows every function that serverless.yml maps to a queue', () => {
    const service = readService(path.join(repositoryRoot, 'serverless.yml'), 'local');
    const mapped = service.functions
      .filter(({ queueMappings }) => queueMappings.length > 0)
      .map(({ name }) => name);
    assert.deepEqual(mapped.toSorted(), [...MAPPED_FUNCTIONS].toSorted());
  });
});

describe('openMappings', () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push(`${method} ${url} ${Buffer.concat(chunks).toString()}`.trim());
      const isFirst = !url.includes('Marker');
      const body = {
        EventSourceMappings: [
          {
            UUID: isFirst ? 'one' : 'two',
            State: 'Enabled',
            EventSourceArn: `arn:aws:sqs:eu-west-1:111122223333:queue-${isFirst ? 'a' : 'b'}`,
          },
        ],
        ...(isFirst ? { NextMarker: 'more' } : {}),
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(method === 'GET' ? body : {}));
    });
  });
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    process.env['AWS_ENDPOINT_URL_LAMBDA'] = `http://127.0.0.1:${port}`;
    process.env['AWS_ACCESS_KEY_ID'] = 'test';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('reads every page, and turns one mapping by its id', async () => {
    const control = openMappings({ region: 'eu-west-1' });
    try {
      const found = await control.list('rollcall-prod-dead-letter');
      assert.deepEqual(
        found.map(({ id, source, state }) => [id, source, state]),
        [
          ['one', 'queue-a', 'Enabled'],
          ['two', 'queue-b', 'Enabled'],
        ],
      );
      const [first] = found;
      assert.ok(first);
      await control.turn(first, 'Disabled');
      assert.match(
        requests.at(-1) ?? '',
        /^PUT .*\/event-source-mappings\/one\/? .*"Enabled":false/,
      );
    } finally {
      control.close();
    }
  });
});
