/**
 * The store of the commit before the sources moved into rooms and packages (ADR 0044) is read after it.
 *
 * That commit's own functions and watcher play a rollout in its own simulation, out of git history; what they stored and sent
 * is read by the present codecs. Without history there is nothing to ask, and it is skipped.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { linkModules } from '../../scripts/lib/link-modules.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import { decodeBody } from '../../src/adapters/dynamodb/item-codec.ts';
import { parseHint, parseTimer } from '../../src/adapters/sqs/schema/hint-codec.ts';
import { parseWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { STATE_SCHEMA } from '../../src/core/model/state.ts';
import { extractPrevious, missingPrevious } from '../support/previous-sources.ts';
import type { setImage } from '../support/simulation/look.ts';
import type { QueueName } from '../support/simulation/queues.ts';
import type { World } from '../support/simulation/world.ts';

/** The last commit whose core was one folder. */
const BEFORE = '3959fdd';
const SOURCES = ['package.json', 'serverless.yml', 'infra', 'src', 'functions', 'test/support'];

const skip = missingPrevious(BEFORE) ?? false;

describe('the commit before the rooms', { skip }, () => {
  let directory = '';
  let world: World;
  const sent: { readonly queue: QueueName; readonly body: string }[] = [];
  const former = async <Module>(file: string): Promise<Module> =>
    (await import(pathToFileURL(path.join(directory, file)).href)) as Module;

  before(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-before-'));
    extractPrevious(SOURCES, directory, BEFORE);
    linkModules(repositoryRoot, directory);
    const place = 'test/support/simulation';
    const worlds = await former<{ World: typeof World }>(`${place}/world.ts`);
    const look = await former<{ setImage: typeof setImage }>(`${place}/look.ts`);
    world = await worlds.World.start({ nodes: ['n1', 'n2', 'n3'] });
    const send = world.queues.send.bind(world.queues);
    world.queues.send = (queue, message) => {
      sent.push({ queue, body: message.body });
      send(queue, message);
    };
    world.addDaemonSet('agent', {
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } },
    });
    await world.settle();
    look.setImage(world, 'agent', 2);
    world.controllers.removeNode('n3');
    await world.settle();
  });

  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('stored items that are read to the same meaning, in the same schema of states', async () => {
    const codec = await former<{ encodeBody: (item: string, value: unknown) => Uint8Array }>(
      'src/adapters/dynamodb/item-codec.ts',
    );
    const dump = Object.entries(world.view.dump());
    for (const kind of ['META', 'SLICE', 'STATE']) {
      assert.ok(
        dump.some(([key]) => key.startsWith(kind)),
        `${kind}: ${dump.map(([key]) => key).join(', ')}`,
      );
    }
    for (const [key, value] of dump) {
      const plain = JSON.parse(JSON.stringify(value)) as unknown;
      assert.deepEqual(decodeBody({ pk: key, sk: '' }, codec.encodeBody(key, value)), plain, key);
    }
    const state = await former<{ STATE_SCHEMA: number }>('src/core/model/state.ts');
    assert.equal(STATE_SCHEMA, state.STATE_SCHEMA);
  });

  it('sent messages, hints and timers that are read', async () => {
    const codec = await former<{ encodeWatcherMessage: (message: unknown) => string }>(
      'src/adapters/sqs/watcher-message-codec.ts',
    );
    const { events } = world.queues;
    assert.ok(events.length > 3);
    for (const message of events) {
      const parsed = parseWatcherMessage(codec.encodeWatcherMessage(message));
      assert.notEqual(parsed.kind, 'refused');
    }
    assert.ok(sent.length > 3);
    for (const { queue, body } of sent) {
      const parsed = queue === 'delay' ? parseTimer(body) : parseHint(body);
      assert.notEqual(parsed.kind, 'refused', body);
    }
  });
});
