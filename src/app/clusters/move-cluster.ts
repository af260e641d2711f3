/**
 * Moving a cluster between two stacks: no pod restarted, and never two stacks that may write at once.
 *
 *   old stack   freeze ─▶ silent ──────────────────────────────────────▶ removed
 *   new stack              └─▶ registered, frozen ─▶ view complete ──────────└─▶ freeze lifted
 *   watcher                      └─▶ sends to the new queue ─┘
 *
 * The new registration is frozen from its first write until the old one was removed, by compare-and-set on the version at
 * which nothing of it was under way (await-silence.ts): a change of the old one meanwhile loses the removal. Where the move
 * stands is said by labels of the registrations alone, so the command goes on from a crash anywhere. The new stack's view
 * is broken first: only a snapshot announced after that is believed, and a missing STATE forbids deletes (protocol 6).
 */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { awaitSilence } from './await-silence.ts';
import { breakView, changeRegistration } from './change-stored.ts';
import { forgetView } from './forget-view.ts';
import { readMoveLabels, withMoveLabels, withoutMoveLabels } from './move-labels.ts';
import type { MoveDependencies, MoveDirection, MoveResult, MoveSide, Taken } from './move-types.ts';

/** Moves a cluster, or goes on with a move that was begun. */
export async function moveCluster(
  id: ClusterId,
  dependencies: MoveDependencies,
): Promise<MoveResult> {
  const { from, to } = dependencies;
  const [source, target] = await Promise.all([
    from.registry.readCluster(id),
    to.registry.readCluster(id),
  ]);
  if (source === undefined) {
    if (target === undefined) return { kind: 'refused', reason: 'unknown-cluster' };
    if (readMoveLabels(target).from === from.name) return settle(id, 'to', dependencies);
    // Perhaps a repeat of one that died at its very end: what comes last is done again.
    await dependencies.wake(target, 'to');
    await from.credentials.removeTokens(id);
    return { kind: 'already-there' };
  }
  if (target !== undefined && !isOfThisMove(source, target, dependencies)) {
    return { kind: 'refused', reason: 'registered-in-both' };
  }
  const leaving = await freezeSource(source, dependencies);
  if (leaving === undefined) return { kind: 'lost', step: 'freeze' };
  if (typeof leaving === 'string') return { kind: 'refused', reason: leaving };
  return carryOver(
    { source: leaving, target, wasBack: readMoveLabels(source).isBack },
    dependencies,
  );
}

function isOfThisMove(
  source: ClusterRegistration,
  target: ClusterRegistration,
  { from }: MoveDependencies,
): boolean {
  return readMoveLabels(target).from === from.name && target.clusterUid === source.clusterUid;
}

/** Frozen and labelled in one write. Undefined: somebody else wrote first. */
async function freezeSource(
  source: ClusterRegistration,
  { from, to }: MoveDependencies,
): Promise<ClusterRegistration | 'another-move' | undefined> {
  const move = readMoveLabels(source);
  if (move.to !== undefined && move.to !== to.name) return 'another-move';
  if (move.to === to.name && source.isFrozen && !move.isBack) return source;
  const isLifting = move.to === undefined ? !source.isFrozen : move.isLifting;
  const labels = withMoveLabels(source.labels, { to: to.name, isLifting, isBack: false });
  const frozen = { ...source, isFrozen: true, labels };
  const written = await from.registry.writeCluster(frozen, source.configVersion);
  return written === 'written' ? { ...frozen, configVersion: source.configVersion + 1 } : undefined;
}

interface CarryingOver {
  /** Frozen, at the version it has. */
  readonly source: ClusterRegistration;
  readonly target: ClusterRegistration | undefined;
  /** True if the watcher may have been turned back meanwhile: what the new view knows is old. */
  readonly wasBack: boolean;
}

async function carryOver(
  { source, target, wasBack }: CarryingOver,
  dependencies: MoveDependencies,
): Promise<MoveResult> {
  const { from, to, onProgress } = dependencies;
  if (!(await isSilent(source, target, dependencies))) return { kind: 'still-acting' };
  if (target === undefined || wasBack) {
    const isBroken = await breakView(to.view, source.clusterUid, 'the cluster is being moved here');
    if (!isBroken) return { kind: 'lost', step: 'register' };
  }
  const registered = await registerTarget(source, target, dependencies);
  if (registered === 'uid-taken') return { kind: 'refused', reason: 'uid-taken' };
  if (registered === 'lost') return { kind: 'lost', step: 'register' };
  await dependencies.turnWatcher('to', `to-${String(source.configVersion)}`);
  const taken = await waitUntilTaken(registered, to, dependencies);
  if (taken.kind !== 'taken') return taken;
  onProgress?.(`removing it from ${from.name} …`);
  const removed = await from.registry.removeCluster(source.id, source.configVersion);
  if (removed === 'lost') return { kind: 'lost', step: 'remove' };
  return settle(source.id, 'to', dependencies);
}

