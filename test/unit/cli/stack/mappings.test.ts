/** The brake and its release: mappings of a stack, turned and waited for (F3). */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repositoryRoot } from '../../../../scripts/lib/run-tool.ts';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';
import {
  MAPPED_FUNCTIONS,
  openMappings,
  turnMappings,
} from '../../../../src/cli/stack/mappings.ts';
import type { KnownMapping, MappingControl } from '../../../../src/cli/stack/mappings.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';
import { VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';

/** Lambda as it is: a turned mapping is on its way for a while, and refuses to be turned meanwhile. */
class SlowLambda implements MappingControl {
  readonly mappings: KnownMapping[] = [];
  readonly turned: string[] = [];
  readonly #ready = new Map<string, { readonly state: string; atMs: number }>();
  readonly #clock: VirtualClock;
  readonly #takesMs: number;

  constructor(clock: VirtualClock, takesMs: number) {
    this.#clock = clock;
    this.#takesMs = takesMs;
  }

  list(functionName: string): Promise<readonly KnownMapping[]> {
    const found = this.mappings.filter((mapping) => mapping.functionName === functionName);
    return Promise.resolve(
      found.map((mapping) => {
        const turn = this.#ready.get(mapping.id);
        if (turn === undefined) return mapping;
        const isThere = this.#clock.monotonicMs() >= turn.atMs;
        const way = turn.state === 'Enabled' ? 'Enabling' : 'Disabling';
        return { ...mapping, state: isThere ? turn.state : way };
      }),
    );
  }

  turn({ id }: KnownMapping, state: 'Enabled' | 'Disabled'): Promise<void> {
    const turn = this.#ready.get(id);
    assert.ok((turn?.atMs ?? 0) <= this.#clock.monotonicMs(), 'Lambda: ResourceInUseException');
    this.#ready.set(id, { state, atMs: this.#clock.monotonicMs() + this.#takesMs });
    this.turned.push(`${id} ${state}`);
    return Promise.resolve();
  }

  close(): void {
    assert.fail('whoever opened it closes it');
  }
}

function mappingOf(name: string, state = 'Enabled'): KnownMapping {
  return { id: name, functionName: `rollcall-prod-${name}`, queue: `rollcall-prod-${name}`, state };
}

async function drive<Result>(clock: VirtualClock, running: Promise<Result>): Promise<Result> {
  let isDone = false;
  const ended = running.finally(() => (isDone = true));
  ended.catch(() => undefined);
  while (!isDone) {
    await settle();
    if (!isDone) await clock.advance(500);
  }
  return ended;
}

describe('turnMappings (F3)', () => {
  const stop = { stackName: 'rollcall-prod', functions: ['reconcile'], to: 'Disabled' } as const;
  const patience = (clock: VirtualClock, signal = new AbortController().signal) => ({
    clock,
    signal,
    say: () => undefined,
  });

  it('disables the mappings that it is told, once, and waits until they are', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 7000);
    lambda.mappings.push(mappingOf('reconcile'), mappingOf('ingest'));
    const done = await drive(clock, turnMappings(lambda, stop, patience(clock)));
    assert.deepEqual(lambda.turned, ['reconcile Disabled']);
    assert.deepEqual(
      done.map(({ state }) => state),
      ['Disabled'],
    );
  });

  it('waits for a mapping that is on its way before it turns it', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 7000);
    lambda.mappings.push(mappingOf('reconcile'));
    const stopping = turnMappings(lambda, stop, patience(clock));
    await settle();
    const going = turnMappings(lambda, { ...stop, to: 'Enabled' }, patience(clock));
    await drive(
      clock,
      Promise.all([stopping, going]).catch(() => undefined),
    );
    assert.deepEqual(lambda.turned.slice(0, 2), ['reconcile Disabled', 'reconcile Enabled']);
  });

  it('turns nothing that is as it should be', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 0);
    lambda.mappings.push(mappingOf('reconcile', 'Disabled'));
    await drive(clock, turnMappings(lambda, stop, patience(clock)));
    assert.deepEqual(lambda.turned, []);
  });

  it('says which function nothing calls, and gives up after five minutes', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 3_600_000);
    await assert.rejects(turnMappings(lambda, stop, patience(clock)), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, /rollcall-prod-reconcile has no event-source mapping/);
      return true;
    });
    lambda.mappings.push(mappingOf('reconcile'));
    await assert.rejects(drive(clock, turnMappings(lambda, stop, patience(clock))), (error) => {
      assert.ok(error instanceof CommandError);
      assert.equal(error.exitCode, EXIT.timedOut);
      assert.match(error.message, /Not disabled yet: rollcall-prod-reconcile \(Disabling\)/);
      return true;
    });
    assert.ok(clock.monotonicMs() < 310_000);
  });

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
        found.map(({ id, queue, state }) => [id, queue, state]),
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
