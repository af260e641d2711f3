/**
 * Runs a command for a request, by the frame of the command line: nothing is printed, nothing is asked, and who leaves ends it.
 *
 * The answer is the document of `--json`, on one line. The stack is the server's: a command neither opens nor closes one.
 */
import type { CommandContext, CommandModule } from '../command-line/command-module.ts';
import { explainError } from '../command-line/explain-error.ts';
import { versioned } from '../command-line/output-form.ts';
import { runProgram } from '../command-line/run-program.ts';
import { CommandError, EXIT, usageError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { RELEASE } from '../../../functions/release.ts';
import type { RequestRefusal } from './protection.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly exitCode: number;
  /** One JSON document. */
  readonly body: string;
}

export interface ApiRuntime {
  readonly modules: readonly CommandModule[];
  readonly stack: Stack;
  readonly context: Pick<CommandContext, 'globals' | 'environment' | 'clock' | 'random'>;
}

/** Of a command that failed; every other document is an answer, whatever its exit code. */
const STATUS_BY_EXIT: Readonly<Record<number, number>> = {
  [EXIT.usage]: 400,
  [EXIT.refused]: 409,
  [EXIT.held]: 409,
  [EXIT.stopped]: 503,
  [EXIT.timedOut]: 504,
};
const FAILED = 500;

/** Runs the words of a command line; never rejects. */
export async function runForRequest(
  words: readonly string[],
  { modules, stack, context }: ApiRuntime,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const { clock, random, environment, globals } = context;
  const printed: string[] = [];
  const exitCode = await runProgram({
    argv: ['--json', `--stage=${globals.stage}`, ...words],
    name: 'rollcall',
    version: RELEASE,
    ...{ modules, environment, clock, random, signal },
    writeOut: (text) => printed.push(text),
    writeError: () => undefined,
    terminals: { out: false, error: false },
    openStack: () => Promise.resolve({ ...stack, close: () => undefined }),
    openCluster: () =>
      Promise.reject(
        usageError(
          'A request reaches no cluster with a kubeconfig.',
          'Run this on the command line.',
        ),
      ),
  });
  const document = JSON.parse(printed.join('')) as { readonly kind?: unknown };
  const status = document.kind === 'CommandError' ? statusOf(exitCode) : 200;
  return { status, exitCode, body: textOf(document) };
}

/** The answer to what was thrown before a command ran. */
export function answerOfError(error: unknown): ApiAnswer {
  const { document, exitCode } = explainError(error);
  return { status: statusOf(exitCode), exitCode, body: textOf(versioned(document)) };
}

export function answerOfRefusal({ status, message, remedy }: RequestRefusal): ApiAnswer {
  const isStranger = status === 401 || status === 403 || status === 421;
  const exitCode = isStranger ? EXIT.refused : EXIT.usage;
  return { ...answerOfError(new CommandError({ message, remedy, exitCode })), status };
}

function statusOf(exitCode: number): number {
  return STATUS_BY_EXIT[exitCode] ?? FAILED;
}

function textOf(document: object): string {
  return `${JSON.stringify(document)}\n`;
}
