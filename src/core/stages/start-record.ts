/**
 * The record of a rollout that begins: what is proven, who is the canary, what the percentages are of (issue 17).
 *
 * A revision that nodes already run everywhere when a policy is first seen is the baseline: no soak proved it, but it is
 * what there is to go back to. A revision that was halted before is held. Going back to what is proven needs no canary.
 */
import type { NodeName } from '../model/identifiers.ts';
import type {
  OpenStep,
  ProvenRevision,
  RefusedRevision,
  RolloutRecord,
} from '../model/rollout-record.ts';
import { answersBefore } from '../evidence/answer-times.ts';
import { baselinesOf } from '../evidence/pod-baseline.ts';
import { startTrial } from '../evidence/trial.ts';
import { defined } from '@rollcall/base/defined.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import { CANARY_NODES_MAX, isUpAndOpen, pickCanary, withAbleCanary } from './canary.ts';
import { abandonedAfter, heldIfRestored, knownBad, refusedAfter } from './known-bad.ts';
import { isPending, nameOf, servesNobody } from './stage-node.ts';
import type { StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';
import { countRestarts, evidenceNodes, trialNodes } from './observe.ts';

/** The record for this revision: the one there is, or a new one. */
export function recordFor(input: StagesInput): RolloutRecord {
  const { record, hash } = input;
  const isSame = record?.hash === hash;
  const current = isSame ? heldIfRestored(withDemand(record, input), input) : startRecord(input);
  return withAbleCanary(withBaseline(current, input), input);
}

/** Where no pod ran when a policy was first seen, what runs first is the baseline: nobody goes back to what never ran. */
function withBaseline(record: RolloutRecord, input: StagesInput): RolloutRecord {
  if (record.proven !== undefined || record.step.kind !== 'done') return record;
  const proven = findBaseline(input);
  return proven?.hash === record.hash ? { ...record, proven } : record;
}

/** A record of the release before does not know what its template asks for. */
function withDemand(record: RolloutRecord, { demand }: StagesInput): RolloutRecord {
  return record.demand === undefined && demand !== undefined ? { ...record, demand } : record;
}

function startRecord(input: StagesInput): RolloutRecord {
  const { record, hash, nodes, nowMs, seenView } = input;
  const proven = record?.proven ?? findBaseline(input);
  const isReturn = record !== undefined && proven?.hash === hash;
  const hasPending = nodes.some(isPending);
  const refused = refusedAfter(record);
  const known = isReturn ? undefined : refused.find((each) => each.hash === hash);
  const isOpen = isReturn || !hasPending;
  return {
    hash,
    startedAtMs: nowMs,
    baseNodes: nodes.length,
    step: firstStep(isOpen, input),
    canary: isOpen ? [] : beginCanary(refused, input),
    isReturn,
    trial: startTrial(trialNodes(evidenceNodes(input), { nowMs, sinceMs: nowMs }), nowMs),
    ...baselinesAt(nodes),
    ...demandsAt(record, proven, input),
    ...answersAt(record),
    restarts: countRestarts(nodes),
    seenView,
    refused,
    ...abandonedAfter(record, hash),
    orders: ordersAfter(record),
    ...defined({ proven, former: proven?.hash === hash ? undefined : proven }),
    ...(known === undefined ? {} : { breach: knownBad(known, nowMs) }),
  };
}

/** How long requests took before it. */
function answersAt(record: RolloutRecord | undefined): Pick<RolloutRecord, 'answers'> {
  return record?.answers === undefined ? {} : { answers: answersBefore(record.answers) };
}

/** What the template asks for, and what that of the revision asked which nodes run: known if that was rolled out before. */
function demandsAt(
  record: RolloutRecord | undefined,
  proven: ProvenRevision | undefined,
  { demand }: StagesInput,
): Pick<RolloutRecord, 'demand' | 'formerDemand'> {
  const isOfRecord = proven !== undefined && proven.hash === record?.hash;
  const isOfFormer = proven !== undefined && proven.hash === record?.former?.hash;
  const before = isOfFormer ? record?.formerDemand : undefined;
  return defined({ demand, formerDemand: isOfRecord ? record?.demand : before });
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

/** What most nodes run that are not of this revision; this revision, where all of them are. Nothing, where none runs. */
function findBaseline({ nodes, hash, nowMs }: StagesInput): ProvenRevision | undefined {
  const pending = nodes.filter(isPending);
  if (pending.length === 0) {
    const runs = nodes.some(({ updated }) => updated !== undefined);
    return runs ? { hash, provenAtMs: nowMs, isBaseline: true } : undefined;
  }
  const counts = new Map<string, number>();
  for (const { old } of pending) {
    const former = old?.isReady === true ? revisionHashOfPod(old) : undefined;
    if (former !== undefined) counts.set(former, (counts.get(former) ?? 0) + 1);
  }
  const [most] = [...counts.entries()].sort(
    ([left, leftCount], [right, rightCount]) => rightCount - leftCount || compareText(left, right),
  );
  return most === undefined ? undefined : { hash: most[0], provenAtMs: nowMs, isBaseline: true };
}

/**
 * The canary, with the nodes that a halted revision was left on: they have least to lose. Those whose pods serve nobody come
 * before it, beyond its number: as long as they are broken they use up the budget that everybody else waits for. The others
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
