// What the previous release stored, sent and left half-done is read and gone on with (14 A.8).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '../../src/adapters/aws/document-client.ts';
import { createDynamoCredentialStore } from '../../src/adapters/dynamodb/credential-store.ts';
import { createDynamoDeadLetterStore } from '../../src/adapters/dynamodb/dead-letter-store.ts';
import { createDynamoRegistryStore } from '../../src/adapters/dynamodb/registry/registry-store.ts';
import { createDynamoViewStore } from '../../src/adapters/dynamodb/view-store.ts';
import { parseCredentialMessage } from '../../src/adapters/sqs/schema/credential-message-schema.ts';
import { parseHint, parseTimer } from '../../src/adapters/sqs/schema/hint-codec.ts';
import { parseWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { clusterId, clusterUid, uid } from '../../src/core/model/identifiers.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { DynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { DaemonSetRef, SlicedSet } from '../../src/ports/stores/view-store.ts';
import {
  putRecordedItems,
  recordedBodies,
  recordedMeaning,
  recordedMoment,
  recordedObjects,
  recordedQueues,
} from '../support/previous-release.ts';
import type { RecordedBody } from '../support/previous-release.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { imageOf, podsOf } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';
import { createKeyTable } from '../support/create-key-table.ts';

/** JSON has no undefined: what was recorded has lost it, what is read must not have anything else. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

/** Verdicts were stored then; nobody reads them now, and they go with their DaemonSet (ADR 0047). */
const KINDS = 'DAEMONSET LETTERS META NAME POSITION REGISTRATION SLICE STATE TOKEN VERDICTS WALK';

type Read = (first: string, second: string, third: string) => Promise<unknown>;

/** By the first word of a readable key, of which they take the others. */
function readersOf(on: {
  readonly client: DynamoDBDocumentClient;
  readonly random: Random;
}): Readonly<Record<string, Read>> {
  const view = createDynamoViewStore({ ...on, tableName: 'view' });
  const registryTable = { ...on, tableName: 'registry' };
  const refOf = (first: string, second: string): DaemonSetRef => ({
    clusterUid: clusterUid(first),
    uid: uid(second),
  });
  return {
    META: (first) => view.readMeta(clusterUid(first)),
    SLICE: (first, set, index) =>
      view.readSlice({
        clusterUid: clusterUid(first),
        set: set as SlicedSet,
        index: Number(index),
      }),
    POSITION: (first, second) => view.readPosition(refOf(first, second)),
    DAEMONSET: (first, second) => view.readDaemonSet(refOf(first, second)),
    STATE: (first, second) => view.readState(refOf(first, second)),
    NAME: (first, second) => {
      const [namespace = '', name = ''] = second.split('/');
      return view.readName(clusterUid(first), { namespace, name });
    },
    WALK: () => view.readWalk(),
    REGISTRATION: (id) => createDynamoRegistryStore(registryTable).readCluster(clusterId(id)),
    TOKEN: (id) => createDynamoCredentialStore(registryTable).readToken(clusterId(id), 'act'),
    LETTERS: async (partition) => {
      const store = createDynamoDeadLetterStore(registryTable);
      return (await store.list(partition, { limit: 10 })).letters;
    },
  };
}

describe('items of the previous release', () => {
  let server: DynamoDbServer;
  let raw: DynamoDBClient;
  let client: DynamoDBDocumentClient;
  const random = createSystemRandom();

  before(async () => {
    server = await startDynamoDbServer();
    const options = {
      endpoint: server.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    };
    raw = new DynamoDBClient(options);
    client = createDocumentClient(options);
    for (const TableName of ['view', 'registry']) {
      await createKeyTable(raw, TableName);
    }
    await putRecordedItems(raw);
  });

  after(async () => {
    raw.destroy();
    client.destroy();
    await server.stop();
  });

  /** Reads an item by its readable key, through the stores of this release. */
  const read = async (key: string): Promise<unknown> => {
    const [kind, first = '', second = '', third = ''] = key.split(' ');
    const readKind = readersOf({ client, random })[kind ?? ''];
    assert.ok(readKind !== undefined, `${key} is of no known kind`);
    return readKind(first, second, third);
  };

  it('items of every kind are read to the same meaning', async () => {
    const kinds = new Set([...recordedMeaning().keys()].map((key) => key.split(' ', 1)[0]));
    assert.equal([...kinds].sort().join(' '), KINDS);
    for (const [key, meaning] of recordedMeaning()) {
      if (key.startsWith('VERDICTS')) continue;
      assert.deepEqual(plain(await read(key)), meaning, key);
    }
  });
});

const PARSE: Readonly<Record<RecordedBody['queue'], (body: string) => unknown>> = {
  'events.fifo': parseWatcherMessage,
  'reconcile.fifo': parseHint,
  delay: parseTimer,
  credentials: parseCredentialMessage,
};

describe('messages of the previous release', () => {
  it('messages of every kind are read to the same meaning', () => {
    const kinds = new Set<string>();
    for (const { queue, body, meaning } of recordedBodies()) {
      const parsed = PARSE[queue](body);
      assert.deepEqual(plain(parsed), meaning, queue);
      const { message } = parsed as { readonly message?: { readonly body?: { kind: string } } };
      kinds.add(`${queue} ${message?.body?.kind ?? ''}`.trim());
    }
    const watchers = ['announcement', 'changes', 'manifest', 'slices'];
    const expected = [
      'credentials',
      'delay',
      'reconcile.fifo',
      ...watchers.map((kind) => `events.fifo ${kind}`),
    ];
    assert.deepEqual([...kinds].sort(), expected.sort());
  });
});

/** Higher than any number of a UID in the recording: two objects must not share one. */
const UIDS_USED = 200;

/** A world of this release where the previous one stood, with all that it left, and no watcher yet. */
function takenOver(): World {
  const world = new World({ seed: 11 });
  const { nowMs, version } = recordedMoment();
  world.clock.stepWall(nowMs - world.clock.nowMs());
  for (let index = 0; index < UIDS_USED; index += 1) {
    world.api.put('events', { metadata: { name: `e-${index}` } });
  }
  world.api.begin({ version, objects: recordedObjects() });
  const isOfView = /^(?:META|SLICE|POSITION|DAEMONSET|STATE|VERDICTS|NAME|WALK)\b/;
  world.view.restore(
    Object.fromEntries([...recordedMeaning()].filter(([key]) => isOfView.test(key))),
  );
  for (const { queue, waitMs, ...message } of recordedQueues()) {
    world.queues.send(queue, { ...message, delaySeconds: Math.ceil(waitMs / 1000) });
  }
  return world;
}

describe('a rollout that the previous release began', () => {
  for (const name of ['agent', 'surging']) {
    it(`S1, S3: goes on under this one, and no pod of ${name} is restarted`, async () => {
      const world = takenOver();
      const before = podsOf(world, name);
      const isNew = (image: string): boolean => image === `${name}:2`;
      const made = before.filter((pod) => isNew(imageOf(pod)));
      assert.ok(made.length > 0 && made.length < before.length, 'it is in the middle');
      world.startWatcher();
      await world.settle();
      const now = podsOf(world, name);
      assert.deepEqual(now.map(nodeOf).sort(), ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']);
      assert.ok(now.every((pod) => isNew(imageOf(pod))));
      const uids = new Set(now.map(({ metadata }) => metadata.uid));
      for (const { metadata } of made) assert.ok(uids.has(metadata.uid), metadata.name);
      assert.deepEqual(world.observer.violations, []);
    });
  }
});
