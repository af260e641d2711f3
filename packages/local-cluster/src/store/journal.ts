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
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import { readJournal } from './journal-lines.ts';
import type { JournalContents, StoredObject } from './journal-lines.ts';
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
