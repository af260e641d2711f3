// The directory in which the local AWS keeps its data: made if absent, and held by one process at a time.
//
// The lock is a file with a note of its holder. A holder that was killed leaves it behind; it is taken over once that very
// process is gone, whoever has its id now. Only its owner may read the directory: it holds keys.
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
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

const OWNER_ONLY = 0o700;
/** What lies in it; from before they were their owner's alone, too. */
const PARTS = ['clusters', 'dynamodb', 'sqs'];

/** Takes a data directory for this process; nothing in it is touched while another one holds it. */
export function takeDataDirectory(directory: string): DataDirectory | DataDirectoryInUse {
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY });
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
