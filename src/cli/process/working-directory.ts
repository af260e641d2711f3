/**
 * Where a program that stays has its files: the data directory that it was given, or a temporary one that goes with it.
 *
 * Another process that holds the data directory is left alone. A temporary one holds an administrator's kubeconfig, so it goes
 * however the process ends; what a killed one left is removed by the next start, by the note in it of who made it.
 */
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  isNotedProcessRunning,
  noteOfThisProcess,
} from '@rollcall/local-aws/deployment/process-note.ts';
import { takeDataDirectory } from '@rollcall/local-aws/deployment/data-directory.ts';
import type { DataDirectory } from '@rollcall/local-aws/deployment/data-directory.ts';
import { INSTALLATION_FILE } from '../../engine/lease/installation.ts';
import { refusal } from './exit-codes.ts';

/** A directory of this process. */
export interface WorkingDirectory {
  readonly path: string;
  /** Absent: nothing of it stays. */
  readonly data?: DataDirectory;
  readonly release: () => void;
}

const PREFIX = 'rollcall-';
/** In a temporary directory alone: no directory that a user chose has it. */
const NOTE_FILE = 'made-by';
const OWNER_MASK = 0o077;

/**
 * Opens it, and has the process make files for its owner alone from then on. Throws CommandError (exit code 3) while another
 * process holds the data directory, other users may write to it, or its tables are of a release before.
 */
export function openWorkingDirectory(
  dataDir: string | undefined,
  say: (text: string) => void,
): WorkingDirectory {
  // All files from here on hold keys, lead to them, or are run: they are their owner's alone.
  process.umask(OWNER_MASK);
  if (dataDir !== undefined) return holdData(dataDir);
  const inherited = removeLeftBehind(say);
  const directory = mkdtempSync(path.join(tmpdir(), PREFIX));
  writeFileSync(path.join(directory, NOTE_FILE), noteOfThisProcess());
  if (inherited !== undefined) writeFileSync(path.join(directory, INSTALLATION_FILE), inherited);
  const remove = (): void => {
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', remove);
  return {
    path: directory,
    release: () => {
      process.off('exit', remove);
      remove();
    },
  };
}

function holdData(dataDir: string): WorkingDirectory {
  const data = takeDataDirectory(dataDir);
  if (data.kind === 'held') {
    return {
      path: dataDir,
      data,
      release: () => {
        data.release();
      },
    };
  }
  if (data.kind === 'exposed') {
    throw refusal(
      `The directory ${dataDir} ${data.how}, who could change what is kept there.`,
      'Pass a directory that does not exist yet, or make this one yours alone: chmod 700.',
    );
  }
  if (data.kind === 'former') {
    throw refusal(
      `The tables in ${dataDir} are those of a release before, which this one cannot read.`,
      'Pass a directory that does not exist yet; clusters are made or added again.',
    );
  }
  const { processId, lockFile } = data;
  const holder = processId === undefined ? 'another process' : `process ${String(processId)}`;
  throw refusal(
    `The directory ${dataDir} is in use by ${holder}.`,
    `Stop that one first, or pass another --data. If it is not rollcall, remove ${lockFile}.`,
  );
}

/**
 * Removes what killed starts left. The name of such an installation, if one had one: the next start goes on under it, so
 * that it has the Lease of a given cluster at once.
 */
function removeLeftBehind(say: (text: string) => void): string | undefined {
  let installation: string | undefined;
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const directory = path.join(tmpdir(), name);
    try {
      if (!isLeftBehind(directory)) continue;
      const file = path.join(directory, INSTALLATION_FILE);
      if (existsSync(file)) installation = readFileSync(file, 'utf8');
      rmSync(directory, { recursive: true, force: true });
      say(`removed ${directory}, which a start left that was killed`);
    } catch (error) {
      say(`warning: ${directory} of an earlier start stays: ${String(error)}`);
    }
  }
  return installation;
}

/** A directory of this user's, with the note of a process that is gone. */
function isLeftBehind(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true || found.uid !== process.getuid?.()) return false;
  const noteFile = path.join(directory, NOTE_FILE);
  if (lstatSync(noteFile, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return !isNotedProcessRunning(readFileSync(noteFile, 'utf8'));
}
