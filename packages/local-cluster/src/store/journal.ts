/**
 * The journal of a store on disk (`--data`): one append-only file of JSON lines, rewritten when most of it is history.
 *
 * The first line says which version the lines before it led to; each further one is a put or a deletion with its version.
 * It survives SIGKILL at any point: lines are handed to the operating system in batches before anyone is told of the
 * writes, and a last line that was cut short is dropped. It does not survive a power cut, as nothing is synced: the right
 * price for a local cluster. A rewrite goes to a second file that then takes the first one's name. One process at a time
 * may hold the directory; the caller sees to that (data-directory.ts).
 */
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import { keyText } from './key-order.ts';
import type { StoreChange } from './store.ts';

const FILE_NAME = 'objects.ndjson';
const REWRITE_BYTES_MIN = 32 * 1024 * 1024;
const REWRITE_GROWTH_FACTOR = 4;
/** Lines of a rewrite are handed over in pieces of about this length. */
const PIECE_LENGTH = 1024 * 1024;

/** An open journal. */
export interface Journal {
  /** What it held when it was opened. */
  readonly contents: JournalContents;
  /** Bytes of a last line that a kill had cut short; 0 after an orderly end. */
  readonly droppedBytes: number;
  /** Notes a change; it is safe after the next `flush`. */
  readonly record: (change: StoreChange) => void;
  /** Hands all noted changes to the operating system. Throws when the disk is full or gone. */
  readonly flush: () => void;
  /** Flushes and closes the file. */
  readonly close: () => void;
}

/** Settings for tests. */
export interface JournalOptions {
  /** The file is rewritten when it has grown fourfold and is larger than this. */
  readonly rewriteBytesMin?: number;
}

/**
 * Opens the journal in a directory, which is made if absent, and rewrites it without its history. Throws when a line
 * other than the last is damaged: the message names file and line.
 */
export function openJournal(directory: string, options: JournalOptions = {}): Journal {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, FILE_NAME);
  const { contents, wholeBytes, totalBytes } = readJournal({ file, bytes: readIfThere(file) });
  const journal = new JournalFile({
    file,
    contents,
    rewriteBytesMin: options.rewriteBytesMin ?? REWRITE_BYTES_MIN,
  });
  return {
    contents,
    droppedBytes: totalBytes - wholeBytes,
    record: (change) => {
      journal.record(change);
    },
    flush: () => {
      journal.flush();
    },
    close: () => {
      journal.close();
    },
  };
}

class JournalFile {
  readonly #file: string;
  readonly #rewriteBytesMin: number;
  /** What the file says now, by resource and key. */
  readonly #objects = new Map<string, StoredObject>();
  #version: bigint;
  #pending: StoreChange[] = [];
  #descriptor: number;
  #sizeBytes = 0;
  #sizeBytesAfterRewrite = 0;

  constructor(options: {
    readonly file: string;
    readonly contents: JournalContents;
    readonly rewriteBytesMin: number;
  }) {
    this.#file = options.file;
    this.#rewriteBytesMin = options.rewriteBytesMin;
    this.#version = options.contents.version;
    for (const stored of options.contents.objects) {
      this.#objects.set(keyOf(stored.resource, stored.object), stored);
    }
    this.#descriptor = this.#rewrite();
  }

  record(change: StoreChange): void {
    this.#pending.push(change);
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    const changes = this.#pending;
    this.#pending = [];
    let text = '';
    for (const change of changes) {
      text += lineOf(change);
      this.#apply(change);
    }
    this.#sizeBytes += writeAll(this.#descriptor, text);
    const isMostlyHistory = this.#sizeBytes > this.#sizeBytesAfterRewrite * REWRITE_GROWTH_FACTOR;
    if (this.#sizeBytes <= this.#rewriteBytesMin || !isMostlyHistory) return;
    const previousDescriptor = this.#descriptor;
    this.#descriptor = this.#rewrite();
    closeSync(previousDescriptor);
  }

  close(): void {
    this.flush();
    closeSync(this.#descriptor);
  }

  #apply({ type, resource, object, version }: StoreChange): void {
    this.#version = version;
    const key = keyOf(resource, object);
    if (type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, { resource, object });
  }

