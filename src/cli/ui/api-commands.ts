/**
 * Which commands the API has, and how a request becomes the command line that a person would type.
 *
 * So a request is parsed, refused and answered by the frame of the command line itself (run-program.ts). Nothing outside of this
 * list is reached, and no option that names a file, a kubeconfig or a wait of this machine.
 */
import { Argument, Option } from 'commander';
import type { CommandModule, OptionRow } from '../command-line/command-module.ts';
import { usageError } from '../process/exit-codes.ts';
import { plainText } from '../command-line/text-table.ts';

/** `GET`: looks only. `POST`: orders something, or takes a manifest. */
export type ApiMethod = 'GET' | 'POST';

/** Words of the command, with what they stand for where they hold an argument, too. */
const EXPOSED: Readonly<Record<ApiMethod, readonly string[]>> = {
  GET: [
    'status',
    'get clusters',
    'get daemonsets',
    'get rollouts',
    'get fleets',
    'get nodes',
    'why',
    'log',
    'cost',
    'coverage',
    'coverage',
    'rollout status',
    'fleet get',
    'fleet status',
    'fleet describe',
    'fleet history',
    'cluster list',
    'cluster show',
    'version',
  ],
  POST: [
    'plan',
    'rollout pause',
    'rollout resume',
    'rollout approve',
    'rollout confirm',
    'rollout undo',
    'fleet pause',
    'fleet resume',
    'fleet approve',
    'fleet undo',
    'freeze',
    'thaw',
  ],
};

/** Options of the command line that a request cannot give: waits, forms of a terminal, and what is reached from a person's machine. */
const NOT_OFFERED: ReadonlySet<string> = new Set([
  ...['watch', 'follow', 'timeout', 'output', 'filename', 'kubeconfig', 'context'],
]);

export interface ApiParameter {
  readonly name: string;
  readonly about: string;
  readonly isRequired: boolean;
  /** Absent: an argument. */
  readonly option?: OptionRow<unknown>;
}

export interface ApiCommand {
  readonly method: ApiMethod;
  /** Below `/api/v1/`. */
  readonly path: string;
  readonly module: CommandModule;
  /** Arguments that the path says. */
  readonly fixed: readonly string[];
  readonly parameters: readonly ApiParameter[];
}

/** Values by the name of their parameter, each once or several times. */
export type Given = Readonly<Record<string, readonly string[]>>;

/** The commands of the API. Throws where the list names a command that there is not. */
export function apiCommands(modules: readonly CommandModule[]): readonly ApiCommand[] {
  return (['GET', 'POST'] as const).flatMap((method) =>
    EXPOSED[method].map((text) => {
      const words = text.split(' ');
      const module = modules.find(({ path }) => path.every((word, at) => word === words[at]));
      if (module === undefined) throw new Error(`the API has a command ${text} that there is not`);
      const fixed = words.slice(module.path.length);
      const path = words.join('/');
      return { method, path, module, fixed, parameters: parametersOf(module, fixed.length) };
    }),
  );
}

function parametersOf(module: CommandModule, fixedCount: number): readonly ApiParameter[] {
  const args = module.args.slice(fixedCount).map(([text, about]) => {
    const argument = new Argument(text, about);
    return { name: argument.name(), about, isRequired: argument.required };
  });
  const options = Object.entries(module.options).flatMap(([name, option]) => {
    if (NOT_OFFERED.has(name)) return [];
    return [{ name, about: option.about, option, isRequired: false }];
  });
  return [...args, ...options];
}

/** The words to run. Throws CommandError (2) for a parameter that there is not, or a value that it cannot have. */
export function commandLineOf(
  { module, fixed, parameters }: ApiCommand,
  given: Given,
): readonly string[] {
  for (const name of Object.keys(given)) requireParameter(name, parameters);
  const options = parameters.flatMap(({ name, option }) =>
    option === undefined
      ? []
      : (given[name] ?? []).flatMap((value) => optionWords(option, name, value)),
  );
  return [...module.path, ...options, '--', ...fixed, ...argumentWords(parameters, given)];
}

function requireParameter(name: string, parameters: readonly ApiParameter[]): void {
  if (parameters.some((one) => one.name === name)) return;
  const known = parameters.map((one) => one.name).join(', ');
  const remedy = known === '' ? 'It takes none.' : `There are: ${known}.`;
  if (NOT_OFFERED.has(name)) {
    throw usageError(`${name} is an option of the command line alone.`, remedy);
  }
  throw usageError(`There is no parameter ${plainText(name)}.`, remedy);
}

function optionWords(
  { flags, about }: OptionRow<unknown>,
  name: string,
  value: string,
): readonly string[] {
  const { long = '', required: takesValue } = new Option(flags, about);
  if (takesValue) return [`${long}=${value}`];
  if (value === 'true') return [long];
  if (value === 'false') return [];
  throw usageError(`${name} is given or not.`, `Pass ${name} as true or false.`);
}

/** In their order: one can be left out only with all after it. */
function argumentWords(parameters: readonly ApiParameter[], given: Given): readonly string[] {
  const args = parameters.filter(({ option }) => option === undefined);
  const last = args.findLastIndex(({ name }) => given[name] !== undefined);
  return args.slice(0, last + 1).map(({ name }) => {
    const [value, ...others] = given[name] ?? [];
    if (value !== undefined && others.length === 0) return value;
    throw usageError(
      value === undefined ? `${name} is missing.` : `${name} is given more than once.`,
      `Pass ${name} once.`,
    );
  });
}
