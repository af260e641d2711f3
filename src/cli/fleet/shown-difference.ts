/**
 * A difference as it may be shown: by its field, and with its values only where they are no secrets.
 *
 * What a comment of a pipeline repeats, many read. Environment variables, arguments, commands and annotations hold tokens, so
 * of these the field alone is told, as of objects and lists.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { FieldDifference } from '../../core/fleet/compare-manifest.ts';

/** A difference, for people. */
export interface ShownDifference {
  readonly field: string;
  /** `changed`: on both sides; `missing`: not in the cluster; `extra`: only there. */
  readonly kind: 'changed' | 'missing' | 'extra';
  readonly from?: Json;
  readonly to?: Json;
}

const HIDDEN = /\.(env|args|command|annotations)\b/;

/** What may be told of a difference. */
export function shownDifference({ field, from, to }: FieldDifference): ShownDifference {
  const kind = from === undefined ? 'missing' : to === undefined ? 'extra' : 'changed';
  if (HIDDEN.test(field) || !isPlain(from) || !isPlain(to)) return { field, kind };
  return {
    field,
    kind,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function isPlain(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null;
}
