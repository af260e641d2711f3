/**
 * A file that its owner alone may read and write: it holds a key or leads to one.
 *
 * It is made anew, so that one which was there with wider rights, or as another user's link, keeps neither.
 */
import { rmSync, writeFileSync } from 'node:fs';

const OWNER_ONLY = 0o600;

/** Writes it. */
export function writeOwnerFile(file: string, text: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, text, { mode: OWNER_ONLY, flag: 'wx' });
}
