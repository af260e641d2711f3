/**
 * The answer on one DaemonSet in one cluster: its nodes by reason, who uses the budget, which fleet holds it, and how old
 * the ground of all this is; or why nothing can be told.
 *
 * Reads tables alone. Of a cluster that cannot be read that is the answer, so that the others are answered all the same.
 */
import { defined } from '@rollcall/base/defined.ts';
import { createProcessCache } from '../../app/reconcile/process/process-cache.ts';
import type { ProcessCache } from '../../app/reconcile/process/process-cache.ts';
import type { StoredInputs } from '../../app/reconcile/read/stored-inputs.ts';
import { findRollout, type FoundRollout } from '../../app/rollout/find-rollout.ts';
import { describeOpaque, shownBudget, type ShownBudget } from '../../app/rollout/rollout-status.ts';
import type { HoldingFleet } from '../../app/fleet/rollout/holding-fleet.ts';
import { explainRollout } from '../../app/why/explain.ts';
import { findLateNodes } from '../../app/why/late-nodes.ts';
import { outagesOfBasis } from '../../app/why/standing.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { NodeCode, Verdict } from '../../core/model/verdict.ts';
import {
  remedyOfGuard,
  standstillOf,
  type Outage,
  type StackStanding,
} from '../../core/status/outages.ts';
import { describeLateNodes, type LateNodes } from '../../core/start-up/start-up-words.ts';
import { groupReasons, type ReasonGroup } from '../../core/status/reason-groups.ts';
import { REASONS } from '../../core/status/reasons.ts';
import { countCodes } from '../../core/status/verdicts.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import type { Stack } from '../reach/stack.ts';
import { findSourcesOf, sourcesOf } from '../rollout/rollout-sources.ts';

export interface Told {
  readonly kind: 'told';
  readonly key: DaemonSetKey;
  readonly mode: ClusterMode;
  /** When the watcher sent last. */
  readonly lastSentAtMs: number;
  readonly outages: readonly Outage[];
  readonly counts: Readonly<Partial<Record<NodeCode, number>>>;
  readonly groups: readonly ReasonGroup[];
  readonly nodes: readonly Verdict[];
  /** Absent: no revision is rolled out. */
  readonly budget?: ShownBudget;
  /** The fleet that has it in a rollout that is not over. */
  readonly fleet?: HoldingFleet;
}

export interface Untold {
  readonly kind: 'untold';
  readonly key: DaemonSetKey;
  readonly outages: readonly Outage[];
  readonly message: string;
  readonly remedy: string;
}

export type Answer = Told | Untold;

export interface Question {
  readonly stack: Stack;
  readonly standing: StackStanding;
  /** `lacking`: nodes without a serving pod. */
  readonly asked: 'lacking' | 'all';
  /** This node alone. */
  readonly node?: string;
}

/** Asks one cluster; undefined: it is not there, or has no such DaemonSet, or not this node. Rejects when a table fails. */
export async function askCluster(
  key: DaemonSetKey,
  question: Question,
  cache: ProcessCache = createProcessCache(),
): Promise<Answer | undefined> {
  const read = await orUnreadable(() => findRollout(key, findSourcesOf(question.stack)));
  if (read.kind === 'unreadable') {
    const message = `${key.cluster} cannot be read: ${read.problem}`;
    const remedy = `rollcall cluster doctor ${key.cluster}`;
    return { kind: 'untold', key, outages: [], message, remedy };
  }
  const { value: found } = read;
  return found.kind === 'refused' ? undefined : tell(found, question, cache);
}

async function tell(
  { key, stored, fleet }: FoundRollout,
  question: Question,
  cache: ProcessCache,
): Promise<Answer | undefined> {
  const { stack, standing, node } = question;
  const sources = { ...sourcesOf(stack), cache };
  const { nowMs } = sources;
  const outages = outagesOfBasis(stored, { standing, nowMs });
  const explained = await explainRollout(stored, { ...sources, outages });
  if (explained === undefined) return nothingToTell(key, stored, outages);
  const { plan } = explained;
  const every = plan.verdicts();
  const asked = node === undefined ? every : every.filter((each) => each.node === node);
  if (asked.length === 0 && node !== undefined) return undefined;
  const groups = groupReasons(asked, node === undefined ? question.asked : 'all').map((group) => ({
    ...group,
    ...defined({ remedy: remedyOfGuard(group.code, outages) ?? group.remedy }),
  }));
  const late = await findLateNodes(stored, sources);
  const grouped = new Set(groups.flatMap(({ nodes }) => nodes));
  return {
    kind: 'told',
    key,
    mode: stored.registration.mode,
    lastSentAtMs: stored.meta.lastSentAtMs,
    outages,
    counts: countCodes(asked),
    groups: [...groups, ...startingUp(late, key, node)],
    nodes: asked.filter((each) => grouped.has(each.node)),
    ...defined({ budget: shownBudget(plan, every), fleet }),
  };
}

/** Nodes that wait with their start-up taint for that DaemonSet, or for nothing that could be named. */
function startingUp(
  late: LateNodes | undefined,
  { cluster, namespace, name }: DaemonSetKey,
  node: string | undefined,
): readonly ReasonGroup[] {
  if (late === undefined) return [];
  const concerned = late.nodes.filter(({ node: of, decision }) => {
    if (node !== undefined && of !== node) return false;
    if (decision.kind === 'done' || decision.waitsFor.length === 0) return true;
    return decision.waitsFor.some((each) => each.namespace === namespace && each.name === name);
  });
  if (concerned.length === 0) return [];
  const { text: message, remedy } = describeLateNodes(cluster, { ...late, nodes: concerned });
  const { kind, title } = REASONS.StartingUp;
  const nodes = concerned.map((each) => each.node);
  return [{ code: 'StartingUp', kind, title, message, nodes, remedy }];
}

function nothingToTell(
  key: DaemonSetKey,
  { daemonSet, state, registration }: StoredInputs,
  outages: readonly Outage[],
): Untold {
  const untold = { kind: 'untold', key, outages } as const;
  const standstill = standstillOf(outages, registration.mode);
  if (standstill !== undefined) {
    const { message, remedy } = standstill;
    return { ...untold, message, remedy };
  }
  if (daemonSet.object === null) {
    const message = `${describeOpaque(daemonSet)}. Runs read it from the API server, which this command does not ask`;
    const remedy =
      'rollcall rollout status tells how it stands, kubectl describe what its pods say';
    return { ...untold, message, remedy };
  }
  const message =
    state === undefined
      ? 'no run has looked at it yet'
      : 'the view of its cluster is not whole, or only a live read could tell';
  const remedy = `see rollcall cluster show ${key.cluster}, and ask again`;
  return { ...untold, message, remedy };
}

/** True where nothing acts on it now. */
export function standsStill(answer: Answer): boolean {
  const mode = answer.kind === 'told' ? answer.mode : undefined;
  return standstillOf(answer.outages, mode) !== undefined;
}
