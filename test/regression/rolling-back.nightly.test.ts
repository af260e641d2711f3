/**
 * What this release sends and stores is read by the one before, which runs beside it while a deployment rolls, and again when
 * it is taken back (14 A.8). The former codecs come out of git history; without it there is nothing to ask, and it is skipped.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { linkModules } from '../../scripts/lib/link-modules.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import { encodeBody } from '../../src/adapters/dynamodb/item-codec.ts';
import { encodeTombstones } from '../../src/adapters/dynamodb/tombstone-codec.ts';
import { encodeCredentialMessage } from '../../src/adapters/sqs/schema/credential-message-schema.ts';
import { parseHint, parseTimer } from '../../src/adapters/sqs/schema/hint-codec.ts';
import {
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { CREDENTIAL_SCHEMA } from '../../src/core/model/credential-message.ts';
import type { CredentialMessage } from '../../src/core/model/credential-message.ts';
import { clusterId, clusterUid, nodeName, uid } from '../../src/core/model/identifiers.ts';
import type { NodeProjection } from '../../src/core/model/projections.ts';
import { STATE_SCHEMA } from '../../src/core/model/state.ts';
import type { WatcherMessage } from '../../src/core/model/watcher-message.ts';
import { podsOf, setImage } from '../support/simulation/look.ts';
import type { QueueName } from '../support/simulation/queues.ts';
import { extractPrevious, missingPrevious } from '../support/previous-sources.ts';
import { World } from '../support/simulation/world.ts';
import { samples } from '../unit/adapters/sqs/watcher-message-samples.ts';

const CODECS = ['src/core', 'src/ports', 'src/adapters/sqs', 'src/adapters/dynamodb'];

type Parse = (body: string) => { readonly kind: string };

/** Everything that a world of this release says in a rollout, with messages of each kind. */
async function playWorld(): Promise<{
  readonly world: World;
  readonly sent: readonly { readonly queue: QueueName; readonly body: string }[];
}> {
  const world = await World.start({ nodes: ['n1', 'n2', 'n3'] });
  const sent: { queue: QueueName; body: string }[] = [];
  const send = world.queues.send.bind(world.queues);
  world.queues.send = (queue, message) => {
    sent.push({ queue, body: message.body });
    send(queue, message);
  };
  world.addDaemonSet('agent', {
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } },
  });
  await world.settle();
  setImage(world, 'agent', 2);
  world.controllers.removeNode('n3');
  void world.api.requestSnapshot('request-1');
  await world.settle();
  assert.equal(podsOf(world, 'agent').length, 2);
  return { world, sent };
}

/** The same message without what came since: when its nodes were created (issue 18), and what spares a list of DaemonSets (ADR 0077). */
function asBefore(message: WatcherMessage): WatcherMessage {
  const text = JSON.stringify(message, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const { covers: _covers, begun: _begun, ...before } = value as Record<string, unknown>;
    if (Array.isArray(value)) return value as unknown;
    if (before['kind'] === 'manifest') return { ...before, daemonSets: [], sets: [] };
    if (!isNode(value)) return before;
    const { createdAtMs: _createdAtMs, ...node } = before;
    return node;
  });
  return JSON.parse(text) as WatcherMessage;
}

function isNode(value: unknown): value is NodeProjection {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Node';
}

const skip = missingPrevious() ?? false;

