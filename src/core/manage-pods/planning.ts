/**
 * What all steps of planning pods share, looked up once per run: intents by node and pod, back-off,
 * refusals, what the strategy allows, and whether a loss of state restricts us (protocol 6).
 * It only looks things up: decisions are made in plan-pods.ts and plan-create.ts.
 *
 * Differs from upstream: a DaemonSet that finds pods, but no state of its own, deletes no available
 * one, and creates none, until no forgotten request can be alive: it may have forgotten what it did.
 */
import type { NodeName, Uid } from '../model/identifiers.ts';
import type { IntentJudgement, PlanContext, View } from '../model/plan.ts';
import type { PodProjection, Tombstone } from '../model/projections.ts';
import type { BackoffEntry, CreateIntent, DeleteIntent, RefusalEntry } from '../model/state.ts';
import { backoffGeneration, indexBackoff } from '../pod/backoff.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { readCompat, allowsSurge, type Compat } from '../daemon-set/strategy.ts';
import { minReadyMsOf, nodeOf } from '../pod/pod-facts.ts';
import { hasTemplateLabels } from '../pod/pod-template.ts';
import { forgottenUntilMs } from '../pod/request-life.ts';
import { tombstonesOfAnswered, uidsAmong } from '../pod/tombstones.ts';
import type { Targets } from './targets.ts';
import { podsOfView } from '../view/view.ts';

/** A pod of the DaemonSet that bears a name, or has borne it and is gone. */
export interface Bearer {
  readonly name: string;
  readonly uid: Uid;
  readonly isThere: boolean;
}

/** Shared inputs of planning, indexed. */
export interface Planning {
  readonly view: View;
  readonly context: PlanContext;
  readonly compat: Compat;
  readonly isSurging: boolean;
  readonly hasTemplateLabels: boolean;
  readonly minReadyMs: number;
  readonly generation: number;
  readonly backoff: ReadonlyMap<NodeName, BackoffEntry>;
  readonly refusals: ReadonlyMap<NodeName, RefusalEntry>;
  /** Pods whose delete was refused lately, by UID: a rolling update chooses others meanwhile. */
  readonly refusedDeletes: ReadonlyMap<Uid, RefusalEntry>;
  /** Answered creates that the view does not show: their nodes get nothing else. */
  readonly unseenCreates: ReadonlyMap<NodeName, CreateIntent>;
  readonly unresolvedCreates: ReadonlyMap<NodeName, readonly CreateIntent[]>;
  /** Creates that only time has resolved. */
  readonly expiredCreates: ReadonlyMap<NodeName, readonly CreateIntent[]>;
  /** Deletes without an answer, by victim: it counts as unavailable, the delete may be repeated. */
  readonly unresolvedDeletes: ReadonlyMap<Uid, DeleteIntent>;
  /** Victims whose delete was accepted: as good as terminating. */
  readonly acceptedDeletes: ReadonlySet<Uid>;
  /** Pods that are released in this run: they may still hold the node's name. */
  readonly releasedByNode: ReadonlyMap<NodeName | undefined, readonly PodProjection[]>;
  /** Pods that are gone from a node, as view and state remember them (S13). */
  readonly goneByNode: ReadonlyMap<NodeName, readonly Tombstone[]>;
  /** Who bears, or has borne, a name, on whatever node; those that are there win over those that are gone. */
  readonly bearers: ReadonlyMap<string, Bearer>;
  /** True if a controller has observed the DaemonSet: then something of ours may be on its way. */
  readonly wasActedOn: boolean;
  /** Until then no creates and no deletes of available pods (protocol 6). */
  readonly restrictedUntilMs: number | undefined;
  readonly targets: Targets;
}

