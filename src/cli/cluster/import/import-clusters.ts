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
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { defineCommand, flagOption, textOption } from '../../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
  OptionsOf,
} from '../../command-line/command-module.ts';
import { renderTextTable } from '../../command-line/text-table.ts';
import { EXIT, usageError, CommandError } from '../../process/exit-codes.ts';
import { createAddContext, examineCluster, type AddContext } from '../add/add-examine.ts';
import { COMMON_OPTIONS, requestFields, type AddRequest } from '../add/add-request.ts';
import { addCluster } from '../add/add-steps.ts';
import { findImportEntries, collisionsOf, type ImportEntry } from './import-sources.ts';
import { isRefused } from '../manifests/apply-manifests.ts';
import { writeManifests } from '../manifests/manifests.ts';
import { explainAwsError } from '../../command-line/explain-error.ts';
import { standingOf, type Standing } from '../add/add-registration.ts';

const OPTIONS = {
  file: textOption('--file <file>', 'a JSON or YAML list of clusters, as docs/install.md shows'),
  kubeconfig: textOption(
    '--kubeconfig <file>',
    'every context of this kubeconfig (default: KUBECONFIG, then ~/.kube/config)',
  ),
  contexts: textOption('--contexts <glob>', 'only contexts whose name matches, e.g. "prod-*"'),
  eksAll: flagOption(
    '--eks-all',
    'every EKS cluster of the account and region (--cluster-profile, --eks-region)',
  ),
  eksFilter: textOption('--eks-filter <glob>', 'with --eks-all: only clusters whose name matches'),
  idPrefix: textOption('--id-prefix <text>', 'put this before every id that is made of a name'),
  manifestsDir: textOption(
    '--manifests-dir <dir>',
    'write the manifests of each cluster there, as ID.yaml',
  ),
  ...COMMON_OPTIONS,
  yes: flagOption('--yes', 'carry the plan out'),
};

type ImportOptions = OptionsOf<typeof OPTIONS>;

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
export const importClustersCommand: CommandModule = defineCommand({
  path: ['cluster', 'import'],
  documents: ['ImportPlan', 'ImportResult'],
  summary:
    'register many clusters: contexts of a kubeconfig, EKS clusters of an account, or a list',
  about: ['It shows a plan; with --yes it carries the plan out.'],
  interruption: 'orderly',
  options: OPTIONS,
  examples: [
    "cluster import --eks-all --eks-filter 'prod-*' --cluster-profile workloads",
    "cluster import --contexts 'edge-*' --cluster-profile edge --image IMAGE --apply --yes",
    'cluster import --file clusters.yaml --manifests-dir manifests --yes',
  ],
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

/** How a cluster stands before the import; `invalid`: its request cannot be used, or is one of two for it. */
type PlannedState = Standing['kind'] | 'unreachable' | 'invalid';

interface PlannedCluster {
  readonly name: string;
  readonly id: string;
  readonly state: PlannedState;
  readonly detail: string;
  readonly clusterUid?: string;
  /** Only of what is to be added, or was. */
  readonly request?: AddRequest;
}

const CONCURRENCY_MAX = 8;

export async function planImport(
  entries: readonly ImportEntry[],
  context: AddContext,
): Promise<readonly PlannedCluster[]> {
  const planned = await sideBySide(entries, CONCURRENCY_MAX, (entry) => planOne(entry, context));
  const isLocal = context.stack.stage === 'local';
  return refuseShared(isLocal ? planned : refuseShared(planned, roleOf), clusterOf);
}

/** Properties that two new clusters must not share, and their names. */
type SharedThing = (plan: PlannedCluster) => {
  readonly key: string | undefined;
  readonly what: string;
};

/** Two contexts may lead to one cluster. */
const clusterOf: SharedThing = ({ clusterUid }) => ({ key: clusterUid, what: 'the same cluster' });
/** The holder of one role for two clusters could speak for both (S6). */
const roleOf: SharedThing = ({ request }) => ({
  key: request?.senderRoleId ?? request?.watcherRoleArn,
  what: 'the same role',
});

function refuseShared(
  planned: readonly PlannedCluster[],
  thing: SharedThing,
): readonly PlannedCluster[] {
  const keys = planned.map((plan) => (plan.state === 'new' ? thing(plan).key : undefined));
  const shared = collisionsOf(keys.filter((key) => key !== undefined));
  return planned.map((plan, place) => {
    const key = keys[place];
    if (key === undefined || !shared.has(key)) return plan;
    const others = planned.filter((_, other) => other !== place && keys[other] === key);
    const { request: _request, ...rest } = plan;
    const detail = `${thing(plan).what} as ${others.map(({ id }) => id).join(', ')}`;
    return { ...rest, state: 'invalid', detail };
  });
}

async function planOne(entry: ImportEntry, context: AddContext): Promise<PlannedCluster> {
  const { name, id, request } = entry;
  if (request instanceof CommandError) {
    return { name, id, state: 'invalid', detail: request.message };
  }
  try {
    const examined = await examineCluster(request, context);
    examined.connection?.transport.retire();
    const { clusterUid } = examined.facts;
    const standing = standingOf({ id, clusterUid }, await context.registrations());
    const state = standing.kind;
    const line = { name, id, state, clusterUid };
    switch (state) {
      case 'new':
        return { ...line, detail: examined.facts.server, request };
      case 'registered':
        return { ...line, detail: '', request };
      case 'rebuilt':
        return { ...line, detail: `rollcall cluster reset ${id}` };
      case 'elsewhere':
        return { ...line, detail: `registered as ${standing.registration.id}` };
    }
  } catch (error) {
    return { name, id, state: 'unreachable', detail: reasonOf(error) };
  }
}

/** The error, for one line; a bug is thrown on. */
function reasonOf(error: unknown): string {
  const known = error instanceof CommandError ? error : explainAwsError(error);
  if (known === undefined) throw error;
  return known.message;
}
