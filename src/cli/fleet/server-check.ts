/**
 * Asks the API servers of clusters whether they would take a FleetDaemonSet, and shows the answers.
 * A command often has no credential for a cluster: bound tokens are sealed for the functions. Such
 * a cluster is told as not checked, and never counts against a FleetDaemonSet.
 */
import { askClusters, type ClusterCheck } from '../../app/fleet/check/ask-clusters.ts';
import type { FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetPlan } from '../../core/fleet/plan-fleet.ts';
import { choiceOption, withFallback } from '../command-line/command-module.ts';
import type { CommandContext, OptionRow } from '../command-line/command-module.ts';
import { throwIfInterrupted } from '../command-line/run-program.ts';
import { plainText } from '../command-line/text-table.ts';
import type { Stack } from '../reach/stack.ts';

const DRY_RUNS = ['none', 'server'] as const;

/** `--dry-run`; `server` says what it is good for. */
export function dryRunOption(server: string): OptionRow<(typeof DRY_RUNS)[number]> {
  return withFallback(choiceOption('--dry-run <mode>', `server: ${server}`, DRY_RUNS), 'none');
}

/** Below it a user does not wait long enough to wonder. */
const SAID_FROM_CLUSTERS = 4;
const SAID_EVERY_CLUSTERS = 25;
/** Lines of one list; the document has all. A comment of a pull request is bounded (render-plan.ts). */
const ROWS_MAX = { table: 50, markdown: 10 } as const;

/** Asks the clusters of a plan. Throws CommandError after Ctrl-C. */
export async function checkOnServers(
  { fleet, plan }: { readonly fleet: FleetDaemonSet; readonly plan: FleetPlan },
  stack: Stack,
  { say, signal }: Pick<CommandContext, 'say' | 'signal'>,
): Promise<readonly ClusterCheck[]> {
  const { registry, clock } = stack;
  const checks = await askClusters(fleet, plan, {
    registry,
    clock,
    signal,
    connector: stack.openConnector(),
    onAsked: (asked, all) => {
      const isSaid = asked === all || asked % SAID_EVERY_CLUSTERS === 0;
      if (all >= SAID_FROM_CLUSTERS && isSaid) {
        say(`asked ${String(asked)} of ${String(all)} clusters whether they would take it`);
      }
    },
  });
  throwIfInterrupted(signal);
  return checks;
}

/** True where some API server would not take it. */
export function isAnyAgainst(checks: readonly ClusterCheck[]): boolean {
  return checks.some(({ kind }) => kind === 'conflict' || kind === 'refused');
}

/** Each with its kind as its result. */
type ShownCheck<Check extends ClusterCheck = ClusterCheck> = Check extends ClusterCheck
  ? Omit<Check, 'kind'> & { readonly result: ClusterCheck['kind'] }
  : never;

export function checkDocument(checks: readonly ClusterCheck[]): readonly ShownCheck[] {
  return checks.map(({ kind: result, ...check }) => ({ ...check, result }));
}

export function renderChecks(
  checks: readonly ClusterCheck[],
  format: keyof typeof ROWS_MAX = 'table',
): readonly string[] {
  const count = (kind: ClusterCheck['kind']): string =>
    String(checks.filter((check) => check.kind === kind).length);
  const against = checks.flatMap(linesAgainst);
  const unknown = checks.flatMap((check) =>
    check.kind === 'not-checked' ? [plainText(`  ${check.id}: ${check.message}`)] : [],
  );
  const lists = [
    ...bounded('Would not take it:', against, ROWS_MAX[format]),
    ...bounded('Not checked:', unknown, ROWS_MAX[format]),
  ];
  return [
    `Asked by a server-side dry run: ${count('accepted')} would take it, ${count('conflict')} have conflicts, ` +
      `${count('refused')} refuse it, ${count('not-checked')} not checked.`,
    ...(format === 'markdown' && lists.length > 0 ? fenced(lists) : lists),
  ];
}

function linesAgainst(check: ClusterCheck): readonly string[] {
  if (check.kind === 'refused') return [plainText(`  ${check.id}: ${check.message}`)];
  if (check.kind !== 'conflict') return [];
  return check.conflicts.map(({ manager, field }) =>
    plainText(`  ${check.id} ${field}: is owned by ${manager}`),
  );
}

/** Messages of clusters stand as text, so that none is a link or a mention. */
function fenced(lines: readonly string[]): readonly string[] {
  return ['', '```text', ...lines.map((line) => line.replaceAll('`', "'")), '```'];
}

function bounded(title: string, lines: readonly string[], rowsMax: number): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length - rowsMax;
  const rest = more > 0 ? [`  … ${String(more)} more: --json`] : [];
  return [title, ...lines.slice(0, rowsMax), ...rest];
}
