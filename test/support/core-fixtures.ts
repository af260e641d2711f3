/**
 * Small builders for tests of the core: a DaemonSet, nodes, pods, revisions, state, context.
 *
 * Each takes only what a test is about; the rest is a healthy default. Nothing random, no clock.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  nodeName,
  resourceVersion,
  uid,
  clusterUid,
  epoch,
  incarnation,
} from '../../src/core/model/identifiers.ts';
import type { DaemonSetObject, PodSpec } from '@rollcall/base/objects.ts';
import type { Guard, Plan, PlanContext, View } from '../../src/core/model/plan.ts';
import type {
  NodeProjection,
  PodProjection,
  RevisionProjection,
  Tombstone,
} from '../../src/core/model/projections.ts';
import { emptyState } from '../../src/core/model/state.ts';
import type { CreateIntent, DaemonSetState, DeleteIntent } from '../../src/core/model/state.ts';
import type { ClusterMeta } from '../../src/core/model/view-items.ts';
import { ZERO_STAMP } from '../../src/core/model/position.ts';
import { slotName } from '../../src/core/pod/naming.ts';
import { RUN_MAX_MS } from '../../src/core/pod/request-life.ts';
import { computeView } from '../../src/core/view/view.ts';

/** The moment at which tests of the core take place. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
/** UID of the DaemonSet of `daemonSet()`. */
export const OWNER_UID = uid('11111111-2222-3333-4444-555555555555');
/** Hash of the current revision in tests that have one. */
export const CURRENT_HASH = 'bcdfghjklm';
/** Per-request time-out of `context()`. */
export const TIMEOUT_MS = 10_000;
/** After its record, a request of a run that said no deadline is dead: as long as a run lasts, and twice its time-out. */
export const LIFE_MS = RUN_MAX_MS + 2 * TIMEOUT_MS;

export interface DaemonSetOptions {
  readonly name?: string;
  readonly spec?: JsonObject;
  readonly podSpec?: PodSpec;
  readonly templateMetadata?: JsonObject;
  readonly metadata?: JsonObject;
  readonly status?: JsonObject;
}

/** A DaemonSet `ns/agent` that selects app=agent. */
export function daemonSet(options: DaemonSetOptions = {}): DaemonSetObject {
  const object: JsonObject = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: options.name ?? 'agent',
      namespace: 'ns',
      uid: OWNER_UID,
      resourceVersion: '100',
      generation: 1,
      ...options.metadata,
    },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: options.templateMetadata ?? { labels: { app: 'agent' } },
        spec: (options.podSpec ?? {
          containers: [{ name: 'main', image: 'agent:1' }],
        }) as JsonObject,
      },
      ...options.spec,
    },
    ...(options.status === undefined ? {} : { status: options.status }),
  };
  return object as unknown as DaemonSetObject; // raw JSON of the shape above
}

/** Spec members of a DaemonSet with maxSurge. */
export function surging(maxSurge: number | string = 1): JsonObject {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge } } };
}

/** A ready node without labels and taints. */
export function node(name: string, options: Partial<NodeProjection> = {}): NodeProjection {
  return {
    kind: 'Node',
    name: nodeName(name),
    uid: uid(`node-${name}`),
    resourceVersion: resourceVersion('50'),
    labels: {},
    taints: [],
    unschedulable: false,
    isReady: true,
    isTerminating: false,
    ...options,
  };
}

/** The slot name of a node for `daemonSet()`. */
export function slot(onNode: string, revision?: string): string {
  return slotName({
    daemonSetName: 'agent',
    daemonSetUid: OWNER_UID,
    node: nodeName(onNode),
    ...(revision === undefined ? {} : { revision }),
  });
}

/** What of a pod a test varies; `null` takes a member away. */
export type PodOptions = { readonly [Key in keyof PodProjection]?: PodProjection[Key] | null };

/** An owned, bound, running and ready pod under its node's slot name. */
export function pod(onNode: string, options: PodOptions = {}): PodProjection {
  const name = options.name ?? slot(onNode);
  const members: Record<string, unknown> = {
    kind: 'Pod',
    namespace: 'ns',
    name,
    uid: uid(`pod-${name}`),
    resourceVersion: resourceVersion('60'),
    ownerUid: OWNER_UID,
    labels: { app: 'agent', 'controller-revision-hash': CURRENT_HASH },
    boundNode: nodeName(onNode),
    targetNode: nodeName(onNode),
    phase: 'Running',
    isReady: true,
    readyChangedAtMs: NOW_MS - 3_600_000,
    createdAtMs: NOW_MS - 3_700_000,
    isTerminating: false,
    ...options,
  };
  const kept = Object.entries(members).filter(([, value]) => value !== null);
  return Object.fromEntries(kept) as unknown as PodProjection; // all members are set above
}

/** A failed pod. */
export function failedPod(onNode: string, options: PodOptions = {}): PodProjection {
  return pod(onNode, { phase: 'Failed', isReady: false, ...options });
}

/** A pod of another name on a node, as a takeover or an adoption finds it. */
export function namedPod(onNode: string, name: string, options: PodOptions = {}): PodProjection {
  return pod(onNode, { name, ...options });
}

