/**
 * Takeover: the probe for the built-in DaemonSet controller, and the switch (design 5, protocol 9).
 *
 * The probe is a DaemonSet that matches no node: if its observedGeneration rises, a
 * controller runs, and takeover is refused. Two controllers on one cluster would break S1. Doubt
 * refuses: only a quiet probe lets takeover be entered. It then stays as the sentinel, which gives away
 * a controller that comes back (core/may-act/takeover-sentinel.ts); otherwise it is deleted.
 */
import { uid } from '../../core/model/identifiers.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ObjectMeta } from '@rollcall/base/objects.ts';
import type { ClusterRegistration, TakeoverSentinel } from '../../core/model/registration.ts';
import {
  SENTINEL_KEY,
  isObserved,
  isSentinel,
  sentinelBody,
} from '../../core/may-act/takeover-sentinel.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { ClusterConnector } from '../../ports/cluster/cluster-access.ts';
import type { ProbeAccess } from '../../ports/cluster/hand-back-access.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import { askForSnapshot } from '../clusters/ask-for-snapshot.ts';
import { breakView } from '../clusters/change-stored.ts';

interface ProbeDependencies extends Pick<ProcessPorts, 'clock' | 'random'> {
  readonly access: ProbeAccess;
  /** How long the built-in loop gets to show itself; longer than a leader's lease of 15 s. */
  readonly waitMs?: number;
  readonly pollMs?: number;
}

/** What the probe found. Takeover may be entered only when `absent`: the probe is then left behind. */
export type ProbeResult =
  | { readonly kind: 'absent'; readonly probedAtMs: number; readonly sentinel: TakeoverSentinel }
  | { readonly kind: 'present'; readonly afterMs: number }
  | { readonly kind: 'unknown'; readonly message: string };

const END_OF_TIME_MS = 8.64e15;
const WAIT_MS = 20_000;
const POLL_MS = 1_000;

/**
 * Creates a DaemonSet that matches no node, and sees whether a controller observes it. Left in the cluster
 * only when none did; one that stood there before is replaced, so that a watch begins at zero.
 */
export async function probeForBuiltInController(
  dependencies: ProbeDependencies,
): Promise<ProbeResult> {
  const { access, random } = dependencies;
  const cleared = await removeSentinel(access);
  if (cleared.kind !== 'gone') return { kind: 'unknown', message: cleared.message };
  const body = sentinelBody(random.uniqueId());
  const created = await access.createDaemonSet({ ...SENTINEL_KEY, body });
  if (created.kind === 'missing') {
    return { kind: 'unknown', message: `the namespace ${SENTINEL_KEY.namespace} does not exist` };
  }
  if (created.kind === 'unavailable') {
    // An unclear answer: it may exist.
    await removeSentinel(access);
    return { kind: 'unknown', message: `the probe could not be created: ${created.message}` };
  }
  const { metadata } = created.object;
  let result: ProbeResult | undefined;
  try {
    result = await watchProbe(sentinelOf(metadata), dependencies);
    return result;
  } finally {
    if (result?.kind !== 'absent') {
      await access.deleteDaemonSet(SENTINEL_KEY, { uid: uid(metadata.uid) });
    }
  }
}

function sentinelOf({ uid: own, creationTimestamp }: ObjectMeta): TakeoverSentinel {
  const createdAtMs = Date.parse(creationTimestamp ?? '');
  // A server that gives no time gives none to compare with either: nothing is later than this.
  return { uid: uid(own), createdAtMs: Number.isNaN(createdAtMs) ? END_OF_TIME_MS : createdAtMs };
}

async function watchProbe(
  sentinel: TakeoverSentinel,
  { access, clock, waitMs = WAIT_MS, pollMs = POLL_MS }: ProbeDependencies,
): Promise<ProbeResult> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    await clock.sleep(pollMs);
    const read = await access.getDaemonSet(SENTINEL_KEY);
    const afterMs = clock.monotonicMs() - startedMs;
    const isOurs = read.kind !== 'found' || read.object.metadata.uid === sentinel.uid;
    if (read.kind === 'missing' || !isOurs) {
      return { kind: 'unknown', message: 'another client deleted or replaced the probe' };
    }
    if (read.kind === 'found' && isObserved(read.object)) return { kind: 'present', afterMs };
    if (afterMs < waitMs) continue;
    if (read.kind === 'unavailable') {
      return { kind: 'unknown', message: `the probe could not be read: ${read.message}` };
    }
    return { kind: 'absent', probedAtMs: clock.nowMs(), sentinel };
  }
}

