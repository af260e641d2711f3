/**
 * The shape of a command of `rollcall`: words, options, and a function from them to a result.
 *
 * A command prints nothing itself. It returns one JSON document and the lines that say the same to a
 * person; the frame prints one of the two, so with `--json` stdout holds exactly one document. Progress
 * goes to `context.say` (stderr). What is expected to fail is thrown as CommandError; AWS's own errors
 * are put into sentences by the frame (explain-error.ts), anything else is a bug.
 */
import { Option, type Command } from 'commander';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { OperatorCluster, OperatorOptions } from '../reach/operator-access.ts';
import type { Stack } from '../reach/stack.ts';
import { exitsOf, type EXIT } from '../process/exit-codes.ts';
import type { Line } from './colour.ts';
import type { GlobalOptions } from './global-options.ts';

/** The output of a command. */
export interface CommandResult {
  /** Printed with `--json`, after `apiVersion`. Its kinds are in docs/reference/json.md. */
  readonly document: { readonly kind: string } & Readonly<Record<string, unknown>>;
  readonly lines: readonly Line[];
  readonly exitCode?: number;
}

/** The context of every command. */
export interface CommandContext {
  readonly globals: GlobalOptions;
  readonly clock: Clock;
  readonly random: Random;
  /** As the user gave it. */
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Aborted by Ctrl-C; an orderly command leaves at its next safe point (throwIfInterrupted). */
  readonly signal: AbortSignal;
  readonly say: (line: Line) => void;
  /** Prints a document in one line, of a command that prints many with `--json`; what the frame prints after it is one, too. */
  readonly emit: (document: CommandResult['document']) => void;
  /** Opens the stack that the global options name (`others`: that these name), once; the frame closes it. Throws CommandError. */
  openStack(others?: GlobalOptions): Promise<Stack>;
  /** Opens a cluster with the user's own kubeconfig; the caller closes it. */
  openCluster(options: OperatorOptions): Promise<OperatorCluster>;
}

export interface Invocation<Options> {
  /** Arguments in order, as declared in `configure`; a missing optional one is absent. */
  readonly args: readonly string[];
  /** As commander parsed them: names in camel case. */
  readonly options: Options;
}

/** One option of a command, whose values are a T. */
export interface OptionRow<T> {
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** Throws what commander reports as a usage error; `before` is what an earlier one gave. */
  readonly parse?: (text: string, before: unknown) => unknown;
  /** Taken where nothing is given. */
  readonly fallback?: T;
  /** Present where several values may be given. */
  readonly repeats?: true;
}

/** Options by the names under which a command reads them: `--cluster-profile` as `clusterProfile`. */
export type OptionTable = Readonly<Record<string, OptionRow<unknown>>>;

/** The parsed options of a table. */
export type OptionsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: Table[Name] extends OptionRow<infer T> ? T : never;
};

/** An option that is given or not. */
export function flagOption(flags: string, about: string): OptionRow<true> {
  return { flags, about };
}

/** An option with a text. */
export function textOption(flags: string, about: string): OptionRow<string> {
  return { flags, about };
}

/** An option with a text that may be repeated. */
export function textsOption(flags: string, about: string): OptionRow<readonly string[]> {
  const parse = (value: string, before: unknown) => [
    ...((before ?? []) as readonly string[]),
    value,
  ];
  return { flags, about, parse, repeats: true };
}

/** An option with one of these values. */
export function choiceOption<const T extends string>(
  flags: string,
  about: string,
  choices: readonly T[],
): OptionRow<T> {
  return { flags, about, choices };
}

/** The same, with what is taken where nothing is given. */
export function withFallback<T>(row: OptionRow<T>, fallback: NoInfer<T>): OptionRow<T> {
  return { ...row, fallback };
}

/** An option with a number. */
export function numberOption(
  flags: string,
  about: string,
  parse: (text: string) => number,
): OptionRow<number> {
  return { flags, about, parse };
}

export interface CommandDefinition<Table extends OptionTable> {
  /** Its words, e.g. `['cluster', 'list']`. */
  readonly path: readonly [string, ...string[]];
  /** One sentence for `--help`, without a full stop. */
  readonly summary: string;
  /** Whole sentences below it, in `--help` and in docs/reference/cli.md. */
  readonly about?: readonly string[];
  /** Meanings of exit codes here, beside those for all commands. */
  readonly exits?: Partial<Record<keyof typeof EXIT, string>>;
  /** Kinds of the JSON documents that it prints; docs/reference/json.md has their fields. */
  readonly documents?: readonly string[];
  /** Each with what it is: `['<id>', 'id of the cluster']`; in brackets where it may be absent. */
  readonly args?: readonly (readonly [name: string, about: string])[];
  readonly options?: Table;
  /** Command lines below the help, without `rollcall`. */
  readonly examples?: readonly string[];
  /**
   * `at-once` (default): Ctrl-C leaves wherever it is, for what changes nothing. `orderly`: the first
   * Ctrl-C only aborts `context.signal`, the second one leaves.
   */
  readonly interruption?: 'at-once' | 'orderly';
  readonly run: (
    invocation: Invocation<OptionsOf<Table>>,
    context: CommandContext,
  ) => Promise<CommandResult>;
}

/** A command as the frame holds it. */
export interface CommandModule extends Pick<
  CommandDefinition<OptionTable>,
  'path' | 'summary' | 'about' | 'exits' | 'documents' | 'examples' | 'interruption'
> {
  readonly args: readonly (readonly [name: string, about: string])[];
  readonly options: OptionTable;
  /** Declares arguments, options and examples; the frame has named and described the command already. */
  readonly configure: (command: Command) => void;
  readonly run: (
    invocation: Invocation<unknown>,
    context: CommandContext,
  ) => Promise<CommandResult>;
}

/** Makes a module of a definition. */
export function defineCommand<Table extends OptionTable = Readonly<Record<never, never>>>(
  definition: CommandDefinition<Table>,
): CommandModule {
  const { args = [], options, ...module } = definition;
  const { examples = [], exits = {} } = definition;
  const rows: OptionTable = options ?? {};
  return {
    ...module,
    args,
    options: rows,
    configure: (command) => {
      for (const [name, about] of args) command.argument(name, about);
      for (const row of Object.values(rows)) command.addOption(optionOf(row));
      command.addHelpText('after', exitLines(exits));
      if (examples.length === 0) return;
      const lines = examples.map((line) => `\n  rollcall ${line}`).join('');
      command.addHelpText('after', `\nExamples:${lines}`);
    },
    run: (invocation, context) =>
      // commander's options have the shape that the table declares; nothing can check that in types.
      definition.run(invocation as Invocation<OptionsOf<Table>>, context),
  };
}

function exitLines(exits: Partial<Record<keyof typeof EXIT, string>>): string {
  const lines = exitsOf(exits).map(
    ({ code, meaning }) => `\n  ${String(code).padEnd(3)} ${meaning}`,
  );
  return lines.length === 0 ? '' : `\nExit codes:${lines.join('')}`;
}

function optionOf({ flags, about, choices, parse, fallback }: OptionRow<unknown>): Option {
  const option = new Option(flags, about);
  if (parse !== undefined) option.argParser<unknown>((value, before) => parse(value, before));
  if (choices !== undefined) option.choices(choices);
  if (fallback !== undefined) option.default(fallback);
  return option;
}
