/**
 * Bugs by which hints of one batch harm each other (ADR 0048), or by which messages and requests that need not be sent are missed.
 */
import type { PlantedBug } from './planted-bug.ts';

const BATCH = 'functions/reconcile/take-batch.ts';
const BATCH_TEST = 'test/unit/functions/take-batch.test.ts';
const TURNS = 'functions/reconcile/plan-turns.ts';
const TURNS_TEST = 'test/unit/functions/plan-turns.test.ts';

const COUNTS_TEST = 'test/unit/app/reconcile/status/write-counts.test.ts';
const MORE = 'src/app/reconcile/status/update-status.ts';
const MORE_TEST = 'test/unit/app/reconcile/status/more-to-come.test.ts';
const READS_TEST = 'test/unit/adapters/kubernetes/api/daemon-set-reads.test.ts';
const BASIS = 'src/app/reconcile/read/stored-inputs.ts';
const EARLY_TEST = 'test/unit/app/reconcile/read/early-reads.test.ts';
const WRITER = 'src/adapters/dynamodb/batches.ts';
const WRITER_TEST = 'test/unit/adapters/dynamodb/batched-writer.test.ts';
const EXPRESSIONS = 'packages/local-aws/src/dynamodb/expressions.ts';
const EXPRESSIONS_TEST = 'packages/local-aws/test/unit/dynamodb/expressions.test.ts';
const STATEMENTS_TEST = 'test/integration/local-aws/batch-statements.test.ts';
const MEMO_TEST = 'test/unit/app/reconcile/memo-rules.test.ts';
const QUIET_TEST = 'test/unit/watcher/session/quiet-changes.test.ts';

