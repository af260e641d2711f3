/**
 * How closely a DaemonSet wants the built-in controller followed: `rollcall.dev/compat` (design 5).
 *
 * By default, bugs that upstream concedes and nobody can depend on are mended; `strict` restores the
 * original where that makes sense. docs/parity.md says for each difference whether it does.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';

/** Annotation on the DaemonSet. */
const COMPAT_ANNOTATION = 'rollcall.dev/compat';

/** `mended`: conceded bugs are fixed. `strict`: as the built-in controller does it. */
export type Compat = 'mended' | 'strict';

/** What the DaemonSet asks for; any value but `strict` counts as absent. */
export function readCompat(daemonSet: DaemonSetObject): Compat {
  return daemonSet.metadata.annotations?.[COMPAT_ANNOTATION] === 'strict' ? 'strict' : 'mended';
}
