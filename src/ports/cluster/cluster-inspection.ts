/**
 * Looks into a cluster for `cluster doctor`: reads, and reviews of rights; changes nothing.
 *
 * Each answer says why it is missing, in words without anything that the other side wrote.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';

/** An answer, or why there is none. */
export type Inspected<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /** 404: the object, or that part of the API. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly status: 401 | 403 }
  | { readonly kind: 'failed'; readonly why: string };

/** Whose rights are reviewed. */
export type RightsOf = 'self' | { readonly user: string; readonly groups: readonly string[] };

/** One cluster under one credential. Never rejects for what a server can answer. */
export interface ClusterInspection {
  readUid(): Promise<Inspected<string>>;
  /** Whether each right is granted, in their order; one that cannot be reviewed makes the whole fail. */
  review(permissions: readonly Permission[], of: RightsOf): Promise<Inspected<readonly boolean[]>>;
  /** `accept`: media types of the answer; default: JSON. */
  read(path: string, accept?: string): Promise<Inspected<JsonObject>>;
  close(): void;
}
