/** The stream of events over real HTTP: one poller for all viewers, only while there is one; what changed; coming back; slow readers. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';
import { LiveFeed, type LiveLook } from '../../../src/cli/ui/live-feed.ts';
import { startUiServer } from '../../../src/cli/ui/server.ts';
import { failure } from '../../../src/cli/process/exit-codes.ts';
import { Scene } from '../../support/answer-scene.ts';
import { clientOf, PAGE, serveWorld, type UiClient } from '../../support/ui-client.ts';

interface Event {
  readonly id: string;
  readonly event: string;
  readonly document: Readonly<Record<string, unknown>>;
}

const EVENTS = '/api/v1/events';

/** A viewer that reads: `until` resolves with the events up to the first of that name. */
class Viewer {
  readonly #answer: IncomingMessage;
  readonly #parts: AsyncIterator<Buffer>;
  #text = '';

  constructor(answer: IncomingMessage) {
    this.#answer = answer;
    this.#parts = (answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  static async open(client: UiClient, lastEventId?: string): Promise<Viewer> {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const answer = await client.open(EVENTS, { headers });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['content-type'], 'text/event-stream; charset=utf-8');
    return new Viewer(answer);
  }

  async until(name: string): Promise<readonly Event[]> {
    const events: Event[] = [];
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end < 0) {
        const part = await this.#parts.next();
        assert.ok(part.done !== true, `the stream ended before ${name}`);
        this.#text += part.value.toString('utf8');
        continue;
      }
      const [, id, event, data] =
        /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(this.#text.slice(0, end)) ?? [];
      this.#text = this.#text.slice(end + 2);
      if (id === undefined || event === undefined || data === undefined) continue;
      events.push({ id, event, document: JSON.parse(data) as Event['document'] });
      if (event === name) return events;
    }
  }

  leave(): void {
    this.#answer.destroy();
  }
}

/** A feed of looks that the test makes. */
async function feedOf(
  test: TestContext,
  look: () => LiveLook,
): Promise<{
  readonly client: UiClient;
  readonly clock: VirtualClock;
  readonly looks: () => number;
  readonly close: () => Promise<void>;
}> {
  const clock = new VirtualClock();
  let looks = 0;
  const counted = (): Promise<LiveLook> => {
    looks += 1;
    return Promise.resolve().then(look);
  };
  const { stream } = new LiveFeed({ look: counted, clock, epoch: 'epoch' });
  const endpoints = new Map([['events', { kind: 'stream', open: stream }]] as const);
  const server = await startUiServer(
    { token: 'token', files: () => Promise.resolve(PAGE), endpoints },
    0,
  );
  test.after(() => server.close());
  const client = clientOf({ ...server, address: `http://127.0.0.1/#token=token` });
  return { client, clock, looks: () => looks, close: () => server.close() };
}

const standing = (text: string): LiveLook => ({
  standing: { status: { kind: 'FleetHealth', text } },
  log: undefined,
});

const namesOf = (events: readonly Event[]): readonly string[] => events.map(({ event }) => event);

/** Lets what a closed connection means arrive. */
async function arrive(isThere: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !isThere(); turn += 1) await settle();
  assert.ok(isThere());
}

