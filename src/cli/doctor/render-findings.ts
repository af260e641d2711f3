/**
 * Findings as lines for a person: one for each link, with what to do next below what is not in order.
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

/** Lines about one cluster. */
export function renderFindings(id: string, findings: readonly Finding[]): readonly string[] {
  const count = (level: FindingLevel): number =>
    findings.filter((finding) => finding.level === level).length;
  const summary = (['failed', 'warning', 'unknown', 'ok'] as const)
    .map((level) => `${count(level)} ${level}`)
    .join(', ');
  return [
    `Cluster ${id}`,
    ...findings.flatMap((finding) => {
      const head = `  ${MARKS[finding.level]}  ${finding.link.padEnd(LINK_WIDTH)} ${plainText(finding.seen)}`;
      if (finding.level === 'ok') return [head];
      return [
        `${head} [${finding.code}]`,
        ...(finding.next === undefined ? [] : [`           → ${plainText(finding.next)}`]),
      ];
    }),
    `  ${summary}`,
  ];
}
