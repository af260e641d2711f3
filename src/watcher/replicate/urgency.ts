/**
 * Who waits for a change that decides something (ADR 0059; what decides is told by project/company.ts).
 *
 * Judged from what the watcher holds: the node as it was sent last, the DaemonSets as they are known, whether one is being rolled
 * out. It only sets a time: a change that is judged wrongly is sent a moment later or sooner, and with whatever else waits. In doubt
 * a change goes at the usual pace.
 */
import type { PodProjection, Projection } from '../../core/model/projections.ts';
import type { Urgency } from '../pace/flush-schedule.ts';
import type { FormerState, ObjectStore, Tracked } from '../project/store.ts';
import type { AffectedFinder } from './affected.ts';

/** Beyond so many DaemonSets a node is not judged: that costs a placement of each. */
const DAEMON_SETS_MAX = 1_000;

/** Judges changes. */
export class UrgencyJudge {
  readonly #store: ObjectStore;
  readonly #affected: AffectedFinder;

  constructor(store: ObjectStore, affected: AffectedFinder) {
    this.#store = store;
    this.#affected = affected;
  }

  /** Of an object that is to be sent, and that was so before the change. */
  judge(tracked: Tracked, former: FormerState): Urgency {
    switch (tracked.of) {
      case 'DaemonSet':
        return 'prompt';
      case 'Node':
        return this.#judgeNode(tracked);
      case 'Pod':
        return this.#judgePod(tracked, former);
      case 'ControllerRevision':
        return 'usual';
    }
  }

  #judgeNode(tracked: Tracked): Urgency {
    if (this.#store.count('DaemonSet') > DAEMON_SETS_MAX) return 'usual';
    const moves = this.#affected.movesPlacement(tracked);
    if (moves === undefined) return 'usual';
    return moves ? 'prompt' : 'calm';
  }

  /**
   * A rollout takes pods away by the hundred, in many steps; it waits for those that are gone, and for those that are ready.
   * Without one nobody waits for a pod but where another is to be made.
   */
  #judgePod({ slim, sent, sets }: Tracked, former: FormerState): Urgency {
    const pod = slim?.projection;
    if (pod === undefined) return this.#judgeGone(former.slim?.projection, former);
    if (pod.kind !== 'Pod' || slim?.ownerUid === undefined) return 'usual';
    if (isOver(pod)) return this.#judgeGone(pod, { sets });
    const isJustMade = sent.length === 0 && !pod.isReady;
    if (isJustMade || pod.isTerminating) return 'calm';
    return this.#store.arePodsReplaced(sets) ? 'usual' : 'calm';
  }

  /** Another pod is to be made in its place, unless its node went first: then its pods go one after the other. */
  #judgeGone(pod: Projection | undefined, { sets }: FormerState): Urgency {
    if (this.#store.arePodsReplaced(sets)) return 'usual';
    const node = pod?.kind === 'Pod' ? pod.targetNode : undefined;
    return node === undefined || this.#store.hasNode(node) ? 'prompt' : 'calm';
  }
}

function isOver({ phase }: PodProjection): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}
