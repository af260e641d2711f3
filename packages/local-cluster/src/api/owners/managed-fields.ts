/**
 * metadata.managedFields: who owns which parts of an object, and what a write makes of it.
 *
 * An update owns what it changed, and takes that from its owner; what is removed has no owner. An apply owns what it
 * lists. An entry that says nothing new keeps its time, so that a write that changes nothing writes nothing.
 * Differs from Kubernetes: owners of a status are not noted, and fields of pods, nodes, leases and events, which
 * change all the time, have none.
 */
import { isJsonObject, jsonItems } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { changesBetween, ownedPaths, pathBelow } from './owned-paths.ts';
import type { OwnedPaths, OwnedTypes } from './owned-paths.ts';

/** An owner, and the paths that it owns. */
export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly paths: ReadonlySet<string>;
}

/** Who writes. */
export type Writer = Omit<Owner, 'paths'>;

/** What Go writes of a DaemonSet that holds nothing: members that are there before anything is set. */
const EMPTY_PATHS: OwnedPaths = {
  leaves: new Map<string, Json>([
    ['f:spec\nf:selector', null],
    ['f:spec\nf:template\nf:spec\nf:containers', null],
  ]),
  inner: new Set([
    'f:metadata',
    'f:spec',
    'f:spec\nf:template',
    'f:spec\nf:template\nf:metadata',
    'f:spec\nf:template\nf:spec',
    'f:spec\nf:updateStrategy',
  ]),
};
/** It is raised by the server with each template, in no client's name. */
const TEMPLATE_GENERATION = 'f:metadata\nf:annotations\nf:deprecated.daemonset.template.generation';
const MANAGER_LENGTH_MAX = 128;

/** Under which name a request writes: `fieldManager`, or what its user agent says before the first `/`. */
export function managerOf(request: ApiRequest, query: URLSearchParams): string {
  const asked = query.get('fieldManager') ?? '';
  if (asked !== '') return asked;
  const [agent = ''] = (request.userAgent ?? '').split('/', 1);
  return agent === '' ? 'unknown' : agent.slice(0, MANAGER_LENGTH_MAX);
}

/** The owners of an object. */
export function ownersOf(object: ApiObject): readonly Owner[] {
  return jsonItems(object.metadata['managedFields']).flatMap(readOwner);
}

function readOwner(entry: Json): readonly Owner[] {
  if (!isJsonObject(entry)) return [];
  const { manager, operation, apiVersion, time, fieldsV1 } = entry;
  if (typeof manager !== 'string' || typeof apiVersion !== 'string') return [];
  if (operation !== 'Apply' && operation !== 'Update') return [];
  const paths = new Set<string>();
  if (isJsonObject(fieldsV1)) addPaths(paths, '', fieldsV1);
  const at = typeof time === 'string' ? { time } : {};
  return [{ manager, operation, apiVersion, ...at, paths }];
}

function addPaths(paths: Set<string>, path: string, fields: JsonObject): void {
  for (const [element, below] of Object.entries(fields)) {
    if (element === '.') {
      paths.add(path);
      continue;
    }
    const own = pathBelow(path, element);
    if (isJsonObject(below) && Object.keys(below).length > 0) addPaths(paths, own, below);
    else paths.add(own);
  }
}

interface Tree {
  [element: string]: Tree;
}

function fieldsOf(paths: ReadonlySet<string>): JsonObject {
  const root: Tree = {};
  // What holds others comes before them, and they before it is known to.
  for (const path of [...paths].sort()) {
    let node = root;
    for (const element of path.split('\n')) node = node[element] ??= {};
    node['.'] = {};
  }
  const plain = (node: Tree): JsonObject => {
    const { '.': own, ...below } = node;
    const members = Object.entries(below).map(([name, child]) => [name, plain(child)] as const);
    if (members.length === 0) return {};
    return Object.fromEntries([...(own === undefined ? [] : [['.', {}] as const]), ...members]);
  };
  return plain(root);
}

/** The member metadata.managedFields; undefined where no field has an owner. */
export function managedFieldsOf(owners: readonly Owner[]): Json | undefined {
  const entries = owners
    .filter(({ paths }) => paths.size > 0)
    .map(({ manager, operation, apiVersion, time, paths }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fieldsOf(paths),
    }));
  return entries.length === 0 ? undefined : entries;
}

/** Whether two owners are one. */
export function isSameOwner(left: Writer, right: Writer): boolean {
  const { manager, operation, apiVersion } = left;
  return (
    manager === right.manager && operation === right.operation && apiVersion === right.apiVersion
  );
}

/** Owners after one of them wrote: it owns `own`; of the others' paths those in `taken` and `removed` are gone. */
export function ownersAfter(
  owners: readonly Owner[],
  { writer, own, lost }: { writer: Writer; own: ReadonlySet<string>; lost: ReadonlySet<string> },
): readonly Owner[] {
  const former = owners.find((owner) => isSameOwner(owner, writer));
  const isEqual = former !== undefined && former.paths.symmetricDifference(own).size === 0;
  const mine = isEqual ? former : { ...writer, paths: own };
  const others = owners.filter((owner) => !isSameOwner(owner, writer));
  const kept = others.map((owner) => ({ ...owner, paths: owner.paths.difference(lost) }));
  // As the real server lists them: applies first, then by time.
  return [...kept, mine].sort((left, right) => {
    if (left.operation !== right.operation) return left.operation === 'Apply' ? -1 : 1;
    const [first, second] = [left.time ?? '', right.time ?? ''];
    if (first !== second) return first < second ? -1 : 1;
    return left.manager < right.manager ? -1 : left.manager > right.manager ? 1 : 0;
  });
}

/** managedFields after a create or an update that was no apply. */
export function afterUpdate(
  current: ApiObject | undefined,
  next: ApiObject,
  { types, writer }: { readonly types: OwnedTypes; readonly writer: Writer },
): Json | undefined {
  const before = current === undefined ? EMPTY_PATHS : ownedPaths(current, types);
  const changes = changesBetween(before, ownedPaths(next, types));
  const written = new Set(changes.written);
  if (current !== undefined) written.delete(TEMPLATE_GENERATION);
  const owners = current === undefined ? [] : ownersOf(current);
  if (current !== undefined && written.size === 0 && changes.removed.size === 0) {
    return current.metadata['managedFields'];
  }
  const former = owners.find((owner) => isSameOwner(owner, writer))?.paths ?? new Set<string>();
  const own = former.difference(changes.removed).union(written);
  const lost = written.union(changes.removed);
  return managedFieldsOf(ownersAfter(owners, { writer, own, lost }));
}
