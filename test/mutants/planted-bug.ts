/** A bug that somebody planted, or could plant, in any file of the repository, and the test that has to fail for it. */
import type { Mutant } from '../support/mutants.ts';

/** One row of the table (table.ts). */
export interface PlantedBug extends Mutant {
  /** What is broken, in a line, with the item of the issue (`14 A.4`). */
  readonly bug: string;
  /** The test that must fail: its file, and a text that its title, or the title of a suite around it, contains. */
  readonly killedBy: { readonly file: string; readonly title: string };
}
