/**
 * What a move between two stacks needs, and what may come of it.
 *
 * Expected ends are values, so that whoever asked says each in words of its own; a table or queue that
 * fails rejects, and the same call goes on later.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { CredentialStore } from '../../ports/stores/credential-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import type { ForgettableView } from './forget-view.ts';

/** One of the two stacks. */
export interface MoveSide {
  /** Told apart by it: `<stage>.<region>`, fit for a label. */
  readonly name: string;
  readonly registry: Pick<
    RegistryStore,
    'readCluster' | 'writeCluster' | 'noteRival' | 'removeCluster'
  >;
  readonly view: ForgettableView & Pick<ViewStore, 'readState'>;
  readonly credentials: Pick<CredentialStore, 'readToken' | 'removeTokens'>;
}

/** Which of them. */
export type MoveDirection = 'from' | 'to';

/** What a move needs. */
export interface MoveDependencies {
  readonly from: MoveSide;
  readonly to: MoveSide;
  readonly clock: Clock;
  readonly requestTimeoutMs: number;
  /** How long a function that is under way may still go on: the longest time-out of any. */
  readonly functionMaxMs: number;
  /** How long to wait for a complete view in the stack that takes over. */
  readonly viewTimeoutMs: number;
  /** Unique ids of the roles that speak for the cluster in the new stack; default: those of the old. */
  readonly senderRoleId?: string;
  readonly renewerRoleId?: string;
  /**
   * Makes the watcher (and the renewer) send to that stack, or says how; harmless when it does so. The
   * id is that of this turn: the same for every repeat, another for the next move.
   */
  readonly turnWatcher: (side: MoveDirection, turnId: string) => Promise<void>;
  /** Makes that stack look at every key of the cluster. */
  readonly wake: (registration: ClusterRegistration, side: MoveDirection) => Promise<void>;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** Why nothing is moved. */
export type MoveRefusal =
  | 'unknown-cluster'
  /** Registered in both, and not by this move. */
  | 'registered-in-both'
  /** The new stack has its UID under another id. */
  | 'uid-taken'
  /** A move to another stack was begun. */
  | 'another-move'
  /** To call back: it has arrived. */
  | 'arrived-already'
  /** To call back: no move was begun. */
  | 'not-moving';

/** What came of waiting for the stack that takes over. */
export type Taken =
  | { readonly kind: 'taken' }
  | { readonly kind: 'timed-out'; readonly waitsFor: 'view' | 'token' }
  | { readonly kind: 'interrupted' };

/** What came of a move, or of calling it back. */
export type MoveResult =
  | { readonly kind: 'moved' | 'called-back'; readonly registration: ClusterRegistration }
  | { readonly kind: 'already-there' }
  | { readonly kind: 'refused'; readonly reason: MoveRefusal }
  /** Somebody else wrote a registration meanwhile. */
  | { readonly kind: 'lost'; readonly step: 'freeze' | 'register' | 'remove' | 'lift' }
  /** Intents are still being recorded in the old stack although it is frozen. */
  | { readonly kind: 'still-acting' }
  | Exclude<Taken, { readonly kind: 'taken' }>;
