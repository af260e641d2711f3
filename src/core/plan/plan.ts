/**
 * The plan of one reconcile: a pure function of view and context (design 3.4; no clock, no I/O, no randomness),
 * whatever order its inputs had. It does nothing: intents are recorded, and destructive steps confirmed live, by
 * the caller.
 *
 * Invariants: S9 (creates, deletes and claims within the burst, separately), S7 by status.ts, S1, S2 and S4 by
 * plan-pods.ts.
 *
 * Differs from upstream: a selector that cannot be parsed leaves the DaemonSet alone; claims are capped.
 */
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import type {
  IntentJudgement,
  Plan,
  PlanContext,
  PlannedCreate,
  PlannedEvent,
  View,
} from '../model/plan.ts';
import type { Verdict } from '../model/verdict.ts';
import { backoffGeneration, mergeBackoff, sweepBackoff } from '../pod/backoff.ts';
import { keepForCopilot, leaveToBuiltIn } from './copilot.ts';
import { computeDueAt } from './due-time.ts';
import { selectingAllEvent } from '../events/events.ts';
import { planTrims } from '../history/history-plan.ts';
import { judgeIntents } from '../intents/intents.ts';
import { holdRemoval } from '../removal-guard/hold-removal.ts';
import { whyLeftAlone } from '../daemon-set/strategy.ts';
import { planPods, type DeleteDecision, type PodDecisions } from '../manage-pods/plan-pods.ts';
import { planRollout, type RolloutDecisions } from '../rolling-update/plan-rollout.ts';
import {
  keptRevisions,
  planStages,
  stagingEvents,
  targetsOf,
} from '../rolling-update/plan-stages.ts';
import { stagedOf } from './staged-of.ts';
import { preparePlanning, type Planning } from '../manage-pods/planning.ts';
import { podFromTemplate, prepareFormer, prepareTemplate } from '../pod/pod-template.ts';
import { computeStatus, hasSameStatus } from '../status/status.ts';
import { blockedVerdict, judgeNode } from '../status/verdicts.ts';
import { podsOfView } from '../view/view.ts';

/** Plans one reconcile (spec 2.3): effects, events, verdicts, status, back-off, due time. */
export function planReconcile(view: View, context: PlanContext): Plan {
  const plan = planAlone(view, context);
  return context.mode === 'copilot' ? keepForCopilot(plan, view.daemonSet) : plan;
}

function planAlone(view: View, context: PlanContext): Plan {
  const refusal = refuse(view, context);
  if (refusal !== undefined) return refusal;
  const intents = context.intents ?? judgeByIdentity(view, context);
  const staging = planStages(view, context, intents);
  const targets = targetsOf(view, context, staging);
  const planning = preparePlanning(view, context, { intents, targets });
  const wanted = planPods(planning);
  const updated = planRollout(planning, wanted, staging);
  const held = holdRemoval(planning, { decisions: wanted, rollout: updated });
  const { rollout, shrink } = held;
  const decisions = context.mode === 'copilot' ? leaveToBuiltIn(held.decisions) : held.decisions;
  const claims = claimsOf(view, context);
  const isClaiming = claims.leftCount > 0 && context.guard.kind === 'act';
  const chosen = isClaiming
    ? { creates: [], deletes: [], cappedCount: claims.leftCount }
    : chooseWithinBurst(planning, decisions, rollout);
  const isActing = context.guard.kind === 'act';
  const backoff = mergeBackoff(
    sweepBackoff(context.state.backoff, { generation: planning.generation, nowMs: view.nowMs }),
    chosen.deletes.flatMap((each) => (each.backoff === undefined ? [] : [each.backoff])),
  );
  return {
    creates: chosen.creates,
    deletes: chosen.deletes.map(({ planned }) => planned),
    adopts: isActing ? claims.adopts : [],
    releases: isActing ? claims.releases : [],
    trims:
      claims.leftCount > 0
        ? []
        : planTrims(view, { ...context, intents, kept: keptRevisions(staging, context) }),
    ...(rollout.progress === undefined ? {} : { rollout: rollout.progress }),
    backoff,
    events: chosen.deletes.flatMap(({ event }) => (event === undefined ? [] : [event])),
    stageEvents: isActing ? stagingEvents(staging) : [],
    needs: [],
    ...stagedOf(staging, planning),
    verdicts: () => putIntoWords(planning, { decisions, rollout, chosen }),
    status: planStatus(view, context),
    dueAtMs: computeDueAt({
      view,
      backoff,
      intents,
      state: context.state,
      requestTimeoutMs: context.requestTimeoutMs,
      waitsUntilMs: [...waitingTimes(decisions), ...rollout.untilMs],
    }),
    cappedCount: chosen.cappedCount,
    ...(shrink === undefined ? {} : { shrink }),
  };
}

/** DaemonSets that are left alone: selecting all pods, being deleted, malformed (spec 2.3 step 4, 5). */
function refuse(view: View, context: PlanContext): Plan | undefined {
  const why = whyLeftAlone(view.daemonSet);
  switch (why?.kind) {
    case undefined:
      return undefined;
    case 'selecting-all': {
      const events = context.guard.kind === 'act' ? [selectingAllEvent()] : [];
      return leaveAlone(view, context, { events, cause: 'its selector would select all pods' });
    }
    case 'terminating':
      return leaveAlone(view, context, { events: [], cause: 'the DaemonSet is being deleted' });
    case 'malformed': {
      const cause = `its selector is invalid: ${why.problem}`;
      return leaveAlone(view, context, { events: [], cause });
    }
  }
}

