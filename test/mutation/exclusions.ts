/**
 * Mutants that are not tried: a comment above the line names the mutator and says why no test can tell the mutant
 * from the code (`Stryker disable next-line NAME: reason`). No other form is allowed, and none without a reason.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const DIRECTIVE = /Stryker (?:disable|restore)\b.*/;
const REASONED = /^Stryker disable next-line [A-Z][A-Za-z]+(?:, ?[A-Z][A-Za-z]+)*: \S.{14,}$/;

/** A complaint for each directive below a folder that is not of the one allowed form. */
export function findUnreasoned(folder: string): readonly string[] {
  return globSync(path.join(folder, '**/*.ts'))
    .sort()
    .flatMap((file) =>
      unreasonedIn(readFileSync(file, 'utf8')).map(
        (line) =>
          `${file}:${line}: an exclusion has the form "Stryker disable next-line NAME: reason"`,
      ),
    );
}

/** The lines, counted from one, that hold a directive without mutators by name or without a reason. */
function unreasonedIn(text: string): readonly number[] {
  return text.split('\n').flatMap((line, index) => {
    const directive = DIRECTIVE.exec(line)?.[0];
    return directive === undefined || REASONED.test(directive) ? [] : [index + 1];
  });
}
