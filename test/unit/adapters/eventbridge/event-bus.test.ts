// PutEvents: what is sent, signed, in what portions, and what each kind of answer leads to.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  ENTRIES_MAX,
  chunksOf,
  createEventBridgeBus,
} from '../../../../src/adapters/eventbridge/event-bus.ts';
import type { BusEntry, EventBus } from '../../../../src/ports/fleet-notifier.ts';

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly entries: readonly Readonly<Record<string, unknown>>[];
}

const AT_MS = Date.UTC(2026, 10, 25, 12, 0, 0, 500);
const entry = (id: string, detail = { id }): BusEntry => ({
  type: 'dev.rollcall.fleet.halted',
  atMs: AT_MS,
  detail: JSON.stringify(detail),
});
const put = { kind: 'put' };

describe('createEventBridgeBus', () => {
  let answer: (asked: Asked, response: ServerResponse) => void;
  const asked: Asked[] = [];
  let endpoint = '';
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { Entries } = JSON.parse(text) as { Entries: Asked['entries'] };
      const one = { headers: request.headers, entries: Entries };
      asked.push(one);
      answer(one, response);
    });
  });
  const json = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(body));
  };
  const bus = (
    changes: { readonly endpoint?: string; readonly timeoutMs?: number } = {},
  ): EventBus =>
    createEventBridgeBus({
      busName: 'fleets',
      region: 'eu-west-1',
      endpoint,
      credentials: () => Promise.resolve({ accessKeyId: 'AKID', secretAccessKey: 'secret' }),
      nowMs: () => AT_MS,
      ...changes,
    });

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    asked.length = 0;
    answer = ({ entries }, response) => {
      json(response, 200, { FailedEntryCount: 0, Entries: entries.map(() => ({ EventId: 'e' })) });
    };
  });

  it('puts events on the bus by name, in a signed request', async () => {
    assert.deepEqual(await bus().put([entry('a')]), [put]);
    const [{ headers, entries } = assert.fail()] = asked;
    assert.deepEqual(entries, [
      {
        Source: 'dev.rollcall',
        DetailType: 'dev.rollcall.fleet.halted',
        Detail: '{"id":"a"}',
        EventBusName: 'fleets',
        Time: Math.floor(AT_MS / 1000),
      },
    ]);
    assert.equal(headers['x-amz-target'], 'AWSEvents.PutEvents');
    assert.match(
      headers.authorization ?? '',
      /^AWS4-HMAC-SHA256 Credential=AKID\/20261125\/eu-west-1\/events\/aws4_request, SignedHeaders=/,
    );
  });

  it('asks ten at a time, and keeps the order of the outcomes', async () => {
    answer = ({ entries }, response) => {
      const Entries = entries.map(({ Detail }) =>
        Detail === '{"id":"11"}' ? { ErrorCode: 'InvalidArgument' } : { EventId: 'e' },
      );
      json(response, 200, { FailedEntryCount: 1, Entries });
    };
    const outcomes = await bus().put(
      Array.from({ length: 23 }, (_, index) => entry(String(index))),
    );
    assert.deepEqual(
      asked.map(({ entries }) => entries.length),
      [10, 10, 3],
    );
    assert.deepEqual(outcomes[11], { kind: 'refused', code: 'InvalidArgument' });
    assert.equal(outcomes.filter(({ kind }) => kind === 'put').length, 22);
  });

  it('tells what passes from what never will, by entry', async () => {
    answer = (_asked, response) => {
      json(response, 200, {
        FailedEntryCount: 2,
        Entries: [
          { EventId: 'e' },
          { ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' },
          { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' },
        ],
      });
    };
    assert.deepEqual(await bus().put([entry('a'), entry('b'), entry('c')]), [
      put,
      { kind: 'retry', code: 'ThrottlingException' },
      { kind: 'refused', code: 'MalformedDetail' },
    ]);
  });

  for (const [status, body, outcome] of [
    [400, { __type: 'AccessDeniedException' }, { kind: 'refused', code: 'AccessDeniedException' }],
    [
      400,
      { __type: 'com.amazonaws.events#ThrottlingException' },
      { kind: 'retry', code: 'ThrottlingException' },
    ],
    [500, { __type: 'InternalException' }, { kind: 'retry', code: 'HTTP 500' }],
    [503, 'busy', { kind: 'retry', code: 'HTTP 503' }],
    [429, 'busy', { kind: 'retry', code: 'HTTP 429' }],
    [404, 'what?', { kind: 'refused', code: 'HTTP 404' }],
    [200, { Entries: [] }, { kind: 'retry', code: 'unreadable-answer' }],
    [200, { Entries: [{}, {}] }, { kind: 'retry', code: 'unreadable-answer' }],
    [200, 'fine', { kind: 'retry', code: 'unreadable-answer' }],
  ] as const) {
    it(`takes ${String(status)} ${JSON.stringify(body)} for ${outcome.kind}, of every entry`, async () => {
      answer = (_asked, response) => {
        json(response, status, body);
      };
      assert.deepEqual(await bus().put([entry('a'), entry('b')]), [outcome, outcome]);
    });
  }

  it('never rejects: silence, a closed port and a redirect may be put again', async () => {
    answer = () => undefined;
    const hasty = bus({ timeoutMs: 50 });
    assert.deepEqual(await hasty.put([entry('a')]), [{ kind: 'retry', code: 'TimeoutError' }]);
    answer = (_asked, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    };
    assert.equal((await bus().put([entry('a')]))[0]?.kind, 'retry');
    const closed = bus({ endpoint: 'http://127.0.0.1:1' });
    assert.equal((await closed.put([entry('a')]))[0]?.kind, 'retry');
  });

  it('asks nobody for nothing', async () => {
    assert.deepEqual(await bus().put([]), []);
    assert.deepEqual(asked, []);
  });
});

describe('chunksOf', () => {
  it('loses nothing, keeps the order, and bounds count and bytes', () => {
    const sizes = [1, 200_000, 60_000, 60_000, ...Array.from({ length: 25 }, () => 10)];
    const entries = sizes.map((size) => ({ type: 't', atMs: 0, detail: 'x'.repeat(size) }));
    const chunks = chunksOf(entries);
    assert.deepEqual(chunks.flat(), entries);
    for (const chunk of chunks) {
      assert.ok(chunk.length <= ENTRIES_MAX);
      assert.ok(chunk.reduce((sum, { detail }) => sum + detail.length, 0) < 240_000);
    }
  });
});