function leaveAlone(
  view: View,
  context: PlanContext,
  why: { readonly events: readonly PlannedEvent[]; readonly cause: string },
): Plan {
  const generation = backoffGeneration(view.daemonSet);
  return {
    creates: [],
    deletes: [],
    adopts: [],
    releases: [],
    trims: [],
    backoff: sweepBackoff(context.state.backoff, { generation, nowMs: view.nowMs }),
    events: why.events,
    stageEvents: [],
    verdicts: () => view.nodes.map((nodeView) => blockedVerdict(nodeView, why.cause)),
    status: undefined,
    needs: [],
    dueAtMs: undefined,
    cappedCount: 0,
  };
}

/** Without a judgement by marks, only what the view itself shows settles an intent. */
function judgeByIdentity(view: View, context: PlanContext): IntentJudgement {
  const { state, requestTimeoutMs } = context;
  const pods = podsOfView(view);
  const { era } = state.written;
  return judgeIntents({ state, pods, marks: {}, era, nowMs: view.nowMs, requestTimeoutMs });
}

interface Claims {
  readonly adopts: Plan['adopts'];
  readonly releases: Plan['releases'];
  readonly leftCount: number;
}

/** Beside the built-in controller none: it adopts and releases. */
function claimsOf(view: View, { mode, burstPodsMax }: PlanContext): Claims {
  if (mode === 'copilot') return { adopts: [], releases: [], leftCount: 0 };
  return claimWithinBurst(view, burstPodsMax);
}

/** Claims count against a burst of their own (S9). Nothing is planned on top of those that are left (spec 2.4). */
function claimWithinBurst({ toAdopt, toRelease }: View, burstPodsMax: number): Claims {
  const adopts = toAdopt.slice(0, burstPodsMax);
  const releases = toRelease.slice(0, burstPodsMax - adopts.length);
  const leftCount = toAdopt.length + toRelease.length - adopts.length - releases.length;
  return { adopts, releases, leftCount };
}

interface Chosen {
  readonly creates: readonly PlannedCreate[];
  readonly deletes: readonly DeleteDecision[];
  readonly cappedCount: number;
}

/**
 * The first creates and deletes that the burst allows: what nodes need at once, in node order, then
 * the rolling update in its own order. None unless we may act.
 */
function chooseWithinBurst(
  planning: Planning,
  decisions: PodDecisions,
  rollout: RolloutDecisions,
): Chosen {
  const { context } = planning;
  if (context.guard.kind !== 'act') return { creates: [], deletes: [], cappedCount: 0 };
  const missing = decisions.nodes.flatMap(({ nodeView, create }) =>
    create === undefined ? [] : [{ node: nodeView.node.name, ...create }],
  );
  const surplus = decisions.nodes.flatMap(({ deletes }) => deletes);
  const wantedCreates = [...missing, ...rollout.creates];
  const wantedDeletes = [...surplus, ...decisions.strays, ...rollout.deletes];
  const creates = wantedCreates.slice(0, context.burstPodsMax);
  const deletes = wantedDeletes.slice(0, context.burstPodsMax);
  return {
    creates: bodiesOf(creates, planning),
    deletes,
    cappedCount: wantedCreates.length - creates.length + (wantedDeletes.length - deletes.length),
  };
}

/** Pods of the DaemonSet's template, or of the former revision where a node is kept at that. */
function bodiesOf(
  creates: readonly Omit<PlannedCreate, 'body'>[],
  { view, context, targets }: Planning,
): readonly PlannedCreate[] {
  const template = prepareTemplate(view.daemonSet, context.currentHash);
  const former =
    targets.former === undefined ? undefined : prepareFormer(view.daemonSet, targets.former);
  return creates.map((create) => {
    const made = former !== undefined && targets.isFormer(create.node) ? former : template;
    return { ...create, body: podFromTemplate(made, create) };
  });
}

function putIntoWords(
  planning: Planning,
  made: {
    readonly decisions: PodDecisions;
    readonly rollout: RolloutDecisions;
    readonly chosen: Chosen;
  },
): readonly Verdict[] {
  const { decisions, rollout, chosen } = made;
  const created = new Set(chosen.creates.map(({ node }) => node));
  const deleted = new Set(chosen.deletes.map(({ planned }) => planned.name));
  const { minReadyMs, view, context } = planning;
  return decisions.nodes.map((decision) => {
    const note = rollout.notes.get(decision.nodeView.node.name);
    return judgeNode({
      decision,
      ...(note === undefined ? {} : { rollout: note }),
      guard: context.guard,
      isCreated: created.has(decision.nodeView.node.name),
      deleted,
      minReadyMs,
      nowMs: view.nowMs,
    });
  });
}

/** Status to be written, if any: not in observe, and never from a view that is not whole. */
function planStatus(view: View, context: PlanContext): DaemonSetStatus | undefined {
  const { guard, currentHash } = context;
  if (guard.kind === 'observe') return undefined;
  const isForbidden =
    guard.kind === 'status-only' &&
    (guard.code === 'view-incomplete' || guard.code === 'conflicting-controller');
  if (isForbidden) return undefined;
  const observeGeneration = guard.kind === 'act';
  const next = computeStatus(view, { currentHash, observeGeneration });
  return hasSameStatus(view.daemonSet.status, next) ? undefined : next;
}

function waitingTimes(decisions: PodDecisions): readonly number[] {
  const moments: number[] = [];
  for (const { wait, withheldUntilMs } of decisions.nodes) {
    if (wait?.untilMs !== undefined) moments.push(wait.untilMs);
    if (withheldUntilMs !== undefined) moments.push(withheldUntilMs);
  }
  return moments;
}
