/**
 * Reads of a pod's watch event only who it is, where that shows that no DaemonSet controls it. With 90,000 such pods that
 * spares the watcher 5 of 92 MiB and a fifth of its CPU to the first snapshot. It answers only what is certain: an orphan,
 * anything that names a DaemonSet, and any line laid out otherwise is left to the parser; what follows is not looked at.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchFrame } from '../../../ports/cluster/watch-source.ts';
import { COMMA, OPEN_OBJECT, parseObject, readKey, skipValue, type Key } from './json-bytes.ts';
import { CHANGES } from './watch-frames.ts';

const IDENTITY_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
]);
const OWNERS_FIELD = 'ownerReferences';
/** As an API server writes who controls a pod. Found in one pass by the runtime, at a tenth of what a walk to the owner costs. */
const OWNED_BY_DAEMON_SET = Buffer.from('"kind":"DaemonSet"');

interface Member extends Key {
  /** After the value. */
  readonly end: number;
}

/**
 * The event of a pod that something else than a DaemonSet controls, its object cut down to identity and
 * owners; undefined when it must be parsed. Takes one line of a watch of pods. Never throws.
 */
export function skimForeignPod(line: Buffer): WatchFrame | undefined {
  if (line[0] !== OPEN_OBJECT) return undefined;
  const type = readMember(line, 1);
  if (type?.key !== 'type') return undefined;
  const kind = CHANGES.get(line.toString('latin1', type.valueStart + 1, type.end - 1));
  const object = nextKey(line, type.end);
  if (kind === undefined || object?.key !== 'object') return undefined;
  const slim = skimObject(line, object.valueStart);
  return slim === undefined ? undefined : { kind, object: slim };
}

/** The same of a pod by itself, which begins at `start`: an item of a list. */
export function skimObject(bytes: Buffer, start: number): KubernetesObject | undefined {
  // Stryker disable next-line ConditionalExpression: saves the walk, which would find the same
  if (bytes.includes(OWNED_BY_DAEMON_SET)) return undefined;
  const metadata = findMetadata(bytes, start);
  return metadata === undefined ? undefined : readForeign(bytes, metadata);
}

/** Where the members of `object.metadata` begin. */
function findMetadata(line: Buffer, objectStart: number): number | undefined {
  if (line[objectStart] !== OPEN_OBJECT) return undefined;
  let at = objectStart + 1;
  for (;;) {
    const key = readKey(line, at);
    if (key === undefined) return undefined;
    if (key.key === 'metadata') {
      return line[key.valueStart] === OPEN_OBJECT ? key.valueStart + 1 : undefined;
    }
    const end = skipValue(line, key.valueStart);
    if (end === undefined || line[end] !== COMMA) return undefined;
    at = end + 1;
  }
}

function readForeign(line: Buffer, metadataStart: number): KubernetesObject | undefined {
  const parts: string[] = [];
  let hasOwners = false;
  let at = metadataStart;
  while (!hasOwners || parts.length <= IDENTITY_FIELDS.size) {
    const member = readMember(line, at);
    if (member === undefined) return undefined;
    const isOwners = member.key === OWNERS_FIELD;
    if (isOwners || IDENTITY_FIELDS.has(member.key)) {
      parts.push(line.toString('utf8', member.keyStart, member.end));
    }
    hasOwners ||= isOwners;
    if (line[member.end] !== COMMA) break;
    at = member.end + 1;
  }
  if (!hasOwners) return undefined;
  const metadata = parseObject(`{${parts.join()}}`);
  const isForeign = metadata !== undefined && hasForeignController(metadata[OWNERS_FIELD]);
  return isForeign ? ({ metadata } as unknown as KubernetesObject) : undefined; // readers check what they read
}

/** True only if a controller is named, and nothing that is called a DaemonSet. */
function hasForeignController(owners: unknown): boolean {
  if (!Array.isArray(owners) || !owners.every(isJsonObject)) return false;
  return (
    owners.some((owner) => owner['controller'] === true) &&
    owners.every((owner) => typeof owner['kind'] === 'string' && owner['kind'] !== 'DaemonSet')
  );
}

function nextKey(line: Buffer, valueEnd: number): Key | undefined {
  return line[valueEnd] === COMMA ? readKey(line, valueEnd + 1) : undefined;
}

function readMember(line: Buffer, at: number): Member | undefined {
  const key = readKey(line, at);
  const end = key === undefined ? undefined : skipValue(line, key.valueStart);
  return key === undefined || end === undefined ? undefined : { ...key, end };
}
