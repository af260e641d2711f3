/**
 * Types of the Kubernetes API as the local API server needs them: to decode what comes from outside exactly as Go's
 * decoder does, and to merge patches.
 *
 * The table behind it (schema/types.json) is generated from the Go types of the release that the conformance suite
 * runs, so it says what that release does: which fields exist, what is omitted when empty, which lists merge by which
 * key. This file is the interface; schema/decode.ts implements it.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { PatchSchema } from '@rollcall/base/patch/patch-types.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** A kind in a group and version. */
export interface GroupVersionKind {
  /** '' for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What decoding came to. */
export type DecodeOutcome =
  | {
      readonly kind: 'decoded';
      /** Unknown fields dropped, quantities and times in canonical form, empty members omitted as Go omits them. */
      readonly object: ApiObject;
      /** Paths of the unknown fields, as `spec.foo`. */
      readonly unknownFields: readonly string[];
    }
  /** Not of this type: 400 with this message. */
  | { readonly kind: 'malformed'; readonly message: string };

/** The types. */
export interface Schema extends PatchSchema {
  /** Decodes a whole object of a kind. */
  decode(kind: GroupVersionKind, value: Json): DecodeOutcome;
  /** The struct of a kind, a start for `field`; undefined for an unknown kind. */
  structOf(kind: GroupVersionKind): string | undefined;
}