/** The tombstone of a pod of a node, made and gone a minute ago. */
export function tombstone(onNode: string, options: Partial<Tombstone> = {}): Tombstone {
  const name = options.name ?? slot(onNode);
  return {
    name,
    uid: uid(`pod-${name}`),
    node: nodeName(onNode),
    revision: CURRENT_HASH,
    createdAtMs: NOW_MS - 60_000,
    goneAtMs: NOW_MS - 60_000,
    ...options,
  };
}

/** A revision projection. */
export function revision(
  number: number,
  options: Partial<RevisionProjection> = {},
): RevisionProjection {
  return {
    kind: 'ControllerRevision',
    namespace: 'ns',
    name: `agent-${number}`,
    uid: uid(`revision-${number}`),
    resourceVersion: resourceVersion('70'),
    ownerUid: OWNER_UID,
    labels: { app: 'agent' },
    revision: number,
    isTerminating: false,
    ...options,
  };
}

/** A create intent for a node, recorded just now. */
export function createIntent(onNode: string, options: Partial<CreateIntent> = {}): CreateIntent {
  const recordedAtMs = options.recordedAtMs ?? NOW_MS;
  return {
    kind: 'create',
    node: nodeName(onNode),
    name: slot(onNode),
    recordedAtMs,
    startsByMs: recordedAtMs + RUN_MAX_MS,
    ...options,
  };
}

/** The request that a create outran: its run could go on for as long as any. */
export function outrun(recordedAtMs: number): Pick<CreateIntent, 'earlier'> {
  return { earlier: { recordedAtMs, startsByMs: recordedAtMs + RUN_MAX_MS } };
}

/** The answer of a create under a name. */
export function answerOf(name: string, version = '90'): NonNullable<CreateIntent['answer']> {
  return { uid: uid(`pod-${name}`), resourceVersion: resourceVersion(version) };
}

/** A delete intent for a pod, recorded just now and not answered. */
export function deleteIntent(
  victim: PodProjection,
  options: Partial<DeleteIntent> = {},
): DeleteIntent {
  const recordedAtMs = options.recordedAtMs ?? NOW_MS;
  return {
    kind: 'delete',
    ...(victim.targetNode === undefined ? {} : { node: victim.targetNode }),
    name: victim.name,
    uid: victim.uid,
    resourceVersion: victim.resourceVersion,
    recordedAtMs,
    startsByMs: recordedAtMs + RUN_MAX_MS,
    isAccepted: false,
    ...options,
  };
}

/** A state that was written long ago. */
export function state(options: Partial<DaemonSetState> = {}): DaemonSetState {
  return { ...emptyState(NOW_MS - 86_400_000), version: 7, ...options };
}

/** A context that may act. */
export function context(options: Partial<PlanContext> = {}): PlanContext {
  return {
    guard: { kind: 'act' },
    state: state(),
    currentHash: CURRENT_HASH,
    requestTimeoutMs: TIMEOUT_MS,
    burstPodsMax: 250,
    ...options,
  };
}

/** A guard that lets only the status through. */
export function statusOnly(code: Exclude<Guard, { kind: 'act' }>['code']): Guard {
  return { kind: 'status-only', code, message: 'for the test' };
}

/** What of a view a test varies. */
export interface ViewOptions {
  readonly daemonSet?: DaemonSetObject;
  readonly nodes?: readonly NodeProjection[];
  readonly pods?: readonly PodProjection[];
  readonly gone?: readonly Tombstone[];
  readonly revisions?: readonly RevisionProjection[];
  readonly nowMs?: number;
}

/** A view of `daemonSet()`; nothing else exists unless said so. */
export function view(options: ViewOptions = {}): View {
  return computeView({
    daemonSet: options.daemonSet ?? daemonSet(),
    nodes: options.nodes ?? [],
    pods: options.pods ?? [],
    gone: options.gone ?? [],
    revisions: options.revisions ?? [],
    nowMs: options.nowMs ?? NOW_MS,
  });
}

/** META of a cluster that is whole and was heard of just now. */
export function meta(options: Partial<ClusterMeta> = {}): ClusterMeta {
  return {
    version: 3,
    clusterUid: clusterUid('cluster'),
    era: 1,
    epoch: epoch('1000'),
    incarnation: incarnation('one'),
    seq: 5,
    isComplete: true,
    isCutOpen: false,
    broken: 0,
    sliceCount: 1,
    marks: { Pod: resourceVersion('80') },
    hashes: { Node: 0, Pod: 0, DaemonSet: 0, ControllerRevision: 0 },
    lastSentAtMs: NOW_MS,
    heardAtMs: { Node: NOW_MS, Pod: NOW_MS, DaemonSet: NOW_MS, ControllerRevision: NOW_MS },
    nodesChanged: ZERO_STAMP,
    daemonSetsChanged: ZERO_STAMP,
    ...options,
  };
}

/** A plan to be compared with another: with its verdicts in words. */
export function inWords(
  plan: Plan,
): Omit<Plan, 'verdicts'> & { readonly verdicts: ReturnType<Plan['verdicts']> } {
  return { ...plan, verdicts: plan.verdicts() };
}
