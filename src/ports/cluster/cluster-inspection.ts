/**
 * Looks at a cluster for `cluster doctor`, and at its endpoint step by step, without a credential; changes nothing.
 *
 * Each answer says why it is missing, in words without anything that the other side wrote (S11).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { EgressRefusal } from './cluster-access.ts';

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

/** Why a certificate was not accepted. */
export type TlsFault =
  'untrusted' | 'other-name' | 'expired' | 'not-yet-valid' | 'unreadable-ca' | 'other';

/** What was found, step by step. */
export interface EndpointFacts {
  readonly address:
    | {
        readonly kind: 'judged';
        readonly host: string;
        readonly port: number;
        /** True if it leads to a private address: perhaps one that only the functions can reach. */
        readonly isPrivate: boolean;
      }
    | EgressRefusal;
  readonly name?:
    | { readonly kind: 'resolved'; readonly count: number }
    | { readonly kind: 'failed'; readonly code: string };
  readonly connection?:
    | { readonly kind: 'connected'; readonly afterMs: number }
    | { readonly kind: 'failed'; readonly code: string };
  readonly tls?:
    | { readonly kind: 'trusted'; readonly validUntilMs: number }
    | { readonly kind: 'failed'; readonly fault: TlsFault; readonly code: string };
  readonly answer?:
    | {
        readonly kind: 'answered';
        readonly status: number;
        readonly isKubernetes: boolean;
        /** Its clock minus this one's, from the Date header: good to a second and a half. */
        readonly clockAheadMs?: number;
      }
    | { readonly kind: 'failed'; readonly code: string };
}

/** Probes endpoints. Never rejects for what a network can do. */
export interface EndpointProbe {
  probe(registration: ClusterRegistration): Promise<EndpointFacts>;
}
