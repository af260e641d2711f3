import type {
  NodeProjection,
  OpaqueProjection,
  PodProjection,
  RevisionProjection,
  Tombstone,
} from '../../../core/model/projections.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import type { StoredInputs, SlicedInputs } from './stored-inputs.ts';
import type { Moving, Readers, StampAhead } from './load-set.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
/** Everything that was read of one cluster for one DaemonSet. */
export interface ReadView {
  readonly nodes: readonly NodeProjection[];
  readonly pods: readonly PodProjection[];
  /** Pods that are gone, as their slices remember them (S13). */
  readonly gone: readonly Tombstone[];
  readonly revisions: readonly RevisionProjection[];
  /** Objects that could not be digested: a live read decides about them (protocol 22). */
  readonly opaque: readonly OpaqueProjection[];
}
/** What reading came to. */
export type ViewRead =
  | {
      readonly kind: 'read';
      readonly view: ReadView;
    }
  | Moving
  | {
      readonly kind: 'incomplete';
      readonly missing: string;
    };
/** What the slices of a basis hold; `viewing`: where they were asked for already. */
export declare function readView(
  stored: StoredInputs,
  readers: Readers,
  viewing?: Promise<ViewRead>,
): Promise<ViewRead>;
/** Reads the slices that belong to a basis. */
export declare function readSlices(stored: SlicedInputs, readers: Readers): Promise<ViewRead>;
/**
 * True of a view that is torn for good, and not just being written (protocol 2, L1). `ingest` writes slices, then
 * META, one message of a cluster at a time: what stands above a META that is read afterwards can only
 * be of the message that comes next, in this era or in the one that a manifest begins. Anything else no message will
 * ever reach; a snapshot does.
 */
export declare function isTorn(
  { stamp, of }: StampAhead,
  { ref }: StoredInputs,
  { view }: Pick<StepDependencies, 'view'>,
): Promise<boolean>;
/** The view with its opaque objects resolved, or why they could not be. */
export type OpaqueResolution =
  | {
      readonly kind: 'resolved';
      readonly read: ReadView;
    }
  | {
      readonly kind: 'unavailable';
      readonly message: string;
    };
/**
 * Reads opaque pods and nodes live (protocol 22). What cannot be read makes the run defer: planning without it could
 * place a second pod beside it. Opaque revisions are left out: history looks live when its revision is not seen.
 */
export declare function resolveOpaque(
  read: ReadView,
  reader: ClusterReader | undefined,
): Promise<OpaqueResolution>;
