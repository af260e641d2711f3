/**
 * Named mixes of faults and steps. Each seed draws its own part of its profile (a swarm): some faults, each at a rate
 * of its own, and steps by weight.
 *
 * The first six are those of the robustness tests that Kubernetes has for its own controller (faults §7); the
 * others group what this architecture adds. What a profile demands happens in every run of it (M1).
 */
import { FAULTS, type Deed, type Fault, type StepKind } from './deeds.ts';

/** How likely a seed has a fault, and between which rates. */
export interface FaultOdds {
  readonly share: number;
  readonly rate: readonly [least: number, most: number];
}

export interface Profile {
  readonly faults: Readonly<Partial<Record<Fault, FaultOdds>>>;
  /** Weights beside those of ordinary churn. */
  readonly steps: Readonly<Partial<Record<StepKind, number>>>;
  /** Of these a seed has one at most: they would drown each other. */
  readonly rare: readonly StepKind[];
  readonly demands: readonly Deed[];
  /** Share of seeds whose machines disagree about the hour. */
  readonly skewShare: number;
  /** Longest delays of deliveries, and of requests, from which a seed picks, in milliseconds. */
  readonly slowMs: readonly number[];
  readonly requestMs: readonly number[];
  /** Nodes at the start, from least to most; three to five unless told. */
  readonly nodes?: readonly [least: number, most: number];
  /** DaemonSets, from least to most; unless told one, and steps make another. */
  readonly sets?: readonly [least: number, most: number];
  /** Share of the steps that are asked for: what a large world costs stays bounded. */
  readonly stepsShare?: number;
}

/** What users, nodes and pods do in any case; placements only move in some seeds. */
export const CHURN: Readonly<Partial<Record<StepKind, number>>> = {
  roll: 2.5,
  'change-strategy': 1,
  'end-pod': 2,
  'cool-down': 1,
  compact: 0.7,
};

/** Steps that move placements. */
export const PLACEMENT: Readonly<Partial<Record<StepKind, number>>> = {
  'change-node': 2,
  'remove-node': 1,
  'remake-node': 0.5,
  'change-set': 2,
  'remake-set': 0.5,
};

/** What others write, who do not know of Rollcall. */
const OTHERS: Readonly<Partial<Record<StepKind, number>>> = {
  'annotate-objects': 1.5,
  'rewrite-objects': 1,
  'annotate-often': 0.7,
  'apply-again': 1,
  'peer-status': 1,
  'edit-undo': 1.5,
};

const odds = (share: number, least: number, most: number): FaultOdds => ({
  share,
  rate: [least, most],
});

const certain = (rate: number): FaultOdds => odds(1, rate, rate);

const NONE: Profile = {
  faults: {},
  steps: {},
  rare: [],
  demands: [],
  skewShare: 0,
  slowMs: [10, 200],
  requestMs: [10, 200],
};

/** What webhooks and late schedules do is for profiles of its own: beside everything else it would drown the rest. */
const APART: ReadonlySet<Fault> = new Set<Fault>([
  'refuse-delete',
  'refuse-status',
  'refuse-patch',
  'refuse-revision',
  'strip-hash',
  'pin-nowhere',
  'slow-webhook',
  'skip-resync',
  'double-resync',
  'late-resync',
  'throttle-functions',
  'throttle-watcher',
  'slow-bind',
  'busy-function',
]);

const everything = Object.fromEntries(
  FAULTS.filter((fault) => !APART.has(fault)).map((fault) => [fault, odds(0.3, 0.02, 0.2)]),
);

/** What befalls any world, where so many objects offer opportunities that small rates are many. */
const crowding = Object.fromEntries(
  FAULTS.filter((fault) => !APART.has(fault)).map((fault) => [fault, odds(0.3, 0.005, 0.05)]),
);

