/**
 * The record of a rollout that begins: what it leaves, who is the canary, what the percentages are
 * of. A revision that was halted or undone before is held. The way back to a good release needs no
 * canary, and leaves nothing that a node might still be given. A release that was left half-way
 * goes on where it was.
 */
import type { NodeName } from '../model/identifiers.ts';
import type {
  ClusterRelease,
  HalfwayRelease,
  OpenStep,
  ProvenRevision,
  RefusedRevision,
  RolloutRecord,
} from '../model/rollout-record.ts';
import { answersBefore } from '../health/answer-times.ts';
import { baselinesOf } from '../health/pod-signs.ts';
import { startTrial } from '../health/trial.ts';
import { defined } from '@rollcall/base/defined.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import { judgeRelease, leaveFor, type ReleaseJudgement } from '../rollout/good-releases.ts';
import { findBaseline, withBaseline } from './baseline.ts';
import { CANARY_NODES_MAX, isUpAndOpen, pickCanary, withAbleCanary } from './canary.ts';
import { abandonedAfter, heldIfRestored, knownBad, refusedAfter } from '../rollout/known-bad.ts';
import { isPending, nameOf, servesNobody, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';
import { countRestarts, evidenceNodes, trialNodes } from './observe.ts';

/** The record for this revision: the one there is, or a new one. */
export function recordFor(input: StagesInput): RolloutRecord {
  const { record, hash } = input;
  const isSame = record?.hash === hash;
  const current = isSame ? heldIfRestored(record, input) : startRecord(input);
  return withAbleCanary(withBaseline(current, input), input);
}

function startRecord(input: StagesInput): RolloutRecord {
  const { record, hash, id, nodes, nowMs, seenView } = input;
  const beginning = judgeBeginning(input);
  const { judged, good, isReturn, proven, former, halfway } = beginning;
  const refused = refusedAfter(record);
  const known = isReturn ? undefined : findRefused(refused, input);
  const isOpen = isReturn || !nodes.some(isPending);
  const resumed = known === undefined && !isOpen ? stepOf(halfway, input) : undefined;
  const isCanaryOver = isOpen || resumed !== undefined;
  return {
    hash,
    id,
    good,
    startedAtMs: nowMs,
    baseNodes: nodes.length,
    step: resumed ?? firstStep(isOpen, input),
    canary: isCanaryOver ? [] : beginCanary(refused, input),
    isReturn,
    trial: startTrial(trialNodes(evidenceNodes(input), { nowMs, sinceMs: nowMs }), nowMs),
    ...baselinesAt(nodes),
    ...demandsAt(beginning, input),
    ...answersAt(record),
    restarts: countRestarts(nodes),
    seenView,
    refused,
    ...abandonedAfter(record, hash),
    orders: ordersAfter(record),
    ...defined({ proven, former, halfway }),
    ...defined({ triedAtMs: resumed?.openedAtMs }),
    ...(judged.kind === 'older' ? { older: judged.reason } : {}),
    ...(known === undefined ? {} : { breach: knownBad(known, nowMs) }),
  };
}

/** What the template of now is to the releases before it. */
interface Beginning extends Pick<RolloutRecord, 'good' | 'isReturn' | 'proven' | 'former'> {
  readonly judged: ReleaseJudgement<ClusterRelease>;
  readonly halfway: HalfwayRelease | undefined;
}

function judgeBeginning(input: StagesInput): Beginning {
  const { record, id, hash, nowMs, policy } = input;
  const known = goodBefore(input);
  if (record === undefined) {
    const former = provenBy(known.find((each) => each.id !== id));
    const proven = provenBy(known[0]);
    const judged = { kind: 'new' } as const;
    return {
      judged,
      good: known,
      isReturn: false,
      halfway: undefined,
      ...defined({ proven, former }),
    };
  }
  const judged = judgeRelease(known, id, nowMs);
  const good = leaveFor(known, { from: record.id, to: id, nowMs });
  if (judged.kind !== 'new') {
    const isAsked = record.orders.undo?.to === judged.release.hash;
    const isReturn = judged.kind === 'return' && (isAsked || policy.returns !== 'staged');
    const proven = isReturn ? provenBy(judged.release) : undefined;
    return { judged, good, isReturn, halfway: undefined, ...defined({ proven }) };
  }
  const halfway = halfwayAfter(record);
  const former = provenBy(good[0]);
  const isResumed = halfway?.id === id;
  const proven = isResumed ? { ...halfway.proven, hash } : former;
  return { judged, good, isReturn: false, halfway, ...defined({ proven, former }) };
}

/**
 * The good releases until now, with today's hash and meaning of what the template has: its revision may have been trimmed and
 * come again with another hash, and another API server may tell the same revision with more fields.
 */
function goodBefore(input: StagesInput): readonly ClusterRelease[] {
  const { record, hash, id, nowMs } = input;
  if (record !== undefined && record.good.length > 0) {
    return record.good.map((each) =>
      each.hash === hash || each.id === id ? { ...each, hash, id } : each,
    );
  }
  const baseline = findBaseline(input);
  if (baseline === undefined) return [];
  const isCurrent = baseline.hash === hash;
  // The meaning of another revision's template is unknown: its hash stands for it.
  const name = isCurrent ? { hash, id } : { hash: baseline.hash, id: `revision ${baseline.hash}` };
  return [
    { ...name, goodAtMs: nowMs, isBaseline: true, ...(isCurrent ? {} : { leftAtMs: nowMs }) },
  ];
}

function provenBy(release: ClusterRelease | undefined): ProvenRevision | undefined {
  if (release === undefined) return undefined;
  const { hash, goodAtMs, isBaseline } = release;
  return { hash, provenAtMs: goodAtMs, isBaseline };
}

/** The release that was left half-way last: by this edit, or by one before it. */
function halfwayAfter(record: RolloutRecord): HalfwayRelease | undefined {
  const { id, hash, proven, step, good, breach, orders } = record;
  if (good.some((each) => each.id === id)) return undefined;
  const isHalted = breach !== undefined || orders.undo !== undefined;
  const isLeft = step.kind === 'group' && proven?.hash === hash && !isHalted;
  return isLeft ? { id, proven, step } : record.halfway;
}

/** The step of a release that comes again: as it was opened, and to be soaked anew. */
function stepOf(halfway: HalfwayRelease | undefined, input: StagesInput): OpenStep | undefined {
  if (halfway?.id !== input.id) return undefined;
  const { kind, name, index } = halfway.step;
  return { ...firstStep(false, input), kind, name, index };
}

function findRefused(
  refused: readonly RefusedRevision[],
  { hash, id }: StagesInput,
): RefusedRevision | undefined {
  return refused.find((each) => each.hash === hash || each.id === id);
}

function answersAt(record: RolloutRecord | undefined): Pick<RolloutRecord, 'answers'> {
  return record?.answers === undefined ? {} : { answers: answersBefore(record.answers) };
}

/** The template's demands, and those of the revision that nodes run: known if that was rolled out before. */
function demandsAt(
  { former }: Beginning,
  { record, demand }: StagesInput,
): Pick<RolloutRecord, 'demand' | 'formerDemand'> {
  if (former === undefined) return defined({ demand });
  const isOfFormer = former.hash === record?.former?.hash;
  const before = isOfFormer ? record?.formerDemand : undefined;
  return defined({ demand, formerDemand: former.hash === record?.hash ? record.demand : before });
}

function firstStep(isOpen: boolean, { nodes, nowMs }: StagesInput): OpenStep {
  return {
    ...(isOpen ? { kind: 'done', index: 0 } : { kind: 'waiting', index: -1 }),
    name: '',
    openedAtMs: nowMs,
    progressedAtMs: nowMs,
    updatedNodes: nodes.filter((node) => !isPending(node)).length,
  };
}

/** What pods of the revision had gone through before. */
function baselinesAt(nodes: readonly StageNode[]): Pick<RolloutRecord, 'baselines'> {
  const baselines = baselinesOf(nodes.flatMap(({ updated }) => updated ?? []));
  return baselines.length === 0 ? {} : { baselines };
}

/** A pause goes on over an edit; what was approved or overruled was another revision. */
function ordersAfter(record: RolloutRecord | undefined): RolloutRecord['orders'] {
  const paused = record?.orders.paused;
  return paused === undefined ? {} : { paused };
}

/**
 * The canary, with the nodes that a halted revision was left on: they have least to lose. Those whose pods do not serve come
 * before it, beyond its number: as long as they are broken they use up the budget that all others wait for. The others
 * are of its number, or a new revision would be on more nodes untried than the policy says.
 */
function beginCanary(refused: readonly RefusedRevision[], input: StagesInput): readonly NodeName[] {
  const { nodes, policy } = input;
  if (refused.length === 0 || policy.canary.kind === 'selector') return pickCanary(input);
  const hashes = new Set(refused.map(({ hash }) => hash));
  const left = nodes.filter((node) => {
    const hash = node.old === undefined ? undefined : revisionHashOfPod(node.old);
    return hash !== undefined && hashes.has(hash) && isUpAndOpen(node);
  });
  const broken = left.filter(servesNobody).map(nameOf);
  return [...new Set([...broken, ...pickCanary(input, left)])].slice(0, CANARY_NODES_MAX);
}
