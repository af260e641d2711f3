/**
 * Takeover: the probe for the built-in DaemonSet controller, and the switch (design 5, protocol 9).
 *
 * The probe is a DaemonSet that matches no node: if somebody raises its observedGeneration, or writes
 * its status at all, a controller runs, and takeover is refused. Two controllers on one cluster would
 * break S1. The probe is always deleted. Doubt refuses: only a quiet probe lets takeover be entered.
 */
import { uid } from '../core/model/identifiers.ts';
import type { ClusterId } from '../core/model/identifiers.ts';
import type { JsonObject } from '../core/model/json.ts';
import type { DaemonSetObject } from '../core/model/kubernetes.ts';
import type { ClusterRegistration } from '../core/model/registration.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClusterConnector } from '../ports/cluster-access.ts';
import type { ProbeAccess } from '../ports/probe-access.ts';
import type { Random } from '../ports/random.ts';
import type { RegistryStore } from '../ports/registry-store.ts';
import type { NamespacedName, ViewStore } from '../ports/view-store.ts';

/** What the probe needs. */
export interface ProbeDependencies {
  readonly access: ProbeAccess;
  readonly clock: Clock;
  readonly random: Random;
  /** How long the built-in loop gets to show itself; longer than a leader's lease of 15 s. */
  readonly waitMs?: number;
  readonly pollMs?: number;
}

/** What the probe found. Takeover may be entered only when `absent`. */
export type ProbeResult =
  | { readonly kind: 'absent'; readonly probedAtMs: number }
  | { readonly kind: 'present'; readonly afterMs: number }
  | { readonly kind: 'unknown'; readonly message: string };

/** Attempts at a compare-and-set beside a busy ingest. */
const META_WRITES_MAX = 20;
const PROBE_NAMESPACE = 'rollcall-system';
const PROBE_NAME = 'rollcall-takeover-probe';
const WAIT_MS = 20_000;
const POLL_MS = 1_000;

/** Creates a DaemonSet that matches no node, and sees whether somebody observes it. */
export async function probeForBuiltInController(
  dependencies: ProbeDependencies,
): Promise<ProbeResult> {
  const { access, random } = dependencies;
  const key = { namespace: PROBE_NAMESPACE, name: PROBE_NAME };
  // One that a killed process left behind; there is one name, so that none can pile up.
  await access.deleteDaemonSet(key);
  const created = await access.createDaemonSet({ ...key, body: probeBody(key, random.uniqueId()) });
  if (created.kind === 'missing') {
    return { kind: 'unknown', message: `the namespace ${PROBE_NAMESPACE} does not exist` };
  }
  try {
    if (created.kind === 'unavailable') {
      return { kind: 'unknown', message: `the probe could not be created: ${created.message}` };
    }
    return await watchProbe({ key, uid: created.object.metadata.uid }, dependencies);
  } finally {
    // Also after an unclear answer: it may exist.
    const precondition =
      created.kind === 'found' ? { uid: uid(created.object.metadata.uid) } : undefined;
    await access.deleteDaemonSet(key, precondition);
  }
}

async function watchProbe(
  { key, uid: ownUid }: { readonly key: NamespacedName; readonly uid: string },
  { access, clock, waitMs = WAIT_MS, pollMs = POLL_MS }: ProbeDependencies,
): Promise<ProbeResult> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    await clock.sleep(pollMs);
    const read = await access.getDaemonSet(key);
    const afterMs = clock.monotonicMs() - startedMs;
    const isOurs = read.kind !== 'found' || read.object.metadata.uid === ownUid;
    if (read.kind === 'missing' || !isOurs) {
      return { kind: 'unknown', message: 'the probe was deleted or replaced by somebody else' };
    }
    if (read.kind === 'found' && isObserved(read.object)) return { kind: 'present', afterMs };
    if (afterMs < waitMs) continue;
    if (read.kind === 'unavailable') {
      return { kind: 'unknown', message: `the probe could not be read: ${read.message}` };
    }
    return { kind: 'absent', probedAtMs: clock.nowMs() };
  }
}

function isObserved({ status }: DaemonSetObject): boolean {
  return (status?.observedGeneration ?? 0) > 0;
}

function probeBody(key: NamespacedName, uniqueId: string): JsonObject {
  const labels = {
    'app.kubernetes.io/name': 'rollcall-takeover-probe',
    'rollcall.dev/probe': uniqueId,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...key, labels },
    spec: {
      selector: { matchLabels: { 'rollcall.dev/probe': uniqueId } },
      template: {
        metadata: { labels },
        spec: {
          // No node has this label; were one to have it, a paused container would be all there is.
          nodeSelector: { 'rollcall.dev/takeover-probe': 'matches-no-node' },
          containers: [{ name: 'probe', image: 'registry.k8s.io/pause:3.10' }],
        },
      },
    },
  };
}

/** What entering takeover needs. */
export interface TakeoverDependencies extends ProbeDependencies {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>;
  readonly view: Pick<ViewStore, 'readMeta' | 'writeMeta'>;
  readonly connector: ClusterConnector;
}

/** What came of it. */
export type TakeoverResult =
  | { readonly kind: 'entered'; readonly probedAtMs: number; readonly isSnapshotRequested: boolean }
  | { readonly kind: 'refused'; readonly reason: 'unknown-cluster' | 'built-in-controller-runs' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Probes, then switches the registration to takeover.
 *
 * The view is made incomplete first, by a loss that only a snapshot announced after it repairs
 * (protocol 9, 18); then the mode is written. A crash in between leaves an observed cluster that waits
 * for a snapshot. Whoever changes the registration meanwhile makes this fail, not overwrite.
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
  if (!(await breakView(registration, dependencies))) {
    return { kind: 'failed', message: 'the view never stood still; try again' };
  }
  const { probedAtMs } = probe;
  const entered: ClusterRegistration = {
    ...registration,
    mode: 'takeover',
    takeoverProbedAtMs: probedAtMs,
  };
  const written = await registry.writeCluster(entered, registration.configVersion);
  if (written === 'lost') {
    return { kind: 'failed', message: 'the registration was changed meanwhile; try again' };
  }
  const connected = await connector.connect({
    ...entered,
    configVersion: registration.configVersion + 1,
  });
  if (connected.kind === 'refused')
    return { kind: 'entered', probedAtMs, isSnapshotRequested: false };
  const answer = await connected.access.requestSnapshot(`takeover-${random.uniqueId()}`);
  return { kind: 'entered', probedAtMs, isSnapshotRequested: answer.kind === 'found' };
}

/** Marks the view as broken; a cluster never heard of has nothing to break. */
async function breakView(
  { clusterUid }: ClusterRegistration,
  { view }: TakeoverDependencies,
): Promise<boolean> {
  for (let attempt = 0; attempt < META_WRITES_MAX; attempt += 1) {
    const meta = await view.readMeta(clusterUid);
    if (meta === undefined) return true;
    const written = await view.writeMeta({
      ...meta,
      isComplete: false,
      incompleteReason: 'takeover was entered',
      broken: meta.broken + 1,
    });
    if (written === 'written') return true;
  }
  return false;
}
