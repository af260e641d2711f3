/**
 * A cluster in one look: what is registered, and what its watcher was last heard to say.
 *
 * Read only, from the registry and META; nothing is asked of the cluster itself. No credential is part
 * of it (S11).
 */
import { defined } from '@rollcall/base/defined.ts';
import { outagesOfCluster } from '../why/standing.ts';
import { SILENT_AFTER_MS, type Outage } from '../../core/status/outages.ts';
import { UID_PATTERN, type ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import type { Freeze, StandingFreeze } from '../../core/may-act/freeze.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';

/** What is known of a cluster, as `cluster list --json` shows it. */
export interface ClusterSummary {
  readonly id: string;
  readonly clusterUid: string;
  readonly mode: ClusterRegistration['mode'];
  /** By any of `freezes`. */
  readonly isFrozen: boolean;
  /** What holds the whole cluster, the widest first: the stack's freeze, its own. */
  readonly freezes: readonly StandingFreeze[];
  readonly server: string;
  readonly authentication: ClusterRegistration['authentication']['kind'];
  readonly labels: Readonly<Record<string, string>>;
  readonly configVersion: number;
  /** When the last message of its watcher was sent, in milliseconds since 1970; absent: never heard. */
  readonly heardAtMs?: number;
  readonly silentForMs?: number;
  /** What makes what is told of it untrue, beside what holds for the whole stack; the gravest first. */
  readonly outages: readonly Outage[];
  readonly isViewComplete: boolean;
  readonly incompleteReason?: string;
  readonly conflict?: { readonly seenAtMs: number; readonly evidence: string };
  /** Its watcher speaks of another cluster: it was rebuilt, and waits for `cluster reset` (row 90). */
  readonly rebuilt?: {
    /** As the watcher said it; registering it anew reads it from the cluster itself. */
    readonly foundUid: string;
    readonly atMs: number;
  };
}

export interface SummarySources {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listRefusals'>;
  readonly view: Pick<ViewStore, 'readMeta'>;
  readonly clock: Clock;
}

function summarise(
  registration: ClusterRegistration,
  meta: ClusterMeta | undefined,
  nowMs: number,
): ClusterSummary {
  const { id, clusterUid, mode, isFrozen, server, authentication, labels } = registration;
  const { configVersion, rival, frozen: note } = registration;
  return {
    id,
    clusterUid,
    mode,
    isFrozen,
    freezes: isFrozen ? [{ scope: 'cluster', ...defined({ note }) }] : [],
    server,
    authentication: authentication.kind,
    labels,
    configVersion,
    ...defined({
      heardAtMs: meta?.lastSentAtMs,
      silentForMs: meta && Math.max(0, nowMs - meta.lastSentAtMs),
    }),
    outages: outagesOfCluster(registration, { meta, nowMs }),
    isViewComplete: meta?.isComplete === true,
    ...defined({
      incompleteReason: meta?.isComplete === true ? undefined : meta?.incompleteReason,
      conflict: rival,
    }),
  };
}

export function withStackFreeze(summary: ClusterSummary, { all: note }: Freeze): ClusterSummary {
  if (note === undefined) return summary;
  return { ...summary, isFrozen: true, freezes: [{ scope: 'stack', note }, ...summary.freezes] };
}

/** A registration that could not be read must not hide the others. */
export interface UnreadableCluster {
  readonly id: string;
  readonly problem: string;
}

const UNFINISHED = 'adding or removing it was not finished: repeat that command';

/** A cluster as it was read; `meta` undefined: nothing was ever heard of it. */
export interface ReadCluster {
  readonly registration: ClusterRegistration;
  readonly meta: ClusterMeta | undefined;
  readonly summary: ClusterSummary;
}

/** Reads one. Rejects when a table fails. */
export async function readCluster(
  id: ClusterId,
  sources: SummarySources,
): Promise<ReadCluster | UnreadableCluster> {
  const { registry, view, clock } = sources;
  const read = await orUnreadable(() => registry.readCluster(id));
  if (read.kind === 'unreadable') return { id, problem: read.problem };
  const { value: registration } = read;
  // Its entry in the directory is written first and removed last.
  if (registration === undefined) return { id, problem: UNFINISHED };
  const meta = await view.readMeta(registration.clusterUid);
  const seen = summarise(registration, meta, clock.nowMs());
  const summary = await withRebuilt(seen, registration, sources);
  return { registration, meta, summary };
}

/** A repeated refusal is noted once an hour, so one hour back may just have begun. */
const LOOK_BACK_MS = 2 * 3_600_000;

/**
 * Whether a cluster that is not heard was rebuilt under its old name: its watcher's messages name
 * another cluster UID. They are refused and noted (once an hour) with the UID as their detail, as
 * of the cluster's own sender, because their sender is the registered one. A rebuilt cluster is
 * never heard, so others are not asked; what was noted of the UID that is registered by now is
 * past.
 */
async function withRebuilt(
  summary: ClusterSummary,
  { id, clusterUid }: ClusterRegistration,
  { registry, clock }: Pick<SummarySources, 'registry' | 'clock'>,
): Promise<ClusterSummary> {
  if ((summary.silentForMs ?? Infinity) <= SILENT_AFTER_MS) return summary;
  const sinceMs = clock.nowMs() - LOOK_BACK_MS;
  const notice = (await registry.listRefusals(id, 'verified')).find(
    ({ code, detail, atMs }) =>
      code === 'wrong-cluster-uid' &&
      atMs >= sinceMs &&
      detail !== clusterUid &&
      UID_PATTERN.test(detail),
  );
  if (notice === undefined) return summary;
  return { ...summary, rebuilt: { foundUid: notice.detail, atMs: notice.atMs } };
}
