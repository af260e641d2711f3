/**
 * Findings as lines for a person: one for each link, with what to do next below what is not in order.
 *
 * Of many clusters, those in which nothing failed are only counted: forty that are well must not hide the one that is not.
 */
import type { Finding, FindingLevel } from '../../app/doctor/finding.ts';
import { plainText } from '../command-line/text-table.ts';

const MARKS: Readonly<Record<FindingLevel, string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failed: 'FAILED ',
  unknown: 'unknown',
};
const LINK_WIDTH = 17;

/** A cluster with what was found of it. */
interface Examined {
  readonly id: string;
  readonly findings: readonly Finding[];
}

/** Lines about one cluster. */
export function renderFindings(id: string, findings: readonly Finding[]): readonly string[] {
  const count = (level: FindingLevel): number =>
    findings.filter((finding) => finding.level === level).length;
  const summary = (['failed', 'warning', 'unknown', 'ok'] as const)
    .map((level) => `${count(level)} ${level}`)
    .join(', ');
  return [`Cluster ${id}`, ...findings.flatMap(linesOf), `  ${summary}`];
}

/** Lines about many clusters: what failed or should be known, and how many are without. */
export function renderProblems(examined: readonly Examined[]): readonly string[] {
  const problems = examined
    .map(({ id, findings }) => ({ id, found: findings.filter(isProblem) }))
    .filter(({ found }) => found.length > 0);
  const quiet = examined.length - problems.length;
  return [
    ...problems.flatMap(({ id, found }) => [`Cluster ${id}`, ...found.flatMap(linesOf)]),
    ...(quiet === 0 ? [] : [`${quiet} ${quiet === 1 ? 'cluster' : 'clusters'}: nothing failed`]),
  ];
}

function isProblem({ level }: Finding): boolean {
  return level === 'failed' || level === 'warning';
}

function linesOf(finding: Finding): readonly string[] {
  const head = `  ${MARKS[finding.level]}  ${finding.link.padEnd(LINK_WIDTH)} ${plainText(finding.seen)}`;
  if (finding.level === 'ok') return [head];
  return [
    `${head} [${finding.code}]`,
    ...(finding.next === undefined ? [] : [`           → ${plainText(finding.next)}`]),
  ];
}