describe('the events of rollcall ui', () => {
  it('tells the documents of the command line, and then only what changed', async (test) => {
    const { commands, stores, nowMs } = await Scene.make('well');
    const client = await serveWorld(commands);
    test.after(() => client.ui.close());
    const viewer = await Viewer.open(client);
    const first = await viewer.until('look');
    assert.deepEqual(namesOf(first), ['status', 'rollouts', 'fleets', 'nodes', 'log', 'look']);
    for (const [event, path] of [
      ['status', 'status'],
      ['nodes', 'get/nodes'],
      ['rollouts', 'get/rollouts'],
      ['fleets', 'get/fleets'],
    ]) {
      const answer = await client.ask(`/api/v1/${path ?? ''}`);
      const told = first.find((one) => one.event === event)?.document;
      assert.deepEqual(told, JSON.parse(answer.text), event);
    }
    await stores.freezes.writeStop({ by: 'ann', why: 'INC-1', atMs: nowMs, functions: ['fleet'] });
    await commands.clock.advance(2000);
    const second = await viewer.until('look');
    assert.ok(namesOf(second).includes('status') && namesOf(second).includes('nodes'));
    await commands.clock.advance(2000);
    assert.deepEqual(namesOf(await viewer.until('look')), ['look']);
  });

  it('looks once for all viewers, and not at all without one', async (test) => {
    let number = 0;
    const { client, clock, looks, close } = await feedOf(test, () => standing(String(++number)));
    assert.equal(looks(), 0);
    const viewers = [await Viewer.open(client), await Viewer.open(client)];
    for (const viewer of viewers) await viewer.until('status');
    assert.equal(looks(), 1);
    await clock.advance(2000);
    assert.equal(looks(), 2);
    for (const viewer of viewers) viewer.leave();
    await arrive(() => clock.pendingTimers === 0);
    await clock.advance(60_000);
    assert.equal(looks(), 2);
    const again = await (await Viewer.open(client)).until('look');
    assert.deepEqual(namesOf(again), ['status', 'look']);
    assert.equal(again[0]?.document['text'], '3', 'it is told what was known before');
    assert.equal(looks(), 3);
    await close();
  });

  it('gives who comes back what was missed, and who brings an id of another server everything', async (test) => {
    let text = 'a';
    const { client, clock, close } = await feedOf(test, () => ({
      ...standing(text),
      log: { kind: 'Log', entries: [text] },
    }));
    const staying = await Viewer.open(client);
    const { id = '' } = (await staying.until('look')).at(-1) ?? {};
    text = 'b';
    await clock.advance(2000);
    await staying.until('look');
    const back = await (await Viewer.open(client, id)).until('look');
    assert.deepEqual(namesOf(back), ['status', 'log', 'look']);
    assert.deepEqual(back[1]?.document['entries'], ['b']);
    const other = await (await Viewer.open(client, 'other.99')).until('look');
    assert.deepEqual(namesOf(other), ['status', 'look']);
    await close();
  });

  it('says that a look failed, once, and that one succeeded again', async (test) => {
    let isBroken = true;
    const { client, clock, close } = await feedOf(test, () => {
      if (isBroken) throw failure('AWS cannot be reached.', 'Check the network.');
      return standing('a');
    });
    const viewer = await Viewer.open(client);
    const [trouble] = await viewer.until('trouble');
    assert.equal(trouble?.document['kind'], 'CommandError');
    await clock.advance(4000);
    isBroken = false;
    await clock.advance(4000);
    assert.deepEqual(namesOf(await viewer.until('look')), ['status', 'look']);
    const late = await (await Viewer.open(client)).until('look');
    assert.deepEqual(namesOf(late), ['status', 'look']);
    await close();
  });

  it('lets go of a viewer that does not read, and keeps the others', async (test) => {
    let number = 0;
    const { client, clock } = await feedOf(test, () => {
      number += 1;
      return standing(`${String(number)}${'x'.repeat(2_000_000)}`);
    });
    const still = await client.open(EVENTS);
    still.pause();
    const reading = await Viewer.open(client);
    const closed = new Promise((resolve) => still.once('close', resolve));
    for (let look = 0; look < 20; look += 1) {
      await reading.until('look');
      await clock.advance(2000);
    }
    still.resume();
    await closed;
    await reading.until('look');
  });

  it('ends its streams when the server closes', async (test) => {
    const { client, close } = await feedOf(test, () => standing('a'));
    const viewer = await Viewer.open(client);
    await viewer.until('look');
    await close();
    await assert.rejects(viewer.until('look'), /the stream ended before look/);
  });
});
