/**
 * Finds members and ends of JSON values in bytes, and reads of a pod's watch event only who it is, where that shows that
 * no DaemonSet controls it: with 90,000 such pods that spares the watcher 5 of 92 MiB and a fifth of its CPU to the first
 * snapshot. For JSON as API servers write it: compact, UTF-8, nothing escaped in keys. What is laid out otherwise, an
 * orphan, and anything that names a DaemonSet is left to the parser; what follows is not looked at.
 */
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchFrame } from '../../../ports/cluster/watch-source.ts';
import { CHANGES } from './watch-frames.ts';

const QUOTE = 0x22;
/** Between members, and between items. */
export const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** Begins a list. */
export const OPEN_LIST = 0x5b;
/** Ends a list. */
export const CLOSE_LIST = 0x5d;
/** Begins an object. */
export const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface Key {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
}

/** A key as the API server writes it: no white space around it, nothing escaped in it. */
export function readKey(line: Buffer, at: number): Key | undefined {
  if (line[at] !== QUOTE) return undefined;
  const end = skipText(line, at);
  if (end === undefined || line[end] !== COLON) return undefined;
  return { key: line.toString('latin1', at + 1, end - 1), keyStart: at, valueStart: end + 1 };
}

/** The place after a value; undefined when the line ends before. */
export function skipValue(line: Buffer, start: number): number | undefined {
  const first = line[start];
  if (first === QUOTE) return skipText(line, start);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return new ObjectEnd().find(line, start);
  for (let at = start; at < line.length; at += 1) {
    const byte = line[at];
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST) return at;
  }
  return undefined;
}

function skipText(line: Buffer, start: number): number | undefined {
  for (let at = start + 1; at < line.length; at += 1) {
    const byte = line[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at + 1;
  }
  return undefined;
}

/** A JSON object; undefined where the text is none: who asked judges what that means. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // Its message would quote the object.
    return undefined;
  }
}

/**
 * Finds where a JSON object ends that arrives in several chunks, looking at each byte once: counts braces and brackets
 * outside of text, and remembers where in an object the last chunk ended.
 */
export class ObjectEnd {
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  /** The place after the object's last byte, once here; begins at its opening brace, then at each chunk's start. */
  find(chunk: Buffer, start: number): number | undefined {
    let at = start;
    while (at < chunk.length) {
      if (this.#isText) {
        at = this.#skipText(chunk, at);
        continue;
      }
      const byte = chunk[at];
      at += 1;
      if (byte === QUOTE) this.#isText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#depth -= 1;
      if (this.#depth === 0) return at;
    }
    return undefined;
  }

  /** The place after the text's end, or the chunk's. */
  #skipText(chunk: Buffer, start: number): number {
    let at = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#isText = false;
        return at + 1;
      }
      if (byte !== BACKSLASH) continue;
      at += 1;
      this.#isEscaped = at >= chunk.length;
    }
    return chunk.length;
  }
}

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
