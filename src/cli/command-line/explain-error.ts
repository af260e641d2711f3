/**
 * From whatever was thrown to what is said about it, and to the exit code.
 *
 * A CommandError speaks for itself; AWS's errors are put into sentences; the rest is a bug, whose stack
 * is shown with the request to report it.
 */
import { CommandError, EXIT } from '../exit-codes.ts';
import { explainAwsError } from './explain-aws-error.ts';

/** What is said about a failure. */
export interface Explained {
  readonly exitCode: number;
  /** For stderr. */
  readonly lines: readonly string[];
  /** For stdout with `--json`, after `apiVersion`. */
  readonly document: {
    readonly kind: 'CommandError';
    readonly message: string;
    readonly remedy: string;
    readonly exitCode: number;
  };
}

const REPORT = 'Please report it, with the lines above.';

/** Explains what a command threw. */
export function explainError(error: unknown): Explained {
  const known = error instanceof CommandError ? error : explainAwsError(error);
  if (known !== undefined) {
    const { message, remedy, exitCode } = known;
    return {
      exitCode,
      lines: [`error: ${message}`, ...(remedy === '' ? [] : [remedy])],
      document: { kind: 'CommandError', message, remedy, exitCode },
    };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = error instanceof Error ? error.message : String(error);
  return {
    exitCode: EXIT.failed,
    lines: ['error: this is a bug in rollcall, please report it', text],
    document: { kind: 'CommandError', message, remedy: REPORT, exitCode: EXIT.failed },
  };
}
