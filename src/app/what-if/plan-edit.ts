/**
 * What an edit of a DaemonSet or of nodes would come to in one cluster (core/what-if), from what tables hold.
 *
 * Reads alone: nothing is asked of a cluster, sent or recorded. What it starts from is what a run of now would plan with
 * (app/why/explain.ts), so both know and doubt the same.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { DaemonSetKey, NodeName } from '../../core/model/identifiers.ts';
import type { Guard } from '../../core/model/plan.ts';
import type { ClusterMode, ClusterRegistration } from '../../core/model/registration.ts';
import { emptyState } from '../../core/model/state.ts';
import { revisionHash } from '../../core/history/revisions.ts';
import type { Outage, StackStanding } from '../../core/status/outages.ts';
import { guardOfOutage, standstillOf } from '../../core/status/outages.ts';
import { copilotStanding, isHeldByPolicy } from '../../core/may-act/opt-in.ts';
import { standingFreeze } from '../../core/may-act/freeze.ts';
import { guardOfSubject } from '../../core/may-act/registration-guard.ts';
import type { Edit, EditProblem } from '../../core/what-if/edit.ts';
import { editNodes } from '../../core/what-if/edit.ts';
import {
  applyManifest,
  createdDaemonSet,
  hasSameTemplate,
  isSameObject,
  setImages,
} from '../../core/what-if/edit-daemon-set.ts';
import type { EditedDaemonSet } from '../../core/what-if/edit-daemon-set.ts';
import { playEdit } from '../../core/what-if/play.ts';
import type { Hands, Played, PlayInput } from '../../core/what-if/play.ts';
import { withKnownRequests } from '../../core/what-if/known-requests.ts';
import { tellPlan } from '../../core/what-if/tell-plan.ts';
import type { EditPlan } from '../../core/what-if/tell-plan.ts';
import { typicalStart } from '../../core/what-if/typical-start.ts';
import type { TypicalStart } from '../../core/what-if/typical-start.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import { observeCluster } from '../fleet/gather-clusters.ts';
import { findRollout } from '../rollout/find-rollout.ts';
import type { FindSources, FoundRollout } from '../rollout/find-rollout.ts';
import { findShapeProblem } from '../reconcile/read/judge-daemon-set.ts';
import { stagingOf } from '../reconcile/plan-step.ts';
import { findGuard, prepare } from '../why/explain.ts';
import type { ExplainSources, Prepared } from '../why/explain.ts';
import { outagesOfBasis, outagesOfCluster } from '../why/standing.ts';

export type PlanSources = FindSources &
  ExplainSources & {
    readonly registry: Pick<RegistryStore, 'readCluster'>;
    readonly freezes: Pick<FreezeStore, 'readFreeze'>;
    readonly standing: StackStanding;
  };

/** What is known of it wherever something can be told. */
export interface PlanGround {
  readonly mode: ClusterMode;
  readonly outages: readonly Outage[];
  /** When the watcher sent last. */
  readonly lastSentAtMs: number;
}

/** A plan. */
export interface PlannedEdit extends EditPlan, PlanGround {
  readonly kind: 'planned';
  /** `nothing`: the edit makes no difference; what is told happens without it. */
  readonly edit: 'create' | 'change' | 'delete' | 'nothing';
  readonly hands: Hands;
  readonly guard: Guard;
  readonly played: Pick<Played, 'end' | 'endMs' | 'stages' | 'isRemovalHeld'>;
  readonly start: TypicalStart;
  /** Earlier revisions with which the template could not be compared; 0: it is as it was, or is known. */
  readonly uncomparedRevisions: number;
  readonly fleet?: FoundRollout['fleet'];
  /** True where the policy that it has cannot be read, which holds its rollout by Rollcall. */
  readonly isHeldByPolicy: boolean;
}

export type PlanOutcome =
  | PlannedEdit
  | { readonly kind: 'refused'; readonly problems: readonly EditProblem[] }
  | { readonly kind: 'unknown-cluster' | 'unknown-daemon-set' | 'never-heard' }
  | {
      readonly kind: 'untold';
      readonly outages: readonly Outage[];
      readonly message: string;
      readonly remedy: string;
    };

