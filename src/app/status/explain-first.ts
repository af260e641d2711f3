/**
 * Why nodes lack a pod, of the DaemonSets that lack most: a plan of now for each, which reads slices (ADR 0082).
 *
 * Those that are being rolled out come after them: what their next step waits for only a plan tells.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { toldObject } from '../../core/model/view-items.ts';
import { countsOf } from '../../core/rollout/pod-counts.ts';
import { groupReasons } from '../../core/status/reason-groups.ts';
import type { MissingReason } from '../../core/status/health/health-facts.ts';
import { missingPodsOf } from '../../core/status/health/health-of-pods.ts';
import type { Verdict } from '../../core/model/verdict.ts';
import { explainRollout, type Explained } from '../why/explain.ts';
import { outagesOfBasis } from '../why/standing.ts';
import type { FleetLook } from './fleet-look.ts';
import type { ReadSet } from './read-daemon-sets.ts';

/** DaemonSets that are explained; of the others `rollcall why` tells. */
const EXPLAINED_MAX = 20;
const AT_ONCE = 8;

/** Explains them; one of which nothing can be told is missing. Rejects when a table fails. */
export async function explainFirst(
  sets: readonly ReadSet[],
  look: FleetLook,
): Promise<ReadonlyMap<ReadSet, Explained & { readonly reasons: readonly MissingReason[] }>> {
  const lacking = sets
    .filter((set) => missingIn(set) > 0)
    .sort((left, right) => missingIn(right) - missingIn(left));
  const rolling = sets.filter((set) => missingIn(set) === 0 && isRolling(set));
  const first = [...lacking, ...rolling].slice(0, EXPLAINED_MAX);
  const explained = await sideBySide(first, AT_ONCE, async (set) => {
    if (set.kind !== 'read') return [];
    const { stored } = set;
    const outages = outagesOfBasis(stored, look);
    const found = await explainRollout(stored, { ...look, outages });
    if (found === undefined) return [];
    return [[set, { ...found, reasons: reasonsOf(found.plan.verdicts()) }] as const];
  });
  return new Map(explained.flat());
}

function missingIn(set: ReadSet): number {
  if (set.kind !== 'read') return 0;
  const counts = countsOf(toldObject(set.stored.daemonSet));
  return counts === undefined ? 0 : missingPodsOf({ counts });
}

function isRolling(set: ReadSet): boolean {
  if (set.kind !== 'read' || set.stored.registration.mode === 'observe') return false;
  const { rollout } = set.stored.state ?? {};
  return rollout !== undefined && rollout.step.kind !== 'done' && rollout.breach === undefined;
}

function reasonsOf(verdicts: readonly Verdict[]): readonly MissingReason[] {
  return groupReasons(verdicts).flatMap(({ code, title, kind, nodes }) =>
    kind === 'serving' || kind === 'not-wanted' ? [] : [{ code, title, kind, nodes: nodes.length }],
  );
}
