/**
 * What a transport authenticates with, resolved; and bearer tokens that expire: minted on demand, kept for ten minutes,
 * minted once at a time. Secrets stay inside this adapter, out of messages, errors and log lines (S11).
 *
 * `generation` grows with each new token, so that whoever verified a cluster's identity with an older
 * one verifies it again (protocol 24). A token never outlives the credentials that signed it.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { createEksToken, type AwsCredentials } from './eks-token.ts';

/** How requests authenticate. A bearer token is asked for per request, because some expire. */
export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: () => Promise<string> }
  | {
      readonly kind: 'client-certificate';
      readonly certificatePem: string;
      readonly keyPem: string;
    };

/** A bearer credential that never changes. */
export function staticBearer(token: string): Credential {
  return { kind: 'bearer', token: () => Promise.resolve(token) };
}

/** A bearer token that is renewed. */
export interface TokenSource {
  /** The current token; rejects when none can be had. */
  token(): Promise<string>;
  generation(): number;
  /** The token was refused. True if the next call may give another one. */
  invalidate(): boolean;
}

/** Accepted for about 15 minutes; renewed after ten. */
const TOKEN_LIFETIME_MS = 600_000;
/** Credentials that end sooner than this are not signed with for longer. */
const EXPIRY_MARGIN_MS = 60_000;

interface Minted {
  readonly token: string;
  readonly usableUntilMs: number;
}

/** Tokens for one EKS cluster. */
export function createEksTokenSource(options: {
  readonly clusterName: string;
  readonly region: string;
  readonly awsCredentials: () => Promise<AwsCredentials>;
  readonly clock: Clock;
}): TokenSource {
  const { clock } = options;
  let minted: Minted | undefined;
  let minting: Promise<Minted> | undefined;
  let generation = 0;

  const mint = async (): Promise<Minted> => {
    const credentials = await options.awsCredentials();
    const nowMs = clock.nowMs();
    const token = await createEksToken({ ...options, credentials, nowMs });
    const expiresInMs = (credentials.expiration?.getTime() ?? Infinity) - nowMs - EXPIRY_MARGIN_MS;
    generation += 1;
    return {
      token,
      usableUntilMs: clock.monotonicMs() + Math.max(0, Math.min(TOKEN_LIFETIME_MS, expiresInMs)),
    };
  };

  return {
    generation: () => generation,
    invalidate: () => {
      minted = undefined;
      return true;
    },
    token: async () => {
      if (minted !== undefined && clock.monotonicMs() < minted.usableUntilMs) return minted.token;
      minting ??= mint().finally(() => {
        minting = undefined;
      });
      minted = await minting;
      return minted.token;
    },
  };
}