/** Plans it. Rejects when a table fails. */
export async function planEdit(
  key: DaemonSetKey,
  edit: Edit,
  sources: PlanSources,
): Promise<PlanOutcome> {
  const read = await orUnreadable(() => findRollout(key, sources));
  if (read.kind === 'unreadable') {
    const message = `${key.cluster} cannot be read: ${read.problem}`;
    const remedy = `rollcall cluster doctor ${key.cluster}`;
    return { kind: 'untold', outages: [], message, remedy };
  }
  const { value: found } = read;
  if (found.kind === 'found') return planChange(found, edit, sources);
  const { code } = found;
  if (code === 'unknown-daemon-set' && edit.daemonSet.kind === 'apply') {
    return planCreate(key, { ...edit, manifest: edit.daemonSet.manifest }, sources);
  }
  const isKnown = code === 'unknown-cluster' || code === 'never-heard';
  return { kind: isKnown ? code : 'unknown-daemon-set' };
}

async function planChange(
  found: FoundRollout,
  edit: Edit,
  sources: PlanSources,
): Promise<PlanOutcome> {
  const { stored, fleet } = found;
  const { nowMs, standing } = sources;
  const outages = outagesOfBasis(stored, { standing, nowMs });
  const prepared = await prepare(stored, { ...sources, outages });
  if (prepared === undefined) return untold(found, outages);
  const { input, read, context } = prepared;
  const edited = editDaemonSet(input.daemonSet, edit.daemonSet);
  const nodes = editNodes(read.nodes, edit.nodes);
  const problems = [edited, nodes].flatMap((each) =>
    each.kind === 'refused' ? each.problems : [],
  );
  if (edited.kind === 'refused' || nodes.kind === 'refused') return { kind: 'refused', problems };
  const { registration, meta } = stored;
  const { daemonSet } = edited;
  const shape = findShapeProblem(daemonSet);
  if (shape !== undefined) return refusedShape(shape);
  const pods = withKnownRequests(read.pods, { ...context, daemonSet: input.daemonSet });
  const guard = await guardOf(daemonSet, prepared, { ...sources, outages });
  const revision = revisionOf(daemonSet, prepared);
  const staging = stagingOf({ ...sources, ...input, daemonSet });
  const start = typicalStart(pods);
  const told = tell({
    guard,
    mode: registration.mode,
    edited: daemonSet,
    isDeleted: edit.daemonSet.kind === 'delete',
    play: {
      ...{ daemonSet, nodes: nodes.nodes, pods, gone: read.gone, revisions: read.revisions },
      ...{ nowMs, startMs: start.startMs, state: input.state, hash: revision.hash },
      ...(staging === undefined ? {} : { staging: { ...staging, isViewFresh: true } }),
      formerTemplate: input.daemonSet.spec.template,
      requestTimeoutMs: sources.options.requestTimeoutMs,
      burstPodsMax: sources.options.burstPodsMax,
    },
  });
  const isSame = isSameObject(input.daemonSet, daemonSet) && edit.nodes.length === 0;
  const isDeleted = edit.daemonSet.kind === 'delete';
  return {
    kind: 'planned',
    edit: isDeleted ? 'delete' : isSame ? 'nothing' : 'change',
    ...told,
    ...{ guard, outages, start, mode: registration.mode, lastSentAtMs: meta.lastSentAtMs },
    uncomparedRevisions: revision.uncompared,
    ...defined({ fleet }),
  };
}

interface CreateEdit extends Pick<Edit, 'nodes'> {
  readonly manifest: JsonObject;
}

