/**
 * `rollcall fleet plan`, `diff` and `apply`: what a FleetDaemonSet would do, and storing it. Plan
 * leaves with 3 when some cluster could be given nothing or would not take it, diff with 6 when a
 * cluster differs that Rollcall may change. Apply asks the API servers first (server-check.ts).
 */
import { counted } from '@rollcall/base/counted.ts';
import type { Json } from '@rollcall/base/json.ts';
import { gatherClusters } from '../../app/fleet/gather-clusters.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import { planFleet } from '../../core/fleet/plan-fleet.ts';
import type { FleetPlan } from '../../core/fleet/plan-fleet.ts';
import type { PlannedCluster } from '../../core/fleet/plan-cluster.ts';
import {
  choiceOption,
  defineCommand,
  flagOption,
  withFallback,
} from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
  OptionsOf,
} from '../command-line/command-module.ts';
import { plainText } from '../command-line/text-table.ts';
import { EXIT, usageError } from '../process/exit-codes.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import { FILE_OPTIONS, chooseFleet, readFleetFile } from './fleet-arguments.ts';
import type { ChosenFleet } from './fleet-arguments.ts';
import { renderMarkdownPlan, planDocument, renderPlan, totalsOf } from './render-plan.ts';
import {
  checkDocument,
  checkOnServers,
  dryRunOption,
  isAnyAgainst,
  renderChecks,
} from './server-check.ts';
import type { FieldDifference } from '../../core/fleet/compare-manifest.ts';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { applyFleet } from '../../app/fleet/apply-fleet.ts';
import type { AppliedFleet } from '../../app/fleet/apply-fleet.ts';
import { problemsOf } from '../../app/fleet/check/ask-clusters.ts';
import type { ClusterCheck } from '../../app/fleet/check/ask-clusters.ts';
import { refuseFleet } from '../../app/fleet/refusals.ts';
import { callerOf } from '../command-line/caller.ts';

const FORMATS = ['table', 'markdown'] as const;
const PLANNED = ['[fleet]', 'namespace/name of one that was applied'] as const;

export const planFleetCommand: CommandModule = defineCommand({
  path: ['fleet', 'plan'],
  documents: ['FleetPlan'],
  summary: 'show which clusters would get a FleetDaemonSet in which stage, on how many nodes',
  about: [
    'It reads tables and changes nothing; it asks clusters only with --dry-run=server.',
    'The dry run is the request of the function fleet, with defaulting, validation, quota and webhooks, in up to 16 clusters at once, for two minutes.',
    'A cluster counts as not checked, never as failed, where it does not answer, a webhook supports no dry run, or there is no credential for it here.',
    'Only the functions can open bound tokens; EKS clusters are asked with your own AWS identity, which needs list, patch and create on DaemonSets.',
  ],
  exits: {
    refused: 'some cluster could be given nothing, or would refuse it',
    usage: 'the file cannot be used',
  },
  examples: [
    'fleet plan -f agent.yaml',
    'fleet plan -f agent.yaml --dry-run=server --format=markdown',
  ],
  args: [PLANNED],
  options: {
    ...FILE_OPTIONS,
    format: withFallback(
      choiceOption(
        '--format <format>',
        'markdown: a comment for a pull request, of bounded length',
        FORMATS,
      ),
      'table',
    ),
    dryRun: dryRunOption('ask the API servers whether they would take it; nothing is kept'),
  },
  run: async ({ args, options }, context) => {
    const { chosen, plan, unreadable } = await planChosen(args, options, context);
    const isMarkdown = options.format === 'markdown';
    const isAsking = options.dryRun === 'server';
    const checks = isAsking
      ? await checkOnServers({ fleet: chosen.fleet, plan }, await context.openStack(), context)
      : undefined;
    const lines = isMarkdown
      ? renderMarkdownPlan(titleOf(chosen), plan)
      : [titleOf(chosen), ...renderPlan(plan)];
    return {
      document: {
        kind: 'FleetPlan',
        ...headOf(chosen),
        ...planDocument(plan),
        unreadable,
        leftOut: chosen.leftOut,
        ...(checks === undefined ? {} : { serverCheck: checkDocument(checks) }),
      },
      lines: [
        ...lines,
        ...(checks === undefined ? [] : ['', ...renderChecks(checks, options.format)]),
        ...(isMarkdown ? [''] : []),
        ...notes(chosen, unreadable),
      ],
      exitCode: plan.refused.length > 0 || isAnyAgainst(checks ?? []) ? EXIT.refused : EXIT.ok,
    };
  },
});

