/**
 * The name of this installation, as the Leases of its clusters tell it (ADR 0024): a person who meets one there finds the
 * machine. It stays with a data directory, so that a restart takes its Leases at once; so does that of a start that was killed,
 * whose temporary directory the next one finds.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { isInstallation } from '../../core/may-act/installation.ts';
import type { Random } from '@rollcall/base/ports/random.ts';

/** Name of the file that holds it. */
export const INSTALLATION_FILE = 'installation';
const HOST_CHARACTERS_MAX = 63;
const ID_CHARACTERS = 8;

/** Reads the name that a directory holds, or makes one. */
export async function openInstallation(
  directory: string | undefined,
  random: Random,
): Promise<string> {
  const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-');
  const id = random.uniqueId().slice(0, ID_CHARACTERS);
  const fresh = `start/${host.slice(0, HOST_CHARACTERS_MAX)}/${id}`;
  if (directory === undefined) return fresh;
  const file = path.join(directory, INSTALLATION_FILE);
  const stored = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  if (isInstallation(stored)) return stored;
  await mkdir(directory, { recursive: true });
  await writeFile(file, `${fresh}\n`);
  return fresh;
}
