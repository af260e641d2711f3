/**
 * A cluster's API server as the functions see it: `execute(effects) → outcomes`, and the live reads that confirm
 * what is destructive. A relay may stand behind this seam later (design 5).
 *
 * Nothing here decides on nodes or pods by LIST, except the guarded one beside foreign names and before a
 * DaemonSet's first pods (protocol 9), the one for a budget beside a silent watcher (S3), and the one that tells whose
 * victims are and of what revision (ADR 0071). An answer that
 * cannot be trusted is `unavailable`, and the caller must not act. Credentials are per cluster and never leave
 * the adapter (S11).
 */
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { ClusterId, ResourceVersion, Uid } from '../../core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { Effect, Outcome } from '../../core/model/effects.ts';
import type { AnswerTiming, PodEvent } from '../../core/model/projections.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { StartLimits } from '../../core/pod/request-life.ts';
import type { NamespacedName } from '../stores/view-store.ts';
import type { FieldManager, ManifestAccess } from './manifest-access.ts';

/** Nothing was read that could be trusted, and why. */
export interface Unavailable {
  readonly kind: 'unavailable';
  readonly message: string;
  readonly isRefused: boolean;
  readonly retryAfterMs?: number;
}

/** Answer of a live read of one object. */
export type LiveRead<T> =
  | {
      readonly kind: 'found';
      readonly object: T;
      /** By the API server's clock, of a read of one object; absent: it did not say. */
      readonly answeredAtMs?: number;
    }
  | { readonly kind: 'missing' }
  | Unavailable;

/**
 * Answer of a live read of a DaemonSet: a LIST of one by its name, whose own version is the store's. An object's version
 * stays behind while nothing changes it, so it cannot tell that etcd was restored; the store's can (faults row 71).
 */
export type DaemonSetRead =
  | Exclude<LiveRead<DaemonSetObject>, { readonly kind: 'found' }>
  | {
      readonly kind: 'found';
      readonly object: DaemonSetObject;
      /** How far the store was when it answered; absent: unknown, as by a GET, or not behind what was asked for. */
      readonly storeVersion?: ResourceVersion;
      /** By the API server's clock; absent: it did not say. */
      readonly answeredAtMs?: number;
    };

/** What a reader of a DaemonSet wants to know of the store. */
export interface StoreQuestion {
  /** Whether it is behind this version, and no more; undefined: nothing was seen of it, so it cannot be. */
  readonly notBehind: ResourceVersion | undefined;
  /** True of a version that no other caller is told: the store may have been restored. */
  readonly isDoubtful: (storeVersion: ResourceVersion | undefined) => boolean;
}

/** metadata of a listed pod. */
export interface PodMetadata {
  readonly name: string;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
  readonly ownerUid?: Uid;
  readonly isTerminating: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** creationTimestamp; 0 where it has none that can be read. */
  readonly createdAtMs: number;
}

/** Live reads of one cluster. */
export interface ClusterReader {
  /** With a question, none is told where the store told a moment ago that it is not behind. */
  getDaemonSet(key: NamespacedName, question?: StoreQuestion): Promise<DaemonSetRead>;
  /** Who owns which fields of it (metadata.managedFields), the last writer first: they name a rival. */
  readDaemonSetManagers(key: NamespacedName): Promise<LiveRead<readonly FieldManager[]>>;
  getPod(key: NamespacedName): Promise<LiveRead<KubernetesObject>>;
  getNode(name: string): Promise<LiveRead<KubernetesObject>>;
  getRevision(key: NamespacedName): Promise<LiveRead<KubernetesObject>>;
  /** The PodTemplate that holds a copy of a template (ADR 0063). */
  getTemplateCopy(key: NamespacedName): Promise<LiveRead<KubernetesObject>>;
  getWatcherLease(): Promise<LiveRead<KubernetesObject>>;
  /** Of all pods that match a selector; paged, whole or unavailable, as the lists below. */
  listPodMetadata(
    namespace: string,
    labelSelector: string,
  ): Promise<LiveRead<readonly PodMetadata[]>>;
  /** Of each what a projection is made of: metadata, where it runs or should, phase and conditions. */
  listPods(
    namespace: string,
    labelSelector: string,
  ): Promise<LiveRead<readonly KubernetesObject[]>>;
  /** Warnings about one pod, the newest page of them: a cause is looked for in them, and nothing is decided by their absence. */
  listPodEvents(namespace: string, podUid: string): Promise<LiveRead<readonly PodEvent[]>>;
  listRevisions(
    namespace: string,
    labelSelector: string,
  ): Promise<LiveRead<readonly KubernetesObject[]>>;
}

/** Limits of one batch: no request starts after them. */
export type ExecuteOptions = StartLimits;

/** One cluster, with a credential that was checked against its registered identity. */
export interface ClusterAccess extends ClusterReader, ManifestAccess {
  /** How long the API server took to answer the last requests of this process, of all runs: the newest last (ADR 0055). */
  readonly answerTimes: readonly AnswerTiming[];
  /** Sends the effects concurrently; one outcome each, in their order. Never rejects. */
  execute(effects: readonly Effect[], options: ExecuteOptions): Promise<readonly Outcome[]>;
  /** Asks the watcher for a snapshot through its Lease annotation (design 2); `missing`, also where another installation holds the Lease. */
  requestSnapshot(requestId: string): Promise<LiveRead<JsonObject>>;
}

