/**
 * `rollcall thaw`: ends a freeze of the same scope, then has looked at what it let go.
 *
 * The freeze is over with its write; the hints only say that a look is due now, and not with the next change or within six
 * hours. So what fails there is told, and ends with 0. `--wake` sends them again after a thaw that was interrupted.
 */
import { counted } from '@rollcall/base/counted.ts';
import { writeFreeze } from '../../app/clusters/change-stored.ts';
import { wakeCluster } from '../../app/clusters/wake-cluster.ts';
import { thawScope } from '../../app/freeze/change-freeze.ts';
import { wakeStack } from '../../app/freeze/wake-stack.ts';
import type { Woken } from '../../app/freeze/wake-stack.ts';
import type { FreezeNote } from '../../core/model/registration.ts';
import type { Freeze } from '../../core/takeover/freeze.ts';
import { requireRegistration } from '../command-line/cluster-arguments.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { plainText } from '../command-line/text-table.ts';
import { refusal } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { lostRace } from './freeze-command.ts';
import { declareScope, parseScope, scopeFields, scopeText } from './freeze-scope.ts';
import type { Scope, ScopeOptions } from './freeze-scope.ts';
import { freezeLines, noteText } from '../command-line/freeze-words.ts';

interface ThawOptions extends ScopeOptions {
  readonly wake?: true;
}

/** `thaw`. */
export const thawCommand: CommandModule = defineCommand<ThawOptions>({
  path: ['thaw'],
  summary: 'end a freeze: of the whole stack, of a cluster, or of a DaemonSet everywhere',
  interruption: 'orderly',
  configure: (command) => {
    declareScope(command, 'thaw');
    command
      .option('--wake', 'have everything looked at now, also if it was thawed before')
      .addHelpText('after', EXAMPLES);
  },
  run: async ({ options }, context) => {
    const scope = parseScope(options);
    if (scope.kind === 'stack' && options.yes !== true) throw unconfirmed();
    const stack = await context.openStack();
    const thaw = await end(scope, stack);
    const isWaking = thaw.lifted !== undefined || options.wake === true;
    const woken = isWaking ? await wake(scope, stack, context) : NOBODY;
    return present(scope, { ...thaw, woken });
  },
});

const EXAMPLES = `
Examples:
  rollcall thaw --yes
  rollcall thaw --cluster prod-eu-1
  rollcall thaw --daemon-set kube-system/cilium`;

const NOBODY: Woken = { clusters: 0, hints: 0, failed: [], isWhole: true };

function unconfirmed(): Error {
  return refusal(
    'That thaws the whole stack: everything that waited goes on at once, in every cluster. Nothing was written.',
    'If that is meant: rollcall thaw --yes. Freezes of clusters and of DaemonSets by name stay.',
  );
}

interface Thaw {
  /** Who had frozen it; absent: it was not frozen. */
  readonly lifted?: FreezeNote;
  /** What of the stack is frozen still. */
  readonly left: Freeze;
}

async function end(scope: Scope, { registry, freezes }: Stack): Promise<Thaw> {
  if (scope.kind !== 'cluster') {
    const change = await thawScope(freezes, scope);
    if (change.kind === 'thawed') return { lifted: change.note, left: change.left };
    if (change.kind === 'was-not-frozen') return { left: change.left };
    throw lostRace();
  }
  const before = await requireRegistration(registry, scope.id);
  if (before.isFrozen) {
    const written = await writeFreeze(registry, scope.id, false);
    if (typeof written === 'string') throw lostRace();
  }
  const { isFrozen, frozen: lifted = { by: '', why: '', atMs: 0 } } = before;
  return { left: await freezes.readFreeze(), ...(isFrozen ? { lifted } : {}) };
}

async function wake(scope: Scope, stack: Stack, { say, signal }: CommandContext): Promise<Woken> {
  const { registry, view, hints, random } = stack;
  if (scope.kind === 'cluster') return wakeOne(scope.id, stack);
  return wakeStack(scope, {
    ...{ registry, view, hints, random, signal },
    onPage: ({ clusters, hints: sent }) => {
      say(`${counted(clusters, 'cluster')} gone through, ${lookedAt(sent)} …`);
    },
  });
}

async function wakeOne(
  id: Extract<Scope, { kind: 'cluster' }>['id'],
  stack: Stack,
): Promise<Woken> {
  try {
    const hints = await wakeCluster(await requireRegistration(stack.registry, id), stack);
    return { clusters: 1, hints, failed: [], isWhole: true };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { clusters: 1, hints: 0, failed: [{ id, reason }], isWhole: true };
  }
}

function present(
  scope: Scope,
  { lifted, left, woken }: Thaw & { readonly woken: Woken },
): CommandResult {
  const { hints, failed, isWhole } = woken;
  const result = lifted === undefined ? 'was-not-frozen' : 'thawed';
  const still = freezeLines(left);
  return {
    document: {
      ...{
        kind: 'Thaw',
        ...scopeFields(scope),
        result,
        ...(lifted === undefined ? {} : { lifted }),
      },
      ...{ hints, failed, isWhole, stillFrozen: left },
    },
    lines: [
      lifted === undefined
        ? `Not frozen: ${scopeText(scope)}. Nothing was changed.`
        : `Thawed: ${scopeText(scope)}, which was frozen${noteText(lifted)}.`,
      ...(lifted === undefined && hints === 0 ? [] : [`${lookedAt(hints)} now.`]),
      ...failed.slice(0, SHOWN_MAX).map(({ id, reason }) => {
        return `${id}: its DaemonSets are looked at with their next change, or within six hours: they could not be hinted (${plainText(reason)}).`;
      }),
      ...(failed.length > SHOWN_MAX ? [`… and ${String(failed.length - SHOWN_MAX)} more.`] : []),
      ...(isWhole
        ? []
        : ['Interrupted: the rest is looked at within six hours, or now with --wake.']),
      ...still.map((line) => `! Still: ${line}`),
    ],
  };
}

const SHOWN_MAX = 10;

function lookedAt(count: number): string {
  return counted(count, 'DaemonSet is looked at', 'DaemonSets are looked at');
}
