/** Bugs where two features meet: a third stranger planted them, and no test failed. */
import type { PlantedBug } from './planted-bug.ts';

const RECONCILE_TEST = 'test/unit/app/reconcile';

/** The rows of meetings. */
export const MEETING_BUGS: Readonly<Record<string, PlantedBug>> = {
  'adoptions-hide-a-freeze': {
    bug: 'a freeze during adoptions does not stop the creates after them',
    file: 'src/app/reconcile/execute/act.ts',
    before: 'isStale: isPatching,',
    after: 'isStale: false,',
    killedBy: {
      file: `${RECONCILE_TEST}/freeze-rules.test.ts`,
      title: 'that comes during adoptions stops the creates after them',
    },
  },
  'template-restored-after-adoptions': {
    bug: 'a freeze during adoptions does not stop the template that is restored after them',
    file: 'src/app/reconcile/run/result.ts',
    before: 'return this.recorded.length > 0 || this.patched > 0;',
    after: 'return this.recorded.length > 0;',
    killedBy: {
      file: `${RECONCILE_TEST}/execute/restore-template.test.ts`,
      title: 'where the stack was frozen after nothing but adoptions',
    },
  },
  'recovered-goes-beyond-the-budget': {
    bug: 'a pod that recovered goes from a node that is vacated, beyond what may go',
    file: 'src/app/reconcile/confirm/confirm-reason.ts',
    before: '!isStillAimed(planned, pod) || this.#hasRecovered(planned, pod)',
    after: '!isStillAimed(planned, pod)',
    killedBy: {
      file: `${RECONCILE_TEST}/confirm/confirm-victims.test.ts`,
      title: 'stays when it was planned as unavailable and is available by now',
    },
  },
  'victim-of-a-404-counts': {
    bug: 'a victim whose delete was answered 404 counts as available until the view shows that it is gone',
    file: 'src/app/reconcile/execute/note-outcomes.ts',
    before:
      "like an accepted delete.\n      result.answers.push({ kind: 'deleted', uid: effect.uid });\n      return 'open';",
    after: "like an accepted delete.\n      return 'settled';",
    killedBy: {
      file: `${RECONCILE_TEST}/refused-deletes.test.ts`,
      title: 'counts as going until the view shows it',
    },
  },
  'backlog-begins-a-history': {
    bug: 'a message of a lower epoch that waited in the queue for long begins a new history',
    file: 'src/app/ingest/message/lease-check.ts',
    before: 'context.sentAtMs - meta.lastSentAtMs',
    after: 'clock.nowMs() - meta.lastSentAtMs',
    killedBy: { file: 'test/unit/app/ingest/epochs.test.ts', title: 'a backlog is no silence' },
  },
  'twin-is-a-duplicate': {
    bug: 'the deduplication id of a hint has no namespace: in a lane, of two DaemonSets of one name one is not looked at',
    file: 'src/adapters/sqs/queue-ids.ts',
    before: 'digest(`${key.cluster}/${key.namespace}/${key.name}`)',
    after: 'digest(`${key.cluster}/${key.name}`)',
    killedBy: { file: 'test/unit/adapters/sqs/queue-ids.test.ts', title: 'group hints by key' },
  },
  'batch-waits-before-its-first-turn': {
    bug: 'a batch whose process stood still before the first turn is sent back whole',
    file: 'functions/reconcile/take-batch.ts',
    before: '  #begunMs: number | undefined;\n',
    after: '  #begunMs: number | undefined = 0;\n',
    killedBy: {
      file: 'test/unit/functions/take-batch.test.ts',
      title: 'its time counts from the first turn',
    },
  },
  'returning-clusters-all-at-once': {
    bug: 'clusters that come back are all given what is proven at once',
    file: 'src/app/fleet/step/serve-ring.ts',
    before: ': Math.max(0, atOnce - Math.max(rolling.length, onTheirWay + again.length));',
    after: ': atOnce;',
    killedBy: {
      file: 'test/unit/app/fleet/step/make-step.test.ts',
      title: 'are given what is proven, as many at a time',
    },
  },
};
