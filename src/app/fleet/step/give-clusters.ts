/**
 * Gives clusters a release, ten at once; freeze and record are read again before each batch. Each:
 * its record by compare-and-set, the registration again, then server-side apply, then the answer. A
 * process that dies in between leaves `applying`, and the same is given again. The first clusters
 * of a stage are asked by a dry run before any of them is given it.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type {
  ClusterPlace,
  FleetClusterRecord,
  FleetGate,
  FleetRecord,
} from '../../../core/fleet/rollout/fleet-record.ts';
import {
  FAILURE_MESSAGE_MAX,
  whyNotGiven,
  withFailure,
} from '../../../core/fleet/rollout/note-verdict.ts';
import { whyUntouched } from '../../../core/fleet/plan-cluster.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { isPastDeadline, type StartLimits } from '../../../core/pod/request-life.ts';
import { freezeOf } from '../../../core/may-act/freeze.ts';
import { GIVEN_AT_ONCE, type StepFleetsDependencies } from '../observe/dependencies.ts';
import { sendManifest, type Answer } from '../send-manifest.ts';
import type { ReleaseRendering } from '../observe/release-rendering.ts';
import type { ReachableCluster } from '../observe/observe-clusters.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';

export interface ClusterApply {
  readonly cluster: ReachableCluster;
  readonly rendering: ReleaseRendering;
  readonly place: ClusterPlace;
  /** Only the nodes that the first stage asks for. */
  readonly isPartial: boolean;
  /** On the way back. */
  readonly isReturn: boolean;
  /** Without approval and windows. */
  readonly isUngated?: true;
}

/** Gives them what they are to have; those behind the deadline, or a fence, come with the next step. */
export async function giveClusters(
  { applies, record, limits }: Under & { readonly applies: readonly ClusterApply[] },
  dependencies: StepFleetsDependencies,
): Promise<void> {
  for (let from = 0; from < applies.length; from += GIVEN_AT_ONCE) {
    const { clock } = dependencies;
    if (isPastDeadline(limits, { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() })) return;
    if (!(await stands(record, dependencies))) return;
    await sideBySide(applies.slice(from, from + GIVEN_AT_ONCE), GIVEN_AT_ONCE, (apply) =>
      giveCluster(apply, { record, limits }, dependencies),
    );
  }
}

/** False once something is frozen, or the record was changed by an order or another step. */
async function stands(
  record: FleetRecord,
  { freezes, rollouts }: StepFleetsDependencies,
): Promise<boolean> {
  const [freeze, now] = await Promise.all([freezes.readFreeze(), rollouts.readRecord(record)]);
  return (
    freezeOf(freeze, record) === undefined &&
    now?.uid === record.uid &&
    now.version === record.version
  );
}

interface Under {
  readonly record: FleetRecord;
  readonly limits: StartLimits;
}

function applying(apply: ClusterApply, hash: string, nowMs: number): FleetClusterRecord {
  const { cluster, rendering, place, isPartial, isReturn, isUngated } = apply;
  const { registration, nodes } = cluster;
  const { generation, contentHash } = rendering.release;
  const record = givenBefore(apply);
  const kept = record ? { reverts: answered(record.reverts), nodes: record.nodes } : { nodes };
  return {
    cluster: registration.id,
    clusterUid: registration.clusterUid,
    version: cluster.record?.version ?? 0,
    place,
    generation,
    contentHash,
    hash,
    openedAtMs: record?.openedAtMs ?? nowMs,
    isPartial,
    phase: isReturn ? 'returning' : 'applying',
    attempts: record !== undefined && record.phase !== 'failed' ? record.attempts + 1 : 1,
    dueAtMs: nowMs,
    ...defined({ ...kept, isUngated }),
  };
}

/** The record of a cluster that was given the same before; undefined: something else. */
function givenBefore({
  cluster: { record, registration },
  rendering,
  ...apply
}: ClusterApply): FleetClusterRecord | undefined {
  const isSame =
    record?.contentHash === rendering.release.contentHash &&
    record.clusterUid === registration.clusterUid &&
    record.isPartial === apply.isPartial &&
    record.isUngated === apply.isUngated &&
    record.place === apply.place;
  return isSame ? record : undefined;
}

/** What was taken back is given again: the next time that it is, it is another turn. */
function answered(reverts: FleetClusterRecord['reverts']): FleetClusterRecord['reverts'] {
  if (reverts === undefined) return undefined;
  const { isOpen: _answered, ...turns } = reverts;
  return turns;
}

