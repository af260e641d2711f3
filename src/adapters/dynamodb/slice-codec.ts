/**
 * Slices as items: objects, of a large slice by columns, where what many share stands once; and
 * tombstones as rows. Without columns a run at 5,000 nodes takes 23 ms of CPU warm and 54 cold, with
 * them 18 and 35 (`bench -- reconcile`); slices are 7 to 14 % smaller, so are writes (ADR 0076).
 *
 *   shared  [{ kind, labels, taints … } …]   of     [0, 0, 1 …]: which of these each object has
 *   own     { name: […], uid: […] … }        apart  { "kubernetes.io/hostname": […] }: labels of its own
 *
 * Objects come out in their order, with the members that they had, those that this release does not
 * know among them. What is of another kind stands in `rows`, as it is.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { NodeName, ResourceVersion, Uid } from '../../core/model/identifiers.ts';
import type { Stamp } from '../../core/model/position.ts';
import type {
  NodeProjection,
  NodeSystem,
  PodProjection,
  Tombstone,
} from '../../core/model/projections.ts';
import type { Slice } from '../../core/model/view-items.ts';
import { ItemUnreadableError, decodeBody, encodeList, encodeText, openBody } from './item-codec.ts';
import type { ItemKey, StoredItem } from './item-codec.ts';

type Objects = Slice['objects'];
type Member = Objects[number];
type InColumns = NodeProjection | PodProjection;
type Labels = Readonly<Record<string, string>>;
type Writable<T> = { -readonly [Field in keyof T]: T[Field] };
/** Null: that object has none. True: it is what another member of the object is. */
type Column<Value> = readonly (Value | null)[];

interface Own {
  readonly name: readonly string[];
  readonly uid: readonly Uid[];
  readonly resourceVersion: readonly ResourceVersion[];
  readonly createdAtMs: Column<number>;
  readonly bootId?: Column<string>;
  readonly readyChangedAtMs?: Column<number>;
  readonly targetNode?: Column<NodeName>;
  /** True: its target. */
  readonly boundNode?: Column<NodeName | true>;
  readonly trouble?: Column<NonNullable<PodProjection['trouble']>>;
}

type SharedNode = Omit<NodeProjection, keyof Own | 'system'> & {
  readonly system?: Omit<NodeSystem, 'bootId'>;
};
type SharedPod = Omit<PodProjection, keyof Own>;

interface Columns {
  readonly form: number;
  readonly shared: readonly (SharedNode | SharedPod)[];
  readonly of: readonly number[];
  readonly own: Own;
  /** True: the object's name. */
  readonly apart: Readonly<Record<string, Column<string | true>>>;
  readonly hash: readonly number[];
  readonly rows: readonly (readonly [index: number, member: Member])[];
}

const FORM = 1;
/** Of fewer objects nothing is gained. */
const OBJECTS_MIN = 64;

/** The objects as the body of an item: a list, or columns where that gains something. Throws ItemTooLargeError. */
export function encodeObjects(key: ItemKey, objects: Objects): Uint8Array {
  return encodeColumns(key, objects) ?? encodeList(key, objects);
}

/** Opens the objects of a body; decoded when they are asked for. Throws ItemUnreadableError. */
export function openObjects(key: ItemKey, body: unknown): () => Objects {
  const open = openBody(key, body);
  return () => {
    const content = open() as Objects | Columns;
    if (!('form' in content)) return content;
    if (content.form === FORM) return objectsOf(content);
    const detail = `columns of form ${String(content.form)} are unknown to this release; a newer one wrote them`;
    throw new ItemUnreadableError(key, detail);
  };
}

/** The objects by columns; undefined where nothing is gained by that. */
function encodeColumns(key: ItemKey, objects: Objects): Uint8Array | undefined {
  const kind = objects[0]?.object.kind;
  if (objects.length < OBJECTS_MIN || (kind !== 'Node' && kind !== 'Pod')) return undefined;
  const those = objects.flatMap(({ object }) => (object.kind === kind ? [object] : []));
  const hash = objects.flatMap((member) => (member.object.kind === kind ? [member.hash] : []));
  const rows = [...objects.entries()].filter(([, { object }]) => object.kind !== kind);
  const names = labelsApart(those);
  const places = new Map<string, number>();
  const of = those.map((object) => {
    const text = sharedTextOf(object, names);
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    return place;
  });
  const apart = Object.fromEntries(
    names.map((label) => [label, those.map(({ name, labels }) => sameAs(labels[label], name))]),
  );
  const rest: Omit<Columns, 'form' | 'shared'> = { of, own: ownOf(those), apart, hash, rows };
  const shared = `"form":${String(FORM)},"shared":[${[...places.keys()].join(',')}]`;
  return encodeText(key, `{${shared},${JSON.stringify(rest).slice(1)}`);
}

