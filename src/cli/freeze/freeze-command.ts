/**
 * `rollcall freeze` and `rollcall thaw`: the whole stack, one cluster, or one DaemonSet in every cluster.
 *
 * A freeze is one conditional write, whatever it is of; functions that run stop before their next batch. A freeze that stands
 * keeps who froze first and why. Only a thaw of the same scope ends one, and nothing thaws by itself. Of the whole stack
 * either is confirmed with `--yes`. Both may be repeated.
 */
import type { Command } from 'commander';
import { writeFreeze } from '../../app/clusters/change-stored.ts';
import { freezeScope } from '../../app/freeze/change-freeze.ts';
import type { FreezeChange } from '../../app/freeze/change-freeze.ts';
import type { FreezeNote } from '../../core/model/registration.ts';
import { freezeNote } from '../../core/takeover/freeze.ts';
import { callerOf } from '../command-line/caller.ts';
import { requireRegistration } from '../command-line/cluster-arguments.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { parseWhy } from '../command-line/parse-why.ts';
import { failure, refusal, usageError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { declareScope, parseScope, scopeFields, scopeText } from './freeze-scope.ts';
import type { Scope, ScopeOptions } from './freeze-scope.ts';
import { noteText } from '../command-line/freeze-words.ts';

interface FreezeOptions extends ScopeOptions {
  readonly why?: string;
}

/** `freeze`. */
export const freezeCommand: CommandModule = defineCommand<FreezeOptions>({
  path: ['freeze'],
  summary:
    'stop every change in all clusters, in one, or of one DaemonSet everywhere, within one batch',
  interruption: 'orderly',
  configure: (command: Command) => {
    declareScope(command, 'freeze');
    command
      .option('--why <text>', 'the reason, for whoever meets the freeze (required)')
      .addHelpText('after', EXAMPLES);
  },
  run: async ({ options }, context) => {
    const scope = parseScope(options);
    const why = parseWhy(options.why ?? '');
    if (why === '') {
      throw usageError('A freeze says why it is there.', 'Pass --why "what happened".');
    }
    if (scope.kind === 'stack' && options.yes !== true) throw unconfirmed(why);
    const stack = await context.openStack();
    const note = freezeNote({
      by: await callerOf(context, stack),
      why,
      atMs: context.clock.nowMs(),
    });
    const change =
      scope.kind === 'cluster'
        ? await freezeCluster(scope, note, stack)
        : await freezeScope(stack.freezes, scope, note);
    return presentFreeze(scope, change);
  },
});

const EXAMPLES = `
Examples:
  rollcall freeze --why "CVE in the node image, INC-4711" --yes
  rollcall freeze --cluster prod-eu-1 --why "network maintenance"
  rollcall freeze --daemon-set kube-system/cilium --why "drops packets, INC-4711"`;

function unconfirmed(why: string): Error {
  return refusal(
    'That freezes every DaemonSet of every cluster of the stack: pods of new nodes, replacements and rollouts wait for the thaw. Nothing was written.',
    `If that is meant: rollcall freeze --why '${why}' --yes`,
  );
}

async function freezeCluster(
  { id }: Extract<Scope, { kind: 'cluster' }>,
  note: FreezeNote,
  { registry }: Stack,
): Promise<FreezeChange> {
  await requireRegistration(registry, id);
  const stored = await writeFreeze(registry, id, note);
  if (typeof stored === 'string') return { kind: 'lost' };
  const { frozen } = stored;
  // One without a note was frozen before, by a release that noted nobody, or by a move.
  if (frozen === undefined) return { kind: 'was-frozen', note: { by: '', why: '', atMs: 0 } };
  const isOurs = frozen.by === note.by && frozen.why === note.why && frozen.atMs === note.atMs;
  return { kind: isOurs ? 'frozen' : 'was-frozen', note: frozen };
}

function presentFreeze(scope: Scope, change: FreezeChange): CommandResult {
  if (change.kind === 'full') {
    throw failure(
      'A hundred DaemonSets are frozen by name, and no more can be. Nothing was written.',
      'Thaw some, or freeze the whole stack.',
    );
  }
  if (change.kind !== 'frozen' && change.kind !== 'was-frozen') throw lostRace();
  const { kind: result, note } = change;
  const what = scopeText(scope);
  return {
    document: { kind: 'Freeze', ...scopeFields(scope), result, ...note },
    lines:
      result === 'frozen'
        ? [
            `Frozen: ${what}. What runs finishes the batch that it has begun, and begins no other.`,
            `Thaw it with: ${thawLine(scope)}`,
          ]
        : [`Frozen before: ${what}${noteText(note)}. Nothing was changed.`],
  };
}

/** The command that ends the freeze of a scope. */
function thawLine(scope: Scope): string {
  switch (scope.kind) {
    case 'stack':
      return 'rollcall thaw --yes';
    case 'cluster':
      return `rollcall thaw --cluster ${scope.id}`;
    case 'daemon-set':
      return `rollcall thaw --daemon-set ${scope.namespace}/${scope.name}`;
  }
}

/** Others write it all the time. */
export function lostRace(): Error {
  return failure(
    'Others changed it faster than it could be read and written. Nothing was changed.',
    'Repeat the command.',
  );
}
