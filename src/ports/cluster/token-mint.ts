/**
 * What a cluster's renewer works with: its own API server, which mints tokens of the functions, and the queue
 * on which they travel sealed.
 *
 * The renewer's one right is to mint tokens of the functions' two service accounts: it can neither read nor change anything else.
 */
import type { CredentialMessage } from '../../core/model/watcher-message.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { LiveRead } from './cluster-access.ts';
import type { TokenPurpose } from '../stores/credential-store.ts';
import type { SendOutcome } from '../queues/queue.ts';

/** What came of asking for a token; `message` quotes the API server, never a token. */
export type MintedToken =
  | { readonly kind: 'minted'; readonly token: string }
  | { readonly kind: 'refused'; readonly message: string };

/** The API server of the renewer's own cluster. Neither call rejects. */
export interface TokenMint {
  /** UID of kube-system: which cluster this is (S6). */
  readClusterUid(): Promise<LiveRead<ClusterUid>>;
  /** A new token of the service account of this purpose. */
  mint(purpose: TokenPurpose): Promise<MintedToken>;
}

/** The way to the functions. Never rejects for an expected outcome. */
export interface CredentialQueue {
  send(message: CredentialMessage): Promise<SendOutcome>;
}