/** Labels of which more than half of the objects have a value of their own, such as a node's hostname. */
function labelsApart(objects: readonly InColumns[]): readonly string[] {
  const values = new Map<string, Set<string>>();
  for (const { labels } of objects) {
    for (const [name, value] of Object.entries(labels)) {
      values.set(name, (values.get(name) ?? new Set()).add(value));
    }
  }
  return [...values].filter(([, of]) => of.size > objects.length / 2).map(([name]) => name);
}

/** The shared parts of an object as they were encoded before, as long as a caller holds the object. */
const sharedTexts = new WeakMap<InColumns, { readonly apart: string; readonly text: string }>();

/** `ingest` writes hundreds anew for a few that changed: those are as they were. */
function sharedTextOf(object: InColumns, labelNames: readonly string[]): string {
  const apart = labelNames.join(',');
  const known = sharedTexts.get(object);
  // Stryker disable next-line ConditionalExpression: what is remembered is what would be made again
  if (known?.apart === apart) return known.text;
  const text = JSON.stringify(sharedOf(object, labelNames));
  // Stryker disable next-line CallExpression: what is not remembered is made again
  sharedTexts.set(object, { apart, text });
  return text;
}

function sharedOf(object: InColumns, labelNames: readonly string[]): object {
  const { name: _name, uid: _uid, resourceVersion: _version, createdAtMs: _at, ...rest } = object;
  const labels = withoutLabels(object.labels, labelNames);
  if (rest.kind === 'Pod') {
    const { readyChangedAtMs: _ready, targetNode: _target, boundNode: _bound, ...pod } = rest;
    const { trouble: _trouble, ...shared } = pod;
    return { ...shared, labels };
  }
  if (rest.system === undefined) return { ...rest, labels };
  const { bootId: _bootId, ...system } = rest.system;
  return { ...rest, labels, system };
}

function withoutLabels(labels: Labels, names: readonly string[]): Labels {
  if (names.length === 0) return labels;
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !names.includes(name)));
}

function ownOf(objects: readonly InColumns[]): Own {
  const pods = objects.filter((object) => object.kind === 'Pod');
  const nodes = objects.filter((object) => object.kind === 'Node');
  return {
    name: objects.map(({ name }) => name),
    uid: objects.map(({ uid }) => uid),
    resourceVersion: objects.map(({ resourceVersion }) => resourceVersion),
    createdAtMs: objects.map(({ createdAtMs }) => createdAtMs ?? null),
    ...defined({
      bootId: columnOf(nodes, ({ system }) => system?.bootId),
      readyChangedAtMs: columnOf(pods, ({ readyChangedAtMs }) => readyChangedAtMs),
      targetNode: columnOf(pods, ({ targetNode }) => targetNode),
      boundNode: columnOf(pods, ({ boundNode, targetNode }) => sameAs(boundNode, targetNode)),
      trouble: columnOf(pods, ({ trouble }) => trouble),
    }),
  };
}

/** A column; none where no object has anything in it. */
function columnOf<T, Value>(
  objects: readonly T[],
  valueOf: (object: T) => Value | null | undefined,
): Column<Value> | undefined {
  const column = objects.map((object) => valueOf(object) ?? null);
  return column.some((value) => value !== null) ? column : undefined;
}

function sameAs<T>(value: T | undefined, other: T | undefined): T | true | null {
  if (value === undefined) return null;
  return value === other ? true : value;
}

/** Makes the object of an index: of one kind all have the same members in the same order, so that a plan goes through them fast. */
type Maker = (index: number) => InColumns;

function objectsOf(columns: Columns): Objects {
  const makers = columns.shared.map((shared) =>
    shared.kind === 'Node' ? nodeMaker(shared, columns) : podMaker(shared, columns),
  );
  const members = columns.of.map((place, index): Member => {
    const object = makers[place]?.(index);
    if (object === undefined) throw new RangeError(`columns share no ${String(place)}`);
    return { object, hash: columns.hash[index] as number };
  });
  // In ascending order, so that each comes where it was.
  for (const [index, member] of columns.rows) members.splice(index, 0, member);
  return members;
}

function nodeMaker(shared: SharedNode, { own, apart }: Columns): Maker {
  const { kind, labels, taints, unschedulable, isReady, isTerminating, system, ...others } = shared;
  const add = othersAdder(others);
  const labelsAt = labelsMaker(labels, apart);
  return (index) => {
    const name = own.name[index] as NodeName;
    const node: Writable<NodeProjection> = {
      kind,
      name,
      uid: own.uid[index] as Uid,
      resourceVersion: own.resourceVersion[index] as ResourceVersion,
      labels: labelsAt(index, name),
      taints,
      unschedulable,
      isReady,
      isTerminating,
    };
    const createdAtMs = own.createdAtMs[index];
    if (typeof createdAtMs === 'number') node.createdAtMs = createdAtMs;
    const bootId = own.bootId?.[index];
    if (system !== undefined && typeof bootId === 'string') node.system = { ...system, bootId };
    return add(node);
  };
}

