/** Bugs in what the simulated worlds stand on, or show: judged by tests of their own beside the canaries of the simulation. */
import type { PlantedBug } from './planted-bug.ts';

const FLEETS = 'test/simulation/fleets.test.ts';
const REGISTRY_DATA = 'test/simulation/registry-data.test.ts';

/** The rows of the first half of finding 14 A.3. */
export const WORLDS_BUGS: Readonly<Record<string, PlantedBug>> = {
  'address-not-judged': {
    bug: 'an address that is written out in the registry is connected to unjudged (14 A.3, S12)',
    file: 'src/adapters/kubernetes/egress/egress.ts',
    before: 'if (reason !== undefined) return refuse(reason);',
    after: '',
    killedBy: { file: REGISTRY_DATA, title: 'a metadata address' },
  },
  'name-not-judged': {
    bug: 'where a name of the registry leads is not judged (14 A.3, S12)',
    file: 'src/adapters/kubernetes/egress/egress.ts',
    before: 'if (reason !== undefined) throw new EgressRefusedError(reason);',
    after: '',
    killedBy: { file: REGISTRY_DATA, title: 'a name that leads to metadata' },
  },
  'any-port': {
    bug: 'the registry chooses the port, those of mail and shells too (14 A.3, S12)',
    file: 'src/adapters/kubernetes/egress/egress.ts',
    before: "if (port !== HTTPS_PORT && port < UNPRIVILEGED_PORT_MIN) return refuse('port');",
    after: '',
    killedBy: { file: REGISTRY_DATA, title: 'a port of mail' },
  },
  'open-authentication': {
    bug: 'a registration may carry fields that nobody knows, such as a command (14 A.3, S12)',
    file: 'src/adapters/dynamodb/registration-schema.ts',
    before: "v.strictObject({ kind: v.literal('bearer')",
    after: "v.object({ kind: v.literal('bearer')",
    killedBy: { file: REGISTRY_DATA, title: 'a command beside a token' },
  },
  'breaker-never-opens': {
    bug: 'a cluster that hangs is asked again and again: its runs take the room of all others (14 A.3, L3)',
    file: 'src/core/model/breaker.ts',
    before: 'failuresToOpen: 3,',
    after: 'failuresToOpen: 3000,',
    killedBy: { file: FLEETS, title: 'keeps every promise beside a noisy cluster' },
  },
  'no-lanes-for-crowds': {
    bug: 'a cluster that hints thousands of keys at once has a group for each of them (14 A.3, L3)',
    file: 'src/adapters/sqs/queue-ids.ts',
    before: 'if (keys.length < CROWD_KEYS_MIN) return keys.map(hintGroupId);',
    after: 'if (keys.length >= 0) return keys.map(hintGroupId);',
    killedBy: { file: FLEETS, title: 'keeps every promise beside a noisy cluster' },
  },
  'retry-after-of-reads-lost': {
    bug: 'what an API server asks for in the answer to a read is forgotten: two seconds later it is asked again (14 A.7)',
    file: 'src/app/isolation/talk-tally.ts',
    before: 'const talk = tally.judgeUnusable(read);',
    after: "const talk: Talk = read.retryAfterMs === undefined ? 'failed' : 'neutral';",
    killedBy: {
      file: 'test/unit/app/reconcile/left-alone.test.ts',
      title: 'L5: is not looked at before',
    },
  },
  'told-when-it-is-over': {
    bug: 'a function is told of its end only when Lambda stops it: its metrics are lost (14 A.7)',
    file: 'functions/middleware.ts',
    before: 'limits.remainingMs - TIMEOUT_RESERVE_MS',
    after: 'limits.remainingMs',
    killedBy: {
      file: 'test/simulation/losses.test.ts',
      title: 'ends 700 ms before its time-out',
    },
  },
  'refusals-do-not-grow': {
    bug: 'the back-off of a refused node does not grow: an hour without room costs thousands of requests (14 A.7)',
    file: 'src/core/retry/retry.ts',
    before: 'nextDelayMs(row, former?.delayMs);',
    after: 'nextDelayMs(row, undefined);',
    killedBy: {
      file: 'test/simulation/refused-creates.test.ts',
      title: 'an hour in which a quota refuses every pod',
    },
  },
  'seconds-are-no-toleration': {
    bug: 'a taint that is tolerated for seconds is not tolerated: the pod is deleted, and not made again (14 A.7)',
    file: 'packages/base/src/taints.ts',
    before: 'const { key, effect } = toleration;',
    after:
      'const { key, effect } = toleration;\n  if (toleration.tolerationSeconds !== undefined) return false;',
    killedBy: {
      file: 'test/simulation/other-writers.test.ts',
      title: 'is made again each time it is evicted',
    },
  },
  'batches-of-eleven': {
    bug: 'hints go in batches of more entries than SQS takes (14 A.7)',
    file: 'src/adapters/sqs/batched-sender.ts',
    before: 'const BATCH_ENTRIES_MAX = 10;',
    after: 'const BATCH_ENTRIES_MAX = 11;',
    killedBy: {
      file: 'test/integration/adapters/sqs/queues.test.ts',
      title: 'take the longest hints and timers that can be',
    },
  },
  'too-large-fails-its-batch': {
    bug: 'one entry that SQS refuses makes those beside it count as refused (14 A.7)',
    file: 'src/adapters/sqs/batched-sender.ts',
    before: "pending.tell({ kind: 'accepted' });",
    after:
      "pending.tell(Failed.length > 0 ? { kind: 'refused', code: 'Other' } : { kind: 'accepted' });",
    killedBy: {
      file: 'test/integration/adapters/sqs/queues.test.ts',
      title: 'refuse an entry that is too large alone',
    },
  },
};
