/**
 * A cluster in one look: what is registered, and what its watcher was last heard to say.
 *
 * Read only, from the registry and META; nothing is asked of the cluster itself. No credential is part
 * of it (S11).
 */
import { defined } from '@rollcall/base/defined.ts';
import { outagesOfCluster } from '../../../app/why/standing.ts';
import { SILENT_AFTER_MS } from '../../../core/status/outages.ts';
import type { Outage, OutageCode } from '../../../core/status/outages.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../../ports/stores/view-store.ts';
import { listEveryCluster } from '../../../app/clusters/read-registry.ts';
import type { Freeze, StandingFreeze } from '../../../core/takeover/freeze.ts';
import { noteText } from '../../command-line/freeze-words.ts';
import { UID_PATTERN } from '../../command-line/cluster-arguments.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';

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

/** What a summary is read from. */
export interface SummarySources {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listClusters' | 'listRefusals'>;
  readonly view: Pick<ViewStore, 'readMeta'>;
  readonly clock: Clock;
}

/** Puts a summary together. */
export function summarise(
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

/** The same with what is frozen for the whole stack. */
export function withStackFreeze(summary: ClusterSummary, { all: note }: Freeze): ClusterSummary {
  if (note === undefined) return summary;
  return { ...summary, isFrozen: true, freezes: [{ scope: 'stack', note }, ...summary.freezes] };
}

/** Outages in few words; a freeze has a column of its own. */
const SHORTLY: Readonly<Partial<Record<OutageCode, readonly [string]>>> = {
  'watcher-silent': ['its watcher is silent'],
  'watcher-stands-by': ['its watcher stands by: another one holds its Lease'],
  'api-server-unreachable': ['its API server does not answer'],
};

/** What is wrong with a cluster, in few words; empty when nothing is. */
export function troublesOf(summary: ClusterSummary): readonly string[] {
  const own = summary.freezes.find(({ scope }) => scope === 'cluster')?.note;
  const troubles = own === undefined ? [] : [`frozen${noteText(own)}`];
  if (summary.rebuilt !== undefined) {
    return [`rebuilt: it is ${summary.rebuilt.foundUid} now; rollcall cluster reset ${summary.id}`];
  }
  if (summary.conflict !== undefined) troubles.push('another controller was seen');
  if (summary.heardAtMs === undefined) troubles.push('its watcher was never heard');
  for (const { code } of summary.outages) troubles.push(...(SHORTLY[code] ?? []));
  if (summary.heardAtMs !== undefined && !summary.isViewComplete) {
    const why = summary.incompleteReason ?? 'waiting for a snapshot';
    troubles.push(`view incomplete: ${why}`);
  }
  return troubles;
}

const READ_AT_ONCE = 32;
const UNFINISHED = 'adding or removing it was not finished: repeat that command';

/** A registration that could not be read must not hide the others. */
export interface UnreadableCluster {
  readonly id: string;
  readonly problem: string;
}

/** All clusters of a stack in order of their ids, and those whose registration cannot be read. */
export async function listSummaries(sources: SummarySources): Promise<{
  readonly clusters: readonly ClusterSummary[];
  readonly unreadable: readonly UnreadableCluster[];
}> {
  const ids = await listEveryCluster(sources.registry);
  const read = await sideBySide(ids, READ_AT_ONCE, (id) => readSummary(id, sources));
  return {
    clusters: read.flatMap((one) => ('problem' in one ? [] : [one])),
    unreadable: read.flatMap((one) => ('problem' in one ? [one] : [])),
  };
}

async function readSummary(
  id: ClusterId,
  sources: SummarySources,
): Promise<ClusterSummary | UnreadableCluster> {
  const { registry, view, clock } = sources;
  let registration: ClusterRegistration | undefined;
  try {
    registration = await registry.readCluster(id);
  } catch (error) {
    if (error instanceof Error && error.name === 'ItemUnreadableError') {
      return { id, problem: error.message };
    }
    throw error;
  }
  // Its entry in the directory is written first and removed last.
  if (registration === undefined) return { id, problem: UNFINISHED };
  const meta = await view.readMeta(registration.clusterUid);
  return withRebuilt(summarise(registration, meta, clock.nowMs()), registration, sources);
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
export async function withRebuilt(
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
