// The journal on disk: one append-only file of JSON lines, rewritten when most of it is history.
//
// Survives SIGKILL at any point: facts are handed to the operating system (one write for all facts of a request)
// before the answer leaves, and a line that was cut short by the kill is ignored, as its answer never left. It does
// not survive a power cut: nothing is synced to the disk, which is the right price for a local engine. A rewrite
// goes to a second file that then takes the first one's name, so there is a whole journal at every moment.
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

const rewriteBytesMin = 4 * 1024 * 1024;
const rewriteGrowthFactor = 4;

/** What a journal works with. */
export interface JournalOptions<Fact> {
  readonly directory: string;
  readonly name: string;
  readonly replay: (fact: Fact) => void;
  /** What it holds when it is rewritten. */
  readonly currentFacts: () => Iterable<Fact>;
}

/** An open journal. */
export class JournalFile<Fact> {
  readonly #file: string;
  readonly #currentFacts: () => Iterable<Fact>;
  #descriptor: number;
  #pending = '';
  #sizeBytes: number;
  #sizeBytesAfterRewrite: number;

  private constructor(file: string, currentFacts: () => Iterable<Fact>, sizeBytes: number) {
    this.#file = file;
    this.#currentFacts = currentFacts;
    this.#descriptor = openSync(file, 'a');
    // Drops the line that a kill may have cut short, so that the next one starts on a line of its own.
    ftruncateSync(this.#descriptor, sizeBytes);
    this.#sizeBytes = sizeBytes;
    this.#sizeBytesAfterRewrite = sizeBytes;
  }

  /** Opens the journal in a directory, replays it, and starts it afresh without its history. */
  static open<Fact>(options: JournalOptions<Fact>): JournalFile<Fact> {
    const { directory, name, replay, currentFacts } = options;
    mkdirSync(directory, { recursive: true });
    const file = path.join(directory, name);
    const sizeBytes = replayFile(file, replay);
    const journal = new JournalFile(file, currentFacts, sizeBytes);
    if (sizeBytes > 0) journal.#rewrite();
    return journal;
  }

  /** Adds a fact; it is safe after the next `flush`. */
  record(fact: Fact): void {
    this.#pending += `${JSON.stringify(fact)}\n`;
  }

  /** Hands all facts to the operating system. */
  flush(): void {
    if (this.#pending === '') return;
    this.#sizeBytes += writeAll(this.#descriptor, this.#pending);
    this.#pending = '';
    const isMostlyHistory = this.#sizeBytes > this.#sizeBytesAfterRewrite * rewriteGrowthFactor;
    if (this.#sizeBytes > rewriteBytesMin && isMostlyHistory) this.#rewrite();
  }

  /** Closes the file. */
  close(): void {
    this.flush();
    closeSync(this.#descriptor);
  }

  #rewrite(): void {
    const temporary = `${this.#file}.new`;
    const descriptor = openSync(temporary, 'w');
    let sizeBytes = 0;
    for (const fact of this.#currentFacts()) {
      sizeBytes += writeAll(descriptor, `${JSON.stringify(fact)}\n`);
    }
    renameSync(temporary, this.#file);
    closeSync(this.#descriptor);
    this.#descriptor = descriptor;
    this.#pending = '';
    this.#sizeBytes = sizeBytes;
    this.#sizeBytesAfterRewrite = sizeBytes;
  }
}

function writeAll(descriptor: number, text: string): number {
  const bytes = Buffer.from(text);
  let writtenBytes = 0;
  while (writtenBytes < bytes.length) {
    writtenBytes += writeSync(descriptor, bytes, writtenBytes, bytes.length - writtenBytes);
  }
  return writtenBytes;
}

/** Replays the whole lines of a file; returns how many bytes they take. Throws for one that is damaged, and names it. */
function replayFile<Fact>(file: string, replay: (fact: Fact) => void): number {
  if (!existsSync(file)) return 0;
  const bytes = readFileSync(file);
  let start = 0;
  for (let lineNumber = 1; ; lineNumber += 1) {
    const end = bytes.indexOf(10, start);
    if (end < 0) return start;
    replay(factIn<Fact>(bytes.toString('utf8', start, end), `${file}:${lineNumber}`));
    start = end + 1;
  }
}

function factIn<Fact>(line: string, place: string): Fact {
  try {
    return JSON.parse(line) as Fact; // written by this module
  } catch (cause) {
    const message = `${place} is damaged; remove the data directory to start anew.`;
    throw new Error(message, { cause });
  }
}