/** One that is not there yet. Pods without an owner that its selector matches are in no view: they would be adopted. */
async function planCreate(
  key: DaemonSetKey,
  { manifest, nodes: nodeEdits }: CreateEdit,
  sources: PlanSources,
): Promise<PlanOutcome> {
  const { registry, freezes, view, nowMs, standing, options } = sources;
  const registration = await registry.readCluster(key.cluster);
  if (registration === undefined) return { kind: 'unknown-cluster' };
  const { clusterUid, mode } = registration;
  const [meta, freeze, seen] = await Promise.all([
    view.readMeta(clusterUid),
    orUnreadable(() => freezes.readFreeze()),
    observeCluster(clusterUid, key, view),
  ]);
  if (meta === undefined) return { kind: 'never-heard' };
  const frozen = freeze.kind === 'read' ? freeze.value : freeze.kind;
  const outages = outagesOfCluster(registration, { meta, nowMs, standing, freeze: frozen });
  if (seen?.nodes === undefined) {
    const message = 'the view of its cluster is not whole';
    const remedy = `see rollcall cluster show ${key.cluster}, and ask again`;
    return { kind: 'untold', outages, message, remedy };
  }
  const edited = editNodes(seen.nodes, nodeEdits);
  if (edited.kind === 'refused') return edited;
  const daemonSet = createdDaemonSet(manifest);
  const shape = findShapeProblem(daemonSet);
  if (shape !== undefined) return refusedShape(shape);
  const stored = { meta, registration };
  const staging = stagingOf({ ...sources, stored, daemonSet });
  const guard = guardOfCreate(registration, daemonSet, { outages, frozen, key });
  const start = typicalStart([]);
  const told = tell({
    ...{ guard, mode, edited: daemonSet, isDeleted: false },
    play: {
      ...{ daemonSet, nodes: edited.nodes, pods: [], gone: [], revisions: [] },
      ...{ nowMs, startMs: start.startMs, state: emptyState(0) },
      hash: revisionHash(daemonSet, 0),
      ...(staging === undefined ? {} : { staging: { ...staging, isViewFresh: true } }),
      formerTemplate: daemonSet.spec.template,
      requestTimeoutMs: options.requestTimeoutMs,
      burstPodsMax: options.burstPodsMax,
    },
  });
  const ground = { mode, outages, lastSentAtMs: meta.lastSentAtMs };
  return {
    kind: 'planned',
    edit: 'create',
    ...told,
    ...ground,
    guard,
    start,
    uncomparedRevisions: 0,
  };
}

function refusedShape(message: string): PlanOutcome {
  return { kind: 'refused', problems: [{ field: '', message }] };
}

function untold({ key, stored }: FoundRollout, outages: readonly Outage[]): PlanOutcome {
  const standstill = standstillOf(outages, stored.registration.mode);
  if (standstill !== undefined) return { kind: 'untold', outages, ...standstill };
  const isOpaque = stored.daemonSet.object === null;
  const message = isOpaque
    ? 'the DaemonSet is too large for the view: runs read it from the API server, which this command does not ask'
    : stored.state === undefined
      ? 'no run has looked at it yet'
      : 'the view of its cluster is not whole, or only a live read could tell';
  const remedy = `see rollcall cluster show ${key.cluster}, and ask again`;
  return { kind: 'untold', outages, message, remedy };
}

function editDaemonSet(live: DaemonSetObject, edit: Edit['daemonSet']): EditedDaemonSet {
  switch (edit.kind) {
    case 'none':
    case 'delete':
      return { kind: 'edited', daemonSet: live };
    case 'apply':
      return applyManifest(live, edit.manifest);
    case 'images':
      return setImages(live, edit.images);
  }
}

interface TellInput {
  readonly mode: ClusterMode;
  readonly edited: DaemonSetObject;
  readonly isDeleted: boolean;
  readonly guard: Guard;
  readonly play: Omit<PlayInput, 'hands'>;
}

function tell({
  mode,
  edited,
  isDeleted,
  guard,
  play,
}: TellInput): EditPlan & Pick<PlannedEdit, 'hands' | 'isHeldByPolicy' | 'played'> {
  const hands = handsOf(mode, edited);
  const { staging } = play;
  const isHeld = staging !== undefined && isHeldByPolicy(edited, staging.reading, mode);
  const by = { hands, isHeldByPolicy: isHeld };
  if (isDeleted) return { ...by, ...tellDeleted(play) };
  const played = playEdit({ ...play, hands });
  const isShared = hands.hasBuiltIn && guard.kind !== 'act';
  const meanwhile = isShared
    ? playEdit({ ...play, hands: { rollcall: 'none', hasBuiltIn: true } })
    : undefined;
  return {
    ...by,
    played,
    ...tellPlan({ played, pods: play.pods, guard, ...defined({ meanwhile }) }),
  };
}

