/**
 * What came of the mutants: the score, and the survivors by file, worst file first.
 *
 * Score = killed / (killed + survived). A mutant that ran into the time-out is killed; one that no test reaches has
 * survived; excluded ones and those that the compiler refuses count on neither side, and are shown.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';

export interface Survivor {
  readonly line: number;
  readonly column: number;
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
  /** False: no test even reaches it. */
  readonly isReached: boolean;
}

/** Counts of mutants by their fate. */
export interface Fates {
  readonly killed: number;
  /** Of the killed ones: those that ended no test in time, most of them endless loops. */
  readonly timedOut: number;
  readonly survived: number;
  readonly excluded: number;
  readonly refusedByCompiler: number;
}

export interface FileSummary extends Fates {
  /** From the project's root. */
  readonly file: string;
  readonly scorePercent: number;
  readonly survivors: readonly Survivor[];
}

/** A whole run; the shape of `--json`. */
export interface MutationSummary extends Fates {
  readonly scorePercent: number;
  /** The score if what the compiler refuses had survived: no judgement of ours is in this one. */
  readonly strictScorePercent: number;
  readonly excludedPercent: number;
  readonly durationMs: number;
  /** Most survivors first. */
  readonly files: readonly FileSummary[];
}

/** Sums up what Stryker and the compiler found. */
export function summarise(input: {
  readonly results: readonly MutantResult[];
  readonly root: string;
  readonly durationMs: number;
}): MutationSummary {
  const { results, root, durationMs } = input;
  const byFile = Map.groupBy(results, ({ fileName }) =>
    path.relative(root, path.resolve(root, fileName)),
  );
  const files = [...byFile].map(([file, mutants]) => summariseFile(file, mutants));
  const fates = countFates(results);
  return {
    ...fates,
    scorePercent: scoreOf(fates),
    strictScorePercent: scoreOf({
      killed: fates.killed,
      survived: fates.survived + fates.refusedByCompiler,
    }),
    excludedPercent: results.length === 0 ? 0 : (100 * fates.excluded) / results.length,
    durationMs: Math.round(durationMs),
    files: files.sort((left, right) => right.survived - left.survived),
  };
}

export function printReport(area: string, summary: MutationSummary): void {
  if (summary.files.length === 0) {
    process.stdout.write(`nothing to change: no file of the area ${area} is concerned\n`);
    return;
  }
  const lines = summary.files.flatMap((file) => describeFile(file));
  const { killed, timedOut, survived, excluded, refusedByCompiler, durationMs } = summary;
  lines.push(
    `${area}: ${summary.scorePercent.toFixed(1)} % killed: ${killed} killed (${timedOut} by time-out), ${survived} survived, ` +
      `${excluded} excluded (${summary.excludedPercent.toFixed(1)} %), ${refusedByCompiler} refused by the compiler ` +
      `(${summary.strictScorePercent.toFixed(1)} % if these had survived); ${describeDuration(durationMs)}`,
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}

function summariseFile(file: string, mutants: readonly MutantResult[]): FileSummary {
  const text = readFileSync(file, 'utf8').split('\n');
  const survivors = mutants.filter(isSurvivor).map((mutant) => ({
    line: mutant.location.start.line,
    column: mutant.location.start.column,
    mutator: mutant.mutatorName,
    original: originalText(text, mutant.location),
    replacement: oneLine(mutant.replacement),
    isReached: mutant.status === 'Survived',
  }));
  const fates = countFates(mutants);
  return { file, ...fates, scorePercent: scoreOf(fates), survivors };
}

function countFates(mutants: readonly MutantResult[]): Fates {
  const count = (...statuses: readonly string[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  return {
    killed: count('Killed', 'Timeout'),
    timedOut: count('Timeout'),
    survived: mutants.filter(isSurvivor).length,
    excluded: count('Ignored'),
    refusedByCompiler: count('CompileError', 'RuntimeError'),
  };
}

/** True if no test failed, or none even reaches it. */
export function isSurvivor({ status }: MutantResult): boolean {
  return status === 'Survived' || status === 'NoCoverage';
}

/** A file without mutants has nothing that could survive. */
function scoreOf({ killed, survived }: Pick<Fates, 'killed' | 'survived'>): number {
  return killed + survived === 0 ? 100 : (100 * killed) / (killed + survived);
}

function originalText(lines: readonly string[], { start, end }: MutantResult['location']): string {
  const first = lines[start.line - 1] ?? '';
  if (start.line === end.line) return first.slice(start.column - 1, end.column - 1);
  const between = lines.slice(start.line, end.line - 1);
  const last = (lines[end.line - 1] ?? '').slice(0, end.column - 1);
  return oneLine([first.slice(start.column - 1), ...between, last].join(' '));
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 97)}...` : line;
}

function describeFile(file: FileSummary): readonly string[] {
  if (file.survivors.length === 0) return [];
  const head = `${file.file}: ${file.scorePercent.toFixed(1)} % killed, ${file.survived} survived`;
  const survivors = file.survivors.map(
    ({ line, column, mutator, original, replacement, isReached }) =>
      `  ${file.file}:${line}:${column} ${mutator}${isReached ? '' : ' (no test reaches it)'}\n` +
      `    ${original}\n    ${replacement}`,
  );
  return [head, ...survivors, ''];
}

function describeDuration(durationMs: number): string {
  const minutes = Math.floor(durationMs / 60_000);
  const seconds = Math.round((durationMs % 60_000) / 1000);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds} s`;
}
