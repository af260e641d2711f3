/**
 * `rollcall freeze` and `rollcall thaw`: the whole stack, one cluster, or one DaemonSet in every cluster.
 *
 * A freeze is one conditional write; functions that run stop before their next batch. Only a thaw of the same
 * scope ends one, and then has looked at what it let go: what fails there is told, and ends with 0.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { freezeScope, thawScope, type FreezeChange } from '../../app/freeze/change-freeze.ts';
import { logOrder } from '../../app/log/log-order.ts';
import { freezeEntry } from '../../app/log/read-log.ts';
import { wakeScope, type Woken } from '../../app/freeze/wake-stack.ts';
import { freezeNote, type FreezeScope } from '../../core/may-act/freeze.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { shellWord } from '../../core/status/shell-word.ts';
import { callerOf } from '../command-line/caller.ts';
import {
  excludeEachOther,
  parseClusterId,
  parseNamespacedName,
  requireRegistration,
  parseWhy,
} from '../command-line/cluster-arguments.ts';
import { defineCommand, flagOption, textOption } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
  OptionsOf,
} from '../command-line/command-module.ts';
import { freezeLines, noteText } from '../command-line/freeze-words.ts';
import { plainText } from '../command-line/text-table.ts';
import { failure, refusal, usageError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';

type ScopeOptions = OptionsOf<ReturnType<typeof scopeOptions>>;

const scopeOptions = (verb: 'freeze' | 'thaw') => ({
  cluster: textOption('--cluster <id>', `${verb} this cluster alone`),
  daemonSet: textOption(
    '--daemon-set <namespace/name>',
    `${verb} this DaemonSet, in every cluster`,
  ),
  yes: flagOption('--yes', 'without either: confirm that the whole stack is meant'),
});

/** The scope; without an option the whole stack. Throws CommandError (2). */
function parseScope({ cluster, daemonSet }: ScopeOptions): FreezeScope {
  excludeEachOther({ '--cluster': cluster, '--daemon-set': daemonSet });
  if (cluster !== undefined) return { kind: 'cluster', id: parseClusterId(cluster) };
  if (daemonSet === undefined) return { kind: 'stack' };
  return { kind: 'daemon-set', ...parseNamespacedName(daemonSet, 'DaemonSet') };
}

/** What a document says of it. */
interface ScopeFields {
  readonly scope: FreezeScope['kind'];
  readonly cluster?: string;
  readonly daemonSet?: string;
}

/** In a sentence, in a document, and as options of a command line. */
function wordsOf(scope: FreezeScope): {
  readonly text: string;
  readonly fields: ScopeFields;
  readonly options: string;
} {
  switch (scope.kind) {
    case 'stack':
      return { text: 'the whole stack', fields: { scope: 'stack' }, options: '--yes' };
    case 'cluster': {
      const { id } = scope;
      return {
        text: `the cluster ${id}`,
        fields: { scope: 'cluster', cluster: id },
        options: `--cluster ${id}`,
      };
    }
    case 'daemon-set': {
      const key = `${scope.namespace}/${scope.name}`;
      return {
        text: `the DaemonSet ${key}, in every cluster`,
        fields: { scope: 'daemon-set', daemonSet: key },
        options: `--daemon-set ${key}`,
      };
    }
  }
}

type About = Parameters<typeof logOrder>[1];

function aboutOf(scope: FreezeScope, cluster: ClusterRegistration | undefined): About {
  if (scope.kind === 'daemon-set') return { subject: { ...scope, kind: 'name' } };
  return {
    subject: scope.kind === 'stack' ? scope : { kind: 'cluster' },
    ...defined({ cluster: cluster?.clusterUid }),
  };
}

async function logThaw(about: About, stack: Stack, context: CommandContext): Promise<void> {
  const by = await callerOf(context, stack);
  const atMs = context.clock.nowMs();
  const lost = await logOrder(stack, about, { kind: 'order', order: 'thaw', atMs, by });
  if (lost !== undefined) context.say(lost);
}

/** `freeze`. */
export const freezeCommand: CommandModule = defineCommand({
  path: ['freeze'],
  documents: ['Freeze'],
  summary: 'stop every change in all clusters, in one cluster, or of one DaemonSet everywhere',
  about: [
    'A freeze is one conditional write: functions finish the batch that they began, and begin no other.',
    'Only rollcall thaw of the same scope ends it.',
    'You may repeat it: a freeze keeps its first author and reason.',
    'At most a hundred DaemonSets can be frozen by name.',
  ],
  exits: { refused: 'the whole stack is meant, and --yes is missing' },
  interruption: 'orderly',
  options: {
    ...scopeOptions('freeze'),
    why: textOption('--why <text>', 'the reason, which every answer shows (required)'),
  },
  examples: [
    'freeze --why "CVE in the node image, INC-4711" --yes',
    'freeze --cluster prod-eu-1 --why "network maintenance"',
    'freeze --daemon-set kube-system/cilium --why "drops packets, INC-4711"',
  ],
  run: async ({ options }, context) => {
    const scope = parseScope(options);
    const why = parseWhy(options.why ?? '');
    if (why === '') {
      throw usageError('A freeze says why it is there.', 'Pass --why "what happened".');
    }
    if (scope.kind === 'stack' && options.yes !== true) throw unconfirmedFreeze(why);
    const stack = await context.openStack();
    const note = freezeNote({
      by: await callerOf(context, stack),
      why,
      atMs: context.clock.nowMs(),
    });
    const cluster =
      scope.kind === 'cluster' ? await requireRegistration(stack.registry, scope.id) : undefined;
    const change = await freezeScope(stack, scope, note);
    if (change.kind === 'frozen') {
      const lost = await logOrder(stack, aboutOf(scope, cluster), freezeEntry(change.note));
      if (lost !== undefined) context.say(lost);
    }
    return presentFreeze(scope, change);
  },
});

