/**
 * Rollcall's engine as a child process of a benchmark: starts, counts its own requests, stops when told.
 *
 * Requests are counted where they leave (node's diagnostics channel of the HTTP client), by kind.
 */
import { channel } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { OverviewPoller } from '../../../src/cli/start/overview-poller.ts';
import { startEngine } from '../../../src/engine/engine.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createActivityLog } from '../../conformance/scenarios/activity-log.ts';
import type { Log, LogFields } from '@rollcall/base/ports/log.ts';
import type { EngineChildSettings } from './engine-process.ts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

const TABLE_EVERY_MS = 500;
const READS = new Set(['GetItem', 'BatchGetItem', 'Query']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchExecuteStatement']);

const requests: Record<string, number> = {};

/** Every request, and every line of the log, with its time, in the file that BENCH_ENGINE_LOG names: what happened when. */
const timelinePath = process.env['BENCH_ENGINE_LOG'];
const timeline = timelinePath === undefined ? undefined : createWriteStream(timelinePath);

function count(kind: string): void {
  requests[kind] = (requests[kind] ?? 0) + 1;
  timeline?.write(`${String(Date.now())} request ${kind}\n`);
}

/** Sorts a request by what it is for. */
function classify(request: ClientRequest): string {
  const target = request.getHeader('x-amz-target');
  if (typeof target !== 'string') return 'kubernetes';
  const [, action = ''] = target.split('.');
  if (READS.has(action)) return 'reads';
  if (WRITES.has(action)) return 'writes';
  return `sqs-${action}`;
}

channel('http.client.request.start').subscribe((message) => {
  const { request } = message as { readonly request: ClientRequest };
  const kind = classify(request);
  count(kind);
  if (kind === 'kubernetes') count(`api ${requestKind(request)}`);
});

countItems((kind) => {
  count(`item ${kind}`);
});

/** The same log, which writes its lines into the timeline, if there is one. */
function withTimes(log: Log): Log {
  if (timeline === undefined) return log;
  const line = (level: string) => (message: string, fields?: LogFields) => {
    timeline.write(`${String(Date.now())} ${level} ${message} ${JSON.stringify(fields ?? {})}\n`);
  };
  const timed: Log = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: () => timed,
  };
  return timed;
}

/** As often as `npm start` does (src/cli/start/start.ts), until told to stop. */
async function readTable(): Promise<void> {
  const poller = new OverviewPoller(engine, clock);
  while (!leaving.signal.aborted) {
    await poller.latest();
    await clock.sleep(TABLE_EVERY_MS, leaving.signal);
  }
}

const clock = createSystemClock();
const [settings] = (await once(process, 'message')) as [EngineChildSettings];
const activity = createActivityLog();
const engine = await startEngine({
  clusters: [
    {
      id: clusterId('bench'),
      server: settings.server,
      caPem: settings.caPem,
      watcher: { kind: 'bearer', token: settings.watcherToken },
      functions: { kind: 'bearer', token: settings.functionsToken },
      probe: { kind: 'bearer', token: settings.adminToken },
      mode: 'takeover',
    },
  ],
  log: withTimes(activity.log),
  metrics: activity.metrics,
  probeWaitMs: 3000,
});
process.send?.('started');

const leaving = new AbortController();
const table = settings.readsTable ? readTable() : Promise.resolve();

process.on('message', (message) => {
  if (message === 'usage') {
    process.send?.({
      ...requests,
      messages: requests['sqs-SendMessage'] ?? 0,
      sends: requests['sqs-SendMessageBatch'] ?? 0,
      invocations: engine.aws.counts.started,
      hinted: activity.counted('IngestHints'),
      timers: activity.counted('RequeueTimers'),
      skipped: activity.counted('ReconcileRuns', 'skipped'),
      settled: activity.counted('ReconcileRuns', 'settled'),
      acted: activity.counted('ReconcileRuns', 'acted'),
      deferred: activity.counted('ReconcileRuns', 'deferred'),
    });
  }
  if (message === 'stop') {
    leaving.abort();
    void table.then(engine.stop).then(() => {
      process.stderr.write(`${activity.tail(5)}\n`);
      process.disconnect();
    });
  }
});

interface Input {
  readonly Key?: Key;
  readonly Item?: Key;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Key[] }>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  readonly Statements?: readonly { readonly Parameters?: readonly unknown[] }[];
}

interface Key {
  readonly pk?: unknown;
  readonly sk?: unknown;
}

/** From now on `count` hears of each item that a command touches, as `put STATE` or `get PODS`. */
function countItems(count: (kind: string) => void): void {
  const { prototype } = DynamoDBDocumentClient;
  const original: unknown = Reflect.get(prototype, 'send');
  if (typeof original !== 'function') throw new Error('the client sends otherwise');
  Reflect.set(prototype, 'send', function (this: unknown, ...input: unknown[]): unknown {
    const command = input[0] as { readonly constructor: { readonly name: string }; input: Input };
    const verb = command.constructor.name.replace('Command', '').toLowerCase();
    for (const key of keysOf(command.input)) count(`${verb} ${kindOf(key)}`);
    return Reflect.apply(original, this, input) as unknown;
  });
}

function keysOf({ Key: key, Item: item, RequestItems: asked, ...input }: Input): readonly Key[] {
  if (key !== undefined) return [key];
  if (item !== undefined) return [item];
  if (asked !== undefined) return Object.values(asked).flatMap(({ Keys: keys = [] }) => keys);
  if (input.Statements !== undefined) {
    // Key and condition are a statement's last three (batched-writer.ts).
    return input.Statements.map(({ Parameters: given = [] }) => ({
      pk: given.at(-3),
      sk: given.at(-2),
    }));
  }
  return [{ pk: input.ExpressionAttributeValues?.[':pk'], sk: 'SLICE' }];
}

/** A slice by its set, all else by its sort key. */
function kindOf({ pk, sk }: Key): string {
  return sk === 'SLICE' ? (String(pk).split('#')[0] ?? '') : String(sk);
}

/** `POST pods`, `PATCH daemonsets/status`: names, namespaces and parameters left out. */
function requestKind({ method, path }: ClientRequest): string {
  const [bare = ''] = path.split('?');
  const parts = bare.split('/').filter(Boolean);
  const rest = parts.slice(parts[0] === 'apis' ? 3 : 2);
  const [resource = bare, name, subresource] = rest[0] === 'namespaces' ? rest.slice(2) : rest;
  const what = [resource, ...(subresource === undefined ? [] : [subresource])].join('/');
  const isList = method === 'GET' && name === undefined;
  return `${isList ? 'LIST' : method} ${what}`;
}