type SentinelRemoval =
  | { readonly kind: 'gone' }
  /** A DaemonSet has its name that is not Rollcall's. */
  | { readonly kind: 'foreign'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Deletes the sentinel that stands in the cluster, by its UID; never a DaemonSet that is not one. */
export async function removeSentinel(access: ProbeAccess): Promise<SentinelRemoval> {
  const found = await access.getDaemonSet(SENTINEL_KEY);
  if (found.kind === 'missing') return { kind: 'gone' };
  const where = `DaemonSet ${SENTINEL_KEY.namespace}/${SENTINEL_KEY.name}`;
  if (found.kind === 'unavailable') {
    return { kind: 'failed', message: `${where} could not be read: ${found.message}` };
  }
  if (!isSentinel(found.object)) {
    return { kind: 'foreign', message: `${where} stands in the way and is not Rollcall’s` };
  }
  const deleted = await access.deleteDaemonSet(SENTINEL_KEY, {
    uid: uid(found.object.metadata.uid),
  });
  if (deleted.kind !== 'unavailable') return { kind: 'gone' };
  return { kind: 'failed', message: `${where} could not be deleted: ${deleted.message}` };
}

/**
 * True if the sentinel of a takeover stands as it was left: takeover may go on after a pause. Any
 * doubt is a no, and the probe must be repeated.
 */
export async function isSentinelQuiet(
  registration: ClusterRegistration,
  access: ProbeAccess,
): Promise<boolean> {
  const { sentinel, rival } = registration;
  if (sentinel === undefined || rival !== undefined) return false;
  const read = await access.getDaemonSet(SENTINEL_KEY);
  if (read.kind !== 'found' || read.object.metadata.uid !== sentinel.uid) return false;
  return read.object.metadata.deletionTimestamp === undefined && !isObserved(read.object);
}

export interface TakeoverDependencies extends ProbeDependencies {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>;
  readonly view: Pick<ViewStore, 'readMeta' | 'writeMeta'>;
  readonly connector: ClusterConnector;
}

type TakeoverResult =
  | { readonly kind: 'entered'; readonly probedAtMs: number; readonly isSnapshotRequested: boolean }
  | { readonly kind: 'refused'; readonly reason: 'unknown-cluster' | 'built-in-controller-runs' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Probes, then switches the registration to takeover.
 *
 * The view is made incomplete first, by a loss that only a snapshot announced after it repairs
 * (protocol 9, 18); then the mode is written. A crash in between leaves an observed cluster that waits
 * for a snapshot. A concurrent change of the registration makes this fail, not overwrite.
 */
export async function enterTakeover(
  cluster: ClusterId,
  dependencies: TakeoverDependencies,
): Promise<TakeoverResult> {
  const { registry, connector, random } = dependencies;
  const registration = await registry.readCluster(cluster);
  if (registration === undefined) return { kind: 'refused', reason: 'unknown-cluster' };
  const probe = await probeForBuiltInController(dependencies);
  if (probe.kind === 'present') return { kind: 'refused', reason: 'built-in-controller-runs' };
  if (probe.kind === 'unknown') return { kind: 'failed', message: probe.message };
  const switched = await switchOver(registration, probe, dependencies);
  if ('kind' in switched) {
    await dependencies.access.deleteDaemonSet(SENTINEL_KEY, { uid: probe.sentinel.uid });
    return switched;
  }
  const answer = await askForSnapshot(switched, `takeover-${random.uniqueId()}`, connector);
  const isSnapshotRequested = answer.kind === 'asked';
  return { kind: 'entered', probedAtMs: probe.probedAtMs, isSnapshotRequested };
}

/** Breaks the view, then writes the mode; a rival that was noted is of an earlier takeover from then on. */
async function switchOver(
  registration: ClusterRegistration,
  { probedAtMs, sentinel }: Extract<ProbeResult, { kind: 'absent' }>,
  dependencies: TakeoverDependencies,
): Promise<ClusterRegistration | Extract<TakeoverResult, { kind: 'failed' }>> {
  const { clusterUid, configVersion } = registration;
  if (!(await breakView(dependencies.view, clusterUid, 'takeover was entered'))) {
    return { kind: 'failed', message: 'the view never stood still; try again' };
  }
  const { rival: _past, ...rest } = registration;
  const entered = { ...rest, mode: 'takeover', takeoverProbedAtMs: probedAtMs, sentinel } as const;
  const written = await dependencies.registry.writeCluster(entered, configVersion);
  if (written === 'written') return { ...entered, configVersion: configVersion + 1 };
  return { kind: 'failed', message: 'the registration was changed meanwhile; try again' };
}
