/** Runs the suite of event buses against an implementation: starts it, gives each check the same bench, stops it. */
import { after, before, describe } from 'node:test';
import { skipWithoutTools } from '../../support/require-tool.ts';
import { registerChecks, type Check } from './check.ts';
import type { EventBench } from './event-bench.ts';
import type { EventImplementation } from './event-implementations.ts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

const entryOf = (source: string, changes: object = {}): object => ({
  Source: source,
  DetailType: 'test',
  Detail: '{"n":1}',
  ...changes,
});
const fresh = (): string => `rollcall.test.${randomUUID()}`;

/** The checks. */
const eventChecks: readonly Check<EventBench>[] = [
  {
    name: 'an event is delivered in the envelope that targets get',
    run: async (bench: EventBench): Promise<void> => {
      const source = fresh();
      const { status, body } = await bench.put([entryOf(source, { EventBusName: 'default' })]);
      assert.equal(status, 200);
      assert.equal(body.FailedEntryCount, 0);
      const [event = {}, ...others] = await bench.read(source);
      assert.deepEqual(others, []);
      assert.deepEqual(Object.keys(event).sort(), [
        ...['account', 'detail', 'detail-type', 'id', 'region', 'resources', 'source', 'time'],
        'version',
      ]);
      assert.equal(event['id'], body.Entries?.[0]?.EventId);
      assert.equal(event['version'], '0');
      assert.equal(event['detail-type'], 'test');
      assert.deepEqual(event['detail'], { n: 1 });
      assert.match(String(event['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    },
  },
  {
    name: 'the default bus is meant where none is named',
    run: async (bench: EventBench): Promise<void> => {
      const source = fresh();
      await bench.put([entryOf(source)]);
      assert.equal((await bench.read(source)).length, 1);
    },
  },
  {
    name: 'more than ten entries are refused whole',
    run: async (bench: EventBench): Promise<void> => {
      const source = fresh();
      const { status, body } = await bench.put(Array.from({ length: 11 }, () => entryOf(source)));
      assert.equal(status, 400);
      assert.match(body.__type ?? '', /ValidationException/);
      assert.deepEqual(await bench.read(source), []);
    },
  },
  {
    name: 'no entries are refused',
    run: async (bench: EventBench): Promise<void> => {
      assert.equal((await bench.put([])).status, 400);
    },
  },
  {
    name: 'an entry is refused by itself, and its neighbours are taken',
    run: async (bench: EventBench): Promise<void> => {
      const source = fresh();
      const { status, body } = await bench.put([
        entryOf(source),
        entryOf('aws.somebody'),
        entryOf(source),
      ]);
      assert.equal(status, 200);
      assert.equal(body.FailedEntryCount, 1);
      assert.equal(body.Entries?.[1]?.ErrorCode, 'NotAuthorizedForSourceException');
      assert.equal((await bench.read(source)).length, 2);
    },
  },
  {
    name: 'a detail that is no JSON object is malformed',
    run: async (bench: EventBench): Promise<void> => {
      const { body } = await bench.put([
        entryOf(fresh(), { Detail: '{' }),
        entryOf(fresh(), { Detail: '1' }),
      ]);
      const codes = body.Entries?.map(({ ErrorCode }) => ErrorCode);
      assert.deepEqual(codes, ['MalformedDetail', 'MalformedDetail']);
    },
  },
  {
    name: 'an entry without a source, a type or a detail is an invalid argument',
    run: async (bench: EventBench): Promise<void> => {
      for (const name of ['Source', 'DetailType', 'Detail']) {
        const { body } = await bench.put([entryOf(fresh(), { [name]: undefined })]);
        assert.equal(body.Entries?.[0]?.ErrorCode, 'InvalidArgument', name);
      }
    },
  },
  {
    name: 'a request of more than 256 KB is refused whole',
    run: async (bench: EventBench): Promise<void> => {
      const Detail = JSON.stringify({ text: 'x'.repeat(140_000) });
      const source = fresh();
      const { status } = await bench.put([
        entryOf(source, { Detail }),
        entryOf(source, { Detail }),
      ]);
      assert.equal(status, 400);
    },
  },
  {
    name: "Rollcall's own requests are understood, in portions of ten",
    run: async ({ bus, read }: EventBench): Promise<void> => {
      const type = fresh();
      const entries = Array.from({ length: 12 }, (_, n) => ({
        ...{ type, atMs: 0 },
        detail: JSON.stringify({ n }),
      }));
      const outcomes = await bus.put(entries);
      assert.deepEqual(
        outcomes,
        entries.map(() => ({ kind: 'put' })),
      );
      const events = (await read('dev.rollcall')).filter((event) => event['detail-type'] === type);
      assert.equal(events.length, 12);
    },
  },
];

/** The suite against one implementation. */
export function describeEvents({ name, tools, start, differences }: EventImplementation): void {
  describe(name, { skip: skipWithoutTools(tools) }, () => {
    let running: Awaited<ReturnType<EventImplementation['start']>> | undefined;
    before(async () => {
      running = await start();
    });
    after(async () => {
      await running?.stop();
    });
    registerChecks(eventChecks, differences, (): EventBench => {
      if (running === undefined) throw new Error(`${name} is not running`);
      return running.bench;
    });
  });
}
