/**
 * Where the files of this repository are, for scenarios and comparisons.
 */
import { join } from 'node:path';

const REPOSITORY = new URL('../../../', import.meta.url).pathname;

/** Path of a file of this repository. */
export function repositoryPath(path: string): string {
  return join(REPOSITORY, path);
}
