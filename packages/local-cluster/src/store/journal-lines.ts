/**
 * Reads the lines of a journal (journal.ts): the state that they lead to, and how far they are whole.
 *
 * A last line without its line end was cut short by a kill and does not count. Any other line that is not one of ours
 * means that somebody changed the file: that is an error, as a guess would lose objects silently.
 */
import * as v from 'valibot';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import { keyText } from './key-order.ts';

/** An object with its collection. */
export interface StoredObject {
  readonly resource: ResourceName;
  readonly object: ApiObject;
}

/** What a journal says. */
export interface JournalContents {
  readonly version: bigint;
  readonly objects: readonly StoredObject[];
}

/** See above. */
export interface JournalReading {
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
export function readJournal(input: {
  readonly file: string;
  readonly bytes: Buffer;
}): JournalReading {
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