function unconfirmedFreeze(why: string): Error {
  return refusal(
    'That freezes every DaemonSet of every cluster of the stack: pods of new nodes, replacements and rollouts wait for the thaw. Nothing was written.',
    `If that is meant: rollcall freeze --why ${shellWord(why)} --yes`,
  );
}

function presentFreeze(scope: FreezeScope, change: FreezeChange): CommandResult {
  if (change.kind === 'full') {
    throw failure(
      'A hundred DaemonSets are frozen by name, and no more can be. Nothing was written.',
      'Thaw some, or freeze the whole stack.',
    );
  }
  if (change.kind !== 'frozen' && change.kind !== 'was-frozen') throw lostRace();
  const { kind: result, note } = change;
  const { text: what, fields, options } = wordsOf(scope);
  return {
    document: { kind: 'Freeze', ...fields, result, ...note },
    lines:
      result === 'frozen'
        ? [
            `Frozen: ${what}. What runs finishes the batch that it has begun, and begins no other.`,
            `Thaw it with: rollcall thaw ${options}`,
          ]
        : [`Frozen before: ${what}${noteText(note)}. Nothing was changed.`],
  };
}

/** Others write it all the time. */
function lostRace(): Error {
  return failure(
    'Others changed it faster than it could be read and written. Nothing was changed.',
    'Repeat the command.',
  );
}

/** `thaw`. */
export const thawCommand: CommandModule = defineCommand({
  path: ['thaw'],
  documents: ['Thaw'],
  summary: 'end a freeze of the whole stack, of one cluster, or of one DaemonSet everywhere',
  about: [
    'Other freezes stay, and the command names them.',
    'It then sends a hint for every DaemonSet that waited, so that a function looks at each at once.',
    'It names those that it could not hint; functions look at them within six hours.',
  ],
  exits: {
    refused: 'the whole stack is meant and --yes is missing, or the cluster is being moved',
  },
  interruption: 'orderly',
  options: {
    ...scopeOptions('thaw'),
    wake: flagOption('--wake', 'have everything looked at now, also if it was thawed before'),
  },
  examples: ['thaw --yes', 'thaw --cluster prod-eu-1', 'thaw --daemon-set kube-system/cilium'],
  run: async ({ options }, context) => {
    const scope = parseScope(options);
    if (scope.kind === 'stack' && options.yes !== true) throw unconfirmedThaw();
    const stack = await context.openStack();
    const cluster =
      scope.kind === 'cluster' ? await requireRegistration(stack.registry, scope.id) : undefined;
    const thaw = await thawScope(stack, scope);
    if (thaw.kind === 'thawed') await logThaw(aboutOf(scope, cluster), stack, context);
    const isWaking = thaw.kind === 'thawed' || options.wake === true;
    const { registry, view, hints, random } = stack;
    const { say, signal } = context;
    const onPage = ({ clusters, hints: sent }: Woken): void => {
      say(`${counted(clusters, 'cluster')} gone through, ${lookedAt(sent)} …`);
    };
    const woken = isWaking
      ? await wakeScope(scope, { registry, view, hints, random, signal, onPage })
      : NOBODY;
    return presentThaw(scope, thaw, woken);
  },
});

const NOBODY: Woken = { clusters: 0, hints: 0, failed: [], isWhole: true };

function unconfirmedThaw(): Error {
  return refusal(
    'That thaws the whole stack: everything that waited goes on at once, in every cluster. Nothing was written.',
    'If that is meant: rollcall thaw --yes. Freezes of clusters and of DaemonSets by name stay.',
  );
}

function presentThaw(scope: FreezeScope, thaw: FreezeChange, woken: Woken): CommandResult {
  if (thaw.kind !== 'thawed' && thaw.kind !== 'was-not-frozen') throw lostRace();
  const { kind: result, left } = thaw;
  const lifted = thaw.kind === 'thawed' ? thaw.note : undefined;
  const { hints, failed, isWhole } = woken;
  const { text: what, fields } = wordsOf(scope);
  const still = freezeLines(left);
  return {
    document: {
      ...{ kind: 'Thaw', ...fields, result, ...defined({ lifted }) },
      ...{ hints, failed, isWhole, stillFrozen: left },
    },
    lines: [
      lifted === undefined
        ? `Not frozen: ${what}. Nothing was changed.`
        : `Thawed: ${what}, which was frozen${noteText(lifted)}.`,
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
