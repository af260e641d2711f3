/**
 * What a look at the supply chain can end with (spec faults 70).
 *
 * `unknown` is for what this machine cannot find out, such as signatures where a mirror serves none; it is said aloud,
 * and fails under `--strict`. Nothing that could not be checked counts as held.
 */

/** Result of one look. */
export type Judgement =
  | { readonly kind: 'held'; readonly summary: string }
  | { readonly kind: 'broken'; readonly findings: readonly string[] }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Held with the summary if there are no findings. */
export function judge(findings: readonly string[], summary: string): Judgement {
  return findings.length === 0 ? { kind: 'held', summary } : { kind: 'broken', findings };
}