/** The rows of batches of hints. */
export const BATCH_BUGS: Readonly<Record<string, PlantedBug>> = {
  'slices-wait-for-the-daemon-set': {
    bug: 'a run of which something moved asks for its slices only once the DaemonSet is read (issue 16)',
    file: 'src/app/reconcile/load-input.ts',
    before: 'return isCertain ? readSlices(of, dependencies) : undefined;',
    after: 'return isCertain ? undefined : undefined;',
    killedBy: { file: EARLY_TEST, title: 'takes two moments of reads: META and state' },
  },
  'hints-without-news-read-slices': {
    bug: 'a hint that finds nothing new reads all slices before it can know (issue 16)',
    file: 'src/app/reconcile/load-input.ts',
    before: 'hasMoved(of) && ',
    after: '',
    killedBy: { file: EARLY_TEST, title: 'of hints that tell of a change waits for META' },
  },
  'floods-read-slices': {
    bug: 'each hint for a cluster whose breaker is open reads slices (L3, row 61)',
    file: 'src/app/reconcile/load-input.ts',
    before: 'hasMoved(of) && !isOpen(of.meta.breaker, dependencies.clock.nowMs())',
    after: 'hasMoved(of)',
    killedBy: { file: EARLY_TEST, title: 'asks for no slice while the breaker' },
  },
  'memos-of-all-clusters-end-together': {
    bug: 'memos of all clusters end at one moment: thousands of keys run at once (protocol 11)',
    file: 'src/app/reconcile/requeue/timers.ts',
    before: '(hash48(hint.key.cluster) % EXPIRY_PARTS)',
    after: '(0 % EXPIRY_PARTS)',
    killedBy: { file: MEMO_TEST, title: 'ends together for keys of a cluster' },
  },
  'memos-of-a-cluster-end-apart': {
    bug: 'memos of a quiet cluster end one by one, each with a request and a run (issue 16)',
    file: 'src/app/reconcile/requeue/timers.ts',
    before: 'memoLifeMs * lifeShare(context)',
    after: 'memoLifeMs * (0.8 + 0.2 * context.dependencies.random.next())',
    killedBy: { file: MEMO_TEST, title: 'ends together for keys of a cluster' },
  },
  'looks-trust-a-former-uid': {
    bug: 'a look takes what it read of a DaemonSet that is gone for the one that bears its name (L1)',
    file: BASIS,
    before: ' && early.ref.uid === ref.uid',
    after: '',
    killedBy: {
      file: EARLY_TEST,
      title: 'takes nothing of what it read of a DaemonSet that is gone',
    },
  },
  'looks-without-company': {
    bug: 'each look reads state and DaemonSet by a request of its own (issue 16)',
    file: 'src/app/reconcile/load-input.ts',
    before: " || hint.reason === 'due'",
    after: '',
    killedBy: { file: EARLY_TEST, title: 'takes one moment of reads' },
  },
  'timers-leave-one-by-one': {
    bug: 'the timers of a batch leave one by one, and come back so (issue 16)',
    file: 'functions/reconcile/timers-together.ts',
    before: 'if (this.#waiting.length >= this.#running) this.#depart();',
    after: 'this.#depart();',
    killedBy: {
      file: 'test/unit/functions/timers-together.test.ts',
      title: 'leave together when the last run beside them has sent its own',
    },
  },
  'timers-wait-for-the-slowest': {
    bug: 'a run that hangs holds up the timers, and so the records, of all runs beside it (L3)',
    file: 'functions/reconcile/timers-together.ts',
    before: 'const COMPANY_WAIT_MS = 50;',
    after: 'const COMPANY_WAIT_MS = 50_000;',
    killedBy: {
      file: 'test/unit/functions/timers-together.test.ts',
      title: 'wait for a slow run 50 ms, and each time anew (L3)',
    },
  },
  'statuses-come-back-without-company': {
    bug: 'a status that comes back is looked at in two moments of reads (issue 16)',
    file: 'src/app/reconcile/load-input.ts',
    before: 'isToldStatus || ',
    after: '',
    killedBy: { file: EARLY_TEST, title: 'takes one moment where the status comes back' },
  },
  'tables-take-an-unused-placeholder': {
    bug: 'the local table does a write that DynamoDB refuses, since it has a placeholder that nothing uses',
    file: EXPRESSIONS,
    before: 'if (unused.length === 0) return;',
    after: 'return;',
    killedBy: { file: EXPRESSIONS_TEST, title: 'placeholders that nothing used' },
  },
  'tables-change-a-key': {
    bug: 'a statement to the local table makes an item whose key is not its own',
    file: EXPRESSIONS,
    before: "if (KEY.has(read[0] ?? '')) {",
    after: "if (KEY.has('')) {",
    killedBy: { file: STATEMENTS_TEST, title: 'changes a key' },
  },
  'writes-trust-a-repeated-batch': {
    bug: 'a batch that was repeated takes its own success for a lost race (spec faults 33)',
    file: WRITER,
    before: 'const isOnce = sent.attempts === 1;',
    after: 'const isOnce = true;',
    killedBy: { file: WRITER_TEST, title: 'where a failed condition may be our own success' },
  },
  'writes-lose-a-missing-item': {
    bug: 'a DaemonSet that is new to the view counts as one of a later stamp, and is never written (L1)',
    file: WRITER,
    before: " && where.operator === '='",
    after: '',
    killedBy: { file: WRITER_TEST, title: 'or a missing item' },
  },
  'writes-take-an-error-for-success': {
    bug: 'a statement that was throttled counts as written, and effects go without their intents (S1)',
    file: WRITER,
    before: "if (code === undefined) return 'written';",
    after: "if (code !== 'ConditionalCheckFailed') return 'written';",
    killedBy: { file: WRITER_TEST, title: 'where a statement is throttled' },
  },
  'writes-forget-their-token': {
    bug: 'a write that a batch may have made is taken for somebody else’s (spec faults 33)',
    file: 'src/adapters/dynamodb/table.ts',
    before: ' && !mayStand',
    after: '',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/table.test.ts',
      title: 'is written when a batch before it had written',
    },
  },
  'writes-wait-for-one-that-hangs': {
    bug: 'a request that hangs holds the writes of every other key of its process (L3)',
    file: WRITER,
    before: 'const FLIGHTS_MAX = 2;',
    after: 'const FLIGHTS_MAX = 1;',
    killedBy: { file: WRITER_TEST, title: 'for no one that hangs' },
  },
  'batch-waits-for-the-slowest': {
    bug: 'a key whose run has ended waits for a run that hangs (L3)',
    file: BATCH,
    before: '      this.#isLate = true;',
    after: '      this.#isLate = false;',
    killedBy: { file: BATCH_TEST, title: 'lets nobody wait for a run that hangs longer' },
  },
  'batch-waits-for-what-is-told': {
    bug: 'the next run of a key waits for the Events of the one before (ADR 0059)',
    file: BATCH,
    before: 'if (!this.#aside.isOver) this.#finish();',
    after: 'await this.#aside.ended();',
    killedBy: { file: BATCH_TEST, title: 'leaves the queue before what its runs still tell' },
  },
  'batch-answers-before-it-told': {
    bug: 'Lambda freezes a process whose Events are under way (ADR 0059)',
    file: BATCH,
    before: 'await this.#aside.ended();',
    after: '',
    killedBy: { file: BATCH_TEST, title: 'leaves the queue before what its runs still tell' },
  },
  'batch-begins-late': {
    bug: 'a run begins with what an earlier one of its lane left of the time (L3)',
    file: BATCH,
    before: 'nowMs - this.#begunMs > TURNS_TOGETHER_MS;',
    after: 'nowMs - this.#begunMs > Infinity;',
    killedBy: { file: BATCH_TEST, title: 'sends back to its lane what would begin late' },
  },
  'batch-forgets-receives': {
    bug: 'poison is sent again as a new message, and never becomes a dead letter (L4)',
    file: BATCH,
    before: "batch.take([turn], 'failed')",
    after: "batch.take([turn], 'resent')",
    killedBy: { file: BATCH_TEST, title: 'its count is never lost' },
  },
  'batch-fails-one-of-a-turn': {
    bug: 'of hints that were one run, all but the first are acknowledged though it failed (L4)',
    file: BATCH,
    before: 'byId.get(itemIdentifier)?.records ?? []',
    after: 'byId.get(itemIdentifier)?.record ?? []',
    killedBy: { file: BATCH_TEST, title: 'fails all records of a turn whose run throws' },
  },
  'batch-loses-due': {
    bug: 'a timer that was folded into another hint is taken for one that still stands (protocol 12)',
    file: TURNS,
    before: 'hint: isDue ? turn.hint : next.hint',
    after: 'hint: next.hint',
    killedBy: { file: TURNS_TEST, title: 'say due for all when the timer of one is gone' },
  },
  'batch-trusts-poison': {
    bug: 'a hint that ends its process takes its neighbours with it each time (L4)',
    file: TURNS,
    before: 'receivesOf(record) >= WARY_RECEIVES_MIN',
    after: 'receivesOf(record) < 0',
    killedBy: {
      file: TURNS_TEST,
      title: 'are taken alone when they were received again and again',
    },
  },
  'status-waits-with-its-spec': {
    bug: 'a new template is sent a second late (issue 16)',
    file: 'src/watcher/outbox/change-priority.ts',
    before: 'const { status: _status, ...object } = projection.object;',
    after: 'const object = { ...projection.object, status: {}, spec: {} as never };',
    killedBy: {
      file: QUIET_TEST,
      title: 'is sent at once where anything else of the DaemonSet changed',
    },
  },
  'status-is-never-sent': {
    bug: 'a status that changed alone is sent with the next change, if there ever is one (L1)',
    file: 'src/watcher/outbox/change-priority.ts',
    before: "isObserved(former, next) ? undefined : 'calm'",
    after: "isObserved(former, next) ? undefined : 'aside'",
    killedBy: { file: QUIET_TEST, title: 'is sent within a second, with its mark' },
  },
  'pod-ends-unheard': {
    bug: 'a pod that failed is replaced seconds late (issue 16)',
    file: 'src/watcher/outbox/change-priority.ts',
    before: "phase: LIVING.has(pod.phase) ? 'Running' : pod.phase",
    after: "phase: 'Running'",
    killedBy: {
      file: 'test/unit/watcher/outbox/quiet-priority.test.ts',
      title: 'is a pod that is aimed elsewhere',
    },
  },
  'details-are-put-off': {
    bug: 'what only explains is never sent while others like it come (issue 16)',
    file: 'src/watcher/outbox/flush-schedule.ts',
    before: '    if (this.#sinceMs.has(priority)) return false;\n',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/outbox/flush-schedule.test.ts',
      title: 'waits no longer because others like it come',
    },
  },
  'lost-history-is-counted': {
    bug: 'counts of a lost history count as written (row 71)',
    file: 'src/app/reconcile/status/write-status.ts',
    before: "return isLost ? { kind: 'conflict' } : write;",
    after: 'void isLost;\n      return write;',
    killedBy: { file: COUNTS_TEST, title: 'that an etcd behind what was seen took' },
  },
  'refused-patch-is-asked-for-ever': {
    bug: 'every status of a cluster with an earlier role costs a request more (L5)',
    file: 'src/app/reconcile/status/write-status.ts',
    before: "if (tried.kind === 'forbidden') {",
    after: "if (tried.kind !== 'forbidden') {",
    killedBy: { file: COUNTS_TEST, title: 'are PUT where patches are refused' },
  },
  'doubted-view-is-patched': {
    bug: 'counts are written by a view that a live read has contradicted (S7, row 71)',
    file: 'src/app/reconcile/status/update-status.ts',
    before: 'await (isDoubted ? writeStatus : writeCounts)(',
    after: 'await (isDoubted ? writeCounts : writeCounts)(',
    killedBy: {
      file: 'test/unit/app/reconcile/restored-etcd.test.ts',
      title: 'makes no pod and writes no status where nobody touched the DaemonSet',
    },
  },
  'patch-tests-no-generation': {
    bug: 'a status of a lost generation is written over a version that was given out again (S7)',
    file: 'src/core/status/status-patch.ts',
    before: "    { op: 'test', path: '/metadata/generation', value: generation },\n",
    after: '',
    killedBy: {
      file: 'test/unit/app/reconcile/status-rules.test.ts',
      title: 'gets no status, although the API server has its version again',
    },
  },
  'status-waits-for-no-look': {
    bug: 'a status waits for pods that never get ready, and nobody comes back to it (L1)',
    file: MORE,
    before: 'if (dueAtMs === undefined || dueAtMs <= nowMs) return false;',
    after: 'void dueAtMs;',
    killedBy: { file: MORE_TEST, title: 'where no look is on its way' },
  },
  'status-waits-by-a-clock-ahead': {
    bug: 'counts wait for as long as two clocks differ (row 14)',
    file: MORE,
    before: 'if (sinceMs === undefined || sinceMs > nowMs) return false;',
    after: 'if (sinceMs === undefined) return false;',
    killedBy: { file: MORE_TEST, title: 'nor by a clock that was ahead' },
  },
  'status-waits-for-nothing': {
    bug: 'a pod that was made is told of twice, with a write of the state each (issue 16)',
    file: 'src/app/reconcile/status/update-status.ts',
    before: 'result.hasEffects || (result.isComplete && isMoreToCome(input))',
    after: 'result.hasEffects',
    killedBy: { file: MORE_TEST, title: 'seeing the pod alone writes nothing' },
  },
  'waiting-status-moves-its-look': {
    bug: 'each event of a pod that is not ready writes the state, and puts its status off (L5)',
    file: 'src/app/reconcile/requeue/finish.ts',
    before: 'if (standing !== undefined) return { isComplete, dueAtMs: standing };',
    after: 'void standing;',
    killedBy: { file: MORE_TEST, title: 'seeing the pod alone writes nothing' },
  },
  'shared-read-believes-a-part': {
    bug: 'a DaemonSet that a part of a list lacks is taken for gone: nothing is made for it (L1)',
    file: 'src/adapters/kubernetes/api/daemon-set-reads.ts',
    before: "return found?.kind === 'missing' && !isWhole ? undefined : found;",
    after: 'return found;',
    killedBy: { file: READS_TEST, title: 'where the list lacks them and is not all' },
  },
  'shared-read-is-not-shared': {
    bug: 'the keys of a joining node read their DaemonSets one by one (issue 16)',
    file: 'src/adapters/kubernetes/api/daemon-set-reads.ts',
    before: '      this.#asked.set(namespace, first);\n',
    after: '',
    killedBy: { file: READS_TEST, title: 'share a list' },
  },
  'shared-read-repeats-crowds': {
    bug: 'a namespace with many DaemonSets costs a list in vain at each moment (issue 16)',
    file: 'src/adapters/kubernetes/api/daemon-set-reads.ts',
    before: 'return namesCount * LISTED_SHARE_MAX >= crowd.countMin;',
    after: 'return true;',
    killedBy: { file: READS_TEST, title: 'and then for five minutes' },
  },
  'table-stands-still': {
    bug: 'the table of npm start shows what was half written while it was read (issue 16)',
    file: 'src/cli/start/lookout.ts',
    before: 'const runs = before === after ? before : undefined;',
    after: 'const runs = after ?? before;',
    killedBy: {
      file: 'test/unit/cli/start/lookout.test.ts',
      title: 'does not stand when a function ran while it was read',
    },
  },
};
