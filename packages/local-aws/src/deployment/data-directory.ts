// The directory in which the local AWS keeps its data: made if absent, and held by one process at a time.
//
// The lock is a file with a note of its holder. A holder that was killed leaves it behind; it is taken over once that very
// process is gone, whichever process has its id now. Only its owner may read what lies in it: it holds keys. One that was there already
// may be looked into, but in one that others may write to they could replace what is read from it, so it is not taken.
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { isNotedProcessRunning, noteOfThisProcess, processIdIn } from './process-note.ts';

/** A held data directory. */
export interface DataDirectory {
  readonly kind: 'held';
  readonly path: string;
  release(): void;
}

/** Another process holds it. */
export interface DataDirectoryInUse {
  readonly kind: 'in-use';
  readonly processId: number | undefined;
  readonly lockFile: string;
}

/** Another user may replace what lies there, so nothing is kept there. */
export interface DataDirectoryExposed {
  readonly kind: 'exposed';
  /** How, after the name of the directory. */
  readonly how: string;
}

/** The tables in it are those of a release before, which kept them in LevelDB. */
export interface DataDirectoryFormer {
  readonly kind: 'former';
}

const OWNER_ONLY = 0o700;
const LEVELDB_FILE = 'dynamodb/CURRENT';
const WRITE_OF_OTHERS = 0o022;
/** What lies in it; from before they were their owner's alone, too. */
const PARTS = ['clusters', 'dynamodb', 'sqs'];

/** Takes a data directory for this process; nothing in it is touched while another one holds it. */
export function takeDataDirectory(
  directory: string,
): DataDirectory | DataDirectoryInUse | DataDirectoryExposed | DataDirectoryFormer {
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY });
  const how = howExposed(directory);
  if (how !== undefined) return { kind: 'exposed', how };
  if (existsSync(path.join(directory, LEVELDB_FILE))) return { kind: 'former' };
  const lockFile = path.join(directory, 'lock');
  if (!createLock(lockFile)) {
    const note = readFileSync(lockFile, 'utf8');
    const inUse = { kind: 'in-use', processId: processIdIn(note), lockFile } as const;
    if (isNotedProcessRunning(note)) return inUse;
    rmSync(lockFile, { force: true });
    if (!createLock(lockFile)) return inUse;
  }
  for (const part of PARTS) {
    mkdirSync(path.join(directory, part), { recursive: true });
    chmodSync(path.join(directory, part), OWNER_ONLY);
  }
  return {
    kind: 'held',
    path: directory,
    release: () => {
      rmSync(lockFile, { force: true });
    },
  };
}

function howExposed(directory: string): string | undefined {
  const ownId = process.getuid?.();
  if (ownId === undefined) return undefined; // rights of another kind
  const { uid, mode } = statSync(directory);
  if (uid !== ownId) return 'belongs to another user';
  return (mode & WRITE_OF_OTHERS) === 0 ? undefined : 'may be written to by other users';
}

function createLock(lockFile: string): boolean {
  try {
    const descriptor = openSync(lockFile, 'wx');
    writeSync(descriptor, noteOfThisProcess());
    closeSync(descriptor);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
