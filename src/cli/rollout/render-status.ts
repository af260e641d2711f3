/**
 * How a rollout stands as lines for a person, of a DaemonSet and of a fleet alike: the same in
 * status commands and in `npm start`.
 *
 * It decides nothing, and adds no number of its own; the words are those of
 * core/rollout/describe-record.ts. Names are what a cluster said, so control characters are taken
 * out. Of clusters that are not shown how they stand is counted.
 */
import { describeNote, describeOverruled, timeText } from '../../core/rollout/gate-words.ts';
import { describeCounts } from '../../core/fleet/told/describe-fleet.ts';
import { describeEvidence } from '../../core/rollout/shown-evidence.ts';
import { describeCopies } from '../../core/admission/shown-copies.ts';
import type { RolloutStatus, ShownBudget, StagedStatus } from '../../app/rollout/rollout-status.ts';
import type { FleetRecord } from '../../core/fleet/rollout/fleet-record.ts';
import { phasePiece, toned } from '../command-line/colour.ts';
import type { Line, Piece } from '../command-line/colour.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { nextOfFleet, nextOfRollout } from '../../app/rollout/next-of-rollout.ts';
import type { NextStep } from '../../core/status/next-steps.ts';
import { plainText, renderAge, renderFields, renderTextTable } from '../command-line/text-table.ts';
import { counted } from '@rollcall/base/counted.ts';
import { SHOWN_NODES_MAX } from '../../app/rollout/rollout-status.ts';
import type { ShownEvidence } from '../../core/rollout/shown-evidence.ts';
import type { FleetStatus } from '../../app/fleet/rollout/fleet-status.ts';
import type { FleetClusterLine, StageTally } from '../../app/fleet/rollout/list-clusters.ts';
import { isAtZero, tallyStages } from '../../app/fleet/rollout/list-clusters.ts';
import { describePool } from '../../core/fleet/attribution/fleet-pool.ts';

export function renderStatus(status: RolloutStatus): Line[] {
  const { cluster, namespace, name, staged } = status;
  const revision = staged && `${staged.revision}, since ${timeText(staged.startedAtMs)}`;
  const updated = staged && `${String(staged.step.updatedNodes)} of ${String(staged.baseNodes)}`;
  const lines = renderRollout(status, {
    name: `${cluster}/${namespace}/${name}`,
    counts: `${updated ?? '0'} nodes updated`,
    approves: 'step',
    first: [['revision', revision]],
    middle: staged === undefined ? [] : evidenceFields(staged),
    last: commonFields(status),
  });
  return [...lines, ...nextLines(nextOfRollout(status))];
}

function commonFields(status: RolloutStatus): readonly Field[] {
  const { nodes, budget, generation, observedGeneration, mode, policyProblems = [] } = status;
  // The counters are then those of a run long past.
  const isOld = status.summary.startsWith('as of the last run');
  const seen =
    observedGeneration < generation ? `, ${String(observedGeneration)} is in the status` : '';
  return [
    [
      'pods',
      `${String(nodes.updated)} updated, ${String(nodes.available)} available, of ${String(nodes.desired)}${isOld ? ', as of the last run' : ''}`,
    ],
    ['budget', budget && budgetText(budget)],
    ['generation', `${String(generation)}${seen}`],
    ['mode', mode],
    ['told at', timeText(status.lastSentAtMs)],
    ...policyProblems.map(({ field, message }): Field => [
      'policy',
      field === '' ? message : `${field}: ${message}`,
    ]),
  ];
}

function evidenceFields(staged: StagedStatus): readonly Field[] {
  const { evidence, refused, breach, strays = [] } = staged;
  return [
    ['strays', strays.length === 0 ? undefined : strayText(strays)],
    // The name of a matter of several lines stands before the first.
    ...describeEvidence(evidence, breach).map((line, at): Field => [
      at === 0 ? 'evidence' : '',
      line,
    ]),
    ...provenFields(staged),
    ['copies', staged.copies && describeCopies(staged.copies)],
    ...refused.map((one) => refusedField(one.hash, one)),
  ];
}

/** A rollback leads to the revision that ran when the policy came, and nothing has proven it. */
function provenFields({ proven, former }: StagedStatus): readonly Field[] {
  const isBaseline = proven?.isBaseline === true;
  const how = isBaseline ? ', as found and never soaked' : '';
  return [
    [
      isBaseline ? 'baseline' : 'canary passed',
      proven && `${proven.hash}, since ${timeText(proven.provenAtMs)}${how}`,
    ],
    ['former', former && former.hash !== proven?.hash ? former.hash : undefined],
  ];
}

/** A name, and what stands beside it; undefined: there is none of it. */
type Field = readonly [string, string | undefined];

type Staged = NonNullable<(RolloutStatus | FleetStatus)['staged']>;

