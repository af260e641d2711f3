/**
 * More DaemonSets than any one message has room to name: 1,200 with random names of full length (issue 40).
 *
 * 1,200 UUIDs and names of 253 random characters fit no message of the queue, however it is compressed. The real watcher sends,
 * the real codec measures, the real ingest applies; then some come and go while no watcher runs, and another one starts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EVENT_BODY_BYTES_MAX } from '../../../src/adapters/sqs/event-queue.ts';
import { encodeWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import { defined } from '@rollcall/base/defined.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { IngestHarness, registrationFor } from '../../support/ingest-harness.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
} from '../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

const COUNT = 1200;
const NAME_LENGTH = 253;
const NAME_CHARS = 'abcdefghijklmnopqrstuvwxyz0123456789';

type Roll = (below: number) => number;

function textOf(roll: Roll, length: number, chars: string): string {
  return Array.from({ length }, () => chars.charAt(roll(chars.length))).join('');
}

/** A random name of full length, and a random UUID. */
function drawn(roll: Roll): { readonly name: string; readonly uid: string } {
  const hex = textOf(roll, 32, '0123456789abcdef');
  const uid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { name: textOf(roll, NAME_LENGTH, NAME_CHARS), uid };
}

function addOne(harness: WatcherHarness, roll: Roll, former?: string): void {
  const { uid, ...fresh } = drawn(roll);
  const name = former ?? fresh.name;
  harness.source.put('DaemonSet', daemonSetDraft(name, { uid }));
  if (roll(20) === 0) {
    harness.source.put('Pod', podDraft(textOf(roll, 20, NAME_CHARS), { owner: uid }));
  }
}

/** Lets a watcher run until it is at rest; every message goes on to ingest, and fits the queue. */
async function watch(harness: WatcherHarness, ingest: IngestHarness, seed: number): Promise<void> {
  const watcher = harness.newWatcher(seed);
  await watcher.start();
  await harness.clock.advance(120_000);
  await watcher.stop();
  for (const message of harness.news()) await ingest.ingest(message);
}

/** By name, UID and pods: the view as a reader finds it, and the cluster. */
async function viewOf(ingest: IngestHarness, clusterUid: ClusterUid): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ingest.view.listNames(clusterUid, { limit: 500, ...defined({ cursor }) });
    for (const { name, uid } of page.names) {
      const ref = { clusterUid, set: `pods/${String(uid)}` as const, index: 0 };
      const pods = await ingest.view.readSlice(ref);
      found.push(`${name} ${String(uid)} ${String(pods?.objects.map(({ object }) => object.uid))}`);
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
  return found.sort();
}

function clusterOf({ source }: WatcherHarness): readonly string[] {
  const pods = new Map<string, string[]>();
  for (const { metadata } of source.objects('Pod')) {
    const owner = metadata.ownerReferences?.[0]?.uid ?? '';
    pods.set(owner, [...(pods.get(owner) ?? []), metadata.uid]);
  }
  return source
    .objects('DaemonSet')
    .map(({ metadata: { name, uid } }) => `${name} ${uid} ${String(pods.get(uid) ?? [])}`)
    .sort();
}

function bytesOf(message: WatcherMessage): number {
  return Buffer.byteLength(encodeWatcherMessage(message));
}

async function run(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const roll: Roll = (below) => Math.floor(random.next() * below);
  const harness = createWatcherHarness();
  const { queue, source } = harness;
  // The queue keeps plain JSON; its sizes are those of what is sent.
  const freeze = queue.freeze.bind(queue);
  queue.freeze = (message) => ({ ...freeze(message), sizeBytes: bytesOf(message) });
  queue.faultOf = (message) => (bytesOf(message) > EVENT_BODY_BYTES_MAX ? 'refused' : undefined);
  const clusterUid = source.uid;
  const ingest = new IngestHarness([registrationFor('c1', { clusterUid })]);
  source.put('Node', nodeDraft('n1'));
  for (let index = 0; index < COUNT; index += 1) addOne(harness, roll);
  await watch(harness, ingest, seed);
  const refused = queue.tries.filter(({ sizeBytes }) => sizeBytes > EVENT_BODY_BYTES_MAX);
  assert.deepEqual(
    refused.map(({ message, sizeBytes }) => `${message.body.kind} of ${String(sizeBytes)} bytes`),
    [],
  );
  assert.equal((await ingest.view.readMeta(clusterUid))?.isComplete, true);
  assert.deepEqual(await viewOf(ingest, clusterUid), clusterOf(harness));

  // While nobody watches, some go, and as many others come, half of them under the same names.
  const standing = source.objects('DaemonSet').map(({ metadata }) => metadata);
  for (const { name, namespace } of standing.filter(() => roll(4) === 0)) {
    source.remove('DaemonSet', { name, ...defined({ namespace }) });
    addOne(harness, roll, roll(2) === 0 ? name : undefined);
  }
  ingest.restart();
  await watch(harness, ingest, seed + 1);
  assert.equal((await ingest.view.readMeta(clusterUid))?.isComplete, true);
  assert.deepEqual(await viewOf(ingest, clusterUid), clusterOf(harness));
}

test('protocol 16, 22: a snapshot of 1,200 DaemonSets with names of full length closes, also after a restart', async () => {
  await fc.assert(fc.asyncProperty(fc.nat({ max: 100_000 }), run), { numRuns: 2 });
});
