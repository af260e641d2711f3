/**
 * Looks at a registered endpoint from where it runs, step by step and without a credential.
 *
 * Each step is there only if the one before it went well. It sends one unauthenticated request, so that
 * nothing is told to a server that is not who it should be (S11).
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { EgressRefusal } from './cluster-access.ts';

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