/** The profiles by name. */
export const PROFILES = {
  baseline: NONE,
  'write-conflicts': {
    ...NONE,
    faults: {
      'status-conflict': odds(1, 0.3, 0.8),
      copy: odds(0.7, 0.05, 0.3),
      'table-answer-late': odds(0.7, 0.05, 0.3),
      'lose-answer': odds(0.3, 0.02, 0.1),
    },
    demands: ['status-conflict'],
  },
  'cache-sync-lag': {
    ...NONE,
    faults: { 'replica-lag': odds(1, 0.2, 0.6), 'watch-expired': odds(0.5, 0.02, 0.2) },
    steps: {
      'freeze-cache': 3,
      'freeze-pods': 1,
      'restart-watcher': 1,
      'silent-watch': 0.3,
      'lose-way': 0.5,
    },
    demands: ['freeze-cache', 'replica-lag'],
    slowMs: [10, 200, 2000],
  },
  'flaky-api-server': {
    ...NONE,
    faults: {
      'create-error': certain(0.3),
      'read-error': odds(0.6, 0.05, 0.3),
      'server-error': odds(0.6, 0.05, 0.3),
      'lose-answer': odds(0.6, 0.05, 0.3),
      stuck: odds(0.4, 0.02, 0.1),
      'watch-error': odds(0.6, 0.05, 0.2),
    },
    steps: { 'restart-watcher': 0.5 },
    demands: ['create-error'],
    requestMs: [10, 200, 6000],
  },
  'expectations-timeout': {
    ...NONE,
    faults: { 'lose-answer': odds(0.5, 0.02, 0.1), kill: odds(0.5, 0.02, 0.1) },
    steps: { 'outlive-expectations': 3, 'step-clock': 1 },
    demands: ['outlive-expectations'],
    skewShare: 0.3,
  },
  'combined-chaos': {
    faults: everything,
    steps: {
      'restart-watcher': 1,
      'second-watcher': 0.4,
      'sleep-watcher': 0.4,
      'silent-watch': 0.2,
      'freeze-cache': 0.3,
      'freeze-pods': 0.3,
      'pause-queue': 1,
      'freeze-cluster': 0.7,
      'step-clock': 0.3,
      'outlive-expectations': 0.2,
      'unready-pods': 0.5,
      'take-name': 0.3,
      'close-namespace': 0.3,
      'rewrite-objects': 0.5,
      'annotate-objects': 0.5,
      'annotate-often': 0.3,
    },
    rare: ['restore-etcd', 'lose-view', 'dead-kubelet', 'make-orphan'],
    demands: [],
    skewShare: 0.3,
    slowMs: [10, 10, 200],
    requestMs: [10, 10, 200, 3000],
  },
  'flaky-tables': {
    ...NONE,
    faults: {
      'table-read-error': odds(0.7, 0.01, 0.1),
      'table-write-error': odds(0.7, 0.01, 0.1),
      'table-answer-lost': odds(0.7, 0.02, 0.15),
      'table-answer-late': odds(0.7, 0.05, 0.3),
      'registry-error': odds(0.7, 0.02, 0.2),
      copy: odds(0.5, 0.02, 0.2),
    },
    rare: ['lose-view'],
    demands: ['table-answer-lost', 'table-write-error'],
  },
  'lost-messages': {
    ...NONE,
    faults: {
      'drop-event': odds(0.6, 0.02, 0.2),
      'drop-hint': odds(0.6, 0.02, 0.3),
      'drop-timer': odds(0.6, 0.02, 0.3),
      copy: odds(0.6, 0.05, 0.4),
      keep: odds(0.6, 0.05, 0.4),
      'ambiguous-send': odds(0.6, 0.05, 0.3),
      'send-error': odds(0.6, 0.02, 0.2),
    },
    steps: { 'pause-queue': 2 },
    demands: ['copy'],
  },
  'dying-functions': {
    ...NONE,
    faults: {
      kill: odds(0.9, 0.05, 0.4),
      freeze: odds(0.9, 0.05, 0.4),
      stuck: odds(0.6, 0.05, 0.2),
      'lose-answer': odds(0.5, 0.02, 0.2),
      copy: odds(0.5, 0.02, 0.2),
    },
    demands: ['kill', 'freeze'],
    skewShare: 0.2,
    requestMs: [10, 200, 6000],
  },
  'troubled-watchers': {
    ...NONE,
    faults: {
      'watch-error': odds(0.7, 0.02, 0.3),
      'list-expired': odds(0.7, 0.1, 0.5),
      'watch-expired': odds(0.7, 0.02, 0.3),
      'lease-answer-lost': odds(0.7, 0.05, 0.3),
      'ambiguous-send': odds(0.5, 0.05, 0.3),
      'replica-lag': odds(0.5, 0.1, 0.5),
    },
    steps: {
      'restart-watcher': 2,
      'second-watcher': 1,
      'sleep-watcher': 1,
      'silent-watch': 0.5,
      'freeze-cache': 1,
    },
    rare: ['restore-etcd'],
    demands: ['restart-watcher'],
    skewShare: 0.2,
    slowMs: [10, 200, 1500],
  },
  'hostile-cluster': {
    ...NONE,
    faults: {
      admission: odds(0.5, 0.05, 0.3),
      quota: odds(0.5, 0.05, 0.3),
      'born-terminating': odds(0.6, 0.02, 0.2),
      'pod-finalizer': odds(0.6, 0.1, 0.5),
      'failing-pods': odds(0.6, 0.05, 0.3),
      'status-conflict': odds(0.3, 0.05, 0.3),
    },
    steps: { 'take-name': 1.5, 'close-namespace': 0.7, 'unready-pods': 1.5 },
    rare: ['dead-kubelet', 'make-orphan'],
    demands: ['pod-finalizer', 'take-name'],
  },
  'other-managers': {
    ...NONE,
    faults: {
      'status-conflict': odds(0.3, 0.05, 0.3),
      copy: odds(0.3, 0.02, 0.2),
      'read-error': odds(0.3, 0.02, 0.1),
    },
    steps: { 'rewrite-objects': 2, 'annotate-objects': 2, 'annotate-often': 1.5 },
    demands: ['rewrite-objects', 'annotate-objects'],
  },
  'other-writers': {
    ...NONE,
    faults: { copy: odds(0.3, 0.02, 0.2), 'replica-lag': odds(0.3, 0.05, 0.3) },
    steps: {
      ...OTHERS,
      'evict-pod': 1.5,
      'replace-pod': 0.7,
      'relabel-pods': 0.7,
      'flap-labels': 0.5,
      'lose-node': 0.7,
      'shut-down-node': 0.5,
      'taint-for-seconds': 0.7,
      'freeze-pods': 0.3,
    },
    rare: ['restore-pods', 'orphan-set'],
    demands: ['rewrite-objects', 'edit-undo', 'taint-for-seconds'],
  },
  webhooks: {
    ...NONE,
    faults: {
      admission: odds(0.5, 0.05, 0.3),
      'refuse-delete': odds(0.6, 0.05, 0.4),
      'refuse-status': odds(0.6, 0.05, 0.4),
      'refuse-patch': odds(0.6, 0.2, 0.9),
      'refuse-revision': odds(0.5, 0.05, 0.3),
      'strip-hash': odds(0.4, 0.05, 0.3),
      'pin-nowhere': odds(0.3, 0.02, 0.15),
      'slow-webhook': odds(0.5, 0.05, 0.3),
      'create-error': odds(0.4, 0.05, 0.35),
    },
    steps: {
      'relabel-pods': 1.5,
      'orphan-set': 0.3,
      'annotate-objects': 0.5,
      injector: 1,
      'refuse-namespace': 0.2,
    },
    demands: [
      'refuse-delete',
      'refuse-status',
      'refuse-patch',
      'refuse-revision',
      'injector',
      'refuse-namespace',
    ],
  },
  'late-schedules': {
    ...NONE,
    faults: {
      'skip-resync': odds(0.7, 0.2, 0.9),
      'double-resync': odds(0.7, 0.1, 0.6),
      'late-resync': odds(0.7, 0.1, 0.6),
      'drop-hint': odds(0.5, 0.02, 0.3),
      'drop-timer': odds(0.5, 0.02, 0.3),
      kill: odds(0.4, 0.02, 0.2),
    },
    steps: { 'pause-queue': 1, 'restart-watcher': 0.5, 'annotate-objects': 0.5 },
    demands: ['skip-resync', 'double-resync', 'late-resync'],
  },
  upgrades: {
    ...NONE,
    faults: {
      copy: odds(0.4, 0.05, 0.3),
      keep: odds(0.4, 0.05, 0.3),
      'ambiguous-send': odds(0.5, 0.05, 0.3),
      kill: odds(0.4, 0.02, 0.2),
      'lease-answer-lost': odds(0.4, 0.05, 0.3),
      'replica-lag': odds(0.3, 0.05, 0.3),
    },
    steps: {
      'new-watcher': 5,
      'cool-down': 2,
      'pause-queue': 0.7,
      'step-clock': 0.3,
    },
    rare: ['restore-etcd'],
    demands: ['new-watcher'],
    slowMs: [10, 200, 1500],
  },
  larger: {
    ...NONE,
    faults: {
      copy: odds(0.3, 0.02, 0.1),
      kill: odds(0.3, 0.02, 0.1),
      'lose-answer': odds(0.3, 0.01, 0.05),
      'failing-pods': odds(0.3, 0.01, 0.1),
      'refuse-delete': odds(0.3, 0.01, 0.1),
      'replica-lag': odds(0.3, 0.05, 0.3),
    },
    steps: {
      ...OTHERS,
      'evict-pod': 1,
      'lose-node': 1,
      'flap-labels': 0.5,
      'strip-labels': 0.5,
      'restart-watcher': 0.3,
    },
    demands: ['annotate-objects'],
    nodes: [12, 40],
    sets: [3, 5],
    stepsShare: 0.4,
  },
  crowded: {
    ...NONE,
    faults: crowding,
    steps: {
      ...PLACEMENT,
      'restart-watcher': 1,
      'freeze-cache': 0.3,
      'freeze-pods': 0.5,
      'pause-queue': 1,
      'freeze-cluster': 0.5,
      'unready-pods': 0.5,
      'annotate-often': 0.5,
      'evict-pod': 1,
      'lose-way': 0.3,
    },
    rare: ['lose-view', 'restore-etcd', 'second-watcher', 'lose-node'],
    demands: ['roll'],
    slowMs: [10, 200],
    requestMs: [10, 200, 3000],
    nodes: [12, 16],
    sets: [3, 5],
    stepsShare: 0.5,
  },
  'crowded-api': {
    ...NONE,
    faults: {
      'throttle-functions': odds(1, 0.01, 0.06),
      'throttle-watcher': odds(0.8, 0.05, 0.3),
      'slow-bind': odds(0.8, 0.1, 0.5),
      'busy-function': odds(0.8, 0.03, 0.2),
      'replica-lag': odds(0.3, 0.05, 0.3),
    },
    steps: {
      'limit-range': 1,
      'narrow-mapping': 1,
      'narrow-queue': 0.5,
      'restart-watcher': 0.3,
      'unready-pods': 0.3,
    },
    demands: ['throttle-functions', 'slow-bind'],
    sets: [2, 3],
    stepsShare: 0.6,
  },
} as const satisfies Readonly<Record<string, Profile>>;

/** Name of a profile. */
export type ProfileName = keyof typeof PROFILES;

/** Their names. */
export const PROFILE_NAMES = Object.keys(PROFILES) as readonly ProfileName[];

/** Worlds as unkind as users' ones are, with seeds of their own beside those of `mixed`. */
export const USERS_WORLDS = [
  'other-writers',
  'webhooks',
  'late-schedules',
  'upgrades',
  'larger',
  'crowded',
  'crowded-api',
] as const;

/** The profile of that name; throws for a name that nobody knows. */
export function profileNamed(name: string): Profile {
  const profile = (PROFILES as Readonly<Record<string, Profile>>)[name];
  if (profile !== undefined) return profile;
  throw new Error(`no profile is called ${name}; there are ${PROFILE_NAMES.join(', ')}, mixed`);
}
