/**
 * Known vulnerabilities of what is shipped, as `npm audit --json` reports them.
 *
 * Any of severity moderate or above is a finding; low ones are left to the weekly update of dependencies. A registry that
 * does not answer the question (mirrors often do not) leaves it unknown.
 */
import { judge, type Judgement } from './finding.ts';

interface AuditReport {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity?: string; readonly range?: string }>
  >;
  readonly error?: { readonly code?: string; readonly summary?: string };
  readonly message?: string;
}

const IGNORED = new Set(['info', 'low']);

function parse(text: string): AuditReport | undefined {
  try {
    return JSON.parse(text) as AuditReport;
  } catch {
    // Not JSON: npm failed before it could ask; the caller says unknown.
    return undefined;
  }
}

/** Judges the output of `npm audit --json`. */
export function judgeAudit(text: string): Judgement {
  const report = parse(text);
  if (report?.vulnerabilities === undefined) {
    const reason = report?.error?.summary ?? report?.message ?? '';
    return {
      kind: 'unknown',
      reason: `the registry does not answer questions about vulnerabilities${reason === '' ? '' : ` (${reason})`}`,
    };
  }
  const entries = Object.entries(report.vulnerabilities);
  const findings = entries
    .filter(([, { severity = 'unknown' }]) => !IGNORED.has(severity))
    .map(([name, { severity, range }]) => `${name} ${range ?? ''}: ${severity ?? 'unknown'}`);
  return judge(findings, 'none known in what is shipped');
}
