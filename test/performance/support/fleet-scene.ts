/**
 * A fleet as tables hold it, over the local table server in a process of its own, and what is read of it, counted.
 *
 * Each cluster has 200 nodes and so many DaemonSets, each made by one run. 20 DaemonSets lack pods, one in each of 20 clusters, so that
 * reasons are asked of as many as ever are. A read unit is 4 KiB of an item, one at least; items are counted by their JSON.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { defined } from '@rollcall/base/defined.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createDocumentClient } from '../../../src/adapters/aws/document-client.ts';
import {
  createDynamoFleetRolloutStore,
  createDynamoFleetStore,
} from '../../../src/adapters/dynamodb/fleet-stores.ts';
import { createDynamoRegistryStore } from '../../../src/adapters/dynamodb/registry-store.ts';
import { createDynamoFreezeStore } from '../../../src/adapters/dynamodb/single-item-stores.ts';
import { createDynamoViewStore } from '../../../src/adapters/dynamodb/view-store.ts';
import { appendLog } from '../../../src/core/log/append-log.ts';
import { uid } from '../../../src/core/model/identifiers.ts';
import type { Projection } from '../../../src/core/model/projections.ts';
import { emptyState } from '../../../src/core/model/state.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';
import type { DaemonSetRef, SlicedSet } from '../../../src/ports/stores/view-store.ts';
import { createKeyTable } from '../../support/create-key-table.ts';
import { daemonSet, node, pod } from '../../support/core-fixtures.ts';
import { metaOf, registrationOf, stampAt } from '../../support/store-suite.ts';

const NODES = 200;
const LACKING_CLUSTERS = 20;
const LACKED_PODS = 3;
const UNIT_BYTES = 4096;
const STAMP = stampAt(1);

const table = fork(new URL('./table-child.ts', import.meta.url).pathname, [], {
  execArgv: [],
});
/** Where its tables, `view` and `registry`, are asked. */
export const [endpoint] = (await once(table, 'message')) as [string];
const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
const client = createDocumentClient({ region: 'us-east-1', endpoint, credentials });
for (const name of ['view', 'registry']) await createKeyTable(client, name);
/** The clock by which it is written. */
export const clock = createSystemClock();
const random = createSystemRandom();
const ofRegistry = { client, random, tableName: 'registry' };

/** Its stores. */
export const stores = {
  registry: createDynamoRegistryStore(ofRegistry),
  freezes: createDynamoFreezeStore(ofRegistry),
  fleets: createDynamoFleetStore(ofRegistry),
  rollouts: createDynamoFleetRolloutStore(ofRegistry),
  view: createDynamoViewStore({ client, random, tableName: 'view' }),
};

const nodeNames = Array.from(
  { length: NODES },
  (_, index) => `ip-10-0-0-${String(index)}.internal`,
);

async function storeSlice(
  { clusterUid }: DaemonSetRef,
  set: SlicedSet,
  all: readonly Projection[],
): Promise<void> {
  const objects = all.map((object, hash) => ({ object, hash }));
  await stores.view.writeSlice({ clusterUid, set, index: 0 }, { stamp: STAMP, objects }, undefined);
}

/** A run made what is there. */
function stateOf(lacked: number): DaemonSetState {
  const atMs = clock.nowMs() - 60_000;
  const count = NODES - lacked;
  const parts = [{ came: 'done', count, names: nodeNames.slice(0, 16) }] as const;
  const log = appendLog(undefined, [{ kind: 'effect', effect: 'create', atMs, run: 1, parts }]);
  return { ...emptyState(atMs), ...defined({ log }) };
}

