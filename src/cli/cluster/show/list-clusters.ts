/**
 * `rollcall cluster list`: every cluster of the stack in one line each.
 *
 * Reads the registry and META of each cluster; asks no cluster anything.
 */
import { parseLabel } from '../../command-line/cluster-arguments.ts';
import { toned } from '../../command-line/colour.ts';
import type { Piece } from '../../command-line/colour.ts';
import { defineCommand, textsOption } from '../../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../../command-line/command-module.ts';
import { renderAge, renderTextTable } from '../../command-line/text-table.ts';
import type { Freeze } from '../../../core/takeover/freeze.ts';
import { SILENT_AFTER_MS } from '../../../core/status/outages.ts';
import type { Outage } from '../../../core/status/outages.ts';
import { outagesOfStack, readStanding } from '../../../app/why/standing.ts';
import { freezeLines, outageLines } from '../../command-line/freeze-words.ts';
import { listSummaries, troublesOf, withStackFreeze } from './cluster-summary.ts';
import type { ClusterSummary, UnreadableCluster } from './cluster-summary.ts';

/** The command. */
export const listClustersCommand: CommandModule = defineCommand({
  path: ['cluster', 'list'],
  summary: 'list the clusters of the stack: mode, freshness, and what is wrong',
  options: {
    label: textsOption(
      '--label <key=value>',
      'only clusters that have this label; repeat it for several',
    ),
  },
  run: async ({ options }, context) => {
    const wanted = (options.label ?? []).map(parseLabel);
    const stack = await context.openStack();
    const [{ clusters, unreadable }, freeze, standing] = await Promise.all([
      listSummaries(stack),
      stack.freezes.readFreeze(),
      readStanding(stack),
    ]);
    const ofStack = {
      freeze,
      outages: outagesOfStack(standing, { freeze, nowMs: stack.clock.nowMs() }),
    };
    const matching = clusters
      .filter(({ labels }) => wanted.every(([key, value]) => labels[key] === value))
      .map((summary) => withStackFreeze(summary, freeze));
    // A label cannot be compared in what cannot be read.
    const isFiltered = wanted.length > 0;
    if (isFiltered && matching.length === 0 && clusters.length > 0) {
      return { ...present([], [], ofStack), lines: ['No cluster has these labels.'] };
    }
    return present(matching, isFiltered ? [] : unreadable, ofStack);
  },
});

const HEADINGS = ['ID', 'MODE', 'FROZEN', 'ENDPOINT', 'HEARD', 'VIEW', 'NOTE'];

/** What holds for all of them. */
interface OfStack {
  readonly freeze: Freeze;
  readonly outages: readonly Outage[];
}

function present(
  clusters: readonly ClusterSummary[],
  unreadable: readonly UnreadableCluster[],
  { freeze, outages }: OfStack,
): CommandResult {
  const rows = [
    ...clusters.map(rowOf),
    ...unreadable.map(({ id, problem }) => [id, '?', '?', '?', '?', '?', problem]),
  ];
  return {
    document: { kind: 'ClusterList', clusters, unreadable, freeze, outages },
    lines: [
      ...outageLines(outages),
      ...freezeLines({ daemonSets: freeze.daemonSets }).map((line) => `! ${line}`),
      ...(rows.length === 0
        ? ['No clusters. Add one with: rollcall cluster add']
        : renderTextTable(HEADINGS, rows)),
    ],
  };
}

function rowOf(summary: ClusterSummary): readonly Piece[] {
  const { id, mode, freezes, server, silentForMs, isViewComplete } = summary;
  return [
    id,
    mode,
    toned(frozenCell(freezes), freezes.length > 0 ? 'waiting' : undefined),
    URL.parse(server)?.host ?? server,
    silentForMs === undefined
      ? toned('never', 'failing')
      : toned(
          `${renderAge(silentForMs)} ago`,
          silentForMs > SILENT_AFTER_MS ? 'failing' : undefined,
        ),
    isViewComplete ? 'complete' : toned('incomplete', 'failing'),
    troublesOf(summary).join('; '),
  ];
}

function frozenCell([widest]: ClusterSummary['freezes']): string {
  if (widest === undefined) return 'no';
  return widest.scope === 'stack' ? 'yes (stack)' : 'yes';
}