function podMaker(shared: SharedPod, { own, apart }: Columns): Maker {
  const { kind, namespace, labels, phase, isReady, isTerminating, ownerUid, reason, ...others } =
    shared;
  const add = othersAdder(others);
  const labelsAt = labelsMaker(labels, apart);
  return (index) => {
    const name = own.name[index] as string;
    const pod: Writable<PodProjection> = {
      kind,
      namespace,
      name,
      uid: own.uid[index] as Uid,
      resourceVersion: own.resourceVersion[index] as ResourceVersion,
      labels: labelsAt(index, name),
      phase,
      isReady,
      createdAtMs: own.createdAtMs[index] as number,
      isTerminating,
    };
    if (ownerUid !== undefined) pod.ownerUid = ownerUid;
    if (reason !== undefined) pod.reason = reason;
    const trouble = own.trouble?.[index];
    if (trouble !== undefined && trouble !== null) pod.trouble = trouble;
    addPlaceAndTime(pod, own, index);
    return add(pod);
  };
}

function addPlaceAndTime(pod: Writable<PodProjection>, own: Own, index: number): void {
  const readyChangedAtMs = own.readyChangedAtMs?.[index];
  if (typeof readyChangedAtMs === 'number') pod.readyChangedAtMs = readyChangedAtMs;
  const targetNode = own.targetNode?.[index] ?? undefined;
  const bound = own.boundNode?.[index] ?? undefined;
  const boundNode = bound === true ? targetNode : bound;
  if (boundNode !== undefined) pod.boundNode = boundNode;
  if (targetNode !== undefined) pod.targetNode = targetNode;
}

/** Adds what this release does not know: a newer one wrote it, and another may read it again. */
function othersAdder(others: object): <Of extends InColumns>(object: Of) => Of {
  const isNone = Object.keys(others).length === 0;
  return (object) => (isNone ? object : Object.assign(object, others));
}

function labelsMaker(
  shared: Labels,
  apart: Columns['apart'],
): (index: number, name: string) => Labels {
  const columns = Object.entries(apart);
  if (columns.length === 0) return () => shared;
  return (index, name) => {
    const labels = { ...shared };
    for (const [label, column] of columns) {
      const value = column[index] ?? undefined;
      if (value !== undefined) labels[label] = value === true ? name : value;
    }
    return labels;
  };
}

/** A tombstone as a row: a rollout leaves one for each pod of a slice. */
type Row = readonly [
  name: string,
  uid: Uid,
  node: NodeName,
  revision: string | null,
  createdAtMs: number,
  goneAtMs: number,
];

/** The encoded form of a list, as long as a caller holds the list: most writes of a slice add no tombstone. */
const encodedLists = new WeakMap<readonly Tombstone[], Uint8Array>();

/** Tombstones, for an attribute beside a body; nothing at all where there are none. The list is never changed in place. */
export function encodeTombstones(key: ItemKey, gone: readonly Tombstone[]): Uint8Array | undefined {
  if (gone.length === 0) return undefined;
  // Stryker disable next-line LogicalOperator: what is remembered is what would be made again
  const encoded = encodedLists.get(gone) ?? encodeList(key, gone, rowOf);
  // Stryker disable next-line CallExpression: what is not remembered is made again
  encodedLists.set(gone, encoded);
  return encoded;
}

function rowOf({ name, uid, node, revision, createdAtMs, goneAtMs }: Tombstone): Row {
  return [name, uid, node, revision ?? null, createdAtMs, goneAtMs];
}

export function decodeTombstones(key: ItemKey, attribute: unknown): readonly Tombstone[] {
  if (attribute === undefined) return [];
  const rows = decodeBody(key, attribute) as readonly Row[];
  return rows.map(([name, uid, node, revision, createdAtMs, goneAtMs]) => ({
    name,
    uid,
    node,
    ...(revision === null ? {} : { revision }),
    createdAtMs,
    goneAtMs,
  }));
}

/** A slice, decoded when it is first read: a caller that holds one of this stamp does not decode it again. */
export function openSlice(item: StoredItem, key: ItemKey): Slice {
  const objects = once(openObjects(key, item['body']));
  const gone = once(() => decodeTombstones(key, item['gone']));
  const slice = {
    stamp: item['stamp'] as Stamp,
    get objects() {
      return objects();
    },
    ...defined({ older: item['older'] as Slice['older'] }),
  };
  if (item['gone'] === undefined) return slice;
  return Object.defineProperty(slice, 'gone', { enumerable: true, get: gone });
}

/** Made when it is first asked for; what it was made of is let go of then. */
function once<T>(make: () => T): () => T {
  let answer = (): T => {
    const made = make();
    answer = () => made;
    return made;
  };
  return () => answer();
}
