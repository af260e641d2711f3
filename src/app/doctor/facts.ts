/**
 * What `cluster doctor` gathered about one cluster: facts only, each with the reason if it is missing.
 *
 * Gathering is the CLI's business (src/cli/doctor); judging them is pure (diagnose.ts). No credential is
 * ever a fact (S11).
 */
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';
import type { Freeze } from '../../core/takeover/freeze.ts';
import type { StackStanding } from '../../core/status/outages.ts';
import type { EndpointFacts } from '../../ports/cluster/endpoint-probe.ts';
import type { MissedRun } from '../explain/standing.ts';
import type { Checked } from './finding.ts';

/** The registration, or why there is none. */
export type RegistrationFact =
  | { readonly kind: 'found'; readonly registration: ClusterRegistration }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly message: string };

/** Where a cluster was looked into: with which credential, at which address. */
export type InspectedBy = 'registration' | 'kubeconfig';

/** Rights of one identity, verb by verb. */
export interface RightsFact {
  readonly required: number;
  readonly missing: readonly Permission[];
  /**
   * Missing ones that are granted in some of the namespaces with DaemonSets: the cluster is managed by
   * namespace. The namespaces are those that lack one.
   */
  readonly missingIn: readonly string[];
  /** By which identity: the registered credential itself, or a review for its name. */
  readonly by: InspectedBy;
}

/** The watcher's Lease. */
export type LeaseFact =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'found';
      readonly holder: string;
      readonly renewedAtMs?: number;
      readonly durationMs: number;
    };

/** The watcher's Deployment. */
export type WatcherFact =
  | { readonly kind: 'missing'; readonly what: 'namespace' | 'deployment' }
  | {
      readonly kind: 'found';
      readonly wanted: number;
      readonly ready: number;
      /** Of the first pod that is not ready, e.g. CrashLoopBackOff. */
      readonly trouble?: string;
    };

/** One queue. */
export type QueueFact =
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly waiting: number; readonly inFlight: number };

/** A refused message of this cluster, or of somebody who claims to be it. */
export interface RefusalFact {
  /** `ingest`: of the watcher. `credentials`: of the renewer. */
  readonly queue: 'ingest' | 'credentials';
  readonly code: string;
  readonly atMs: number;
  readonly senderRoleId?: string;
  /** For `wrong-cluster-uid`: which UID the message named. */
  readonly detail: string;
}

/** The sentinel of a takeover, as it stands in the cluster. */
export type SentinelFact = 'quiet' | 'touched' | 'replaced' | 'missing' | 'not-expected';

/** Which of a cluster's DaemonSets are behind: nobody has observed their last change. */
export interface ObservedFact {
  readonly total: number;
  readonly behind: readonly string[];
  /** In copilot: whose rollouts are staged, and who has a policy that has no effect beside RollingUpdate. */
  readonly followed: readonly string[];
  readonly rollingUpdate: readonly string[];
}

/** The sealed token of a cluster with authentication by a bound token. */
export type TokenFact =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'found';
      readonly clusterUid: ClusterUid;
      readonly issuedAtMs: number;
      readonly expiresAtMs: number;
    };

/** How an API server answered the credential. */
export type CredentialAnswer = 'accepted' | 'unauthorized' | 'forbidden';

/** FleetDaemonSets that are placed on the cluster, as `namespace/name`. */
export interface FleetsFact {
  readonly placed: readonly string[];
  /** Of the whole stack: nobody knows whether they are placed here. */
  readonly unreadable: readonly string[];
  /** Those of them whose step is overdue, and since when. */
  readonly late: readonly { readonly fleet: string; readonly sinceMs: number }[];
}

/** Rights over the DaemonSets of fleets. */
export interface FleetRightsFact extends RightsFact {
  /** The shipped admission policies let the functions write any DaemonSet. */
  readonly isOfAll: boolean;
}

/** The access entry of EKS of one role of the functions; `unverified`: right, but nobody said how old the role is. */
export interface AccessEntryFact {
  readonly principalArn: string;
  readonly standing: 'present' | 'unverified' | 'missing' | 'differs' | 'outlived';
}

/** Everything that was gathered. */
export interface DoctorFacts {
  readonly nowMs: number;
  readonly registration: RegistrationFact;
  /** What is frozen for the whole stack. */
  readonly freeze: Checked<Freeze | 'unreadable'>;
  /** Who stopped the functions, and whether they come to their turn. */
  readonly standing: Checked<StackStanding>;
  /** DaemonSets of the cluster whose run should have come. */
  readonly missed: Checked<readonly MissedRun[]>;
  readonly deployment: Checked<{
    readonly release: string;
    readonly ownRelease: string;
    /** Functions and watchers run inside `npm start`. */
    readonly place?: 'in-process';
  }>;
  /** The registered endpoint, step by step, without a credential. */
  readonly endpoint: Checked<EndpointFacts>;
  /** kube-system UID, and where it was read. */
  readonly identity: Checked<{ readonly uid: string; readonly by: InspectedBy }>;
  /** Only for bound tokens. */
  readonly token: Checked<TokenFact>;
  /** How the registered credential was answered. */
  readonly credential: Checked<CredentialAnswer>;
  /** Only for clusters of EKS. */
  readonly accessEntries: Checked<readonly AccessEntryFact[]>;
  /** Other clusters of the stack with the same name in EKS. */
  readonly namesakes: Checked<readonly ClusterId[]>;
  readonly functionsRights: Checked<RightsFact>;
  /** Of the functions that only ask; where they have an identity of their own (ADR 0042). */
  readonly requestsRights: Checked<RightsFact>;
  readonly watcherRights: Checked<RightsFact>;
  readonly admission: Checked<{ readonly missing: readonly string[] }>;
  /** In copilot: namespace/name of the DaemonSets that the admission policy names. */
  readonly listed: Checked<readonly string[]>;
  readonly lease: Checked<LeaseFact>;
  readonly watcher: Checked<WatcherFact>;
  readonly eventsQueue: Checked<QueueFact>;
  /** Messages that wait in dead-letter queues of the whole stack. */
  readonly deadLetterQueues: Checked<
    readonly { readonly name: string; readonly fact: QueueFact }[]
  >;
  /** Unique id of the watcher's role as IAM knows it now. */
  readonly sender: Checked<{ readonly roleName: string; readonly roleId: string | undefined }>;
  /** Of the last day, newest last. */
  readonly refusals: Checked<readonly RefusalFact[]>;
  readonly meta: Checked<ClusterMeta | undefined>;
  readonly sentinel: Checked<SentinelFact>;
  readonly observed: Checked<ObservedFact>;
  readonly fleets: Checked<FleetsFact>;
  /** What these need of RBAC. */
  readonly fleetRights: Checked<FleetRightsFact>;
}
