/**
 * One run of `rollcall`: parse, run the command, print its result or its failure, say the exit code.
 *
 * stdout gets the result's lines, or with `--json` exactly one document, also for a failure; stderr gets
 * progress and errors. The stack that a command opened is closed whatever happens. Ctrl-C leaves a
 * command that changes nothing at once, and lets the others reach a safe point.
 */
import { CommanderError, Command } from 'commander';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { CommandError, EXIT, EXIT_MEANINGS, exitsOf } from '../process/exit-codes.ts';
import type { OperatorCluster, OperatorOptions } from '../reach/operator-access.ts';
import type { Stack } from '../reach/stack.ts';
import { coloured, isColourWanted, uncoloured, type Line } from './colour.ts';
import type { CommandContext, CommandModule, CommandResult, Invocation } from './command-module.ts';
import { explainError, type Explained } from './explain-error.ts';
import { declareGlobalOptions, type GlobalOptions } from './global-options.ts';
import { asksForJson, versioned } from './output-form.ts';
import { refuseOptionsAsValues } from './refuse-options-as-values.ts';

/** commander has said on stderr what is wrong; the document says it, too. */
function usageDocument(why: string): Explained['document'] {
  return {
    kind: 'CommandError',
    message: `The command line cannot be used as given: ${why.replace(/^error: /, '')}`,
    remedy: '--help shows what there is.',
    exitCode: EXIT.usage,
  };
}

/** The process of a run; `cli/ui` runs commands with its own. */
export interface RunOptions {
  readonly argv: readonly string[];
  readonly name: string;
  readonly version: string;
  readonly modules: readonly CommandModule[];
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly clock: Clock;
  readonly random: Random;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Which of the two a person sees at once. */
  readonly terminals: Readonly<Record<'out' | 'error', boolean>>;
  readonly signal: AbortSignal;
  readonly openStack: (globals: GlobalOptions) => Promise<Stack>;
  readonly openCluster: (options: OperatorOptions) => Promise<OperatorCluster>;
}

/** Runs the command line; resolves to the exit code, and never rejects. */
export async function runProgram(options: RunOptions): Promise<number> {
  const isJson = asksForJson(options.argv);
  // Once a command has printed one of many, what the frame prints is in one line, too.
  let isStream = false;
  const printJson = (document: object): void => {
    const text = JSON.stringify(versioned(document), null, isStream ? 0 : 2);
    options.writeOut(`${text}\n`);
  };
  const emit: CommandContext['emit'] = (document) => {
    isStream = true;
    printJson(document);
  };
  const stacks: Promise<Stack>[] = [];
  let group: string | undefined;
  try {
    const chosen = parse(options);
    if ('exitCode' in chosen) {
      if (isJson && chosen.exitCode !== EXIT.ok) printJson(usageDocument(chosen.message));
      return chosen.exitCode;
    }
    [group] = chosen.module.path;
    const context = { ...contextOf(options, chosen, stacks), emit };
    const result = await race(chosen, context);
    if (isJson || chosen.globals.json === true) printJson(result.document);
    else printLines(result, chosen.globals, options);
    return result.exitCode ?? EXIT.ok;
  } catch (error) {
    const { lines, document, exitCode } = explainError(error, group);
    options.writeError(lines.map((line) => `${line}\n`).join(''));
    if (isJson) printJson(document);
    return exitCode;
  } finally {
    for (const opened of await Promise.allSettled(stacks)) {
      if (opened.status === 'fulfilled') opened.value.close();
    }
  }
}

