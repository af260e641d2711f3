/**
 * The commander program, made from command modules: one sub-command for each, groups by their first words.
 *
 * It parses and nothing else: what was chosen is told to `onChosen`, and commander's own ways of leaving
 * (help, version, usage errors) come as CommanderError. A test compares `--help` with docs/cli.md.
 */
import { Command } from 'commander';
import type { CommandModule, Invocation } from './command-module.ts';
import { declareGlobalOptions } from './global-options.ts';
import { refuseOptionsAsValues } from './refuse-options-as-values.ts';
import type { GlobalOptions } from './global-options.ts';

/** What the command line asks for. */
export interface Chosen {
  readonly module: CommandModule;
  readonly invocation: Invocation<unknown>;
  readonly globals: GlobalOptions;
}

/** Options of a program. */
export interface ProgramOptions {
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
  registry: 'all registrations: export them, import them',
  mirror: 'the one cluster that shows fleets as objects',
};

const EPILOGUE = `
Exit codes: 0 done, 1 failed, 2 usage, 3 refused for safety, 4 a time limit was reached first,
5 a rollout is held, 6 something differs, 130 interrupted. docs/cli.md describes every command.`;

/** Builds the program. */
export function buildProgram(options: ProgramOptions): Command {
  const program = new Command(options.name)
    .description('The DaemonSet contract for a fleet of clusters: registers, shows and moves them.')
    .version(options.version, '--version', 'print the version of this program')
    .helpCommand(false);
  prepare(program, options);
  declareGlobalOptions(program);
  refuseOptionsAsValues(program);
  program.addHelpText('after', EPILOGUE);
  for (const module of options.modules) addModule({ program, module, options });
  return program;
}

/** Inherited by nobody, so each command gets it. */
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
  const command = parent.command(last).description(module.summary);
  prepare(command, options);
  pointToGlobalOptions(command, options);
  module.configure?.(command);
  refuseOptionsAsValues(command);
  command.action(() => {
    const { args } = command;
    const invocation = { args, options: command.opts<object>() };
    options.onChosen({ module, invocation, globals: program.opts<GlobalOptions>() });
  });
}

function addGroup(parent: Command, word: string, options: ProgramOptions): Command {
  const group = parent.command(word).helpCommand(false);
  const description = GROUPS[word];
  if (description !== undefined) group.description(description);
  prepare(group, options);
  pointToGlobalOptions(group, options);
  return group;
}
