/** Planted bugs of the watcher (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const WATCHER_BUGS: PlantedBugs = {
  'start-up-waits-for-company': {
    bug: 'the Ready that a tainted node waits for is sent a second later (45.4)',
    at: 'src/watcher/outbox/change-priority.ts#PriorityJudge.#judgeLiving',
    change: "if (pod.isReady && this.#isAwaited(pod)) return 'awaited';",
    to: '',
    killedBy:
      'test/unit/watcher/outbox/change-priority.test.ts: is the Ready of a labelled DaemonSet',
  },
  'start-up-waits-like-others': {
    bug: 'a Ready that a tainted node waits for waits for the whole interval after a wide flush (45.4)',
    at: 'src/watcher/outbox/flush-schedule.ts#FlushSchedule.noteFlush',
    change: 'workMs / AWAITED_FACTOR',
    to: 'workMs',
    killedBy:
      'test/unit/watcher/outbox/flush-schedule.test.ts: waits for a tenth of the work of a flush',
  },
  'takes-from-living-holder': {
    bug: 'who stands by takes the Lease from a holder that renews it',
    at: 'src/watcher/lease/lease.ts#Vacancy.isFree',
    change: 'this.#changedMs = clock.monotonicMs();',
    to: '',
    killedBy:
      'test/unit/watcher/stand-by.test.ts: stands by while the other one renews, however long',
  },
  'both-replicas-take-the-lease': {
    bug: 'of two replicas each takes the Lease at its start, whatever it is told',
    at: 'src/watcher/main.ts#composeWatcher',
    change: 'leaseStart: start, installation }',
    to: "installation, start = 'take' }",
    killedBy:
      'test/integration/watcher/process.test.ts: stands by from its start where it is told to',
  },
  'watcher-sdk-repeats-sends': {
    bug: 'the SDK repeats a send of the watcher by itself',
    at: 'src/watcher/main.ts#composeWatcher',
    change: 'CALL_LIMITS.watcher',
    to: 'CALL_LIMITS.function',
    killedBy:
      'test/integration/watcher/process.test.ts: repeats a send itself, and the AWS client never does',
  },
  'probes-quote-an-api-server-whole': {
    bug: '/readyz shows whatever an API server said (security, threats, S11)',
    at: 'src/watcher/main.ts#probeText',
    change: '.slice(0, PROBLEM_LENGTH_MAX)',
    to: '.slice(0)',
    killedBy:
      'test/integration/watcher/process.test.ts: of what an API server says it tells little',
  },
  'probes-tell-tokens': {
    bug: '/readyz shows a token that an API server echoes (security, threats, S11)',
    at: 'src/watcher/main.ts#probeText',
    change: 'safeText(problem, redactor)',
    to: 'problem',
    killedBy:
      'test/integration/watcher/process.test.ts: of what an API server says it tells little',
  },
  'stop-keeps-lease': {
    bug: 'a pod that is told to stop keeps its Lease: the next one waits forty seconds',
    at: 'src/watcher/main.ts#runWatch',
    change: 'await parts.watcher.retire();',
    to: 'await parts.watcher.stop();',
    killedBy:
      'test/integration/watcher/process.test.ts: gives the Lease back at a signal and ends with 0',
  },
  'two-hundred-silent-streams': {
    bug: 'a stream may be silent two hundred times before its kind is listed',
    at: 'src/watcher/observe/list-watch.ts#SILENT_STREAMS_MAX',
    to: '200',
    killedBy: 'test/unit/watcher/observe/list-watch.test.ts: twice in a row',
  },
  'node-that-waits-for-the-pace': {
    bug: 'a node that joins in the middle of a rollout waits until its next flush is due (ADR 0079)',
    at: 'src/watcher/outbox/flush-schedule.ts#FlushSchedule.#urgentDueMs',
    change: 'return Math.max(sinceMs + this.#flush.waitMs.urgent, tokenMs);',
    to: 'return Math.max(tokenMs, Infinity);',
    killedBy:
      'test/unit/watcher/outbox/flush-schedule.test.ts: is not held back by the interval of a rollout',
  },
  'rare-heartbeats': {
    bug: 'a quiet watcher beats every hundred minutes, and its cluster counts as silent',
    at: 'src/watcher/session/options.ts#DEFAULT_WATCHER_OPTIONS',
    change: 'idleMs: 13 * 60 * 1000',
    to: 'idleMs: 100 * 60 * 1000',
    killedBy: 'test/unit/composition/dependent-bounds.test.ts: is not what a quiet cluster keeps',
  },
  'lease-of-a-moment': {
    bug: 'a Lease counts as free before its holder renews it',
    at: 'src/watcher/session/options.ts#DEFAULT_WATCHER_OPTIONS',
    change: 'durationMs: 40_000',
    to: 'durationMs: 4_000',
    killedBy: 'test/unit/composition/dependent-bounds.test.ts: outlasts three renewals that failed',
  },
  'pace-without-a-bound': {
    bug: 'a flush that touches much holds the next one back for minutes',
    at: 'src/watcher/session/options.ts#DEFAULT_WATCHER_OPTIONS',
    change: 'intervalMsMax: 2_000',
    to: 'intervalMsMax: 200_000',
    killedBy: 'test/unit/composition/published-bounds.test.ts: for each slice that a flush touched',
  },
  'messages-without-room': {
    bug: 'a message leaves no room for its age, and the queue refuses it',
    at: 'src/watcher/session/options.ts#DEFAULT_WATCHER_OPTIONS',
    change: 'messageBytesMax: 256 * 1024 - 64',
    to: 'messageBytesMax: 256 * 1024',
    killedBy: 'test/unit/composition/dependent-bounds.test.ts: of a message leave room for its age',
  },
  'flushes-that-follow-nothing': {
    bug: 'a rollout over thousands of nodes writes all of them anew four times a second (ADR 0079)',
    at: 'src/watcher/session/options.ts#DEFAULT_WATCHER_OPTIONS',
    change: 'intervalMsPerObject: 0.25',
    to: 'intervalMsPerObject: 0.05',
    killedBy:
      'test/unit/watcher/outbox/flush-schedule.test.ts: come less often the more objects stand',
  },
  'pod-ends-unheard': {
    bug: 'a pod that failed is replaced seconds late',
    at: 'src/watcher/outbox/change-priority.ts#decidingPod',
    change: "phase: LIVING.has(pod.phase) ? 'Running' : pod.phase",
    to: "phase: 'Running'",
    killedBy: 'test/unit/watcher/outbox/quiet-priority.test.ts: is a pod that is aimed elsewhere',
  },
  'status-waits-with-its-spec': {
    bug: 'a new template is sent a second late',
    at: 'src/watcher/outbox/change-priority.ts#withoutStatus',
    change: 'const { status: _status, ...object } = projection.object;',
    to: 'const object = { ...projection.object, status: {}, spec: {} as never };',
    killedBy:
      'test/unit/watcher/session/quiet-changes.test.ts: is sent at once where anything else of the DaemonSet changed',
  },
  'large-objects-are-sent-whole': {
    bug: 'an object that is too large is sent as it is (protocol 22)',
    at: 'src/watcher/project/projection.ts#trySlim',
    change: 'const isTooLong = isLonger(slimText(slim), options.objectBytesMax);',
    to: 'const isTooLong = isLonger(slimText(slim), options.objectBytesMax * 1_000);',
    killedBy:
      'test/unit/watcher/project/projection.test.ts: what is too large or not as documented travels opaque',
  },
  'failed-renewal-exits-zero': {
    bug: 'a renewal that failed ends with exit code 0',
    at: 'src/watcher/renew-main.ts#runRenewal',
    change: "if (result.kind === 'failed') process.exitCode = EXIT_FAILED;",
    to: '',
    killedBy: 'test/integration/watcher/process.test.ts: a renewal that sent nothing ends with 1',
  },
  'affected-first-node-only': {
    bug: 'of several nodes in a message only the first is compared',
    at: 'src/watcher/outbox/affected.ts#AffectedFinder.#concern',
    change: 'for (const { before, after } of changes) {',
    to: 'for (const { before, after } of changes.slice(0, 1)) {',
    killedBy:
      'test/property/watcher/affected.test.ts: each is compared, with what a snapshot said of it',
  },
  'affected-names-all': {
    bug: 'a node that nobody is eligible for wakes every key',
    at: 'src/watcher/outbox/affected.ts#AffectedFinder.#concern',
    change: "if (former === undefined && placement !== 'run') bare.add(after.name);",
    to: "if (former === undefined && placement !== 'run') return true;",
    killedBy: 'test/property/watcher/affected.test.ts: wakes nobody until that is gone',
  },
  'affected-gone-node-ignored': {
    bug: 'a node that is gone concerns nobody',
    at: 'src/watcher/outbox/affected.ts#AffectedFinder.affectedBy',
    change: "if (after?.kind !== 'Node' || before === 'opaque') return undefined;",
    to: "if (after?.kind !== 'Node' || before === 'opaque') continue;",
    killedBy:
      'test/property/watcher/affected.test.ts: has the placement that it was woken with last',
  },
  'status-is-never-sent': {
    bug: 'a status that changed alone is sent with the next change, if there ever is one (L1)',
    at: 'src/watcher/outbox/change-priority.ts#quietPriority',
    change: "isCaughtUp(former, next) ? undefined : 'calm'",
    to: "isCaughtUp(former, next) ? undefined : 'aside'",
    killedBy:
      'test/unit/watcher/session/quiet-changes.test.ts: is sent within a second, with its mark',
  },
  'takes-from-anybody-ever-after': {
    bug: 'a watcher that was told once to take the Lease from anybody overrules whoever is faster later',
    at: 'src/watcher/lease/lease.ts#LeaseKeeper.take',
    change: 'this.#mayOverrule = false;',
    to: '',
    killedBy: 'test/unit/watcher/installations.test.ts: takes it from anybody once: whoever made',
  },
};
