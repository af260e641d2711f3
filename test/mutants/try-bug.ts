/**
 * Plants one bug in a copy of the repository, runs its test, and puts the file back as it was.
 *
 * The copy serves one bug at a time. The file is put back whatever happens; what the tests leave elsewhere in the copy stays.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileOf, mutate } from '../support/mutants.ts';
import { judgeRun, type Judgement } from './judge-run.ts';
import { killerOf, type PlantedBug } from './planted-bug.ts';
import { runTest, type TestRun } from './run-test.ts';

/** Where, for how long at most, and until when. */
export type Trial = Pick<TestRun, 'directory' | 'onGroup' | 'signal' | 'timeoutMs'>;

/** Says whether the test of a bug kills it. Throws when the bug cannot be planted. */
export async function tryBug(bug: PlantedBug, trial: Trial): Promise<Judgement> {
  const killer = killerOf(bug);
  const file = path.join(trial.directory, fileOf(bug));
  const source = await readFile(file, 'utf8');
  await writeFile(file, mutate(source, bug));
  try {
    return judgeRun(await runTest({ ...trial, ...killer }), killer.title);
  } finally {
    await writeFile(file, source);
  }
}