interface OwnWords {
  /** Whose it is, as the first line names it. */
  readonly name: string;
  /** How many have it, after the step. */
  readonly counts: string;
  /** The unit of an approval's number: a step, or a gate. */
  readonly approves: 'step' | 'gate';
  /** Before step and gate, after them, and after the orders. */
  readonly first: readonly Field[];
  readonly middle: readonly Field[];
  readonly last: readonly Field[];
}

function renderRollout(status: RolloutStatus | FleetStatus, own: OwnWords): Line[] {
  const { phase, summary, staged, outages, notes } = status;
  // Of what stands still the fields are as of before.
  const isTold = staged !== undefined && phase !== 'Stopped';
  return [
    ...outageLines(outages),
    [plainText(`${own.name}: `), phasePiece(phase), isTold ? '' : plainText(`: ${summary}`)],
    ...renderFields([
      ...own.first,
      ...(staged === undefined ? [] : stagedFields(staged, own)),
      ...own.last,
      // A further line of the field above.
    ]).map((line) => (line.startsWith(':') ? ` ${line.slice(1)}` : line)),
    ...notes.map((note) => `! ${plainText(note)}`),
  ];
}

function stagedFields(
  { step, stepText, gateText, orders, breach }: Staged,
  { counts, middle, approves }: OwnWords,
): readonly Field[] {
  const { paused, approved, resumed, undo } = orders;
  const since = step.kind === 'waiting' ? '' : `, opened at ${timeText(step.openedAtMs)}`;
  const haltedOn = breach === undefined ? [] : 'nodes' in breach ? breach.nodes : breach.clusters;
  return [
    ['step', `${stepText}${since}${counts === '' ? '' : `; ${counts}`}`],
    ['gate', gateText],
    ['halted on', haltedOn.length === 0 ? undefined : haltedOn.join(', ')],
    ...middle,
    ['paused', paused && describeNote(paused)],
    [
      'approved',
      approved && `up to ${approves} ${String(approved.stepIndex)} ${describeNote(approved)}`,
    ],
    ['resumed', resumed && describeOverruled(resumed)],
    ['undo', undo && `${'to' in undo ? `to ${undo.to} ` : ''}${describeNote(undo)}`],
  ];
}

function refusedField(of: string, { cause, atMs }: Staged['refused'][number]): Field {
  return ['refused', `${of}: ${cause} at ${timeText(atMs)}`];
}

/** The bound of a budget, its free part, and its users. */
export function budgetText(budget: ShownBudget): string {
  const { unavailableNodes, unavailableNodesMax, surgingNodes, surgeNodesMax } = budget;
  const { waitingNodes, freeNodes, users } = budget;
  const used =
    surgeNodesMax > 0
      ? `${String(surgingNodes)} of ${String(surgeNodesMax)} surging`
      : `${String(unavailableNodes)} of ${String(unavailableNodesMax)} unavailable`;
  const parts = [`${used}, ${String(freeNodes)} free`];
  if (users.length > 0) {
    const names = users.map(({ node, code }) => `${node} (${code})`).join(', ');
    const more = unavailableNodes - users.length;
    parts.push(`used by ${names}${more > 0 ? ` and ${String(more)} more` : ''}`);
  }
  if (waitingNodes > 0)
    parts.push(counted(waitingNodes, 'node waits for its turn', 'nodes wait for their turn'));
  return parts.join('; ');
}

/** Nodes ahead of their step (copilot). */
export function strayText(strays: readonly string[]): string {
  const shown = strays.slice(0, SHOWN_NODES_MAX).join(', ');
  const more = strays.length - SHOWN_NODES_MAX;
  const nodes = more > 0 ? `${shown} and ${String(more)} more` : shown;
  return `${String(strays.length)} ahead of their step, watched as canaries: ${nodes}`;
}

/** Evidence for a table: empty while nothing failed and the test is as strong as it looks. */
export function evidenceLines(
  evidence: ShownEvidence,
  breach: Parameters<typeof describeEvidence>[1],
): readonly string[] {
  const { failures, isVoid, isWithoutControls } = evidence;
  if (failures.length === 0 && !isVoid && !isWithoutControls) return [];
  return describeEvidence({ ...evidence, failures: [] }, breach);
}

/** Clusters that are shown without `-o wide`. */
export const SHOWN_CLUSTERS_MAX = 20;

/** Clusters as they are shown: of all, those in lines. */
export interface ShownClusters {
  readonly shown: readonly FleetClusterLine[];
  readonly all: readonly FleetClusterLine[];
}

