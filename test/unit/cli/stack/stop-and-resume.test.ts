/** `rollcall stack stop` and `resume`, against a Lambda and an EventBridge that answer as AWS does: what acts in clusters stops (F3, issue 18). */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { VIRTUAL_START_MS, VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../../../../src/cli/command-line/command-module.ts';
import { describeEntry } from '../../../../src/core/log/log-words.ts';
import { uncoloured } from '../../../../src/cli/command-line/colour.ts';
import { MAPPED_FUNCTIONS } from '../../../../src/cli/stack/triggers.ts';
import { MemoryFreezeStore } from '../../../support/memory-freeze-store.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { NOT_LOCAL } from '../../../../src/cli/reach/stack.ts';
import { resumeStackCommand, stopStackCommand } from '../../../../src/cli/stack/stop-and-resume.ts';

const OUTPUTS = {
  EventsQueueArn: 'arn:aws:sqs:eu-west-1:1:events',
  FleetScheduleName: 'rule-of-fleet',
  ResyncScheduleName: 'rule-of-resync',
};
const OFF = ['fleet', 'reconcile'];

describe('rollcall stack stop and resume', () => {
  /** Of functions by their short names, whether something calls them. */
  const calls = new Map<string, boolean>();
  let isDown = false;
  let endpoint = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (isDown) response.statusCode = 403;
      response.end(JSON.stringify(answerOf(request, Buffer.concat(chunks).toString())));
    });
  });

  function answerOf(request: IncomingMessage, text: string): object {
    const { url = '', headers } = request;
    const body = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>;
    const action = headers['x-amz-target'];
    if (typeof action === 'string') {
      const name = String(body['Name']).replace('rule-of-', '');
      if (action !== 'AWSEvents.DescribeRule') calls.set(name, action === 'AWSEvents.EnableRule');
      return { State: calls.get(name) === true ? 'ENABLED' : 'DISABLED' };
    }
    const [, id] = /event-source-mappings\/([\w-]+)/.exec(url) ?? [];
    if (id !== undefined) {
      calls.set(id, body['Enabled'] === true);
      return {};
    }
    return mappingsOf(url);
  }

  /** On a second page, as of a function with many. */
  function mappingsOf(url: string): object {
    const [, name = ''] = /FunctionName=rollcall-prod-([\w-]+)/.exec(url) ?? [];
    if (!MAPPED_FUNCTIONS.some((mapped) => mapped === name)) return { EventSourceMappings: [] };
    if (!url.includes('Marker=')) return { EventSourceMappings: [], NextMarker: 'more' };
    const State = calls.get(name) === true ? 'Enabled' : 'Disabled';
    const EventSourceArn = `arn:aws:sqs:eu-west-1:1:queue-of-${name}`;
    return { EventSourceMappings: [{ UUID: name, State, EventSourceArn }] };
  }

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    process.env['AWS_ENDPOINT_URL_LAMBDA'] = endpoint;
    process.env['AWS_ACCESS_KEY_ID'] = 'test';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'test';
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    isDown = false;
    freezes = new MemoryFreezeStore();
    view = new MemoryViewStore();
    for (const name of [...MAPPED_FUNCTIONS, 'fleet', 'resync']) calls.set(name, true);
  });

  /** The registry's table. */
  let freezes = new MemoryFreezeStore();
  /** Of the view only what happened. */
  let view = new MemoryViewStore();

  async function run(
    command: CommandModule,
    options: Readonly<Record<string, unknown>> = { yes: true, why: 'INC-1' },
    outputs: Readonly<Record<string, string>> = OUTPUTS,
  ): Promise<CommandResult> {
    const clock = new VirtualClock();
    const stack = {
      ...{ name: 'rollcall-prod', aws: { region: 'eu-west-1' }, outputs, clock, freezes },
      ...{ view, random: { uniqueId: () => String((ids += 1)) } },
      awsCredentials: () => Promise.resolve({ accessKeyId: 'a', secretAccessKey: 's' }),
      callerArn: () => Promise.resolve('arn:aws:iam::1:user/ann'),
    };
    const context = {
      ...{ clock, signal: new AbortController().signal, say: () => undefined },
      environment: { AWS_ENDPOINT_URL_EVENTBRIDGE: endpoint, USER: 'ann' },
      openStack: () => Promise.resolve(stack),
    } as unknown as CommandContext; // as much of it as the commands use
    let isDone = false;
    const running = command.run({ args: [], options }, context).finally(() => (isDone = true));
    running.catch(() => undefined);
    while (!isDone) {
      await settle();
      if (!isDone) await clock.advance(500);
    }
    return running;
  }

  let ids = 0;

  const stopped = (): readonly string[] =>
    [...calls].flatMap(([name, isCalled]) => (isCalled ? [] : [name])).toSorted();

  it('stop reconcile and the schedule of fleet, and say so', async () => {
    const { document } = await run(stopStackCommand);
    assert.deepEqual(stopped(), OFF);
    assert.deepEqual(document['schedules'], [
      { functionName: 'rollcall-prod-fleet', rule: 'rule-of-fleet', state: 'Disabled' },
    ]);
    assert.deepEqual(document['mappings'], [
      {
        ...{ id: 'reconcile', functionName: 'rollcall-prod-reconcile' },
        ...{ queue: 'queue-of-reconcile', state: 'Disabled' },
      },
    ]);
  });

  it('stop every function that there is with --all, and call every one again', async () => {
    await run(stopStackCommand, { all: true, yes: true, why: 'restore' });
    assert.deepEqual(stopped(), [...calls.keys()].toSorted());
    await run(resumeStackCommand);
    assert.deepEqual(stopped(), []);
  });

  it('may be repeated: who stopped first stands, with every function that is stopped by now', async () => {
    await run(stopStackCommand);
    await run(stopStackCommand, { all: true, yes: true, why: 'restore' });
    const note = await freezes.readStop();
    assert.deepEqual(
      [note?.by, note?.why, note?.atMs],
      ['ann (user/ann)', 'INC-1', VIRTUAL_START_MS],
    );
    assert.deepEqual(note?.functions.toSorted(), stopped());
  });

  it('note who stopped it and why before anything is turned, until it is resumed', async () => {
    await run(stopStackCommand);
    assert.deepEqual((await freezes.readStop())?.functions, ['reconcile', 'fleet']);
    await run(resumeStackCommand);
    assert.equal(await freezes.readStop(), undefined);
  });

  it('note nothing where AWS does not answer: every command would tell a stop that is none', async () => {
    isDown = true;
    await assert.rejects(run(stopStackCommand));
    assert.equal(await freezes.readStop(), undefined);
  });

  it('are refused inside npm start, which no queue of AWS calls', async () => {
    const local = { ...OUTPUTS, FleetScheduleName: NOT_LOCAL };
    const refused = { exitCode: 1, message: /runs inside npm start/ };
    await assert.rejects(run(stopStackCommand, { yes: true, why: 'INC-1' }, local), refused);
    await assert.rejects(run(resumeStackCommand, {}, local), refused);
    assert.equal(await freezes.readStop(), undefined);
  });

  it('keep when it was stopped, for coverage; a resume without a stop keeps nothing', async () => {
    await run(resumeStackCommand);
    assert.deepEqual(await freezes.readStops(), []);
    await run(stopStackCommand);
    await run(resumeStackCommand);
    const [stop, ...others] = await freezes.readStops();
    assert.deepEqual([stop?.[0], others], [VIRTUAL_START_MS, []]);
    assert.ok((stop?.[1] ?? 0) >= VIRTUAL_START_MS);
  });

  it('have an entry each in what happened, also once it is over', async () => {
    await run(stopStackCommand);
    await run(resumeStackCommand);
    const page = { day: new Date(VIRTUAL_START_MS).toISOString().slice(0, 10), nowMs: 0 };
    const { items } = await view.listLogItems(undefined, page);
    const told = items.flatMap(({ entries }) => entries.map((entry) => describeEntry(entry)));
    assert.deepEqual(told, [
      'stack stop (reconcile, fleet) by ann (user/ann): INC-1',
      'stack resume by ann (user/ann)',
    ]);
  });

  it('stop all the same where nothing can be noted, and say so', async () => {
    freezes.hooks = { before: () => Promise.reject(new Error('no table')) };
    const { lines, document } = await run(stopStackCommand);
    assert.deepEqual(stopped(), OFF);
    assert.match(
      lines.map(uncoloured).join('\n'),
      /^! Who stopped it and why could not be noted.*no table$/m,
    );
    assert.equal(document['note'], undefined);
  });

  it('stop nothing without a reason, or without --yes', async () => {
    await assert.rejects(run(stopStackCommand, { yes: true }), { exitCode: 2 });
    await assert.rejects(run(stopStackCommand, { why: 'INC-1' }), {
      exitCode: 3,
      remedy: "If that is meant: rollcall stack stop --why 'INC-1' --yes",
    });
    await assert.rejects(run(stopStackCommand, { why: "don't" }), {
      remedy: "If that is meant: rollcall stack stop --why 'don'\\''t' --yes",
    });
    assert.deepEqual(stopped(), []);
  });
});