export const diffFleetCommand: CommandModule = defineCommand({
  path: ['fleet', 'diff'],
  documents: ['FleetDiff'],
  summary: 'show in which fields the DaemonSets of clusters differ from a FleetDaemonSet',
  about: ['It hides the values of environment variables, arguments, commands and annotations.'],
  exits: {
    differs: 'a cluster differs that Rollcall may change, also an offline one',
    refused: 'some cluster could be given nothing',
  },
  examples: ['fleet diff ops/agent'],
  args: [PLANNED],
  options: FILE_OPTIONS,
  run: async ({ args, options }, context) => {
    const { chosen, plan, unreadable } = await planChosen(args, options, context);
    return presentDiff(chosen, plan, unreadable);
  },
});

type Unreadable = readonly { readonly id: string; readonly reason: string }[];

async function planChosen(
  args: readonly string[],
  options: OptionsOf<typeof FILE_OPTIONS>,
  context: CommandContext,
): Promise<{
  readonly chosen: ChosenFleet;
  readonly plan: FleetPlan;
  readonly unreadable: Unreadable;
}> {
  const chosen = await chooseFleet(args, options, () => context.openStack());
  const { fleet, stack } = chosen;
  const { clusters, unreadable } = await gatherClusters(fleet, stack);
  return { chosen, plan: planFleet(fleet, clusters, stack.clock.nowMs()), unreadable };
}

function headOf({ fleet, generation }: ChosenFleet) {
  const { namespace, name } = fleet;
  return { namespace, name, ...(generation === undefined ? {} : { generation }) };
}

function titleOf({ fleet, generation }: ChosenFleet): string {
  const of = generation === undefined ? 'as in the file' : `generation ${String(generation)}`;
  return `${formatFleetKey(fleet)}, ${of}`;
}

function notes({ leftOut }: ChosenFleet, unreadable: Unreadable): readonly string[] {
  const others = `Not part of the fleet, deliver it as before: ${leftOut.join(', ')}`;
  return [
    ...(leftOut.length === 0 ? [] : ['', plainText(others)]),
    ...unreadable.map(({ id, reason }) => plainText(`! ${id} cannot be read: ${reason}`)),
  ];
}

interface DiffEntry {
  readonly cluster: PlannedCluster;
  readonly where: string;
  readonly isOurs: boolean;
}

function presentDiff(chosen: ChosenFleet, plan: FleetPlan, unreadable: Unreadable): CommandResult {
  const { stages, untouched, offline, refused } = plan;
  const entries: readonly DiffEntry[] = [
    ...stages.flatMap(({ name, clusters }) =>
      clusters.map((cluster) => ({ cluster, where: `stage ${name}`, isOurs: true })),
    ),
    ...offline.map((cluster) => ({ cluster, where: 'offline', isOurs: true })),
    ...untouched.map((cluster) => ({ cluster, where: `untouched: ${cluster.why}`, isOurs: false })),
  ].filter(({ cluster }) => cluster.change !== 'none');
  const isDifferent = entries.some(({ cluster, isOurs }) => isOurs && cluster.change !== 'unknown');
  const differs = isDifferent ? EXIT.differs : EXIT.ok;
  return {
    document: {
      kind: 'FleetDiff',
      ...headOf(chosen),
      totals: totalsOf(plan),
      clusters: entries.map(({ cluster: { id, change, nodes, differences }, where }) => ({
        id,
        where,
        change,
        ...(nodes === undefined ? {} : { nodes }),
        differences: differences.map(shownDifference),
      })),
      refused,
      unreadable,
    },
    lines: [
      titleOf(chosen),
      ...(entries.length === 0 ? ['Nothing differs.'] : entries.flatMap(diffLines)),
      ...refused.map(({ id }) => plainText(`${id}: could be given nothing; see fleet plan`)),
      ...notes(chosen, unreadable),
    ],
    exitCode: refused.length > 0 ? EXIT.refused : differs,
  };
}

const CHANGE_WORDS: Readonly<Record<PlannedCluster['change'], string>> = {
  create: 'has none',
  update: 'differs',
  adjust: 'differs, no pod would be replaced',
  none: 'is the same',
  unknown: 'cannot be told: its view is not whole',
};