/**
 * Why a registered endpoint is not connected to (S12, faults row 66): the form of its address
 * (`no-url` … `port`), what an operator's allow-list or the registered ranges do not cover (`host`,
 * `range`, `private`), or where it leads.
 */
export type EgressRefusalReason =
  /** `server` is no URL. Register `https://host[:port][/prefix]`. */
  | 'no-url'
  /** `server` is no https address. Register `https://host[:port][/prefix]`. */
  | 'not-https'
  /** `server` holds a user or a password. Register `https://host[:port][/prefix]`. */
  | 'user-info'
  /** `server` holds a query or a fragment. Register `https://host[:port][/prefix]`. */
  | 'query'
  /**
   * The host is not plain, not in `ROLLCALL_ENDPOINT_SUFFIXES`, or no host of EKS for an EKS token. Register the
   * host that its certificate names.
   */
  | 'host'
  /** The port is below 1024, and not 443. Serve the API on another port. */
  | 'port'
  /**
   * `egress.privateRanges` holds a range that is not private. Use RFC 1918, 100.64.0.0/10, 198.18.0.0/15,
   * fc00::/7, or parts of them.
   */
  | 'range'
  /** The name has no address. Repair the name. */
  | 'no-address'
  /** The name leads to a private address outside `egress.privateRanges`. Register the range, if that is meant. */
  | 'private'
  /** The name leads to a loopback address. Nothing opens these. */
  | 'loopback'
  /** The name leads to a link-local address. Nothing opens these. */
  | 'link-local'
  /** The name leads to a metadata service of a cloud. Nothing opens these. */
  | 'metadata'
  /** The name leads to a reserved address. Nothing opens these. */
  | 'reserved';

/** An endpoint that may not be connected to. The address itself is not repeated. */
export interface EgressRefusal {
  readonly kind: 'egress-refused';
  /** The field of the registration to look at. */
  readonly field: 'server' | 'egress.privateRanges';
  readonly reason: EgressRefusalReason;
}

/** What is the matter with a cluster's bound token. */
export type TokenFault =
  /**
   * The cluster never sent one. Start the token renewer and read its log: `kubectl -n rollcall-system create job
   * --from=cronjob/rollcall-renewer rollcall-renewer-now`.
   */
  | 'not-sent'
  /** The last one has ended: the CronJob has not run or not succeeded for hours. Start it as above. */
  | 'expired'
  /** It belongs to the cluster that had this name before. Wait for the next one, or start the CronJob. */
  | 'other-cluster'
  /** Another cluster or key sealed it. Start the CronJob for a new one. */
  | 'not-opened'
  /**
   * The API server does not accept the credential. Bound token: its service account was deleted, or the signing key
   * changed; start the CronJob for a new one. EKS: an access entry is missing, or older than its role.
   */
  | 'rejected';

/** Why a cluster cannot be reached as registered. */
export type ConnectRefusal =
  | EgressRefusal
  /** The functions have none by its registration: nothing can be read or done there. */
  | { readonly kind: 'no-credential' }
  /** By its registration there is one. An outage: nothing may be taken for granted because it cannot be read. */
  | { readonly kind: 'no-token'; readonly fault: TokenFault }
  | { readonly kind: 'wrong-cluster'; readonly foundUid: string }
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly retryAfterMs?: number;
      /** The store of tokens or the key service does not answer, or refuses; nothing is known of the cluster. */
      readonly token?: 'unread';
    };

/** Opens clusters; credentials and connections are kept warm per cluster and configuration version. */
export interface ClusterConnector {
  /** Checks once per warm credential that the endpoint's kube-system UID is the registered one (protocol 24, S6). */
  connect(
    registration: ClusterRegistration,
  ): Promise<
    | { readonly kind: 'connected'; readonly access: ClusterAccess }
    | { readonly kind: 'refused'; readonly refusal: ConnectRefusal }
  >;
  /** Forgets a cluster's warm credential, e.g. after a 401. */
  forget(id: ClusterId): void;
}

/** What came of a write of an object that shows a fleet, in a management cluster (ADR 0066). */
export type MirrorWrite =
  | { readonly kind: 'written'; readonly object: JsonObject }
  /** Another client wrote since it was read. */
  | { readonly kind: 'changed' }
  /** It does not work as it is: no such resource, missing right, no such namespace, admission. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Not sent, or not known to have arrived. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** The mirrors of one cluster. */
export interface MirrorAccess {
  readMirror(key: FleetKey): Promise<LiveRead<JsonObject>>;
  /** Of the status only what is its own, of the object the rest; `metadata.resourceVersion` in it is a precondition. */
  applyMirror(object: JsonObject, part: 'object' | 'status'): Promise<MirrorWrite>;
  /** The one that was read; gone already is written, too. */
  removeMirror(object: JsonObject): Promise<MirrorWrite>;
}

/** Opens the cluster that has the mirrors. */
export interface MirrorConnector {
  connectMirror(
    registration: ClusterRegistration,
  ): Promise<
    | { readonly kind: 'connected'; readonly mirrors: MirrorAccess }
    | { readonly kind: 'refused'; readonly refusal: ConnectRefusal }
  >;
}