/** In mode observe nothing is ever sent. A wait that was over at this very version is not repeated. */
async function isSilent(
  source: ClusterRegistration,
  target: ClusterRegistration | undefined,
  dependencies: MoveDependencies,
): Promise<boolean> {
  if (source.mode === 'observe') return true;
  const known = target === undefined ? undefined : readMoveLabels(target).silentAtVersion;
  if (known === String(source.configVersion)) return true;
  return awaitSilence(source.clusterUid, { ...dependencies, view: dependencies.from.view });
}

/** Writes the frozen registration into the new stack; nothing where it stands so already. */
async function registerTarget(
  source: ClusterRegistration,
  target: ClusterRegistration | undefined,
  dependencies: MoveDependencies,
): Promise<ClusterRegistration | 'lost' | 'uid-taken'> {
  // No part of what is written; a note of the same takeover stands there before the registration does.
  if (source.rival !== undefined) await dependencies.to.registry.noteRival(source, source.rival);
  const version = target?.configVersion ?? 0;
  const wanted: ClusterRegistration = {
    ...(target ?? source),
    isFrozen: true,
    labels: withMoveLabels(source.labels, {
      from: dependencies.from.name,
      isLifting: readMoveLabels(source).isLifting,
      silentAtVersion: String(source.configVersion),
      isBack: false,
    }),
    ...speakersOf(target ?? source, dependencies),
    configVersion: version,
  };
  if (target !== undefined && isDeepStrictEqual(target, wanted)) return target;
  const written = await dependencies.to.registry.writeCluster(wanted, version);
  return written === 'written' ? { ...wanted, configVersion: version + 1 } : written;
}

/** Who speaks for the cluster in the new stack. */
function speakersOf(
  { senderRoleId: sender, authentication }: ClusterRegistration,
  { senderRoleId, renewerRoleId }: MoveDependencies,
): Pick<ClusterRegistration, 'senderRoleId' | 'authentication'> {
  const renews = authentication.kind === 'bound-token' && renewerRoleId !== undefined;
  return {
    senderRoleId: senderRoleId ?? sender,
    authentication: renews ? { kind: 'bound-token', renewerRoleId } : authentication,
  };
}

/**
 * The cluster is registered in one of the two alone: there the labels are taken away, and the freeze with them where it
 * was the move's own; in the other one the rest is cleaned up.
 */
export async function settle(
  id: ClusterId,
  where: MoveDirection,
  { from, to, wake }: MoveDependencies,
): Promise<MoveResult> {
  const [here, gone] = where === 'to' ? [to, from] : [from, to];
  const registration = await changeRegistration(here.registry, id, (stored) => {
    const isFrozen = stored.isFrozen && !readMoveLabels(stored).isLifting;
    return { ...stored, isFrozen, labels: withoutMoveLabels(stored.labels) };
  });
  if (typeof registration === 'string') return { kind: 'lost', step: 'lift' };
  await wake(registration, where);
  await gone.credentials.removeTokens(id);
  await forgetView(gone.view, registration.clusterUid);
  return { kind: where === 'to' ? 'moved' : 'called-back', registration };
}

const POLL_MS = 2000;
const TOLD_EVERY_MS = 60_000;

/**
 * Waits, for at most `viewTimeoutMs`, until a stack has what taking over needs: a complete view (it was broken
 * before, so it was announced after that) and, where it uses one, a token. Writes nothing.
 */
export async function waitUntilTaken(
  registration: ClusterRegistration,
  side: MoveSide,
  { clock, viewTimeoutMs, signal, onProgress }: MoveDependencies,
): Promise<Taken> {
  const startedMs = clock.monotonicMs();
  let toldAtMs = -Infinity;
  for (;;) {
    const waitsFor = await whatIsMissing(registration, side);
    if (waitsFor === undefined) return { kind: 'taken' };
    if (signal.aborted) return { kind: 'interrupted' };
    const waitedMs = clock.monotonicMs() - startedMs;
    if (waitedMs >= viewTimeoutMs) return { kind: 'timed-out', waitsFor };
    if (waitedMs - toldAtMs >= TOLD_EVERY_MS) {
      toldAtMs = waitedMs;
      const what = waitsFor === 'view' ? 'a complete view' : 'a token of the renewer';
      onProgress?.(`waiting for ${what} in ${side.name} …`);
    }
    await clock.sleep(POLL_MS, signal);
  }
}

async function whatIsMissing(
  { id, clusterUid, authentication }: ClusterRegistration,
  { view, credentials }: MoveSide,
): Promise<'view' | 'token' | undefined> {
  const meta = await view.readMeta(clusterUid);
  if (meta?.isComplete !== true) return 'view';
  if (authentication.kind !== 'bound-token') return undefined;
  const token = await credentials.readToken(id, 'act');
  return token?.clusterUid === clusterUid ? undefined : 'token';
}
