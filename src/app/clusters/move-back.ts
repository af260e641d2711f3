/**
 * Calling a move back before it has arrived: the old stack takes the cluster again.
 *
 *   new stack   frozen, silent ──────────────────────────────▶ removed
 *   old stack   labelled back, view broken ─▶ view complete ─────└─▶ freeze lifted
 *   watcher       └─▶ sends to the old queue again ─┘
 *
 * The old registration stays frozen until the new one is removed, so again at most one may write. Once the
 * old registration is gone there is nothing to call back: the cluster is moved in the other direction.
 */
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { awaitSilence } from './await-silence.ts';
import { breakView, writeFreeze } from './change-stored.ts';
import { settle, waitUntilTaken } from './move-cluster.ts';
import { readMoveLabels, withMoveLabels } from './move-labels.ts';
import type { MoveDependencies, MoveResult } from './move-types.ts';

/** Calls a move back, or goes on with it. */
export async function moveBack(id: ClusterId, dependencies: MoveDependencies): Promise<MoveResult> {
  const { from, to } = dependencies;
  const [source, target] = await Promise.all([
    from.registry.readCluster(id),
    to.registry.readCluster(id),
  ]);
  if (source === undefined) {
    const reason = target === undefined ? 'unknown-cluster' : 'arrived-already';
    return { kind: 'refused', reason };
  }
  if (readMoveLabels(source).to !== to.name) return { kind: 'refused', reason: 'not-moving' };
  if (target !== undefined && readMoveLabels(target).from !== from.name) {
    return { kind: 'refused', reason: 'registered-in-both' };
  }
  const labelled = await labelBack(source, dependencies);
  if (labelled === undefined) return { kind: 'lost', step: 'freeze' };
  return takeBack(labelled, target, dependencies);
}

/** The view is broken before the labels are written: a repeat that finds them does not break it again. */
async function labelBack(
  source: ClusterRegistration,
  { from }: MoveDependencies,
): Promise<ClusterRegistration | undefined> {
  const move = readMoveLabels(source);
  if (move.isBack && source.isFrozen) return source;
  if (!(await breakView(from.view, source.clusterUid, 'a move was called back'))) return undefined;
  const labels = withMoveLabels(source.labels, { ...move, isBack: true });
  const next = { ...source, isFrozen: true, labels };
  const written = await from.registry.writeCluster(next, source.configVersion);
  return written === 'written' ? { ...next, configVersion: source.configVersion + 1 } : undefined;
}

async function takeBack(
  source: ClusterRegistration,
  target: ClusterRegistration | undefined,
  dependencies: MoveDependencies,
): Promise<MoveResult> {
  const { from, to } = dependencies;
  if (target !== undefined && !(await isQuiet(target, dependencies)))
    return { kind: 'still-acting' };
  await dependencies.turnWatcher('from', `from-${String(source.configVersion)}`);
  const taken = await waitUntilTaken(source, from, dependencies);
  if (taken.kind !== 'taken') return taken;
  if (target !== undefined) {
    const current = await to.registry.readCluster(target.id);
    if (current?.isFrozen === false) return { kind: 'lost', step: 'remove' };
    const version = current?.configVersion ?? 0;
    const removed = await to.registry.removeCluster(target.id, version);
    if (removed === 'lost') return { kind: 'lost', step: 'remove' };
  }
  return settle(source.id, 'from', dependencies);
}

/**
 * A move never lifts the new registration before it has arrived; a person may have. As the move's first
 * write made it, it was frozen from its beginning; any later version is waited for, whatever it says now.
 */
async function isQuiet(
  target: ClusterRegistration,
  dependencies: MoveDependencies,
): Promise<boolean> {
  if (target.isFrozen && target.configVersion === 1) return true;
  const { to } = dependencies;
  const frozen = await writeFreeze(to.registry, target.id, true);
  if (typeof frozen === 'string') return false;
  return awaitSilence(target.clusterUid, { ...dependencies, view: to.view });
}