/** All that is known. */
export function renderFleetStatus(
  status: FleetStatus,
  clusters: ShownClusters,
  nowMs: number,
): Line[] {
  const { namespace, name, stages, record } = status;
  const lines = renderRollout(status, {
    name: `${namespace}/${name}`,
    counts: record === undefined ? '' : describeCounts(record).join(', '),
    approves: 'gate',
    first: [['generation', generationText(status)]],
    middle: record === undefined ? [] : recordFields(record, status),
    last: [],
  });
  return [
    ...lines,
    ...(stages.length === 0 ? [] : ['', ...stageLines(tallyStages(stages, clusters.all))]),
    ...clusterLines(clusters, nowMs),
    ...nextLines(nextOfFleet(status)),
  ];
}

function generationText({ generation, appliedAtMs, appliedBy, record }: FleetStatus): string {
  const applied = `${String(generation)}, applied at ${timeText(appliedAtMs)} by ${appliedBy}`;
  const rolled = record?.release.generation;
  return rolled === undefined || rolled === generation
    ? applied
    : `${applied}; generation ${String(rolled)} is what the rest reports`;
}

function recordFields(record: FleetRecord, { former }: FleetStatus): readonly Field[] {
  const { pool, good, refused, startedAtMs, ring, untouchedClusters } = record;
  const [proven] = good;
  return [
    ['since', timeText(startedAtMs)],
    ['evidence', pool === undefined || pool.places.length === 0 ? undefined : describePool(pool)],
    [
      'good',
      proven && `generation ${String(proven.generation)}, since ${timeText(proven.goodAtMs)}`,
    ],
    ['way back', former && `generation ${String(former.generation)}`],
    ...refused.map((one) => refusedField(`content ${one.contentHash}`, one)),
    ['coming back', ring.count === 0 ? undefined : `${counted(ring.count, 'cluster')} in the ring`],
    ['not touched', untouchedClusters === 0 ? undefined : counted(untouchedClusters, 'cluster')],
  ];
}

const STAGE_HEADINGS = ['STAGE', 'STATE', 'CLUSTERS', 'FAILED', 'WELL', 'ROLLING', 'WAITING'];

/** The stages as a table, each cluster in one row of it. */
function stageLines(stages: readonly StageTally[]): Line[] {
  const rows = stages.map((stage): readonly Piece[] => {
    const { name, state, clusters, goesOnIn, failed, well, rolling, waiting, nodes } = stage;
    if (goesOnIn !== undefined) return [name, state, `in ${goesOnIn}`];
    const counts = [well, rolling, waiting].map(String);
    const failures = toned(String(failed), failed > 0 ? 'failing' : undefined);
    return [
      name,
      state,
      String(clusters),
      failures,
      ...counts,
      nodes === undefined ? '-' : nodesText(nodes),
    ];
  });
  return renderTextTable([...STAGE_HEADINGS, 'NODES'], rows);
}

function nodesText({ updated, desired }: NonNullable<FleetClusterLine['nodes']>): string {
  return `${String(updated)}/${String(desired)}`;
}

function clusterLines({ shown, all }: ShownClusters, nowMs: number): readonly Line[] {
  const rows = shown.map((line): readonly Piece[] => {
    const { cluster, place, phase, nodes, openedAtMs } = line;
    const ran = nodes === undefined ? '?' : nodesText(nodes);
    const since = openedAtMs === undefined ? '-' : renderAge(Math.max(0, nowMs - openedAtMs));
    const nodesCell = toned(
      phase === 'waiting' ? '-' : ran,
      isAtZero(line) ? 'failing' : undefined,
    );
    const state = toned(phase, phase === 'failed' ? 'failing' : undefined);
    return [cluster, place, state, nodesCell, since, whyOf(line)];
  });
  const more = countsOf(all.slice(shown.length));
  return [
    ...(rows.length === 0
      ? []
      : ['', ...renderTextTable(['CLUSTER', 'STAGE', 'STATE', 'NODES', 'FOR', 'WHY'], rows)]),
    ...(more === undefined ? [] : [`and ${more}: -o wide shows them`]),
  ];
}

function whyOf({ failure, note, isPartial }: FleetClusterLine): string {
  const why = failure && `${failure.cause}: ${failure.message}`;
  const part = isPartial && 'its first nodes alone: the others follow in the next stage';
  return [why, note, part].filter((part) => part !== undefined).join('; ');
}

function countsOf(lines: readonly FleetClusterLine[]): string | undefined {
  if (lines.length === 0) return undefined;
  const groups = Map.groupBy(lines, ({ phase }) => phase);
  return [...groups].map(([phase, { length }]) => `${String(length)} ${phase}`).join(', ');
}

/** The next steps, as the last lines: a comment behind each command says what it does, so that a line can be copied. */
export function nextLines(steps: readonly NextStep[]): readonly string[] {
  if (steps.length === 0) return [];
  const width = Math.max(...steps.map(({ command }) => command.length));
  const lines = steps.map(({ command, about }) =>
    plainText(`  ${command.padEnd(width)}  # ${about}`),
  );
  return ['next:', ...lines];
}
