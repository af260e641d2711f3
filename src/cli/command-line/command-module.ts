/**
 * What a command of `rollcall` is: words, options, and a function from them to a result.
 *
 * A command prints nothing itself. It returns one JSON document and the lines that say the same to a
 * person; the frame prints one of the two, so with `--json` stdout holds exactly one document. Progress
 * goes to `context.say` (stderr). What is expected to fail is thrown as CommandError; AWS's own errors
 * are put into sentences by the frame (explain-aws-error.ts), anything else is a bug.
 */
import type { Command } from 'commander';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { OperatorCluster, OperatorOptions } from '../reach/operator-access.ts';
import type { Stack } from '../reach/stack.ts';
import type { GlobalOptions } from './global-options.ts';

/** What a command prints. */
export interface CommandResult {
  /** Printed with `--json`, after `apiVersion`. Shapes are in docs/cli.md. */
  readonly document: { readonly kind: string } & Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
  readonly exitCode?: number;
}

/** What every command may use. */
export interface CommandContext {
  readonly globals: GlobalOptions;
  readonly clock: Clock;
  readonly random: Random;
  /** As the user gave it. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Aborted by Ctrl-C; an orderly command leaves at its next safe point (throwIfInterrupted). */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** Opens the stack that the global options name, once; the frame closes it. Throws CommandError. */
  openStack(): Promise<Stack>;
  /** Opens a cluster with the person's own kubeconfig; whoever opens it closes it. */
  openCluster(options: OperatorOptions): Promise<OperatorCluster>;
}

/** What the user asked for. */
export interface Invocation<Options> {
  /** Arguments in order, as declared in `configure`; a missing optional one is absent. */
  readonly args: readonly string[];
  /** As commander parsed them: names in camel case. */
  readonly options: Options;
}

/** A command whose options have a type. */
export interface CommandDefinition<Options> {
  /** Its words, e.g. `['cluster', 'list']`. */
  readonly path: readonly [string, ...string[]];
  /** One sentence for `--help`, without a full stop. */
  readonly summary: string;
  /** Declares arguments and options; the frame has named and described the command already. */
  readonly configure?: (command: Command) => void;
  /**
   * `at-once` (default): Ctrl-C leaves wherever it is, for what changes nothing. `orderly`: the first
   * Ctrl-C only aborts `context.signal`, the second one leaves.
   */
  readonly interruption?: 'at-once' | 'orderly';
  readonly run: (
    invocation: Invocation<Options>,
    context: CommandContext,
  ) => Promise<CommandResult>;
}

/** A command as the frame holds it. */
export type CommandModule = CommandDefinition<unknown>;

/** Makes a module of a definition. */
export function defineCommand<Options>(definition: CommandDefinition<Options>): CommandModule {
  return {
    ...definition,
    run: ({ args, options }, context) =>
      // commander's options have the shape that `configure` declared; nothing can check that in types.
      definition.run({ args, options: options as Options }, context),
  };
}
