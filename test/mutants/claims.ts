/**
 * Bugs that contradict what docs/promise.md and parity.md claim: for claims that a program drew
 * (scripts/draw-claims.ts at 366e927, seed 366927), the test that each claim leans on has to fail.
 */
import type { PlantedBug } from './planted-bug.ts';

const parity: Readonly<Record<string, PlantedBug>> = {
  'percentage-without-its-sign': {
    bug: 'maxUnavailable "50" as a text counts as a percentage (parity 2.9)',
    file: 'src/core/daemon-set/strategy.ts',
    before: '/^([0-9]+)%$/',
    after: '/^([0-9]+)%?$/',
    killedBy: {
      file: 'test/unit/core/daemon-set/strategy.test.ts',
      title: 'an integer as a text: as absent',
    },
  },
  'surge-of-one-more': {
    bug: 'one node more than maxSurge has two pods (parity 2.9, S2)',
    file: 'src/core/rolling-update/rollout-with-surge.ts',
    before: 'const room = Math.max(0, rules.maxSurge - surging);',
    after: 'const room = Math.max(0, rules.maxSurge + 1 - surging);',
    killedBy: {
      file: 'test/unit/core/rolling-update/rollout-with-surge.test.ts',
      title: 'lets exactly maxSurge nodes have two pods',
    },
  },
  'surging-nodes-not-counted': {
    bug: 'nodes that surge already take nothing from maxSurge (parity 2.9, S2)',
    file: 'src/core/rolling-update/rollout-with-surge.ts',
    before: 'const surging = taking.filter(isSurgingAnyway).length;',
    after: 'const surging = 0 * taking.filter(isSurgingAnyway).length;',
    killedBy: {
      file: 'test/property/core/rolling-update/plan-rollout.test.ts',
      title: 'S2: surge stays within maxSurge',
    },
  },
  'terminating-namespace-is-told': {
    bug: 'creates that a terminating namespace refuses are told as FailedCreate (parity 2.8)',
    file: 'src/app/reconcile/execute/create-result.ts',
    before: "code === 'namespace-terminating' || code === 'namespace-missing'",
    after: "code === 'namespace-missing'",
    killedBy: {
      file: 'test/unit/app/reconcile/event-rules.test.ts',
      title: 'is silent, and no key is frozen by it',
    },
  },
  'deletes-wait-for-creates': {
    bug: 'the deletes of a run are sent after its creates (parity, differences)',
    file: 'src/app/reconcile/execute/act.ts',
    before: 'await Promise.all([create(confirmed, sending), remove(confirmed, sending)]);',
    after: 'await create(confirmed, sending);\n    await remove(confirmed, sending);',
    killedBy: {
      file: 'test/unit/app/reconcile/execute/execute-deletes.test.ts',
      title: 'are not starved by creates that take all the time of the run',
    },
  },
  'invalid-adoption-fails-for-ever': {
    bug: 'a revision whose adoption is invalid fails every run (parity, differences)',
    file: 'src/app/reconcile/history/history-carry-out.ts',
    before: "if (isInvalid(outcome)) return { kind: 'unadoptable', uid: revision.metadata.uid };\n",
    after: '',
    killedBy: {
      file: 'test/unit/app/reconcile/history-limits.test.ts',
      title: 'go on without an orphan that cannot be adopted',
    },
  },
};

