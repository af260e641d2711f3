/**
 * The live table of `npm start`: pure text from an overview and the latest activity.
 *
 * Columns are those of `kubectl get daemonsets`. Below a DaemonSet stands what keeps it: its staged rollout until it is done, how many
 * nodes wait for what, a removal of pods that is held. `fit-table.ts` decides what a terminal has room for.
 */
import type { ClusterOverview, DaemonSetOverview } from '../../engine/overview.ts';
import { describeNoNode } from '../../app/rollout/rollout-status.ts';
import { budgetText, evidenceLines, strayText } from '../rollout/render-status.ts';
import type { NodeCounts } from '../../engine/local-fleet.ts';
import { phasePiece, toned, uncoloured, type Line } from '../command-line/colour.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText, renderTextTable } from '../command-line/text-table.ts';
import { wholeTable, type Block, type ClusterPart } from './fit-table.ts';
import { wrapWords } from './screen.ts';
import type { NodeCode } from '../../core/model/verdict.ts';
import { describe as describeRemoval } from '../../core/removal-guard/removal-events.ts';
import type { StandingFreeze } from '../../core/may-act/freeze.ts';
import { isQuiet } from '../../core/status/verdicts.ts';
import { counted } from '@rollcall/base/counted.ts';

const HEADINGS = [
  'NAMESPACE',
  'NAME',
  'DESIRED',
  'CURRENT',
  'READY',
  'UP-TO-DATE',
  'AVAILABLE',
] as const;

/** Lines of the table of one cluster, without a trailing newline; `nodes` where they are known. */
export function renderTable(overview: ClusterOverview, nodes?: NodeCounts): string[] {
  return wholeTable([tablePart(overview, nodes)]).map(uncoloured);
}

/** Its part of the table; `columns` where lines are broken at that width. */
export function tablePart(
  overview: ClusterOverview,
  nodes?: NodeCounts,
  columns = Number.POSITIVE_INFINITY,
): ClusterPart {
  const [headings = '', ...rows] = renderTextTable(HEADINGS, overview.daemonSets.map(cellsOf));
  const blocks = overview.daemonSets.map((daemonSet, at): Block => {
    const below = troublesOf(daemonSet).flatMap((trouble) => broken(trouble, columns));
    const isWell = below.length === 0 && daemonSet.available >= daemonSet.desired;
    return { row: rows[at] ?? '', below, isWell };
  });
  const isWell = overview.outages.length === 0 && overview.isViewComplete && !overview.isFrozen;
  const outages = outageLines(overview.outages).flatMap((line) => broken(line, columns));
  const unwellFirst = blocks.toSorted((left, right) => Number(left.isWell) - Number(right.isWell));
  return { headline: headline(overview, nodes), outages, headings, blocks: unwellFirst, isWell };
}

/** The same words in as many lines as they need; each keeps the mark of its first piece that has one. */
function broken(line: Line, columns: number): readonly Line[] {
  if (uncoloured(line).length <= columns) return [line];
  const [marked] =
    typeof line === 'string' ? [] : line.filter((piece) => typeof piece !== 'string');
  const tone = typeof marked === 'object' ? marked.tone : undefined;
  const words = wrapWords(uncoloured(line).trimStart(), columns - INDENT.length);
  return words.map((text) => [INDENT, toned(text, tone)]);
}

const INDENT = '  ';

/** Obstacles, the cause first: how its rollout stands, what its nodes lack, a removal that is held. */
function troublesOf(daemonSet: DaemonSetOverview): readonly Line[] {
  const { rollout, removal } = daemonSet;
  const stands = rollout === undefined || rollout.phase === 'Done' ? [] : linesOf(rollout);
  const held = removal === undefined ? undefined : describeRemoval(removal);
  const isSaid = held === undefined || stands.some((line) => uncoloured(line).includes(held));
  const note = noteOf(daemonSet);
  return [
    ...stands.map((line): Line => [INDENT, ...(typeof line === 'string' ? [line] : line)]),
    ...(isSaid ? [] : [[INDENT, toned(plainText(`! ${held}`), 'waiting')]]),
    ...(note === '' ? [] : [`${INDENT}${plainText(note)}`]),
  ];
}

