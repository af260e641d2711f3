/**
 * S11 from outside: the credential of a registration stands nowhere but in its registration.
 *
 * The simulated cluster's credential is a text that nothing else holds. Looked for in everything that is written to the
 * view, put on a queue, sent to an API server, logged, counted or kept as a dead letter. What adapters make of answers that
 * quote a credential is not played here: test/security/secret-canary.test.ts does that.
 */
import type { LogLine } from '@rollcall/base/testing/memory-log.ts';
import { CREDENTIAL } from './registration.ts';

/** Looks for the credential in one world. */
export class SecretAudit {
  readonly #report: (text: string) => void;
  #linesRead = 0;

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** Something was written; `where` is told to people. */
  check(where: string, written: unknown): void {
    const text = typeof written === 'string' ? written : JSON.stringify(written);
    if (text.includes(CREDENTIAL)) this.#report(`S11: a credential stands in ${where}`);
  }

  /** Log lines, of which earlier ones were looked at before. */
  checkLines(lines: readonly LogLine[]): void {
    for (const { message, fields, cause } of lines.slice(this.#linesRead)) {
      this.check(`a log line: ${message}`, [message, fields, textOfError(cause)]);
    }
    this.#linesRead = lines.length;
  }
}

/** An error with all that it wraps: what was injected stays visible. */
export function textOfError(error: unknown): string {
  const inner = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
  const cause = error instanceof Error && error.cause !== undefined ? [error.cause] : [];
  return [String(error), ...[...inner, ...cause].map(textOfError)].join(' / ');
}