async function giveCluster(
  apply: ClusterApply,
  { record: fleet, limits }: Under,
  dependencies: StepFleetsDependencies,
): Promise<void> {
  const { rollouts, clock, log, metrics } = dependencies;
  const { registration: seen } = apply.cluster;
  const rendered = apply.rendering.renderFor(seen, apply);
  const nowMs = clock.nowMs();
  const hash = rendered.kind === 'rendered' ? rendered.hash : '';
  const recorded = applying(apply, hash, nowMs);
  const refusal = whyNotGiven(rendered, seen.mode);
  if (refusal !== undefined || rendered.kind !== 'rendered') {
    const failure =
      refusal ?? ({ cause: 'Refused', message: 'it renders to no DaemonSet' } as const);
    await rollouts.writeClusterRecord(
      fleet,
      withFailure(recorded, { ...failure, atMs: nowMs, nodes: [] }),
    );
    return;
  }
  if ((await rollouts.writeClusterRecord(fleet, recorded)) === 'lost') return;
  const registration = await readAsSeen(seen, dependencies);
  if (registration === undefined) return;
  const answer = await sendManifest(
    {
      ...{ registration, limits, manifest: rendered.manifest },
      ...{ isForced: apply.rendering.isForced, isDryRun: false },
    },
    dependencies,
  );
  metrics.count('FleetApplies', { outcome: answer.kind });
  log.info('a cluster of a fleet was given a release', {
    fleet: `${fleet.namespace}/${fleet.name}`,
    cluster: registration.id,
    generation: apply.rendering.release.generation,
    outcome: answer.kind,
  });
  const written = { ...recorded, version: recorded.version + 1 };
  await rollouts.writeClusterRecord(fleet, noteAnswer(written, answer, clock.nowMs()));
}

/** The registration as it is now; undefined: it is not as the step saw it, and nothing is sent by it. */
async function readAsSeen(
  { id, configVersion }: ClusterRegistration,
  { registry, log }: Pick<StepFleetsDependencies, 'registry' | 'log'>,
): Promise<ClusterRegistration | undefined> {
  const stored = await registry.readCluster(id);
  const isAsSeen = stored?.configVersion === configVersion && whyUntouched(stored) === undefined;
  if (isAsSeen) return stored;
  log.info('a cluster of a fleet was given nothing: its registration changed', { cluster: id });
  return undefined;
}

/** Tries that were not answered, before a cluster counts as failed: some three hours, as they come ever more seldom. */
const ATTEMPTS_MAX = 24;
const RETRY_FIRST_MS = 15_000;
const RETRY_MAX_MS = 600_000;

function noteAnswer(record: FleetClusterRecord, answer: Answer, nowMs: number): FleetClusterRecord {
  if (answer.kind === 'applied') {
    return {
      ...record,
      appliedGeneration: answer.generation,
      phase: record.phase === 'returning' ? 'returning' : 'rolling',
      attempts: 0,
    };
  }
  if (answer.kind === 'failed') {
    const { cause, message } = answer;
    return withFailure(record, { cause, message, atMs: nowMs, nodes: [] });
  }
  if (record.attempts >= ATTEMPTS_MAX) {
    const message = `its API server did not answer ${counted(record.attempts, 'time')}: ${answer.message}`;
    return withFailure(record, { cause: 'Unreachable', message, atMs: nowMs, nodes: [] });
  }
  const waitMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (record.attempts - 1));
  return { ...record, dueAtMs: nowMs + Math.max(waitMs, answer.retryAfterMs ?? 0) };
}

const ASK_AGAIN_MS = 60_000;
const ASK_AGAIN_MS_MAX = 600_000;

export type RefusedGate = Extract<FleetGate, { readonly kind: 'refused' }>;

interface FirstAsk {
  readonly applies: readonly ClusterApply[];
  /** Clusters that may be unable to take it. */
  readonly refusalsMax: number;
  /** Since when it is held already; absent: it was not. */
  readonly sinceMs?: number;
  readonly limits: StartLimits;
}

/** Asks them. Undefined: they may be given it. Rejects when a table fails. */
export async function askFirst(
  { applies, refusalsMax, limits, ...held }: FirstAsk,
  dependencies: StepFleetsDependencies,
): Promise<RefusedGate | undefined> {
  const asked = applies.slice(0, GIVEN_AT_ONCE);
  const refusals = (
    await sideBySide(asked, GIVEN_AT_ONCE, (apply) => refusalOf(apply, limits, dependencies))
  ).filter((refusal) => refusal !== undefined);
  const [first] = refusals;
  if (first === undefined || refusals.length <= refusalsMax) return undefined;
  const nowMs = dependencies.clock.nowMs();
  const sinceMs = held.sinceMs ?? nowMs;
  const pauseMs = Math.min(ASK_AGAIN_MS_MAX, Math.max(ASK_AGAIN_MS, nowMs - sinceMs));
  return { kind: 'refused', ...first, sinceMs, askAtMs: nowMs + pauseMs };
}

async function refusalOf(
  { cluster: { registration: seen }, rendering, isPartial }: ClusterApply,
  limits: StartLimits,
  dependencies: StepFleetsDependencies,
): Promise<{ readonly cluster: ClusterId; readonly message: string } | undefined> {
  const rendered = rendering.renderFor(seen, { isPartial });
  const isGiven = whyNotGiven(rendered, seen.mode) === undefined;
  if (!isGiven || rendered.kind !== 'rendered') return undefined;
  const registration = await readAsSeen(seen, dependencies);
  if (registration === undefined) return undefined;
  const { isForced } = rendering;
  const { manifest } = rendered;
  const answer = await sendManifest(
    { registration, manifest, isForced, isDryRun: true, limits },
    dependencies,
  );
  const isRefusal = answer.kind === 'failed' && answer.cause === 'Refused';
  if (!isRefusal) return undefined;
  return { cluster: registration.id, message: answer.message.slice(0, FAILURE_MESSAGE_MAX) };
}
