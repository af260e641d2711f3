/**
 * A copy of the repository in which bugs are planted: all files that git knows and those that it has not been told of yet.
 *
 * node_modules has links to the original's, so nothing in the copy may install. Files are real copies, never hard links:
 * what is planted must not reach the original. A file that is deleted but not committed is left out.
 */
import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { copyFile, lstat, mkdir, readlink, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { linkModules } from '../../scripts/lib/link-modules.ts';

const run = promisify(execFile);
const LIST_BYTES_MAX = 64 * 1024 * 1024;

async function filesOf(root: string): Promise<readonly string[]> {
  const { stdout } = await run(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: root, maxBuffer: LIST_BYTES_MAX },
  );
  const files = stdout.split('\0').filter((file) => file !== '' && file !== 'node_modules');
  return files.filter((file) => existsSync(path.join(root, file)));
}

async function copyOne(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to);
  else await copyFile(from, to, constants.COPYFILE_FICLONE);
}

/** Copies the repository at `root` to the directory `to`, which is made. */
export async function copyRepository(root: string, to: string): Promise<void> {
  for (const file of await filesOf(root)) {
    await copyOne(path.join(root, file), path.join(to, file));
  }
  linkModules(root, to);
}
