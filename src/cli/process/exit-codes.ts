/**
 * How a command ends: its exit code, and the error that a person reads.
 *
 * The codes are the same for every command; docs/reference/cli.md lists them for users. An error says what
 * happened, why, and what to do next.
 */

/** The exit codes of commands. */
export const EXIT = {
  ok: 0,
  /** Something failed; the message says what and what to do next. */
  failed: 1,
  /** The command line is not usable as given. */
  usage: 2,
  /** Refused for safety: e.g. takeover while the built-in DaemonSet loop is on. */
  refused: 3,
  /** A bound was reached before the goal: e.g. not settled in time. */
  timedOut: 4,
  /** `rollout … --watch`: the rollout is halted or paused. */
  held: 5,
  /** `fleet diff`: a cluster differs that may be changed. */
  differs: 6,
  /** Nothing acts there now: the functions are stopped or behind, the watcher is silent or stands by. */
  stopped: 7,
  /** `status`: something is not well. */
  notWell: 8,
  /** Ctrl-C, as shells say it. */
  interrupted: 130,
} as const;

/** The meaning of each, for `--help` and docs/reference/cli.md. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'done',
  failed: 'failed, and the message says what to do',
  usage: 'the command line cannot be used as given',
  refused: 'refused for safety',
  timedOut: 'a time limit was reached first',
  held: 'a rollout is held',
  differs: 'something differs',
  stopped: 'nothing acts there now',
  notWell: 'something is not well',
  interrupted: 'interrupted by Ctrl-C',
};

/** Meanings with their codes, in the order of codes. */
export function exitsOf(
  meanings: Partial<Record<keyof typeof EXIT, string>>,
): readonly { readonly code: number; readonly meaning: string }[] {
  return Object.entries(EXIT).flatMap(([name, code]) => {
    const meaning = meanings[name as keyof typeof EXIT];
    return meaning === undefined ? [] : [{ code, meaning }];
  });
}

/** One thing that is wrong, and what to do about it. */
export interface Problem {
  readonly message: string;
  readonly remedy: string;
}

/** An error for the person at the terminal: what happened, why, and what to do next. */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly remedy: string;
  /** Each by itself where there are several, which message and remedy hold together; else empty. */
  readonly problems: readonly Problem[];

  constructor(options: {
    readonly message: string;
    readonly remedy: string;
    readonly exitCode: number;
    readonly cause?: unknown;
    readonly problems?: readonly Problem[];
  }) {
    super(options.message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'CommandError';
    this.exitCode = options.exitCode;
    this.problems = options.problems ?? [];
    this.remedy = options.remedy;
  }
}

/** The command line cannot be used as it is given. */
export function usageError(message: string, remedy: string, cause?: unknown): CommandError {
  return new CommandError({ message, remedy, exitCode: EXIT.usage, cause });
}

/** Something failed. */
export function failure(message: string, remedy: string, cause?: unknown): CommandError {
  return new CommandError({ message, remedy, exitCode: EXIT.failed, cause });
}

/** Refused for safety. */
export function refusal(message: string, remedy: string): CommandError {
  return new CommandError({ message, remedy, exitCode: EXIT.refused });
}

/** Refusals of the checks, all of which run. An error that is no CommandError is thrown on. */
export function refusalsOf(checks: readonly (() => unknown)[]): readonly CommandError[] {
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      if (error instanceof CommandError) return [error];
      throw error;
    }
  });
}

/** Throws all of them as one error, if there are any: a user repeats the command once. */
export function throwTogether(errors: readonly CommandError[]): void {
  const [first, ...others] = errors;
  if (first !== undefined) throw together(first, others);
}

/** Several errors as one that has the problem of each. */
export function together(first: CommandError, others: readonly CommandError[]): CommandError {
  if (others.length === 0) return first;
  const errors = [first, ...others];
  const problems = errors.flatMap((error): readonly Problem[] =>
    error.problems.length > 0 ? error.problems : [error],
  );
  const isUsage = errors.some(({ exitCode }) => exitCode === EXIT.usage);
  return new CommandError({
    message: problems.map(({ message }) => message).join(' '),
    remedy: problems.map(({ remedy }) => remedy).join(' '),
    exitCode: isUsage ? EXIT.usage : first.exitCode,
    problems: problems.map(({ message, remedy }) => ({ message, remedy })),
  });
}
