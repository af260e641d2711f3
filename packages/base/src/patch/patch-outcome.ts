/** What applying a patch came to. */
import type { Json } from '../json.ts';

/** The patched value, or why not: `malformed` is a 400, `inapplicable` a 422, `failed` a 500 without a reason. */
export type PatchOutcome =
  | { readonly kind: 'patched'; readonly value: Json; readonly warnings?: readonly string[] }
  | {
      readonly kind: 'malformed' | 'inapplicable' | 'failed';
      readonly message: string;
    };

/** Thrown inside a patch algorithm and caught at its entrance, nowhere else. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly kind: 'malformed' | 'inapplicable' | 'failed';

  constructor(kind: PatchError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
