/**
 * The release before this one (test/support/release-before.ts): what it stored, sent and left half-done is read and gone on
 * with, and what this one stores and sends is read by it, which runs beside this one while a deployment rolls.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as credentials from '../../src/adapters/dynamodb/single-item-stores.ts';
import * as registries from '../../src/adapters/dynamodb/registry-store.ts';
import * as views from '../../src/adapters/dynamodb/view-store.ts';
import * as hints from '../../src/adapters/sqs/schema/hint-codec.ts';
import * as messages from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { clusterUid, uid } from '../../src/core/model/identifiers.ts';
import { emptyState } from '../../src/core/model/state.ts';
import { useKeyTables } from '../support/key-tables.ts';
import {
  leaveHalfWay,
  missingReleaseBefore,
  openReleaseBefore,
} from '../support/release-before.ts';
import type { LeftHalfWay, ReleaseBefore } from '../support/release-before.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { imageOf, podsOf } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';
import { freshName, metaOf, registrationOf, sliceOf, stampAt } from '../support/store-suite.ts';
import { samples } from '../unit/adapters/sqs/watcher-message-samples.ts';

const SCHEMAS = 'src/adapters/sqs/schema';
const STORES = 'src/adapters/dynamodb';

describe('beside the release before', { skip: missingReleaseBefore() ?? false }, () => {
  const tables = useKeyTables('view', 'registry');
  let release: ReleaseBefore;
  let left: LeftHalfWay;

  before(async () => {
    release = openReleaseBefore();
    left = await leaveHalfWay(release);
  });

  after(() => {
    (release as ReleaseBefore | undefined)?.remove();
  });

  for (const name of ['agent', 'surging']) {
    it(`S1, S3: its rollout goes on under this one, and no pod of ${name} is restarted`, async () => {
      const world = takenOver(left);
      const pods = podsOf(world, name);
      const isNew = (image: string): boolean => image === `${name}:2`;
      const made = pods.filter((pod) => isNew(imageOf(pod)));
      assert.ok(made.length > 0 && made.length < pods.length, 'it is in the middle');
      world.startWatcher();
      await world.settle();
      const now = podsOf(world, name);
      assert.deepEqual(now.map(nodeOf).sort(), ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7']);
      assert.ok(now.every((pod) => isNew(imageOf(pod))));
      const uids = new Set(now.map(({ metadata }) => metadata.uid));
      for (const { metadata } of made) assert.ok(uids.has(metadata.uid), metadata.name);
      assert.deepEqual(world.observer.violations, []);
    });
  }

  it('what watchers say is read by both, to the same meaning', async () => {
    const former = await release.load<typeof messages>(`${SCHEMAS}/watcher-message-codec.ts`);
    const said = [...left.events, ...Object.values(samples)];
    const kinds = new Set(said.map(({ body }) => body.kind));
    assert.deepEqual([...kinds].sort(), ['announcement', 'changes', 'manifest', 'slices']);
    for (const message of said) {
      const expected = { kind: 'message', message: plain(message) };
      const ours = messages.parseWatcherMessage(former.encodeWatcherMessage(message));
      const theirs = former.parseWatcherMessage(messages.encodeWatcherMessage(message));
      assert.deepEqual([plain(ours), plain(theirs)], [expected, expected]);
    }
  });

  it('hints and timers are read by both, to the same meaning', async () => {
    const former = await release.load<typeof hints>(`${SCHEMAS}/hint-codec.ts`);
    const own = left.sent.filter(({ queue }) => queue !== 'events.fifo');
    assert.deepEqual([...new Set(own.map(({ queue }) => queue))].sort(), [
      'delay',
      'reconcile.fifo',
    ]);
    for (const { queue, message } of own) {
      const parse = queue === 'delay' ? hints.parseTimer : hints.parseHint;
      const parsed = parse(message.body);
      assert.notEqual(parsed.kind, 'refused', message.body);
      const again = queue === 'delay' ? former.parseTimer : former.parseHint;
      assert.deepEqual(again(message.body), parsed);
    }
  });

  it('items of the view and the registry are read by both, to the same meaning', async () => {
    const view = await release.load<typeof views>(`${STORES}/view-store.ts`);
    const registry = await release.load<typeof registries>(`${STORES}/registry/registry-store.ts`);
    for (const [writer, reader] of [
      [view.createDynamoViewStore, views.createDynamoViewStore],
      [views.createDynamoViewStore, view.createDynamoViewStore],
    ] as const) {
      await expectSameView(writer(tables.of('view')), reader(tables.of('view')));
    }
    for (const [writer, reader] of [
      [registry.createDynamoRegistryStore, registries.createDynamoRegistryStore],
      [registries.createDynamoRegistryStore, registry.createDynamoRegistryStore],
    ] as const) {
      const registration = registrationOf(freshName('registered'));
      await writer(tables.of('registry')).writeCluster(registration, 0);
      const read = await reader(tables.of('registry')).readCluster(registration.id);
      assert.deepEqual(read, registration);
    }
    const tokens = await release.load<typeof credentials>(`${STORES}/credential-store.ts`);
    const id = registrationOf(freshName('sealed')).id;
    const times = { issuedAtMs: 1, expiresAtMs: 2 };
    const token = { clusterUid: clusterUid('u'), ciphertext: 'AQID', ...times };
    const former = tokens.createDynamoCredentialStore(tables.of('registry'));
    const present = credentials.createDynamoCredentialStore(tables.of('registry'));
    for (const purpose of ['act', 'ask'] as const) {
      assert.equal(await former.writeToken(id, purpose, token), 'written');
      assert.deepEqual(await present.readToken(id, purpose), token);
    }
  });
});

/** JSON has no undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

type ViewStore = ReturnType<typeof views.createDynamoViewStore>;

async function expectSameView(writer: ViewStore, reader: ViewStore): Promise<void> {
  const cluster = clusterUid(freshName('beside'));
  const meta = metaOf(cluster);
  assert.equal(await writer.writeMeta(meta), 'written');
  assert.deepEqual(await reader.readMeta(cluster), { ...meta, version: 1 });
  const ref = { clusterUid: cluster, uid: uid('set') };
  assert.equal(await writer.writeState(ref, emptyState(7)), 'written');
  assert.deepEqual(await reader.readState(ref), { ...emptyState(7), version: 1 });
  const daemonSet = { stamp: stampAt(1), object: null };
  assert.equal(await writer.writeDaemonSet(ref, daemonSet), 'written');
  assert.deepEqual(await reader.readDaemonSet(ref), daemonSet);
  const name = { namespace: 'ops', name: 'agent', uid: uid('set'), stamp: stampAt(1) };
  assert.equal(await writer.writeName(cluster, name), 'written');
  assert.deepEqual(await reader.readName(cluster, name), name);
  const position = { podsChanged: stampAt(1), revisionsChanged: stampAt(2) };
  await writer.raisePosition(ref, position);
  assert.deepEqual(await reader.readPosition(ref), position);
  for (const count of [3, 300]) {
    const ref = { clusterUid: cluster, set: 'nodes', index: count } as const;
    assert.equal(await writer.writeSlice(ref, sliceOf(stampAt(1), count), undefined), 'written');
    assert.deepEqual(await reader.readSlice(ref), sliceOf(stampAt(1), count));
  }
}

/** Higher than any number of a UID that was left: two objects must not share one. */
const UIDS_USED = 2_000;

/** A world of this release where the one before stood, with all that it left, and no watcher yet. */
function takenOver({ nowMs, cluster, view, queued }: LeftHalfWay): World {
  const world = new World({ seed: 11 });
  world.clock.stepWall(nowMs - world.clock.nowMs());
  for (let index = 0; index < UIDS_USED; index += 1) {
    world.api.put('events', { metadata: { name: `e-${String(index)}` } });
  }
  world.api.begin(cluster);
  world.view.restore(view);
  for (const { queue, waitMs, message } of queued) {
    const { delaySeconds: _delay, ...rest } = message;
    const delay = waitMs === 0 ? {} : { delaySeconds: Math.ceil(waitMs / 1000) };
    world.queues.send(queue, { ...rest, ...delay });
  }
  return world;
}