describe('the previous release beside this one', { skip }, () => {
  let directory = '';
  let played: Awaited<ReturnType<typeof playWorld>>;
  const former = async <Module>(file: string): Promise<Module> =>
    (await import(pathToFileURL(path.join(directory, file)).href)) as Module;

  before(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-previous-'));
    extractPrevious(['package.json', ...CODECS], directory);
    linkModules(repositoryRoot, directory);
    played = await playWorld();
  });

  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('reads what a present watcher says, of every kind, to the same meaning, but for what came since', async () => {
    const codec = await former<{ parseWatcherMessage: Parse }>(
      'src/adapters/sqs/watcher-message-codec.ts',
    );
    const { events } = played.world.queues;
    const kinds = new Set(events.map(({ body }) => body.kind));
    assert.deepEqual([...kinds].sort(), ['announcement', 'changes', 'manifest', 'slices']);
    for (const message of events) {
      const body = encodeWatcherMessage(asBefore(message));
      assert.deepEqual(codec.parseWatcherMessage(body), parseWatcherMessage(body));
    }
  });

  it('refuses when a node was created, and what a portion covers: functions go first, and back last (issues 18, 40)', async () => {
    const codec = await former<{ parseWatcherMessage: Parse }>(
      'src/adapters/sqs/watcher-message-codec.ts',
    );
    const bodies = played.world.queues.events
      .filter(
        (message) => encodeWatcherMessage(message) !== encodeWatcherMessage(asBefore(message)),
      )
      .map((message) => encodeWatcherMessage(message));
    assert.notEqual(bodies.length, 0);
    for (const body of bodies) {
      assert.equal(parseWatcherMessage(body).kind, 'message');
      assert.equal(codec.parseWatcherMessage(body).kind, 'refused');
    }
  });

  it('reads hints and timers of present functions to the same meaning', async () => {
    const codec = await former<{ parseHint: Parse; parseTimer: Parse }>(
      'src/adapters/sqs/hint-codec.ts',
    );
    const queues = new Set(played.sent.map(({ queue }) => queue));
    assert.deepEqual([...queues].sort(), ['delay', 'reconcile.fifo']);
    for (const { queue, body } of played.sent) {
      const [read, known] =
        queue === 'delay' ? [codec.parseTimer, parseTimer] : [codec.parseHint, parseHint];
      const parsed = read(body);
      assert.notEqual(parsed.kind, 'refused', body);
      assert.deepEqual(parsed, known(body));
    }
  });

  it('refuses what a watcher says of trouble and of systems: functions go first, and back last (issue 17)', async () => {
    const codec = await former<{ parseWatcherMessage: Parse }>(
      'src/adapters/sqs/watcher-message-codec.ts',
    );
    const told = samples['slices'];
    assert.ok(told !== undefined);
    assert.equal(parseWatcherMessage(encodeWatcherMessage(told)).kind, 'message');
    assert.equal(codec.parseWatcherMessage(encodeWatcherMessage(told)).kind, 'refused');
  });

  it('reads a slice in which trouble is stored, as one that it knows', async () => {
    const { body } = samples['slices'] ?? assert.fail();
    assert.ok(body.kind === 'slices' && JSON.stringify(body).includes('"trouble"'));
    const items = await former<{ decodeBody: (item: string, body: unknown) => unknown }>(
      'src/adapters/dynamodb/item-codec.ts',
    );
    for (const slice of body.slices) {
      const stored = encodeBody({ pk: 'SLICE', sk: '' }, slice);
      assert.deepEqual(items.decodeBody('SLICE', stored), slice);
    }
  });

  it('takes a token that acts, and refuses one that only asks: functions go first (ADR 0042)', async () => {
    const codec = await former<{ parseCredentialMessage: Parse }>(
      'src/adapters/sqs/credential-message-schema.ts',
    );
    const message: CredentialMessage = {
      schema: CREDENTIAL_SCHEMA,
      cluster: clusterId('alpha'),
      clusterUid: clusterUid('u-1'),
      ciphertext: 'c2VhbGVk',
      issuedAtMs: 1000,
      expiresAtMs: 2000,
    };
    const acts = codec.parseCredentialMessage(encodeCredentialMessage(message));
    assert.equal(acts.kind, 'message');
    const asks = codec.parseCredentialMessage(
      encodeCredentialMessage({ ...message, purpose: 'ask' }),
    );
    assert.equal(asks.kind, 'refused');
  });

  it('reads the items of present functions: bodies, tombstones, and the schema of states', async () => {
    const items = await former<{ decodeBody: (item: string, body: unknown) => unknown }>(
      'src/adapters/dynamodb/item-codec.ts',
    );
    const dump = Object.entries(played.world.view.dump());
    assert.ok(dump.some(([key]) => key.startsWith('STATE')));
    for (const [key, value] of dump) {
      const plain = JSON.parse(JSON.stringify(value)) as unknown;
      assert.deepEqual(items.decodeBody(key, encodeBody({ pk: key, sk: '' }, value)), plain, key);
    }
    const state = await former<{ STATE_SCHEMA: number }>('src/core/model/state.ts');
    assert.ok(STATE_SCHEMA <= state.STATE_SCHEMA, 'it refuses a newer schema');
    const tombstones = await former<{
      decodeTombstones: (item: string, attribute: unknown) => unknown;
    }>('src/adapters/dynamodb/tombstone-codec.ts');
    const [node, createdAtMs, goneAtMs] = [nodeName('n1'), 1000, 2000];
    const gone = [{ name: 'agent-1', uid: uid('p-1'), node, createdAtMs, goneAtMs }];
    const { gone: attribute } = encodeTombstones({ pk: 'PODS', sk: 'SLICE' }, gone);
    assert.deepEqual(tombstones.decodeTombstones('SLICE', attribute), gone);
  });
});
