/**
 * Which copies of good templates stand beside a DaemonSet (ADR 0063), as `rollcall rollout status` shows them.
 *
 * Told by the state alone: what runs wrote or found last, not what stands by now. Only takeover has copies. Whether an admission
 * policy asks for them is unknown here.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { TemplateCopies } from '../model/state.ts';
import { wayBackOf } from '../rollout/good-releases.ts';
import { copyMarker } from './template-copy.ts';

/** The copies. */
export interface ShownCopies {
  /** `place`: value of the label `rollcall.dev/revision`. */
  readonly held: readonly {
    readonly revision: string;
    readonly place: string;
    readonly seenAtMs: number;
  }[];
  /** The revision to which a rollback leads, and whether its copy is among them. */
  readonly back?: { readonly revision: string; readonly isHeld: boolean };
  /** When a write was refused last; absent: none was since the last that was not. */
  readonly refusedAtMs?: number;
}

/** What is known of them. */
export function shownCopies(
  record: RolloutRecord,
  copies: TemplateCopies | undefined,
): ShownCopies {
  const held = (copies?.held ?? []).map(({ slot, hash, seenAtMs }) => ({
    revision: hash,
    place: copyMarker(slot),
    seenAtMs,
  }));
  const revision = wayBackOf(record)?.hash;
  const isHeld = held.some((copy) => copy.revision === revision);
  return {
    held,
    ...(revision === undefined ? {} : { back: { revision, isHeld } }),
    ...defined({ refusedAtMs: copies?.refusedAtMs }),
  };
}

/** In one line. */
export function describeCopies({ held, back, refusedAtMs }: ShownCopies): string {
  const stand = held.map(({ revision, place }) => `${revision} as ${place}`).join(', ');
  const missing =
    back?.isHeld === false
      ? `; none is known of ${back.revision}: where admission is installed its pods are refused`
      : '';
  const refused = refusedAtMs === undefined ? '' : '; the last write was refused (CopyRefused)';
  return `${stand === '' ? 'none is known' : stand}${missing}${refused}`;
}