  /** Writes a file without history in place of the old one; returns its descriptor. */
  #rewrite(): number {
    const temporary = `${this.#file}.new`;
    const descriptor = openSync(temporary, 'a', 0o600);
    // A rewrite that a kill cut short may have left something behind.
    ftruncateSync(descriptor, 0);
    let sizeBytes = 0;
    let text = `${JSON.stringify({ version: this.#version.toString() })}\n`;
    for (const { resource, object } of this.#objects.values()) {
      text += putLine(resource, object);
      if (text.length < PIECE_LENGTH) continue;
      sizeBytes += writeAll(descriptor, text);
      text = '';
    }
    sizeBytes += writeAll(descriptor, text);
    renameSync(temporary, this.#file);
    this.#sizeBytes = sizeBytes;
    this.#sizeBytesAfterRewrite = sizeBytes;
    return descriptor;
  }
}

function keyOf(resource: ResourceName, object: ApiObject): string {
  return `${resource}/${keyText(object.metadata)}`;
}

function lineOf({ type, resource, object }: StoreChange): string {
  if (type !== 'DELETED') return putLine(resource, object);
  const { namespace, name, resourceVersion } = object.metadata;
  return `${JSON.stringify({ delete: { resource, namespace, name, version: resourceVersion } })}\n`;
}

function putLine(resource: ResourceName, object: ApiObject): string {
  return `{"put":${JSON.stringify(resource)},"object":${JSON.stringify(object)}}\n`;
}

function writeAll(descriptor: number, text: string): number {
  const bytes = Buffer.from(text);
  let writtenBytes = 0;
  while (writtenBytes < bytes.length) {
    writtenBytes += writeSync(descriptor, bytes, writtenBytes, bytes.length - writtenBytes);
  }
  return writtenBytes;
}

function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** An object with its collection. */
interface StoredObject {
  readonly resource: ResourceName;
  readonly object: ApiObject;
}

/** What a journal says. */
interface JournalContents {
  readonly version: bigint;
  readonly objects: readonly StoredObject[];
}

/** See above. */
interface JournalReading {
  readonly contents: JournalContents;
  /** Bytes of the lines that count. */
  readonly wholeBytes: number;
  readonly totalBytes: number;
}

const LINE_END = 10;

const versionText = v.pipe(v.string(), v.digits());
const lineSchema = v.union([
  v.object({ version: versionText }),
  v.object({
    put: v.string(),
    object: v.looseObject({
      metadata: v.looseObject({
        name: v.string(),
        namespace: v.exactOptional(v.string()),
        resourceVersion: versionText,
      }),
    }),
  }),
  v.object({
    delete: v.object({
      resource: v.string(),
      namespace: v.exactOptional(v.string()),
      name: v.string(),
      version: versionText,
    }),
  }),
]);
type Line = v.InferOutput<typeof lineSchema>;

/** Replays the lines. Throws for a damaged one; `file` is for that message. */
function readJournal(input: { readonly file: string; readonly bytes: Buffer }): JournalReading {
  const { file, bytes } = input;
  const objects = new Map<string, StoredObject>();
  let version = 0n;
  let start = 0;
  for (let lineNumber = 1; ; lineNumber += 1) {
    const end = bytes.indexOf(LINE_END, start);
    if (end < 0) break;
    const line = parseLine(bytes.toString('utf8', start, end));
    if (line === undefined) {
      throw new Error(`${file}:${lineNumber} is damaged; remove the data directory to start anew.`);
    }
    const lineVersion = apply(line, objects);
    // After a rewrite, lines are in no order of versions; the first one says how far they went.
    if (lineVersion > version) version = lineVersion;
    start = end + 1;
  }
  return {
    contents: { version, objects: [...objects.values()] },
    wholeBytes: start,
    totalBytes: bytes.length,
  };
}

function parseLine(text: string): Line | undefined {
  try {
    const parsed = v.safeParse(lineSchema, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Applies a line and returns its version. */
function apply(line: Line, objects: Map<string, StoredObject>): bigint {
  if ('version' in line) return BigInt(line.version);
  if ('delete' in line) {
    objects.delete(`${line.delete.resource}/${keyText(line.delete)}`);
    return BigInt(line.delete.version);
  }
  const { put, object } = line;
  const { resourceVersion } = object.metadata;
  objects.set(`${put}/${keyText(object.metadata)}`, {
    // Written by this module from a stored object, and checked as far as the store itself relies on it.
    resource: put as ResourceName,
    object: object as object as ApiObject,
  });
  return BigInt(resourceVersion);
}
