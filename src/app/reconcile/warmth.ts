/**
 * What a warm process remembers between runs: decoded slices. Never needed for correctness.
 */

/** Memory shared by all keys and clusters of one process. */
export interface ReconcileWarmth {
  readonly objectsMax: number;
}

/** A fresh memory; one per process. */
export function createReconcileWarmth(
  options: { readonly objectsMax?: number } = {},
): ReconcileWarmth {
  return { objectsMax: options.objectsMax ?? 200_000 };
}
