/**
 * In which sets an object stands: where `ingest` stores it (protocol 21).
 *
 * Pods and revisions stand with the DaemonSet that controls them; one without a controller with every DaemonSet of its
 * namespace whose selector matches it, so that an orphan seen before the DaemonSet that will adopt it is not lost
 * (faults row 85).
 * Differs from upstream: an orphan stands with a hundred DaemonSets at most, those that came first (protocol 22).
 */
import { compileSelector, type CompiledSelector } from '@rollcall/base/label-selector.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import type { LabelSelector } from '@rollcall/base/objects.ts';
import { membershipHash } from '../../core/projections/set-hash.ts';
import type { Membership, SetId } from '../../core/model/watcher-message.ts';
import type { SlimObject } from './projection.ts';

const NODES: readonly SetId[] = ['nodes'];
const DAEMON_SETS: readonly SetId[] = ['daemonsets'];
const NONE: readonly Membership[] = [];
/** Selectors must not overlap; so many that do are a mistake, or meant to be expensive. */
const ORPHAN_SETS_MAX = 100;
const NOTHING: CompiledSelector = { matches: () => false };

/** The DaemonSets of a cluster, as far as orphans need them. */
export interface SelectorIndex {
  /** Records or replaces; true if what the selector matches may have changed. */
  put(namespace: string, owner: Uid, selector: LabelSelector | undefined): boolean;
  remove(namespace: string, owner: Uid): void;
  /** Sets in which this object stands now. */
  setsOf(slim: SlimObject): readonly SetId[];
}

interface Selector {
  readonly text: string;
  readonly compiled: CompiledSelector;
}

/** Creates an empty index. `onInvalid` hears of selectors that cannot be evaluated. */
export function createSelectorIndex(onInvalid: (owner: Uid, why: string) => void): SelectorIndex {
  const byNamespace = new Map<string, Map<Uid, Selector>>();
  /** One shared array per set: thousands of pods of a DaemonSet stand in the same one. */
  const shared = new Map<SetId, readonly SetId[]>();

  const compile = (owner: Uid, selector: LabelSelector | undefined): CompiledSelector => {
    try {
      const compiled = compileSelector(selector);
      if (compiled.invalid !== undefined) onInvalid(owner, compiled.invalid);
      return compiled;
    } catch (cause) {
      onInvalid(owner, cause instanceof Error ? cause.message : 'selector is malformed');
      return NOTHING;
    }
  };

  const only = (set: SetId): readonly SetId[] => {
    const known = shared.get(set);
    if (known !== undefined) return known;
    const sets = [set];
    shared.set(set, sets);
    return sets;
  };

  return {
    put: (namespace, owner, selector) => {
      const selectors = byNamespace.get(namespace) ?? new Map<Uid, Selector>();
      byNamespace.set(namespace, selectors);
      const text = JSON.stringify(selector ?? {});
      if (selectors.get(owner)?.text === text) return false;
      selectors.set(owner, { text, compiled: compile(owner, selector) });
      return true;
    },
    remove: (namespace, owner) => {
      byNamespace.get(namespace)?.delete(owner);
      shared.delete(`pods/${owner}`);
      shared.delete(`revisions/${owner}`);
    },
    setsOf: (slim) => {
      if (slim.of === 'Node') return NODES;
      if (slim.of === 'DaemonSet') return DAEMON_SETS;
      const prefix = slim.of === 'Pod' ? 'pods' : 'revisions';
      if (slim.ownerUid !== undefined) return only(`${prefix}/${slim.ownerUid}`);
      const sets: SetId[] = [];
      for (const [owner, { compiled }] of byNamespace.get(slim.namespace ?? '') ?? []) {
        if (sets.length >= ORPHAN_SETS_MAX) break;
        if (compiled.matches(slim.labels ?? {})) sets.push(`${prefix}/${owner}`);
      }
      return sets;
    },
  };
}

/** True if both name the same sets with the same hashes, in any order. */
export function isSameMembership(
  left: readonly Membership[],
  right: readonly Membership[],
): boolean {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  return left.every(({ set, hash }) =>
    right.some((other) => other.set === set && other.hash === hash),
  );
}

export function membershipsOf(sets: readonly SetId[], text: string): readonly Membership[] {
  if (sets.length === 0) return NONE;
  return sets.map((set) => ({ set, hash: membershipHash(set, text) }));
}
