import type { Hint } from '../../../core/model/hint.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
} from '../../../core/model/view-items.ts';
import type { DaemonSetRef, StateStore, ViewReader } from '../../../ports/stores/view-store.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import type { StandingFreeze } from '../../../core/takeover/freeze.ts';
/** What a run stands on, as read. */
export interface StoredInputs {
  readonly registration: ClusterRegistration;
  /** The freeze of the stack, or of this DaemonSet in every cluster; absent: there is none. */
  readonly frozen?: StandingFreeze;
  readonly meta: ClusterMeta;
  readonly ref: DaemonSetRef;
  readonly daemonSet: DaemonSetItem;
  readonly position: DaemonSetPosition;
  /** Undefined when there is no item: first run, or lost (protocol 6). */
  readonly state: DaemonSetState | undefined;
  /** The sentinel of the registered takeover, as the view shows it (ADR 0033); absent: it does not, or there is none. */
  readonly sentinel?: DaemonSetItem;
}
/** What there is to stand on, or why there is nothing. */
export type StoredRead<V = never> =
  | {
      readonly kind: 'read';
      readonly stored: StoredInputs;
      readonly viewing?: Promise<V>;
    }
  | {
      readonly kind: 'registry-unreadable';
      readonly cause: unknown;
    }
  | {
      readonly kind: 'unregistered';
    }
  /** No META, no such name, or the DaemonSet is gone. */
  | {
      readonly kind: 'absent';
    };
type Readers = Pick<StepDependencies, 'registry' | 'freezes'> & {
  readonly view: ViewReader & Pick<StateStore, 'readState'>;
};
/** What is known before anything of a DaemonSet but its state is read: enough to ask for its slices. */
export type SlicedInputs = Pick<StoredInputs, 'meta' | 'ref' | 'position' | 'state'>;
/** What a process that read this key before knows when it reads it again. */
export interface KnownKey<T, V> {
  /** UID that the name had. */
  readonly uid: Uid;
  /** Given where nothing new is expected: how the run ends if that is so; undefined: something is new. */
  readonly endOf?: (stored: StoredInputs) => T | undefined;
  /** Begins to read the slices of a DaemonSet, if they are certain to be needed. */
  readonly begin: (of: SlicedInputs) => Promise<V> | undefined;
}
/** What was read beside META says that nothing is new; good for nothing else. */
export interface NothingNew<T> {
  readonly kind: 'nothing-new';
  readonly stored: StoredInputs;
  readonly end: T;
}
/** Reads the basis of a run; rejects only when the view table cannot be read. `viewing`: slices that were asked for. */
export declare function readStored<T = never, V = never>(
  hint: Hint,
  readers: Readers,
  known?: KnownKey<T, V>,
): Promise<StoredRead<V> | NothingNew<T>>;
type Positioned = Pick<ClusterMeta, 'positions'>;
/** The position as this META has it. */
export declare function readPosition(
  meta: Positioned,
  ref: DaemonSetRef,
  view: Pick<ViewReader, 'readPosition'>,
): Promise<DaemonSetPosition>;
/** The position as it is by now: META is read for it. */
export declare function readPositionNow(
  ref: DaemonSetRef,
  view: Pick<ViewReader, 'readPosition' | 'readMeta'>,
): Promise<DaemonSetPosition>;
export {};