function linesOf(rollout: NonNullable<DaemonSetOverview['rollout']>): readonly Line[] {
  const { phase, summary, budget, strays = [], evidence, breach } = rollout;
  const isUsed = budget !== undefined && budget.users.length > 0;
  return [
    [phasePiece(phase), plainText(`: ${summary}`)],
    ...(isUsed ? [plainText(`budget: ${budgetText(budget)}`)] : []),
    ...(strays.length === 0 ? [] : [plainText(`strays: ${strayText(strays)}`)]),
    ...evidenceLines(evidence, breach).map((line) => plainText(`evidence: ${line}`)),
  ];
}

function headline(overview: ClusterOverview, nodes: NodeCounts | undefined): string {
  const state = overview.isViewComplete
    ? 'view complete'
    : `view incomplete: ${overview.incompleteReason ?? 'waiting for the first snapshot'}`;
  const freeze = overview.isFrozen ? `, FROZEN${frozenBy(overview.frozen)}` : '';
  const counts =
    nodes === undefined ? '' : `  nodes ${String(nodes.total)}, ${String(nodes.ready)} Ready`;
  return `cluster ${overview.cluster}  mode ${overview.mode}${freeze}  ${state}${counts}`;
}

/** The author and the reason of its freeze, and the scope if it is wider. */
function frozenBy(frozen: StandingFreeze | undefined): string {
  const { scope, note } = frozen ?? {};
  const stack = scope === 'stack' ? ' with the whole stack' : '';
  const by = note === undefined ? '' : ` by ${note.by}`;
  return `${stack}${by}${note === undefined || note.why === '' ? '' : ` (${note.why})`}`;
}

function cellsOf(daemonSet: DaemonSetOverview): string[] {
  return [
    daemonSet.namespace,
    daemonSet.name,
    String(daemonSet.desired),
    String(daemonSet.current),
    String(daemonSet.ready),
    String(daemonSet.upToDate),
    String(daemonSet.available),
  ];
}

function noteOf(daemonSet: DaemonSetOverview): string {
  const notes = Object.entries(daemonSet.codes)
    .filter(([code, count]) => count > 0 && !isQuiet(code as NodeCode))
    .map(([code, count]) => `${String(count)} ${code}`);
  if (daemonSet.frozen !== undefined) notes.unshift(`FROZEN${frozenBy(daemonSet.frozen)}`);
  const { desired, generation, observedGeneration, seen } = daemonSet;
  const isCounted = seen !== undefined && observedGeneration >= generation;
  if (isCounted && desired === 0) notes.push(describeNoNode(seen));
  if (daemonSet.misscheduled > 0) notes.push(`${String(daemonSet.misscheduled)} misscheduled`);
  return notes.join(', ');
}

/** Quiet time that suffices when every desired pod is available. */
const QUIET_WHEN_AVAILABLE_MS = 2000;
/** Quiet time that suffices when some pods are not available. */
const QUIET_WHEN_WAITING_MS = 10_000;

/** Whether everything settled, and if not, the first thing that is missing. */
type Settled =
  { readonly kind: 'settled' } | { readonly kind: 'busy'; readonly waitingFor: string };

/** Judges one cluster; `quietMs` is how long its overview has not changed. */
export function judgeSettled(overview: ClusterOverview, quietMs: number): Settled {
  if (!overview.isViewComplete) {
    const reason = overview.incompleteReason ?? 'the first snapshot';
    return { kind: 'busy', waitingFor: `the view of the cluster (${reason})` };
  }
  for (const daemonSet of overview.daemonSets) {
    const waitingFor = whatIsMissing(daemonSet, overview.mode);
    if (waitingFor !== undefined) {
      return {
        kind: 'busy',
        waitingFor: `${daemonSet.namespace}/${daemonSet.name}: ${waitingFor}`,
      };
    }
  }
  const isAvailable = overview.daemonSets.every((one) => one.available >= one.desired);
  const needMs = isAvailable ? QUIET_WHEN_AVAILABLE_MS : QUIET_WHEN_WAITING_MS;
  if (quietMs < needMs) return { kind: 'busy', waitingFor: 'quiet' };
  return { kind: 'settled' };
}

function whatIsMissing(daemonSet: DaemonSetOverview, mode: string): string | undefined {
  if (!daemonSet.isComplete) return 'a complete run';
  if (mode === 'observe') return undefined;
  if (daemonSet.openIntents > 0) return counted(daemonSet.openIntents, 'open effect');
  // Status and pods are the built-in controller's.
  if (mode === 'copilot') return undefined;
  if (daemonSet.observedGeneration < daemonSet.generation) return 'its status';
  if (daemonSet.current < daemonSet.desired) {
    return `${counted(daemonSet.desired - daemonSet.current, 'pod')} to be created`;
  }
  return undefined;
}
