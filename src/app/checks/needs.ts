/**
 * What checks need to know, each with the reason if it is missing. No credential is ever among it (S11).
 *
 * `src/cli/checks` says how each need is read; `openReader` reads each once, and judges are pure.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { StackStanding } from '../../core/status/outages.ts';
import type { Freeze } from '../../core/may-act/freeze.ts';
import type { EndpointFacts } from '../../ports/cluster/cluster-inspection.ts';
import type { MissedRun } from '../why/standing.ts';

/** Something that was looked at, or why it could not be. */
export type Checked<T> =
  | { readonly kind: 'checked'; readonly value: T }
  | { readonly kind: 'unchecked'; readonly why: string };

/** What was looked at. */
export function checked<T>(value: T): Checked<T> {
  return { kind: 'checked', value };
}

/** What could not be had, and why. */
export function unchecked(why: string): { readonly kind: 'unchecked'; readonly why: string } {
  return { kind: 'unchecked', why };
}

/** Everything that a check may need. */
export interface Needs {
  readonly registration: RegistrationFact;
  /** What is frozen for the whole stack. */
  readonly freeze: Freeze | 'unreadable';
  /** Who stopped the functions, and whether they come to their turn. */
  readonly standing: StackStanding;
  readonly deployment: {
    readonly release: string;
    readonly ownRelease: string;
    /** Functions and watchers run inside `npm start`. */
    readonly place?: 'in-process';
  };
  readonly eventsQueue: QueueFact;
  /** Of the whole stack. */
  readonly deadLetterQueues: readonly { readonly name: string; readonly fact: QueueFact }[];
  /** DaemonSets of the cluster whose run should have come. */
  readonly missed: readonly MissedRun[];
  /** The registered endpoint, step by step, without a credential. */
  readonly endpoint: EndpointFacts;
  /** kube-system UID, and where it was read. */
  readonly identity: { readonly uid: string; readonly by: InspectedBy };
  /** Only for bound tokens. */
  readonly token: TokenFact;
  /** How the API server answered the registered credential. */
  readonly credential: 'accepted' | 'unauthorized' | 'forbidden';
  /** Only for clusters of EKS. */
  readonly accessEntries: readonly AccessEntryFact[];
  /** Other clusters of the stack with the same name in EKS. */
  readonly namesakes: readonly ClusterId[];
  readonly functionsRights: RightsFact;
  /** Of the functions that only ask; where they have an identity of their own (ADR 0023). */
  readonly requestsRights: RightsFact;
  readonly watcherRights: RightsFact;
  readonly admission: { readonly missing: readonly string[] };
  /** In copilot: namespace/name of the DaemonSets that the admission policy names. */
  readonly listed: readonly string[];
  readonly lease: LeaseFact;
  readonly watcher: WatcherFact;
  readonly issuer: IssuerFact;
  /** Unique id of the watcher's role as IAM knows it now. */
  readonly sender: { readonly roleName: string; readonly roleId: string | undefined };
  /** Of the last day, newest last. */
  readonly refusals: readonly RefusalFact[];
  readonly meta: ClusterMeta | undefined;
  /** The sentinel of a takeover, as it stands in the cluster. */
  readonly sentinel: 'quiet' | 'touched' | 'replaced' | 'missing' | 'not-expected';
  readonly observed: ObservedFact;
  readonly fleets: FleetsFact;
  /** What these need of RBAC. */
  readonly fleetRights: FleetRightsFact;
  readonly stack: { readonly name: string; readonly isDeployed: boolean };
  /** Places for functions in the region; `none`: the functions run inside `npm start`. */
  readonly concurrency: { readonly total: number; readonly unreserved: number } | 'none';
  readonly registryTable: 'missing' | 'protected' | 'unprotected';
  readonly switchedOff: {
    /** Queues whose mapping is not enabled. */
    readonly queues: readonly string[];
    /** Functions whose schedule is not enabled. */
    readonly schedules: readonly string[];
  };
}

export type Need = keyof Needs;

/** Those that were read. */
export type Facts<N extends Need = Need> = { readonly nowMs: number } & {
  readonly [K in N]: Checked<Needs[K]>;
};

/** The registration, or why there is none. */
export type RegistrationFact =
  | { readonly kind: 'found'; readonly registration: ClusterRegistration }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly message: string };

/** With which credential, at which address, a cluster was looked into. */
export type InspectedBy = 'registration' | 'kubeconfig';

/** Rights of one identity, verb by verb. */
export interface RightsFact {
  readonly required: number;
  readonly missing: readonly Permission[];
  /**
   * Namespaces with DaemonSets that lack one, where what is missing is granted in others: the cluster
   * is managed by namespace.
   */
  readonly missingIn: readonly string[];
  /** By which identity: the registered credential itself, or a review for its name. */
  readonly by: InspectedBy;
}

export type LeaseFact =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'found';
      readonly holder: string;
      readonly renewedAtMs?: number;
      readonly durationMs: number;
    };

