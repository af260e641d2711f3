/**
 * Bugs that let a quiet cluster cost more than it has to, or that spare a look which something rests on.
 */
import type { PlantedBug } from './planted-bug.ts';

const LOOK = 'src/app/resync/look-at-cluster.ts';
const TROUBLES = 'src/core/hints/cluster-troubles.ts';
const RESYNC = 'test/unit/app/resync/resync.test.ts';

/** The rows of what is spared where nothing happens, and while much does (issue 16). */
export const QUIET_BUGS: Readonly<Record<string, PlantedBug>> = {
  'well-although-it-has-a-turn': {
    bug: 'a warm resync looks at no due time of a cluster that it knows (L2)',
    file: LOOK,
    before: 'known === undefined || hinting !== undefined || checking !== undefined',
    after: 'known === undefined || hinting !== undefined',
    killedBy: {
      file: 'test/property/app/resync/resync.test.ts',
      title: 'meets every boundary of every cluster',
    },
  },
  'well-although-not-whole': {
    bug: 'a warm resync asks for no snapshot of a cluster that it knows (protocol 17)',
    file: TROUBLES,
    before: 'const ofView: readonly ClusterTrouble[] = meta.isComplete ?',
    after: 'const ofView: readonly ClusterTrouble[] = meta.isComplete || true ?',
    killedBy: { file: RESYNC, title: 'asks for the snapshot of a view that is not whole any more' },
  },
  'well-although-silent': {
    bug: 'a warm resync tells of no cluster that fell silent',
    file: LOOK,
    before: 'return troublesOf(meta, { nowMs: clock.nowMs(), ...options }).length === 0;',
    after: 'return meta?.isComplete === true;',
    killedBy: { file: RESYNC, title: 'reads it of what fell silent' },
  },
  'registration-read-each-minute': {
    bug: 'a warm resync remembers no cluster: a read more of each in every minute',
    file: LOOK,
    before: '  remember(warmth.clusterUids, id, registration.clusterUid);\n',
    after: '  warmth.clusterUids.delete(id);\n',
    killedBy: { file: RESYNC, title: 'reads a registration only for what has a turn' },
  },
  'flushes-that-follow-nothing': {
    bug: 'a rollout over thousands of nodes writes all of them anew four times a second (ADR 0054)',
    file: 'src/watcher/session/options.ts',
    before: 'intervalMsPerObject: 0.25,',
    after: 'intervalMsPerObject: 0.05,',
    killedBy: {
      file: 'test/unit/watcher/outbox/flush-schedule.test.ts',
      title: 'come less often the more objects stand',
    },
  },
  'node-that-waits-for-the-pace': {
    bug: 'a node that joins in the middle of a rollout waits until its next flush is due (ADR 0059)',
    file: 'src/watcher/outbox/flush-schedule.ts',
    before: 'return Math.max(sinceMs + this.#flush.waitMs.urgent, tokenMs);',
    after: 'return Math.max(tokenMs, Infinity);',
    killedBy: {
      file: 'test/unit/watcher/outbox/flush-schedule.test.ts',
      title: 'is not held back by the interval of a rollout',
    },
  },
  'crowd-that-never-waits': {
    bug: 'every node of a crowd that joins makes a flush of its own (ADR 0059)',
    file: 'src/watcher/outbox/flush-schedule.ts',
    before: '(isUrgent ? 1 : 0)',
    after: '(isUrgent ? 0 : 0)',
    killedBy: {
      file: 'test/unit/watcher/outbox/flush-schedule.test.ts',
      title: 'come at the interval for the fifth of an urgent crowd',
    },
  },
  'first-status-waits': {
    bug: 'the second run of a large create waits up to a second for the status that the first one wrote (ADR 0059)',
    file: 'src/watcher/outbox/change-priority.ts',
    before: "isObserved(former, next) ? undefined : 'calm'",
    after: "'calm'",
    killedBy: {
      file: 'test/unit/watcher/outbox/quiet-priority.test.ts',
      title: 'is a DaemonSet of which anything but the status changed',
    },
  },
  'tainted-node-that-hurries': {
    bug: 'a node that nobody may use yet uses up a flush, and the taint that goes waits (ADR 0059)',
    file: 'src/watcher/outbox/affected.ts',
    before: "? placement === 'run'",
    after: "? placement !== 'leave'",
    killedBy: {
      file: 'test/unit/watcher/outbox/change-priority.test.ts',
      title: 'is a node that no DaemonSet may use yet',
    },
  },
  'pods-that-hurry-after-their-node': {
    bug: 'pods that go after their node use up the prompt flushes, and the next node waits a second (ADR 0059)',
    file: 'src/watcher/outbox/change-priority.ts',
    before: 'node === undefined || this.#store.hasNode(node)',
    after: "node === undefined || node !== ''",
    killedBy: {
      file: 'test/unit/watcher/outbox/change-priority.test.ts',
      title: 'is a pod that goes after its node',
    },
  },
};