/** The garbage collector deletes what a deleted DaemonSet owned, in every mode. */
function tellDeleted({
  nodes,
  pods,
  nowMs,
}: Omit<PlayInput, 'hands'>): EditPlan & Pick<PlannedEdit, 'played'> {
  const had = new Set(pods.flatMap(({ targetNode, boundNode }) => targetNode ?? boundNode ?? []));
  const names = new Set<NodeName>([...nodes.map(({ name }) => name), ...had]);
  const told = [...names]
    .sort()
    .map((node) =>
      had.has(node)
        ? ({ node, change: 'lost', reason: 'NotWanted', atMs: nowMs } as const)
        : ({ node, change: 'unchanged', reason: 'NotWanted' } as const),
    );
  return { nodes: told, steps: [], played: { end: 'rest', endMs: nowMs, isRemovalHeld: false } };
}

function handsOf(mode: ClusterMode, daemonSet: DaemonSetObject): Hands {
  if (mode === 'takeover') return { rollcall: 'all', hasBuiltIn: false };
  const isFollowed = mode === 'copilot' && copilotStanding(daemonSet) === 'followed';
  return { rollcall: isFollowed ? 'deletes' : 'none', hasBuiltIn: true };
}

const ACT: Guard = { kind: 'act' };

/** What keeps those away who would act; a moment between two messages is none. */
async function guardOf(
  daemonSet: DaemonSetObject,
  { input: { stored, state } }: Prepared,
  sources: PlanSources & { readonly outages: readonly Outage[] },
): Promise<Guard> {
  const guard = await findGuard({ stored, daemonSet, state, sources });
  return isOfOthers(guard) ? ACT : guard;
}

function isOfOthers(guard: Guard): boolean {
  return guard.kind === 'act' || OF_OTHERS.has(guard.code);
}

/** Rollcall only looks, and the built-in controller acts; or the next message comes in a moment. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  'observe-mode',
  'not-opted-in',
  'rolling-update',
  'cut-open',
  'own-writes-unseen',
]);

function guardOfCreate(
  registration: ClusterRegistration,
  daemonSet: DaemonSetObject,
  at: {
    readonly outages: readonly Outage[];
    readonly frozen: Parameters<typeof standingFreeze>[0] | 'unreadable';
    readonly key: DaemonSetKey;
  },
): Guard {
  const standstill = standstillOf(at.outages, registration.mode);
  const outage = standstill && guardOfOutage(standstill);
  if (outage !== undefined && registration.mode !== 'observe') return outage;
  const ofStack = at.frozen === 'unreadable' ? undefined : standingFreeze(at.frozen, at.key);
  const guard = guardOfSubject(registration, daemonSet, ofStack);
  return isOfOthers(guard) ? ACT : guard;
}

/** Which revision the template is, and how many it could not be compared with, as their data are in no table. */
function revisionOf(
  next: DaemonSetObject,
  { input: { daemonSet, state, view }, context }: Prepared,
): { readonly hash: string | undefined; readonly uncompared: number } {
  if (hasSameTemplate(daemonSet, next)) return { hash: context.currentHash, uncompared: 0 };
  const id = revisionHash(next, 0);
  const known = state.rollout?.good.find((release) => release.id === id);
  if (known !== undefined) return { hash: known.hash, uncompared: 0 };
  // As Rollcall names revisions that it makes: of one that it made before this finds the name again.
  const hash = revisionHash(next, next.status?.collisionCount ?? 0);
  const others = view.revisions.filter(({ labels }) => {
    const label = labels['controller-revision-hash'];
    return label !== hash && label !== context.currentHash;
  });
  const isMade = view.revisions.length > others.length + 1;
  return { hash, uncompared: isMade ? 0 : others.length };
}