/** Indexes what planning needs. */
export function preparePlanning(
  view: View,
  context: PlanContext,
  { intents, targets }: { readonly intents: IntentJudgement; readonly targets: Targets },
): Planning {
  const generation = backoffGeneration(view.daemonSet);
  const gone = findGone(view, context, intents);
  // Only a node that lacks its pod asks for a name.
  let bearers: ReadonlyMap<string, Bearer> | undefined;
  const released = view.toRelease.filter((pod) => nodeOf(pod) !== undefined);
  const unseen = intents.unseen.filter((intent) => intent.kind === 'create').sort(byName);
  const unresolved = intents.unresolved.filter((intent) => intent.kind === 'create').sort(byName);
  const expired = intents.settled
    .filter((intent) => intent.kind === 'create')
    .filter((intent) => intent.answer === undefined)
    .sort(byName);
  const repeatable = intents.unresolved.filter((intent) => intent.kind === 'delete');
  const accepted = intents.unseen.filter((intent) => intent.kind === 'delete');
  const refusals = (context.state.refusals ?? []).filter(
    (refusal) => refusal.generation === view.daemonSet.metadata.generation,
  );
  return {
    view,
    context,
    compat: readCompat(view.daemonSet),
    isSurging: allowsSurge(view.daemonSet),
    hasTemplateLabels: hasTemplateLabels(view.daemonSet),
    minReadyMs: minReadyMsOf(view.daemonSet),
    generation,
    backoff: indexBackoff(context.state.backoff, generation),
    refusals: new Map(
      refusals.flatMap((each) => (each.victim === undefined ? [[each.node, each]] : [])),
    ),
    refusedDeletes: new Map(
      refusals.flatMap((each) =>
        each.victim !== undefined && each.notBeforeMs > view.nowMs ? [[each.victim, each]] : [],
      ),
    ),
    unseenCreates: new Map(unseen.map((intent) => [intent.node, intent])),
    unresolvedCreates: Map.groupBy(unresolved, ({ node }) => node),
    expiredCreates: Map.groupBy(expired, ({ node }) => node),
    unresolvedDeletes: new Map(repeatable.map((intent) => [intent.uid, intent])),
    acceptedDeletes: new Set(accepted.map((intent) => intent.uid)),
    releasedByNode: Map.groupBy(released, nodeOf),
    goneByNode: Map.groupBy(gone, ({ node }) => node),
    get bearers() {
      return (bearers ??= findBearers(view, gone));
    },
    wasActedOn: wasActedOn(view),
    restrictedUntilMs: findRestriction(view, context),
    targets,
  };
}

function byName(left: CreateIntent, right: CreateIntent): number {
  return compareText(left.name, right.name);
}

/**
 * A state item that is missing or young beside existing pods may mean that intents were lost
 * (protocol 6). The state of a DaemonSet that was never acted on has `createdAtMs` 0.
 */
function findRestriction(view: View, context: PlanContext): number | undefined {
  const untilMs = forgottenUntilMs(context.state.createdAtMs, context.requestTimeoutMs);
  if (view.nowMs >= untilMs) return undefined;
  const hasPods =
    view.strays.length > 0 ||
    view.untargeted.length > 0 ||
    view.nodes.some(({ pods, held }) => pods.length > 0 || held.length > 0);
  return hasPods || wasActedOn(view) ? untilMs : undefined;
}

/** A DaemonSet whose status was never written was never acted on: no request for it can be on its way. */
function wasActedOn({ daemonSet }: View): boolean {
  return (daemonSet.status?.observedGeneration ?? 0) > 0;
}

function findBearers(view: View, gone: readonly Tombstone[]): ReadonlyMap<string, Bearer> {
  const bearers = new Map<string, Bearer>();
  for (const { name, uid } of gone) {
    const known = bearers.get(name);
    // Two bore one name where an etcd was restored: one of them counts, in whatever order they are told.
    if (known === undefined || known.uid < uid) bearers.set(name, { name, uid, isThere: false });
  }
  for (const { name, uid } of podsOfView(view)) bearers.set(name, { name, uid, isThere: true });
  return bearers;
}

/** What the view remembers, then the state, then what this very run settles unseen. */
function findGone(
  view: View,
  { state }: PlanContext,
  { settled }: IntentJudgement,
): readonly Tombstone[] {
  const unseen = [...(state.buried ?? []), ...tombstonesOfAnswered(settled, view.nowMs)];
  // Stryker disable next-line ConditionalExpression: saves a look at each pod where nothing is to be added
  if (unseen.length === 0) return view.gone;
  const known = uidsAmong(unseen, view.gone, podsOfView(view));
  return [...view.gone, ...unseen.filter(({ uid }) => !known.has(uid))];
}