/** The chosen command, or its exit when everything was printed already. */
function parse(
  options: RunOptions,
): Chosen | { readonly exitCode: number; readonly message: string } {
  let chosen: Chosen | undefined;
  const program = buildProgram({
    ...options,
    onChosen: (one) => {
      chosen = one;
    },
  });
  try {
    program.parse([...options.argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: error.message };
  }
  return chosen ?? { exitCode: EXIT.usage, message: 'no command is named' };
}

function contextOf(
  options: RunOptions,
  { globals }: Chosen,
  stacks: Promise<Stack>[],
): Omit<CommandContext, 'emit'> {
  const { clock, random, environment, signal, writeError } = options;
  const open = (which: GlobalOptions): Promise<Stack> => {
    const stack = options.openStack(which);
    stacks.push(stack);
    return stack;
  };
  let own: Promise<Stack> | undefined;
  return {
    globals,
    clock,
    random,
    environment,
    signal,
    say: (line) => {
      writeError(`${painterOf('error', globals, options)(line)}\n`);
    },
    openStack: (others = globals) => (own ??= open(others)),
    openCluster: options.openCluster,
  };
}

/** Runs the command; Ctrl-C ends the wait for one that may be left at once. */
async function race(chosen: Chosen, context: CommandContext): Promise<CommandResult> {
  const { module, invocation } = chosen;
  const running = module.run(invocation, context);
  if (module.interruption === 'orderly') return running;
  const { signal } = context;
  const interrupted = Promise.withResolvers<never>();
  const onAbort = (): void => {
    interrupted.reject(interruptedError());
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([running, interrupted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    // The promise that lost the race may still reject; nothing awaits it, and an unhandled rejection ends the process.
    running.catch(() => undefined);
    interrupted.promise.catch(() => undefined);
  }
}

function interruptedError(): CommandError {
  return new CommandError({
    message: 'Interrupted.',
    remedy: 'Repeat the command to go on.',
    exitCode: EXIT.interrupted,
  });
}

/** For orderly commands, at a point where leaving harms nothing. Throws CommandError after Ctrl-C. */
export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw interruptedError();
}

function printLines({ lines }: CommandResult, globals: GlobalOptions, options: RunOptions): void {
  const render = painterOf('out', globals, options);
  options.writeOut(lines.map((line) => `${render(line)}\n`).join(''));
}

/** With colours, or without. */
function painterOf(
  stream: keyof RunOptions['terminals'],
  { color = 'auto' }: GlobalOptions,
  { terminals, environment }: RunOptions,
): (line: Line) => string {
  const isTerminal = terminals[stream];
  return isColourWanted(color, { isTerminal, environment }) ? coloured : uncoloured;
}

interface Chosen {
  readonly module: CommandModule;
  readonly invocation: Invocation<unknown>;
  readonly globals: GlobalOptions;
}

interface ProgramOptions {
  /** As the user called it: `rollcall` or `kubectl rollcall`. */
  readonly name: string;
  readonly version: string;
  readonly modules: readonly CommandModule[];
  readonly onChosen: (chosen: Chosen) => void;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** Words that hold commands together, in the order of `--help`. */
const GROUPS: Readonly<Record<string, string>> = {
  cluster: 'register clusters, look at them, change and remove them',
  rollout: 'staged rollouts: how they stand, and orders to them',
  fleet: 'one DaemonSet for many clusters: store it, plan it, compare it',
  stack: 'the deployment: check, stop and resume it',
  mirror: 'the one cluster that shows fleets as objects',
};

const EPILOGUE = `
Exit codes: ${exitsOf(EXIT_MEANINGS)
  .map(({ code, meaning }) => `${String(code)} ${meaning}`)
  .join(', ')}.
docs/reference/cli.md describes every command.`;

function buildProgram(options: ProgramOptions): Command {
  const program = new Command(options.name)
    .description(
      'Runs and rolls out DaemonSets across many clusters: looks at them, and gives orders.',
    )
    .version(options.version, '--version', 'print the version of this program')
    .helpCommand(false);
  prepare(program, options);
  declareGlobalOptions(program);
  refuseOptionsAsValues(program);
  program.addHelpText('after', EPILOGUE);
  for (const module of options.modules) addModule({ program, module, options });
  return program;
}

/** Commands do not inherit it, so each one gets it. */
function prepare(command: Command, { writeOut, writeError }: ProgramOptions): void {
  command
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({ writeOut, writeErr: writeError })
    .showHelpAfterError('Pass --help to see what there is.')
    .on('beforeHelp', () => {
      refuseUnknownCommand(command);
    });
}

/** commander answers `rollcall nope --help` with the help of `rollcall`; without `--help` it says that there is no `nope`. */
function refuseUnknownCommand(command: Command): void {
  const [word = '-'] = command.args;
  if (command.commands.length > 0 && !word.startsWith('-')) command.parse([word], { from: 'user' });
}

/** For everything below the program, whose help has them in full. */
function pointToGlobalOptions(command: Command, { name }: ProgramOptions): void {
  const globals = new Command();
  declareGlobalOptions(globals);
  const flags = globals.options.map(({ long }) => long).join(', ');
  command.addHelpText('after', `\nGlobal options: ${flags}; see ${name} --help.`);
}

interface Adding {
  readonly program: Command;
  readonly module: CommandModule;
  readonly options: ProgramOptions;
}

function addModule({ program, module, options }: Adding): void {
  const words = [...module.path];
  const last = words.pop() ?? '';
  let parent = program;
  for (const word of words) {
    const group = parent.commands.find((one) => one.name() === word);
    parent = group ?? addGroup(parent, word, options);
  }
  const hidden = last.startsWith('__');
  const command = parent
    .command(last, { hidden })
    .summary(module.summary)
    .description([module.summary, ...aboutOf(module)].join('\n\n'));
  prepare(command, options);
  pointToGlobalOptions(command, options);
  module.configure(command);
  refuseOptionsAsValues(command);
  command.action(() => {
    const { args } = command;
    const invocation = { args, options: command.opts<object>() };
    options.onChosen({ module, invocation, globals: program.opts<GlobalOptions>() });
  });
}

function aboutOf({ about = [] }: CommandModule): readonly string[] {
  return about.length === 0 ? [] : [about.join(' ')];
}

function addGroup(parent: Command, word: string, options: ProgramOptions): Command {
  const group = parent.command(word).helpCommand(false);
  const description = GROUPS[word];
  if (description !== undefined) group.description(description);
  prepare(group, options);
  pointToGlobalOptions(group, options);
  return group;
}