async function storeSet(ref: DaemonSetRef, name: string, lacked: number): Promise<void> {
  const { view } = stores;
  const status = {
    desiredNumberScheduled: NODES,
    updatedNumberScheduled: NODES,
    numberAvailable: NODES - lacked,
    observedGeneration: 1,
  };
  const object = daemonSet({ name, status, metadata: { namespace: 'ops', uid: ref.uid } });
  await view.writeDaemonSet(ref, { stamp: STAMP, object });
  await view.writeState(ref, stateOf(lacked));
  const named = { namespace: 'ops', name, uid: ref.uid, stamp: STAMP };
  await view.writeName(ref.clusterUid, named);
  const pods = nodeNames.slice(lacked).map((each) => {
    const own = { namespace: 'ops', name: `${name}-${each}`, ownerUid: ref.uid };
    return pod(each, own);
  });
  await storeSlice(ref, `pods/${ref.uid}`, pods);
  await storeSlice(ref, `revisions/${ref.uid}`, []);
}

async function storeCluster(index: number, daemonSets: number): Promise<void> {
  const registration = { ...registrationOf(`c${String(index)}`), mode: 'takeover' as const };
  const { clusterUid } = registration;
  await stores.registry.writeCluster(registration, 0);
  const refs = Array.from({ length: daemonSets }, (_, number) => ({
    clusterUid,
    uid: uid(`agent-${String(number)}-of-${String(index)}`),
  }));
  for (const [number, ref] of refs.entries()) {
    const isLacking = number === 0 && index < LACKING_CLUSTERS;
    await storeSet(ref, `agent-${String(number)}`, isLacking ? LACKED_PODS : 0);
    if (number > 0) continue;
    await storeSlice(
      ref,
      'nodes',
      nodeNames.map((each) => node(each)),
    );
  }
  const position = { podsChanged: STAMP, revisionsChanged: STAMP };
  const nowMs = clock.nowMs();
  await stores.view.writeMeta({
    ...metaOf(clusterUid),
    ...{ isComplete: true, lastSentAtMs: nowMs, nodesChanged: STAMP },
    heardAtMs: { Node: nowMs, Pod: nowMs, DaemonSet: nowMs, ControllerRevision: nowMs },
    positions: Object.fromEntries(refs.map((ref) => [ref.uid, position])),
  });
}

/** What a read answered, and what it is counted as. */
interface Reads {
  requests: number;
  units: number;
}

/** Of all requests through `stores`. */
export const reads: Reads = { requests: 0, units: 0 };

function bytesOf(item: unknown): number {
  return JSON.stringify(item, (_, value: unknown) =>
    value instanceof Uint8Array || isBuffer(value) ? 'x'.repeat(lengthOf(value)) : value,
  ).length;
}

function isBuffer(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}

function lengthOf(value: Uint8Array | { readonly data: readonly number[] }): number {
  return value instanceof Uint8Array ? value.byteLength : value.data.length;
}

const unitsOf = (item: unknown): number => Math.max(1, Math.ceil(bytesOf(item) / UNIT_BYTES));

/** Counts what tables answer: an item that is not there is one, a page is read as a whole. */
client.middlewareStack.add(
  (next) => async (asked) => {
    const answered = await next(asked);
    const { RequestItems: batch } = asked.input as { readonly RequestItems?: object };
    const output = answered.output as {
      readonly Item?: unknown;
      readonly Items?: readonly unknown[];
      readonly Responses?: Readonly<Record<string, readonly unknown[]>>;
    };
    const keys = Object.values(
      (batch ?? {}) as Readonly<Record<string, { readonly Keys: readonly unknown[] }>>,
    );
    const found = Object.values(output.Responses ?? {}).flat();
    const missing = keys.reduce((sum, { Keys }) => sum + Keys.length, 0) - found.length;
    reads.requests += 1;
    reads.units += found.reduce<number>((sum, item) => sum + unitsOf(item), Math.max(0, missing));
    if (batch === undefined) reads.units += unitsOf(output.Items ?? output.Item ?? {});
    return answered;
  },
  { step: 'initialize' },
);

/** Stores it. */
export async function storeFleet(size: {
  readonly clusters: number;
  readonly daemonSets: number;
}): Promise<void> {
  for (let index = 0; index < size.clusters; index += 1) await storeCluster(index, size.daemonSets);
}

/** Ends its tables. */
export function closeScene(): void {
  client.destroy();
  table.disconnect();
}
