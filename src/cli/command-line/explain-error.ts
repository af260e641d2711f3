/**
 * From whatever was thrown to what is said about it, and to the exit code.
 *
 * A CommandError speaks for itself, as does a refusal of the local engine; AWS's errors are put into sentences; the rest is a bug, whose stack
 * is shown with the request to report it.
 */
import { EngineRefusal } from '../../engine/engine-refusal.ts';
import type { EngineRefusalCode } from '../../engine/engine-refusal.ts';
import { CommandError, EXIT } from '../process/exit-codes.ts';
import type { Problem } from '../process/exit-codes.ts';
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
    /** Where there are several, each by itself. */
    readonly problems?: readonly Problem[];
  };
}

const REFUSALS_FOR_SAFETY: ReadonlySet<EngineRefusalCode> = new Set<EngineRefusalCode>([
  'built-in-controller-runs',
  'other-cluster',
  'still-managed',
  'lease-held',
]);

const REPORT = 'Please report it, with the lines above.';

/** The error as one that speaks for itself; undefined when it is a bug. */
export function knownError(error: unknown, group?: string): CommandError | undefined {
  if (error instanceof CommandError) return error;
  if (!(error instanceof EngineRefusal)) return explainAwsError(error, group);
  const { message, remedy, code } = error;
  const exitCode = REFUSALS_FOR_SAFETY.has(code) ? EXIT.refused : EXIT.failed;
  return new CommandError({ message, remedy, exitCode, cause: error });
}

/** Explains what a command threw; `group` is its first word. */
export function explainError(error: unknown, group?: string): Explained {
  const known = knownError(error, group);
  if (known !== undefined) {
    const { message, remedy, exitCode, problems } = known;
    const document = { kind: 'CommandError', message, remedy, exitCode } as const;
    if (problems.length > 0) {
      return { exitCode, lines: linesOf(problems), document: { ...document, problems } };
    }
    return { exitCode, lines: [`error: ${message}`, ...(remedy === '' ? [] : [remedy])], document };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = error instanceof Error ? error.message : String(error);
  return {
    exitCode: EXIT.failed,
    lines: ['error: this is a bug in rollcall, please report it', text],
    document: { kind: 'CommandError', message, remedy: REPORT, exitCode: EXIT.failed },
  };
}

function linesOf(problems: readonly Problem[]): readonly string[] {
  return [
    `error: ${String(problems.length)} things are missing or cannot be used:`,
    ...problems.flatMap(({ message, remedy }) => [`  ${message}`, `    → ${remedy}`]),
  ];
}
