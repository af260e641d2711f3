/**
 * `rollcall completion`, which prints what a shell runs, and the hidden `rollcall __complete -- WORDS…` that it calls.
 *
 * Names are read from the registry and the view: a page of each, within a second. Whatever fails completes nothing, since an error
 * would be written into the user's half-typed line.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { clusterId } from '../../core/model/identifiers.ts';
import { hasSentinelName } from '../../core/may-act/takeover-sentinel.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandContext, CommandModule } from '../command-line/command-module.ts';
import { plainText } from '../command-line/text-table.ts';
import { usageError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { findWanted, type Understood, type Wanted } from './find-wanted.ts';
import { SHELL_SCRIPTS } from './shell-scripts.ts';

const ANSWER_MS_MAX = 1000;
const NAMES_MAX = 200;
/** Where no cluster is named, DaemonSets of so many are proposed. */
const CLUSTERS_MAX = 8;

/** `completion`. */
export const completionCommand: CommandModule = defineCommand({
  path: ['completion'],
  documents: ['CompletionScript'],
  summary: 'print the script that completes commands, options and names in a shell',
  about: [
    'bash: eval "$(rollcall completion bash)" in ~/.bashrc.',
    'zsh: eval "$(rollcall completion zsh)" in ~/.zshrc, after compinit.',
    'fish: rollcall completion fish | source.',
    'kubectl: write the output to kubectl_complete-rollcall, executable and on the PATH.',
    'The shell then asks rollcall for ids of clusters, DaemonSets and fleets, which answers within a second, or not at all.',
  ],
  args: [['<shell>', Object.keys(SHELL_SCRIPTS).join(', ')]],
  examples: ['completion bash'],
  run: ({ args: [shell = ''] }) => {
    const script = Object.entries(SHELL_SCRIPTS).find(([name]) => name === shell)?.[1];
    if (script === undefined) {
      const known = Object.keys(SHELL_SCRIPTS).join(', ');
      throw usageError(`There is no completion for ${plainText(shell)}.`, `Pass one of: ${known}.`);
    }
    return Promise.resolve({
      document: { kind: 'CompletionScript', shell, script },
      lines: script.split('\n'),
    });
  },
});

/** `__complete`, for these commands. */
export function completeCommand(modules: readonly CommandModule[]): CommandModule {
  return defineCommand({
    path: [COMPLETE],
    summary: 'what the last of these words may become',
    args: [['[words...]', 'the command line up to the cursor, without its first word']],
    run: async ({ args }, context) => {
      const understood = findWanted(args, modules);
      const candidates = await candidatesOf(understood, context);
      return { document: { kind: 'Completion', candidates }, lines: candidates };
    },
  });
}

/** Its name; --help hides it. */
export const COMPLETE = '__complete';

async function candidatesOf(
  { wanted, before, typed, globals }: Understood,
  context: CommandContext,
): Promise<readonly string[]> {
  if (wanted.kind === 'files') return [':files'];
  if (wanted.kind === 'nothing') return [];
  const all =
    wanted.kind === 'words'
      ? wanted.words
      : await namesInTime(wanted, { ...context, globals: { ...context.globals, ...globals } });
  return all
    .filter((word) => word.startsWith(typed))
    .slice(0, NAMES_MAX)
    .map((word) => `${before}${plainText(word)}`);
}

type Names = Extract<Wanted, { readonly kind: 'names' }>;

/** None of what failed, or came too late. */
function namesInTime(wanted: Names, context: CommandContext): Promise<readonly string[]> {
  const { clock, globals } = context;
  const read = async (): Promise<readonly string[]> =>
    READERS[wanted.of](await context.openStack(globals), wanted);
  return inTime(read(), clock);
}

function inTime(read: Promise<readonly string[]>, clock: Clock): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const cancel = clock.after(ANSWER_MS_MAX, () => {
      resolve([]);
    });
    read
      .then(resolve, () => {
        resolve([]);
      })
      .finally(cancel);
  });
}

type Reader = (stack: Stack, wanted: Names) => Promise<readonly string[]>;

const READERS: Readonly<Record<Names['of'], Reader>> = {
  clusters: async ({ registry }) => (await registry.listClusters({ limit: NAMES_MAX })).clusters,
  fleets: async ({ fleets }) => {
    const page = await fleets.listFleets({ limit: NAMES_MAX });
    return page.fleets.map(({ namespace, name }) => `${namespace}/${name}`);
  },
  daemonsets: async ({ registry, view }, { cluster }) => {
    const ids =
      cluster === undefined
        ? (await registry.listClusters({ limit: CLUSTERS_MAX })).clusters
        : [clusterId(cluster)];
    const pages = await sideBySide(ids, CLUSTERS_MAX, async (id) => {
      const registration = await registry.readCluster(id);
      if (registration === undefined) return [];
      return (await view.listNames(registration.clusterUid, { limit: NAMES_MAX })).names;
    });
    const shown = pages.flat().filter((one) => !hasSentinelName(one));
    return [...new Set(shown.map(({ namespace, name }) => `${namespace}/${name}`))].sort();
  },
};