function diffLines({ cluster, where }: DiffEntry): readonly string[] {
  const { id, change, nodes, differences } = cluster;
  const on = nodes === undefined ? '' : `, ${counted(nodes, 'node')}`;
  return [
    plainText(`${id} (${where}${on}): ${CHANGE_WORDS[change]}`),
    ...differences.map(shownDifference).map(({ field, kind, from, to }) => {
      const isShown = from !== undefined || to !== undefined;
      const values = isShown ? `: ${textOf(from)} -> ${textOf(to)}` : ` ${kind}`;
      return plainText(`  ${field}${values}`);
    }),
  ];
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface ShownDifference {
  readonly field: string;
  /** `changed`: on both sides; `missing`: not in the cluster; `extra`: only there. */
  readonly kind: 'changed' | 'missing' | 'extra';
  readonly from?: Json;
  readonly to?: Json;
}

const HIDDEN = /\.(env|args|command|annotations)\b/;

function shownDifference({ field, from, to }: FieldDifference): ShownDifference {
  const kind = from === undefined ? 'missing' : to === undefined ? 'extra' : 'changed';
  if (HIDDEN.test(field) || !isPlain(from) || !isPlain(to)) return { field, kind };
  return {
    field,
    kind,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function isPlain(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null;
}

const APPLY_OPTIONS = {
  ...FILE_OPTIONS,
  dryRun: dryRunOption('check it, ask the API servers that can be reached, and store nothing'),
  serverCheck: {
    ...flagOption('--no-server-check', 'store it without asking the API servers'),
    fallback: true as boolean,
  },
};

type ApplyOptions = OptionsOf<typeof APPLY_OPTIONS>;

const NEXT =
  'The function fleet rolls it out in stages, from its next turn on: rollcall fleet status';

const APPLIED: Readonly<Record<AppliedFleet['kind'], string>> = {
  created: 'created',
  changed: 'changed',
  unchanged: 'stands so already',
};

export const applyFleetCommand: CommandModule = defineCommand({
  path: ['fleet', 'apply'],
  documents: ['FleetApplied'],
  summary: 'check a FleetDaemonSet for every cluster, and store it',
  about: [
    'It refuses the whole where a cluster would be left without a DaemonSet, or would get one in copilot that is not OnDelete.',
    'It also asks the clusters by a server-side dry run; a conflict or a refusal there refuses the whole.',
    'Applying the same document again changes nothing.',
    'The function fleet starts the rollout within a minute; run rollcall fleet pause first to hold it.',
  ],
  exits: { refused: 'a cluster would refuse it, or another person applied it meanwhile' },
  examples: ['fleet apply -f agent.yaml', 'fleet apply -f agent.yaml --dry-run=server'],
  interruption: 'orderly',
  options: APPLY_OPTIONS,
  run: async ({ options }, context) => {
    const isDryRun = options.dryRun === 'server';
    const { fleet, document, leftOut } = readFile(options);
    const stack = await context.openStack();
    let checks: readonly ClusterCheck[] = [];
    const check = async () => {
      checks = await askClustersOf(fleet, context);
      if (!isAnyAgainst(checks)) return undefined;
      return refuseFleet('not-applicable', fleet, problemsOf(checks));
    };
    const by = isDryRun ? '' : await callerOf(context, stack);
    const outcome = await applyFleet(
      { fleet, document, by, nowMs: stack.clock.nowMs(), isDryRun },
      { ...stack, reader: createFleetReader(), ...(options.serverCheck === true ? { check } : {}) },
    );
    if (outcome.kind === 'refused') throw errorOf(outcome);
    const { kind: result, generation, placedClusters } = outcome;
    const { namespace, name } = fleet;
    const others = `Not part of it, deliver as before: ${leftOut.join(', ')}`;
    const applied = `generation ${String(generation)}, placed on ${counted(placedClusters, 'cluster')}.`;
    return {
      document: {
        kind: 'FleetApplied',
        namespace,
        name,
        result,
        ...(isDryRun ? { dryRun: 'server' } : {}),
        generation,
        placedClusters,
        leftOut,
        serverCheck: checkDocument(checks),
      },
      lines: [
        `${formatFleetKey(fleet)} ${APPLIED[result]}${isDryRun ? ' (server dry run)' : ''}: ${applied}`,
        ...(checks.length === 0 ? [] : renderChecks(checks)),
        ...(leftOut.length === 0 ? [] : [plainText(others)]),
        isDryRun ? 'Nothing was stored.' : `${NEXT} ${formatFleetKey(fleet)}`,
      ],
    };
  },
});

/** Throws CommandError (2). */
function readFile({
  filename,
  dryRun,
  serverCheck,
}: ApplyOptions): ReturnType<typeof readFleetFile> {
  if (filename === undefined) {
    throw usageError('There is no file to apply.', 'Pass the file of a FleetDaemonSet with -f.');
  }
  if (dryRun === 'server' && serverCheck !== true) {
    throw usageError(
      '--dry-run=server asks the API servers, and --no-server-check does not.',
      'Leave one of them out; rollcall fleet plan asks no cluster.',
    );
  }
  return readFleetFile(filename);
}

async function askClustersOf(
  fleet: FleetDaemonSet,
  context: CommandContext,
): Promise<readonly ClusterCheck[]> {
  const stack = await context.openStack();
  const { clusters } = await gatherClusters(fleet, stack);
  const plan = planFleet(fleet, clusters, stack.clock.nowMs());
  return checkOnServers({ fleet, plan }, stack, context);
}