const promise: Readonly<Record<string, PlantedBug>> = {
  'foreign-conditions-are-dropped': {
    bug: 'a status write drops conditions of others (parity, upstream never tests)',
    file: 'src/core/status/status.ts',
    before: 'const merged: { [member: string]: unknown } = { ...live };',
    after:
      'const merged: { [member: string]: unknown } = { collisionCount: live?.collisionCount };',
    killedBy: {
      file: 'test/unit/core/status/status.test.ts',
      title: 'gets the counters and the generation over what stands there; the rest is left',
    },
  },
  'live-reads-settle-creates': {
    bug: 'an own create is forgotten once a live read, and no view, showed its pod (row 2, S10)',
    file: 'src/core/intents/intents.ts',
    before: 'pods.shown.has(answer.uid) ||',
    after: 'pods.known.has(answer.uid) ||',
    killedBy: { file: 'test/unit/core/intents/intents.test.ts', title: 'row 2, S10' },
  },
  'own-creates-need-not-be-seen': {
    bug: 'a view older than an own create is acted upon (row 2)',
    file: 'src/core/intents/intents.ts',
    before: "if (!isMet) return 'unseen';",
    after: "if (!isMet) return 'settled';",
    killedBy: {
      file: 'test/simulation/systematic/hidden.test.ts',
      title: 'faults rows 2, 3, 91: runs upon a view older than',
    },
  },
  'status-conflicts-without-end': {
    bug: 'a run writes its status a thousand times against conflicts (row 11)',
    file: 'src/app/reconcile/status/write-status.ts',
    before: 'const TRIES_MAX = 3;',
    after: 'const TRIES_MAX = 1000;',
    killedBy: {
      file: 'test/unit/app/reconcile/memo-rules.test.ts',
      title:
        'that lasts a minute is tried three times in a run, ever more seldom, and ends (row 11)',
    },
  },
  'poison-is-thrown': {
    bug: 'a body that cannot be read fails its batch (row 25, L4)',
    file: 'src/app/ingest/message/ingest-refused.ts',
    before: '  const { cluster, clusterUid } = parsed.header;',
    after:
      "  const { cluster, clusterUid } = parsed.header;\n  if (parsed.code !== undefined) throw new Error('poison');",
    killedBy: { file: 'test/simulation/identity.test.ts', title: 'L4, row 25' },
  },
  'forged-refusals-come-again': {
    bug: 'a forged message comes again while its record cannot be kept (L3, issue 40)',
    file: 'src/app/refusal/keep-refusal.ts',
    before: "    if (sender === 'verified') throw error;",
    after: '    if (code !== undefined) throw error;',
    killedBy: {
      file: 'test/security/forged-flood.test.ts',
      title: 'while nothing can be noted, nor is tried each time',
    },
  },
  'a-freeze-waits-for-sts': {
    bug: 'an order is given only once STS has answered, however long that takes (issue 40)',
    file: 'src/cli/command-line/caller.ts',
    before: 'const ANSWER_MS_MAX = 2000;',
    after: 'const ANSWER_MS_MAX = 2_000_000;',
    killedBy: {
      file: 'test/unit/cli/command-line/caller.test.ts',
      title: 'is said to be unknown, and the order is given, where AWS refuses or does not answer',
    },
  },
  'a-name-forges-a-principal': {
    bug: 'a name may hold what looks like the word of AWS (issue 40)',
    file: 'src/cli/command-line/caller.ts',
    before: 'const NOT_OF_A_NAME = /[^\\p{L}\\p{N}@._+/:=-]+/gu;',
    after: 'const NOT_OF_A_NAME = /[^\\p{L}\\p{N}@._+/:=() -]+/gu;',
    killedBy: {
      file: 'test/unit/cli/command-line/caller.test.ts',
      title: 'cannot be forged by a name, and fits what is stored',
    },
  },
  'forgers-are-recorded-without-end': {
    bug: 'every forged message that names another cluster is written down (issue 40)',
    file: 'src/adapters/dynamodb/registry-store.ts',
    before: "(isFull ? 'unkept' : undefined)",
    after: 'undefined',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/refusal-notes.test.ts',
      title: 'twenty of a sender in an hour, whatever clusters it names',
    },
  },
  'bodies-of-any-size': {
    bug: 'a body is parsed however long it is (row 25, row 67)',
    file: 'src/adapters/sqs/schema/hint-codec.ts',
    before: 'const BODY_LENGTH_MAX = 8192;',
    after: 'const BODY_LENGTH_MAX = 8_192_000;',
    killedBy: {
      file: 'test/security/schemas.test.ts',
      title: 'is refused by its length before it is parsed',
    },
  },
  'held-pods-block-their-node': {
    bug: 'a terminal pod that a finalizer holds gets no successor (row 47)',
    file: 'src/core/pod/pod-facts.ts',
    before: 'return pod.isTerminating && isTerminal(pod);',
    after: 'return pod.isTerminating && isTerminal(pod) && pod.targetNode === undefined;',
    killedBy: { file: 'test/simulation/names.test.ts', title: 'row 47' },
  },
  'collisions-are-not-counted': {
    bug: 'a taken name of a revision raises no collisionCount (row 54)',
    file: 'src/app/reconcile/history/history-create.ts',
    before: 'count: count + 1, taken',
    after: 'count, taken',
    killedBy: {
      file: 'test/unit/app/reconcile/history-collisions.test.ts',
      title: 'its collision is resolved once for each name (S10, row 54)',
    },
  },
  'memory-forgets-the-lock': {
    bug: 'the table in memory takes a state of any version, the real one does not (row 62, M4)',
    file: 'test/support/memory-view-store.ts',
    before: "if ((stored?.version ?? 0) !== state.version) return 'lost';",
    after: "if ((stored?.version ?? 0) < state.version) return 'lost';",
    killedBy: {
      file: 'test/unit/support/memory-stores.test.ts',
      title: 'the view store in memory (M4, row 62)',
    },
  },
  'deferral-without-cap': {
    bug: 'a mark that never comes puts a run off for ever (row 64, protocol 1)',
    file: 'src/app/reconcile/confirm/guard.ts',
    before: "freshness.kind === 'live-read' || hasOverdue(doubtful, input, context)",
    after: "freshness.kind === 'live-read'",
    killedBy: {
      file: 'test/unit/app/reconcile/own-writes.test.ts',
      title: 'are read live one by one once they are overdue, although others went on (row 64)',
    },
  },
  'any-depth-is-parsed': {
    bug: 'texts of a billion values are parsed (row 67, L3)',
    file: 'src/adapters/sqs/schema/structure-bound.ts',
    before: 'separatorsMax: 1_000_000, depthMax: 200',
    after: 'separatorsMax: 1_000_000_000, depthMax: 200_000_000',
    killedBy: {
      file: 'test/unit/adapters/sqs/schema/structure-bound.test.ts',
      title: 'row 67: a kilobyte that unpacks to millions of values is refused',
    },
  },
  'unseen-orphans-are-doubled': {
    bug: 'creates do not wait for orphans that the view lacks (row 85, S1)',
    file: 'src/app/reconcile/confirm/live-pods.ts',
    before: 'ownerUid === view.uid || (ownerUid === undefined && !isTerminating);',
    after: 'ownerUid === view.uid && !(ownerUid === undefined && isTerminating);',
    killedBy: {
      file: 'test/unit/app/reconcile/claim-rules.test.ts',
      title: 'row 85: of orphans that the view does not know yet hold the first creates',
    },
  },
  'unseen-orphans-are-doubled-in-a-cluster': {
    bug: 'creates do not wait for orphans that the view lacks (row 85, S1)',
    file: 'src/app/reconcile/confirm/live-pods.ts',
    before: 'ownerUid === view.uid || (ownerUid === undefined && !isTerminating);',
    after: 'ownerUid === view.uid && !(ownerUid === undefined && isTerminating);',
    killedBy: {
      file: 'test/simulation/names.test.ts',
      title:
        'rows 38, 85: orphans that are not seen yet hold the pods of the DaemonSet that is made again',
    },
  },
  'large-objects-are-sent-whole': {
    bug: 'an object that is too large is sent as it is (protocol 22)',
    file: 'src/watcher/project/projection.ts',
    before: 'const isTooLong = isLonger(slimText(slim), options.objectBytesMax);',
    after: 'const isTooLong = isLonger(slimText(slim), options.objectBytesMax * 1_000);',
    killedBy: {
      file: 'test/unit/watcher/project/projection.test.ts',
      title: 'what is too large or not as documented travels opaque',
    },
  },
  'opaque-harms-the-whole-view': {
    bug: 'an opaque DaemonSet refuses its key for ever (protocol 22)',
    file: 'src/app/reconcile/read/stored-inputs.ts',
    before: 'if (daemonSet.object === null && daemonSet.opaqueReason === undefined)',
    after: 'if (daemonSet.object === null)',
    killedBy: {
      file: 'test/unit/app/reconcile/claim-rules.test.ts',
      title: 'opaque: a live read decides',
    },
  },
  'faults-that-never-fire-pass': {
    bug: 'a trial passes although its fault never fired (M1)',
    file: 'test/support/systematic/trial.ts',
    before: 'if (installed.fired() === undefined) {',
    after: "if (installed.fired() === 'never') {",
    killedBy: {
      file: 'test/simulation/systematic/passages.test.ts',
      title: 'M1, row 16: a plan that matches no passage',
    },
  },
  'pods-heard-of-an-hour-ago': {
    bug: 'availability is spent by pods heard of within an hour, not 90 s (S3)',
    file: 'src/app/reconcile/process/dependencies.ts',
    before: 'podsFreshMs: 90_000,',
    after: 'podsFreshMs: 3_600_000,',
    killedBy: {
      file: 'test/unit/app/reconcile/freshness-rules.test.ts',
      title: 'else waits for the watcher, and then goes by one live list of all its pods',
    },
  },
};

/** All of them. */
export const CLAIM_BUGS: Readonly<Record<string, PlantedBug>> = { ...parity, ...promise };
