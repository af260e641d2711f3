/** A bug that somebody planted, or could plant, in any file of the repository, and the test that has to fail for it. */
import type { Mutant } from '../support/mutants.ts';

/** One row of the table (table.ts). */
export interface PlantedBug extends Mutant {
  /** What is broken, in a line. */
  readonly bug: string;
  /** `FILE: TITLE`: the test that must fail; its title, or that of a suite around it, contains this one. */
  readonly killedBy: string;
}

/** Rows by name. */
export type PlantedBugs = Readonly<Record<string, PlantedBug>>;

/** The test that must fail. */
export function killerOf({ killedBy }: PlantedBug): { file: string; title: string } {
  const [file = '', ...title] = killedBy.split(': ');
  return { file, title: title.join(': ') };
}
