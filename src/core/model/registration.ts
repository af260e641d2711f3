/**
 * A registered cluster: the registry item that every decision about it starts from.
 *
 * `configVersion` is raised by the same write that changes mode, freeze, endpoint or policy
 * (protocol 13). Registry data can neither execute code nor choose egress beyond its endpoint (S12):
 * this is a closed schema, never a kubeconfig.
 */
import type { Taint } from '@rollcall/base/objects.ts';
import type { ClusterId, ClusterUid, Uid } from './identifiers.ts';

/**
 * Who may touch the cluster's DaemonSets (design 5). `observe`: Rollcall may not. `copilot`: the built-in controller makes
 * pods, history and status, Rollcall times deletions under OnDelete (issue 17). `takeover`: Rollcall alone.
 */
export type ClusterMode = 'observe' | 'copilot' | 'takeover';

/** How a function authenticates to the cluster. */
export type ClusterAuthentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | {
      readonly kind: 'client-certificate';
      readonly certificatePem: string;
      readonly keyPem: string;
    }
  | { readonly kind: 'eks'; readonly clusterName: string; readonly region: string }
  /** Of rollcall-functions, renewed by a CronJob; sealed in an item of its own (ports/stores/credential-store.ts). */
  | {
      readonly kind: 'bound-token';
      /** Unique id of the IAM role of the CronJob: who may send a new one (S6). Never the watcher's. */
      readonly renewerRoleId: string;
    };

/**
 * Another controller that was seen at work on the cluster's DaemonSets after takeover (design 5).
 * While it is noted, nothing is created, deleted or counted there; once takeover is entered anew, with its
 * probe, the note is of another takeover and counts for nothing.
 */
export interface RivalNote {
  readonly seenAtMs: number;
  /** The evidence, for people: an object and the write to it. */
  readonly evidence: string;
}

/**
 * The DaemonSet that was left in the cluster when takeover was entered: no controller had touched it
 * then, and a controller that does so later is a rival.
 */
export interface TakeoverSentinel {
  readonly uid: Uid;
  /** Its creationTimestamp, whole seconds: compared with times in objects, never with a clock of ours. */
  readonly createdAtMs: number;
}

/**
 * Where the cluster's endpoint may lead besides public addresses (S12). Loopback, link-local and
 * metadata addresses cannot be named here: nothing in the registry opens them.
 */
export interface EgressPermit {
  /** Ranges in CIDR notation, each inside a private one (RFC 1918, 100.64.0.0/10, fc00::/7 …). */
  readonly privateRanges: readonly string[];
}

/** Characters of a freeze's reason at most. */
export const FREEZE_WHY_CHARACTERS_MAX = 256;

/** Characters at most of who gave an order: a name, and whom AWS knows the command as (IAM's names have 64 each). */
export const BY_CHARACTERS_MAX = 220;

/** The author of a freeze and the reason, for people. Runs decide by the freeze alone. */
export interface FreezeNote {
  /** The CLI's caller: `ann (Admin/ann@example.com)`. At most BY_CHARACTERS_MAX. */
  readonly by: string;
  /** In the operator's words, 256 characters at most; empty: none were given. */
  readonly why: string;
  readonly atMs: number;
}

/** Which DaemonSets a node waits for: those with the label `rollcall.dev/start-up: "true"`, or each that places a pod there. */
export type StartUpCounts = 'labelled' | 'all';

/** A taint with which nodes join, and which goes once their daemons serve (ADR 0089). Rollcall never adds it. */
export interface StartUp {
  /** Without a value: whatever value it has. */
  readonly taint: Taint;
  /**
   * Written as True on the node, instead of the removal: the Node Readiness Controller takes the taint away by its rule for this
   * condition. Absent: Rollcall removes the taint.
   */
  readonly condition?: string;
  readonly counts: StartUpCounts;
  /** A node that waits for longer is told of. */
  readonly waitBoundMs: number;
}

/** Registry item of a cluster. */
export interface ClusterRegistration {
  readonly id: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly mode: ClusterMode;
  readonly isFrozen: boolean;
  /** The author and the reason of its freeze; absent: it is not frozen, or the freeze has no author. */
  readonly frozen?: FreezeNote;
  readonly configVersion: number;
  /** Unique id of the IAM role of its watcher: the part of SenderId before the colon. */
  readonly senderRoleId: string;
  readonly server: string;
  readonly caPem?: string;
  /** Absent: public addresses only. */
  readonly egress?: EgressPermit;
  readonly authentication: ClusterAuthentication;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent: nodes are left as they are, and nothing is read for it. */
  readonly startUp?: StartUp;
  /** When takeover was entered after its probe: the view must be announced after this. */
  readonly takeoverProbedAtMs?: number;
  /** Left behind by the probe when takeover was entered. */
  readonly sentinel?: TakeoverSentinel;
  /**
   * Read with the registration, from an item of its own, and never written with it: a function that saw a rival may write no
   * registration. It raises no configVersion; each fence looks for it (protocol 13).
   */
  readonly rival?: RivalNote;
}

/** Which takeover of which cluster a note of a rival is of; undefined: the cluster is not taken over. */
export function takeoverOf(registration: ClusterRegistration): string | undefined {
  const { mode, clusterUid, sentinel, takeoverProbedAtMs = 0 } = registration;
  if (mode !== 'takeover' || sentinel === undefined) return undefined;
  return `${clusterUid}/${sentinel.uid}/${takeoverProbedAtMs}`;
}
