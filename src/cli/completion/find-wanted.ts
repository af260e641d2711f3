/**
 * Finds the words that may follow a half-typed command line, by the definitions of the commands: their words, options and choices, or the
 * names of what an argument takes, which the caller looks up.
 */
import { Command, type Option } from 'commander';
import type { CommandModule } from '../command-line/command-module.ts';
import { declareGlobalOptions, type GlobalOptions } from '../command-line/global-options.ts';

export type NameKind = 'clusters' | 'daemonsets' | 'fleets';

export type Wanted =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** `cluster`: the one that was named before; absent: none was. */
  | { readonly kind: 'names'; readonly of: NameKind; readonly cluster?: string }
  | { readonly kind: 'files' }
  | { readonly kind: 'nothing' };

export interface Understood {
  readonly wanted: Wanted;
  /** The beginning of the word at the cursor, up to the part that is completed: `--mode=`. */
  readonly before: string;
  /** That part, as far as it is typed. */
  readonly typed: string;
  /** Which stack it is about. */
  readonly globals: Partial<GlobalOptions>;
}

/** Understands it; the last word is the one at the cursor. */
export function findWanted(
  words: readonly string[],
  modules: readonly CommandModule[],
): Understood {
  // bash takes `--mode=takeover` for three words.
  const whole = words.filter((word) => word !== '=');
  const current = whole.at(-1) ?? '';
  const line = readLine(whole.slice(0, -1), modules);
  const { globals } = line;
  const [, flag, typed = ''] = /^(--[a-z-]+)=(.*)$/.exec(current) ?? [];
  if (flag !== undefined && line.open === undefined) {
    const wanted = valueOf(optionOf(flag, line), line);
    return { wanted, before: `${flag}=`, typed, globals };
  }
  return { wanted: wantedOf(current, line, modules), before: '', typed: current, globals };
}

interface Line {
  /** Words of the command so far. */
  readonly path: string[];
  /** Once its words are whole. */
  command?: Command;
  readonly args: string[];
  readonly values: Map<string, string>;
  /** An option whose value comes next. */
  open?: Option;
  globals: Partial<GlobalOptions>;
}

function readLine(words: readonly string[], modules: readonly CommandModule[]): Line {
  const line: Line = { path: [], args: [], values: new Map(), globals: {} };
  for (const word of words) {
    if (line.open !== undefined) {
      noteValue(line, line.open, word);
      delete line.open;
    } else if (word.startsWith('-')) {
      noteOption(line, word);
    } else if (line.command === undefined) {
      line.path.push(word);
      const module = modules.find(({ path }) => path.join(' ') === line.path.join(' '));
      if (module === undefined) continue;
      line.command = new Command();
      module.configure(line.command);
    } else {
      line.args.push(word);
    }
  }
  return line;
}

function noteOption(line: Line, word: string): void {
  const [flag = '', value] = word.split(/=(.*)/s, 2);
  const option = optionOf(flag, line);
  if (option?.required !== true) return;
  if (value === undefined) line.open = option;
  else noteValue(line, option, value);
}

function noteValue(line: Line, option: Option, value: string): void {
  line.values.set(option.attributeName(), value);
  if (isGlobal(option)) line.globals = { ...line.globals, [option.attributeName()]: value };
}

const GLOBALS: readonly Option[] = globalOptions();

function globalOptions(): readonly Option[] {
  const program = new Command();
  declareGlobalOptions(program);
  return program.options;
}

function isGlobal(option: Option): boolean {
  return GLOBALS.includes(option);
}

function optionsOf({ command }: Line): readonly Option[] {
  return [...(command?.options ?? []), ...GLOBALS];
}

function optionOf(flag: string, line: Line): Option | undefined {
  return optionsOf(line).find(({ long, short }) => long === flag || short === flag);
}

const HELP = '--help';

function wantedOf(current: string, line: Line, modules: readonly CommandModule[]): Wanted {
  if (line.open !== undefined) return valueOf(line.open, line);
  if (current.startsWith('-')) {
    const words = optionsOf(line).flatMap(({ long }) => long ?? []);
    return { kind: 'words', words: [...words, HELP] };
  }
  if (line.command === undefined) return { kind: 'words', words: nextWords(line.path, modules) };
  return argumentOf(line);
}

function nextWords(path: readonly string[], modules: readonly CommandModule[]): readonly string[] {
  const words = modules
    .filter((module) => path.every((word, at) => module.path[at] === word))
    .flatMap((module) => module.path[path.length] ?? []);
  return [...new Set(words)];
}

const ARGUMENTS: Readonly<Record<string, NameKind>> = {
  id: 'clusters',
  cluster: 'clusters',
  daemonset: 'daemonsets',
  fleet: 'fleets',
};

function argumentOf(line: Line): Wanted {
  const argument = line.command?.registeredArguments[line.args.length];
  // `cluster add` gives a new name.
  if (argument === undefined || line.path.join(' ') === 'cluster add') return { kind: 'nothing' };
  if (argument.argChoices !== undefined) return { kind: 'words', words: argument.argChoices };
  return namesOf(ARGUMENTS[argument.name()], line);
}

function namesOf(of: NameKind | undefined, line: Line): Wanted {
  if (of === undefined) return { kind: 'nothing' };
  const at = line.command?.registeredArguments.findIndex((one) => one.name() === 'cluster') ?? -1;
  const cluster = line.values.get('cluster') ?? line.args[at];
  return { kind: 'names', of, ...(cluster === undefined ? {} : { cluster }) };
}

function valueOf(option: Option | undefined, line: Line): Wanted {
  if (option === undefined) return { kind: 'nothing' };
  const { argChoices, flags } = option;
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  if (/<(file|dir)>/.test(flags)) return { kind: 'files' };
  if (/^--cluster /.test(flags)) return namesOf('clusters', line);
  if (/^--(daemon-?set) /.test(flags)) return namesOf('daemonsets', line);
  return { kind: 'nothing' };
}