export type WatcherFact =
  | { readonly kind: 'missing'; readonly what: 'namespace' | 'deployment' }
  | {
      readonly kind: 'found';
      readonly wanted: number;
      readonly ready: number;
      /** Of the first pod that is not ready, e.g. CrashLoopBackOff. */
      readonly trouble?: string;
    };

/** The documents by which AWS checks the cluster's tokens, compared with the cluster's own. */
export type IssuerFact =
  /** Nothing outside of the cluster can read it. */
  | { readonly kind: 'internal'; readonly issuer: string }
  | { readonly kind: 'unreadable'; readonly issuer: string; readonly why: string }
  /** The documents are of this one. */
  | { readonly kind: 'other'; readonly issuer: string; readonly published: string }
  | {
      readonly kind: 'published';
      readonly issuer: string;
      readonly keyCount: number;
      /** Ids of the cluster's keys that are not published. */
      readonly missing: readonly string[];
    };

export type QueueFact =
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly waiting: number; readonly inFlight: number };

/** A refused message of this cluster, or of a sender that claims to be it. */
export interface RefusalFact {
  /** `ingest`: of the watcher. `credentials`: of the renewer. */
  readonly queue: 'ingest' | 'credentials';
  readonly code: string;
  readonly atMs: number;
  readonly senderRoleId?: string;
  /** For `wrong-cluster-uid`: which UID the message named. */
  readonly detail: string;
}

/** Which of a cluster's DaemonSets are behind: no controller has observed their last change. */
export interface ObservedFact {
  readonly total: number;
  readonly behind: readonly string[];
  /** In copilot: whose rollouts are staged, and whose policy has no effect beside RollingUpdate. */
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

/** FleetDaemonSets that are placed on the cluster, as `namespace/name`. */
export interface FleetsFact {
  readonly placed: readonly string[];
  /** Of the whole stack: whether they are placed here is unknown. */
  readonly unreadable: readonly string[];
  /** Those of them whose step is overdue, and since when. */
  readonly late: readonly { readonly fleet: string; readonly sinceMs: number }[];
}

/** Rights over the DaemonSets of fleets. */
export interface FleetRightsFact extends RightsFact {
  /** The shipped admission policies let the functions write any DaemonSet. */
  readonly isOfAll: boolean;
}

/** The access entry of EKS of one role; `unverified`: right, but the role's age is not known. */
export interface AccessEntryFact {
  readonly principalArn: string;
  readonly standing: 'present' | 'unverified' | 'missing' | 'differs' | 'outlived';
}

/** Reads one need. */
export type Read = <N extends Need>(need: N) => Promise<Checked<Needs[N]>>;

/** How needs are read: what each is called where it fails, and the way. A way may read another need. */
export type Readers<N extends Need = Need> = {
  readonly [K in N]: readonly [what: string, way: (read: Read) => Promise<Checked<Needs[K]>>];
};

/** The reader of what a command knows already. */
export function known<T>(value: T): readonly [string, () => Promise<Checked<T>>] {
  return ['', () => Promise.resolve(checked(value))];
}

/** How long a need is waited for, and what its failure is; absent: it is the command's. */
export interface Patience {
  readonly clock: Clock;
  /** Names and codes only: a message may quote what it was about (S11). */
  readonly reasonOf: (error: unknown) => string;
}

const READ_TIMEOUT_MS = 20_000;

/** Reads each need once, by the readers or, where these have no way, by `rest`. */
export function openReader(
  readers: Partial<Readers>,
  patience?: Patience,
  rest: Read = () => Promise.resolve(unchecked('there is no registration to compare with')),
): Read {
  const asked = new Map<Need, Promise<unknown>>();
  const read: Read = <N extends Need>(need: N) => {
    const reading = asked.get(need) as Promise<Checked<Needs[N]>> | undefined;
    if (reading !== undefined) return reading;
    const reader: Readers[N] | undefined = readers[need];
    const begun = reader === undefined ? rest(need) : attempt(reader, read, patience);
    asked.set(need, begun);
    return begun;
  };
  return read;
}

/** With patience it never rejects. `what` begins the reason, e.g. `the events queue`. */
function attempt<T>(
  [what, way]: readonly [string, (read: Read) => Promise<Checked<T>>],
  read: Read,
  patience: Patience | undefined,
): Promise<Checked<T>> {
  if (patience === undefined) return way(read);
  return new Promise((resolve) => {
    const cancel = patience.clock.after(READ_TIMEOUT_MS, () => {
      resolve(unchecked(`${what}: no answer within ${READ_TIMEOUT_MS / 1000} s`));
    });
    way(read).then(
      (fact) => {
        cancel();
        resolve(fact);
      },
      (error: unknown) => {
        cancel();
        resolve(unchecked(`${what}: ${patience.reasonOf(error)}`));
      },
    );
  });
}
