/**
 * `rollcall cluster import`: many clusters at once, from a kubeconfig, from EKS or from a list.
 *
 *   find ─▶ look at each: the plan ─▶ with --yes: add, several at a time ─▶ summary
 *
 * Without `--yes` it writes nothing. A cluster that fails does not stop the others; running it again adds
 * what is missing. Exit code 1 if any failed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { defineCommand } from '../../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../../command-line/command-module.ts';
import { renderTextTable } from '../../command-line/text-table.ts';
import { EXIT, usageError } from '../../process/exit-codes.ts';
import { createAddContext } from '../add/add-context.ts';
import type { AddContext } from '../add/add-context.ts';
import { declareCommonOptions, requestFields } from '../add/add-options.ts';
import type { CommonAddOptions } from '../add/add-options.ts';
import { addCluster } from '../add/add-steps.ts';
import { planImport, reasonOf } from './import-plan.ts';
import type { PlannedCluster, PlannedState } from './import-plan.ts';
import { findImportEntries } from './import-sources.ts';
import type { ImportSource } from './import-sources.ts';
import { isRefused } from '../manifests/apply-manifests.ts';
import { writeManifests } from '../manifests/manifests.ts';

/** Options of `cluster import`. */
export interface ImportOptions extends CommonAddOptions, ImportSource {
  readonly manifestsDir?: string;
  readonly yes?: true;
}

/** A line of the result: a state of the plan, or what became of it. */
interface ImportedCluster {
  readonly name: string;
  readonly cluster: string;
  readonly state: PlannedState | 'added' | 'failed';
  readonly detail: string;
}

/** Stacks of roles are made at the same time; CloudFormation and IAM throttle well above this. */
const ADDS_AT_ONCE_MAX = 4;

/** The command. */
export const importClustersCommand: CommandModule = defineCommand<ImportOptions>({
  path: ['cluster', 'import'],
  summary: 'register many clusters: contexts of a kubeconfig, all of EKS, or a list',
  interruption: 'orderly',
  configure: declareOptions,
  run: async ({ options }, context) => {
    checkOptions(options);
    const stack = await context.openStack();
    const shared = createAddContext(stack, context, options.dryRun === true);
    try {
      const fields = requestFields({ ...options }, context.environment);
      const { kubeconfig: _kubeconfig, ...common } = fields;
      const entries = await findImportEntries(options, common, shared);
      const plan = await planImport(entries, shared);
      if (options.yes !== true) return presentPlan(plan, context);
      for (const line of shown(plan.map(lineOf))) context.say(line);
      const results = await sideBySide(plan, ADDS_AT_ONCE_MAX, (planned) =>
        carryOut(planned, { options, context: shared }),
      );
      return presentResults(results);
    } finally {
      shared.close();
    }
  },
});

function declareOptions(command: Command): void {
  command
    .option('--file <file>', 'a JSON or YAML list of clusters, as docs/clusters.md shows')
    .option(
      '--kubeconfig <file>',
      'every context of this kubeconfig (default: KUBECONFIG, then ~/.kube/config)',
    )
    .option('--contexts <glob>', 'only contexts whose name matches, e.g. "prod-*"')
    .option(
      '--eks-all',
      'every EKS cluster of the account and region (--cluster-profile, --eks-region)',
    )
    .option('--eks-filter <glob>', 'with --eks-all: only clusters whose name matches')
    .option('--id-prefix <text>', 'put this before every id that is made of a name')
    .option('--manifests-dir <dir>', 'write the manifests of each cluster there, as ID.yaml');
  declareCommonOptions(command);
  command.option('--yes', 'carry the plan out').addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  rollcall cluster import --eks-all --eks-filter 'prod-*' --cluster-profile workloads
  rollcall cluster import --contexts 'edge-*' --cluster-profile edge --image IMAGE --apply --yes
  rollcall cluster import --file clusters.yaml --manifests-dir manifests --yes`;

function checkOptions(options: ImportOptions): void {
  const { file, eksAll, kubeconfig, contexts, eksFilter } = options;
  const sources = [file, eksAll, kubeconfig ?? contexts].filter((one) => one !== undefined);
  const isContradiction = sources.length > 1 || (eksFilter !== undefined && eksAll === undefined);
  if (isContradiction) {
    throw usageError(
      '--file, --eks-all and --kubeconfig exclude each other; --eks-filter needs --eks-all.',
      'Pass one source, and run the command once for each.',
    );
  }
}

async function carryOut(
  planned: PlannedCluster,
  { options, context }: { readonly options: ImportOptions; readonly context: AddContext },
): Promise<ImportedCluster> {
  const { name, id, state, detail, request } = planned;
  const line = { name, cluster: id, detail };
  if (request === undefined) {
    return { ...line, state: state === 'elsewhere' ? 'elsewhere' : 'failed' };
  }
  if (context.signal.aborted) return { ...line, state: 'failed', detail: 'interrupted' };
  try {
    const shouldApply = options.apply === true;
    const added = await addCluster(request, context, { shouldApply });
    if (options.manifestsDir !== undefined && options.dryRun !== true) {
      mkdirSync(options.manifestsDir, { recursive: true });
      const file = path.join(options.manifestsDir, `${id}.yaml`);
      writeFileSync(file, writeManifests(added.manifests));
    }
    const refused = added.applied.filter(isRefused);
    if (refused.length > 0) {
      const names = refused.map(({ object }) => object).join(', ');
      return { ...line, state: 'failed', detail: `registered; refused: ${names}` };
    }
    if (added.result === 'planned') return { ...line, state: 'new' };
    return { ...line, state: added.result === 'written' ? 'added' : 'registered' };
  } catch (error) {
    return { ...line, state: 'failed', detail: reasonOf(error) };
  }
}

function shown(clusters: readonly ImportedCluster[]): readonly string[] {
  const rows = clusters.map(({ name, cluster, state, detail }) => [cluster, state, name, detail]);
  return renderTextTable(['ID', 'STATE', 'NAME', 'DETAIL'], rows);
}

function lineOf({ name, id: cluster, state, detail }: PlannedCluster): ImportedCluster {
  return { name, cluster, state, detail };
}

function presentPlan(plan: readonly PlannedCluster[], context: CommandContext): CommandResult {
  const count = plan.filter(({ state }) => state === 'new').length;
  const isWell = plan.every(({ state }) => state === 'new' || state === 'registered');
  context.say(
    plan.length === 0
      ? 'There is nothing to import.'
      : `Nothing was written. ${String(count)} of ${String(plan.length)} would be added${isWell ? '' : ', the others need a look'}: repeat the command with --yes.`,
  );
  const clusters = plan.map(lineOf);
  return { document: { kind: 'ImportPlan', clusters }, lines: shown(clusters) };
}

function presentResults(results: readonly ImportedCluster[]): CommandResult {
  const count = (state: ImportedCluster['state']): string =>
    `${String(results.filter((one) => one.state === state).length)} ${state}`;
  const hasFailed = results.some(({ state }) => state === 'failed');
  return {
    document: { kind: 'ImportResult', clusters: results },
    lines: [...shown(results), [count('added'), count('registered'), count('failed')].join(', ')],
    exitCode: hasFailed ? EXIT.failed : EXIT.ok,
  };
}
