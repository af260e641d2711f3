/**
 * Which keys the node changes of a message concern: DaemonSets whose placement moved between what was sent last and
 * now, and those under a rollout policy, to which it matters whether a node is Ready and what its labels are (protocol
 * 20, ADR 0079).
 *
 * In doubt everything is named: an object that travels opaque or cannot be judged, a node that is gone, more work than
 * a flush should cost. A new node also concerns what has a pod there already.
 */
import type { NodeProjection, Projection } from '../../core/model/projections.ts';
import { AFFECTED_KEYS_MAX, type AffectedKeys } from '../../core/model/watcher-message.ts';
import { POLICY_ANNOTATION } from '../../core/policy/rollout-policy.ts';
import { isSameJson } from '@rollcall/base/json.ts';
import {
  PLACEMENT_RULES,
  decidePlacement,
  preparePlacement,
} from '../../core/placement/placement.ts';
import type { PreparedPlacement } from '../../core/placement/placement.ts';
import type { ObjectStore, Tracked } from '../project/store.ts';

/** Placements that one message may cost: beyond it, looking at every key is cheaper than finding out which. */
const PLACEMENTS_MAX = 100_000;

interface NodeChange {
  /** Undefined: it is new. */
  readonly before: NodeProjection | undefined;
  readonly after: NodeProjection;
}

/** Finds the keys that nodes concern. */
export class AffectedFinder {
  readonly #store: ObjectStore;
  /** By projection, which is made anew with each change; undefined: it cannot be judged. */
  readonly #prepared = new WeakMap<Projection, { readonly of: PreparedPlacement | undefined }>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Keys concerned by the nodes among these objects, as they are about to be sent; undefined: every key. */
  affectedBy(sending: readonly Tracked[]): AffectedKeys | undefined {
    const nodes = sending.filter(({ of }) => of === 'Node');
    if (nodes.length === 0 || nodes.length * this.#store.count('DaemonSet') > PLACEMENTS_MAX) {
      return undefined;
    }
    const changes: NodeChange[] = [];
    for (const { sentNode: before, slim } of nodes) {
      const after = slim?.projection;
      if (after?.kind !== 'Node' || before === 'opaque') return undefined;
      changes.push({ before, after });
    }
    const concerned = [...this.#store.objects('DaemonSet')].filter((daemonSet) =>
      this.#concern(daemonSet, changes),
    );
    const keys = concerned.map(({ namespace = '', name }) => ({ namespace, name }));
    return keys.length > AFFECTED_KEYS_MAX ? undefined : { rules: PLACEMENT_RULES, keys };
  }

  /** True if a DaemonSet may use the node now that could not as it was sent last, or the other way round; undefined: it cannot be judged. */
  movesPlacement({ sentNode: before, slim }: Tracked): boolean | undefined {
    const after = slim?.projection;
    const isNode = after?.kind === 'Node';
    if (!isNode || before === 'opaque') return undefined;
    for (const daemonSet of this.#store.objects('DaemonSet')) {
      const prepared = this.#prepare(daemonSet.slim?.projection);
      if (prepared === undefined) return undefined;
      const { placement } = decidePlacement(prepared, after);
      const isMoved =
        before === undefined
          ? placement === 'run'
          : decidePlacement(prepared, before).placement !== placement;
      if (isMoved) return true;
    }
    return false;
  }

  #concern(daemonSet: Tracked, changes: readonly NodeChange[]): boolean {
    const prepared = this.#prepare(daemonSet.slim?.projection);
    if (prepared === undefined) return true;
    const bare = new Set<string>();
    for (const { before, after } of changes) {
      if (before !== undefined && isStaged(daemonSet) && !isAlikeToStages(before, after))
        return true;
      const { placement } = decidePlacement(prepared, after);
      const former = before === undefined ? undefined : decidePlacement(prepared, before).placement;
      if (former === undefined && placement !== 'run') bare.add(after.name);
      else if (former !== placement) return true;
    }
    return bare.size > 0 && this.#hasPodOn(daemonSet, bare);
  }

  /** A node that came back under its name may bring pods that the view knows already. */
  #hasPodOn({ uid }: Tracked, nodes: ReadonlySet<string>): boolean {
    for (const { slim } of this.#store.members(`pods/${uid}`)) {
      const pod = slim?.projection;
      if (pod?.kind !== 'Pod' || nodes.has(pod.targetNode ?? '')) return true;
    }
    return false;
  }

  #prepare(projection: Projection | undefined): PreparedPlacement | undefined {
    if (projection?.kind !== 'DaemonSet') return undefined;
    const known = this.#prepared.get(projection);
    if (known !== undefined) return known.of;
    const prepared = { of: tryPreparing(projection.object) };
    this.#prepared.set(projection, prepared);
    return prepared.of;
  }
}

function isStaged({ slim }: Tracked): boolean {
  const of = slim?.projection;
  return (
    of?.kind === 'DaemonSet' && of.object.metadata.annotations?.[POLICY_ANNOTATION] !== undefined
  );
}

/** A staged rollout waits for nodes that are not Ready, and orders them by their labels: nothing else may wake it then. */
function isAlikeToStages(before: NodeProjection, after: NodeProjection): boolean {
  if (before.isReady !== after.isReady || before.unschedulable !== after.unschedulable)
    return false;
  return isSameJson(before.labels, after.labels);
}

/** A DaemonSet travels as it is: its template may have a shape that no rule was made for. */
function tryPreparing(
  object: Parameters<typeof preparePlacement>[0],
): PreparedPlacement | undefined {
  try {
    return preparePlacement(object);
  } catch (cause) {
    if (cause instanceof TypeError) return undefined;
    throw cause;
  }
}
