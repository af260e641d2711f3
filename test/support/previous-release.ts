/**
 * What the previous release left: items, messages and a cluster in the middle of rollouts, as its own code wrote them.
 *
 * The recording (test/regression/previous-release/README.md) is read once for each process, and never written here. Binary
 * values of items are base64 in it. `meaning` is what that release's own stores and codecs read of each.
 */
import { readFileSync } from 'node:fs';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Kind } from './simulated-hooks.ts';
import type { QueueName } from './simulation/queues.ts';

/** A message that was on its way, or lay in a queue. */
export interface QueuedMessage {
  readonly queue: QueueName;
  readonly body: string;
  readonly senderId: string;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly attributes?: Readonly<Record<string, { DataType: string; StringValue: string }>>;
  /** Until it may be received. */
  readonly waitMs: number;
}

/** A body, and what the release that wrote it read of it. */
export interface RecordedBody {
  readonly queue: 'events.fifo' | 'reconcile.fifo' | 'delay' | 'credentials';
  readonly body: string;
  readonly meaning: unknown;
}

type Line =
  | { readonly part: 'moment'; readonly nowMs: number; readonly version: number }
  | {
      readonly part: 'object';
      readonly kind: Kind;
      readonly key: string;
      readonly object: KubernetesObject;
    }
  | ({ readonly part: 'queued' } & QueuedMessage)
  | ({ readonly part: 'body' } & RecordedBody)
  | { readonly part: 'item'; readonly table: TableName; readonly item: RecordedItem }
  | { readonly part: 'meaning'; readonly key: string; readonly value: unknown };

type TableName = 'view' | 'registry';

/** Which item. */
export interface RecordedKey {
  readonly table: TableName;
  readonly key: { readonly pk: AttributeValue; readonly sk: AttributeValue };
}

type RecordedItem = Readonly<Record<string, AttributeValue | { readonly B: { base64: string } }>>;

const FILE = new URL('../regression/previous-release/recording.jsonl', import.meta.url);
let lines: readonly Line[] | undefined;

function partsOf<Part extends Line['part']>(part: Part): readonly (Line & { part: Part })[] {
  lines ??= readFileSync(FILE, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return lines.filter((line): line is Line & { part: Part } => line.part === part);
}

/** When it was recorded, and the highest version that its API server had given out. */
export function recordedMoment(): { readonly nowMs: number; readonly version: number } {
  const [moment] = partsOf('moment');
  if (moment === undefined) throw new Error('the recording has no moment');
  return moment;
}

/** The cluster as its etcd held it. */
export function recordedObjects(): ReadonlyMap<Kind, ReadonlyMap<string, KubernetesObject>> {
  const objects = new Map<Kind, Map<string, KubernetesObject>>();
  for (const { kind, key, object } of partsOf('object')) {
    const ofKind = objects.get(kind) ?? new Map<string, KubernetesObject>();
    objects.set(kind, ofKind.set(key, object));
  }
  return objects;
}

/** Messages in flight. */
export function recordedQueues(): readonly QueuedMessage[] {
  return partsOf('queued');
}

/** One body of each shape that there was. */
export function recordedBodies(): readonly RecordedBody[] {
  return partsOf('body');
}

/** By readable key (MemoryViewStore): what was stored, as the previous release read it. */
export function recordedMeaning(): ReadonlyMap<string, unknown> {
  return new Map(partsOf('meaning').map(({ key, value }) => [key, value]));
}

/** Puts the items into the two tables, attribute by attribute; returns their keys. */
export async function putRecordedItems(
  client: DynamoDBClient,
  tableOf: (table: TableName) => string = (table) => table,
): Promise<readonly RecordedKey[]> {
  const keys: RecordedKey[] = [];
  for (const { table, item } of partsOf('item')) {
    const Item = decode(item);
    await client.send(new PutItemCommand({ TableName: tableOf(table), Item }));
    const { pk, sk } = Item;
    if (pk === undefined || sk === undefined) throw new Error('an item without a key');
    keys.push({ table, key: { pk, sk } });
  }
  return keys;
}

function decode(item: RecordedItem): Record<string, AttributeValue> {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      const binary = (value as { readonly B?: { readonly base64: string } }).B;
      return [
        name,
        binary === undefined
          ? (value as AttributeValue)
          : { B: Buffer.from(binary.base64, 'base64') },
      ];
    }),
  );
}
