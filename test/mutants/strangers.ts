/**
 * Bugs that were chosen by somebody who had not read the tests: sixty, of which all but one stand here and beside.
 *
 * This file has those of the adapters and the watcher; strangers-above.ts those of what is built upon them. 39 of the
 * sixty died at once; the tests that the others lacked were written then. What is left out: a reconcile that is not told
 * of its end, whose deadline comes before that.
 */
import type { PlantedBug } from './planted-bug.ts';
import { STRANGERS_ABOVE } from './strangers-above.ts';

/** All of them. */
export const STRANGER_BUGS: Readonly<Record<string, PlantedBug>> = {
  ...STRANGERS_ABOVE,
  'own-repeat-counts-as-lost': {
    bug: 'a write that the SDK repeated is lost although it was applied (14)',
    file: 'src/adapters/dynamodb/table.ts',
    before: 'if (error.$metadata.attempts === 1 && !mayStand)',
    after: 'if (error.$metadata.attempts !== 1 && !mayStand)',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/table.test.ts',
      title: 'is written when the item that comes with the failed condition bears its token',
    },
  },
  'breaker-shares-the-writer': {
    bug: 'the breaker keeps its writer token where META keeps its own (14)',
    file: 'src/adapters/dynamodb/records.ts',
    before: "  tokenIn: 'breakerWriter',\n",
    after: '',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/table.test.ts',
      title: 'is written, of META, although the breaker beside it was noted before it was repeated',
    },
  },
  'hints-are-sent-for-ever': {
    bug: 'entries that the queue does not take are sent again without end (14)',
    file: 'src/adapters/sqs/batched-sender.ts',
    before: 'refusal?.SenderFault === true || attempt === ATTEMPTS_MAX;',
    after: 'refusal?.SenderFault === true;',
    killedBy: {
      file: 'test/unit/adapters/sqs/hint-queue.test.ts',
      title: 'rejects when entries stay refused: the record must come again',
    },
  },
  'tokens-are-used-to-the-end': {
    bug: 'a bound token is used until ten milliseconds before it ends (14)',
    file: 'src/adapters/kubernetes/credentials/sealed-token-source.ts',
    before: 'const EXPIRY_MARGIN_MS = 10_000;',
    after: 'const EXPIRY_MARGIN_MS = 10;',
    killedBy: {
      file: 'test/unit/adapters/kubernetes/credentials/sealed-token-source.test.ts',
      title: 'is used to its end while no newer one can be had, and then says so',
    },
  },
  'retry-after-is-milliseconds': {
    bug: 'Retry-After counts as milliseconds (14)',
    file: 'packages/base/src/wait.ts',
    before: 'return Number(header) * 1000;',
    after: 'return Number(header);',
    killedBy: {
      file: 'packages/base/test/unit/wait.test.ts',
      title: 'reads seconds and dates',
    },
  },
  'new-tokens-need-no-identity': {
    bug: 'the identity is not read again under a new token (14)',
    file: 'src/adapters/kubernetes/api/cluster-connector.ts',
    before: '      verified.generation === (warm.tokens?.generation() ?? 0) &&\n',
    after: '',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/api/cluster-connector.test.ts',
      title: 'signs EKS tokens itself, and mints another after a 401',
    },
  },
  'dropped-clusters-keep-connections': {
    bug: 'a cluster that leaves the connector keeps its connections (14)',
    file: 'src/adapters/kubernetes/api/cluster-connector.ts',
    before: '    warm.transport.retire();\n',
    after: '',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/api/cluster-connector.test.ts',
      title: 'ends the connections of a cluster that it forgets',
    },
  },
  'causes-are-not-redacted': {
    bug: 'causes behind an error reach the log as they are (14)',
    file: 'src/adapters/system/logs.ts',
    before: "errorCauses: safeText(behind.join('; '), redactor)",
    after: "errorCauses: behind.join('; ')",
    killedBy: {
      file: 'test/unit/adapters/system/log.test.ts',
      title: 'into no part of a line (S11, faults 68)',
    },
  },
  'unread-keys-are-absent': {
    bug: 'keys that a throttled table left over count as absent (14)',
    file: 'src/adapters/dynamodb/batches.ts',
    before: 'if (leftover.length === 0) return items;',
    after: 'if (leftover.length >= 0) return items;',
    killedBy: {
      file: 'test/unit/adapters/dynamodb/batched-reader.test.ts',
      title: 'ask again for keys that a throttled table left over, as consistently (row 32)',
    },
  },
  'watcher-sdk-repeats-sends': {
    bug: 'the SDK repeats a send of the watcher by itself (14)',
    file: 'src/watcher/main.ts',
    before: 'CALL_LIMITS.watcher,',
    after: 'CALL_LIMITS.function,',
    killedBy: {
      file: 'test/integration/watcher/process.test.ts',
      title: 'repeats a send itself, and the AWS client never does',
    },
  },
  'watcher-ignores-retry-after': {
    bug: 'the back-off of the watcher is shorter than the server asked for (14)',
    file: 'packages/base/src/wait.ts',
    before: 'return Math.max(ownMs, retryAfterMs);',
    after: 'return Math.max(ownMs, 0 * retryAfterMs);',
    killedBy: {
      file: 'test/unit/watcher/observe/list-watch.test.ts',
      title: 'Retry-After is honoured',
    },
  },
  'anybodys-lease-is-released': {
    bug: 'a watcher that ends gives back the Lease of its successor (14)',
    file: 'src/watcher/lease/lease.ts',
    before: '      if (leaseFacts(read.value).holder !== taken.incarnation) return false;\n',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/stand-by.test.ts',
      title: 'leaves a Lease alone that is another one’s by now',
    },
  },
  'requests-are-heard-again': {
    bug: 'a request in the Lease asks for a snapshot at each renewal (14)',
    file: 'src/watcher/lease/lease.ts',
    before: 'if (asked !== undefined && asked !== requestId)',
    after: 'if (asked !== undefined)',
    killedBy: {
      file: 'test/unit/watcher/epochs.test.ts',
      title: 'a request for a snapshot is announced with its id, once (protocol 17)',
    },
  },
  'filtered-events-are-counted-again': {
    bug: 'filtered events are counted again with each heartbeat (14)',
    file: 'src/watcher/session/session.ts',
    before: '      this.#filteredCount = 0;\n',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/sending.test.ts',
      title: 'count the events that were filtered away since the heartbeat before, each once',
    },
  },
  'sleeping-machines-age-no-cut': {
    bug: 'the age of a cut misses the time that the machine slept (14)',
    file: 'src/watcher/replicate/sender.ts',
    before: 'cut.monotonicMs, clock.nowMs() - cut.wallMs)',
    after: 'cut.monotonicMs)',
    killedBy: {
      file: 'test/unit/watcher/sending.test.ts',
      title: 'counts what a machine slept through, when its monotonic clock stood still',
    },
  },
  'same-version-is-a-restore': {
    bug: 'a list at the version of the mark counts as a restore of etcd (14)',
    file: 'src/watcher/observe/intake.ts',
    before: 'compareResourceVersions(version, mark) >= 0) return false;',
    after: 'compareResourceVersions(version, mark) > 0) return false;',
    killedBy: {
      file: 'test/unit/watcher/epochs.test.ts',
      title: 'a bookmark, or a list, at the own mark is none',
    },
  },
  'initial-deletes-are-kept': {
    bug: 'an object deleted among initial events stays (14)',
    file: 'src/watcher/observe/frame-reader.ts',
    before: "const item = kind === 'deleted' ? undefined : this.#target.project(raw);",
    after: "const item = kind === 'modified' ? undefined : this.#target.project(raw);",
    killedBy: {
      file: 'test/unit/watcher/observe/list-watch.test.ts',
      title: 'an object that is deleted among the initial events is not listed',
    },
  },
  'failed-renewal-exits-zero': {
    bug: 'a renewal that failed ends with exit code 0 (14)',
    file: 'src/watcher/renew-main.ts',
    before: "    if (result.kind === 'failed') process.exitCode = EXIT_FAILED;\n",
    after: '',
    killedBy: {
      file: 'test/integration/watcher/process.test.ts',
      title: 'a renewal that sent nothing ends with 1',
    },
  },
  'tokens-of-anybody-are-sealed': {
    bug: 'a token of another account is sealed and sent (14)',
    file: 'src/watcher/renew/renew-credential.ts',
    before:
      "  if (subject !== subjectOf(purpose)) return failed('token', 'the token is of somebody else');\n",
    after: '  void subject;\n',
    killedBy: {
      file: 'test/unit/watcher/renew/renew-credential.test.ts',
      title: ', says so, and sends nothing',
    },
  },
  'heartbeat-never-rests': {
    bug: 'after a filtered event heartbeats follow each other without rest (14)',
    file: 'src/watcher/pace/heartbeat.ts',
    before: '    this.#lastCutMs = nowMs;\n    this.#waitingUntilMs = undefined;',
    after: '    this.#lastCutMs = nowMs;',
    killedBy: {
      file: 'test/unit/watcher/pace/heartbeat.test.ts',
      title: 'a cut answers for the event that was filtered away before it',
    },
  },
  'daemon-sets-go-last': {
    bug: 'deltas of DaemonSets are sent after those of their pods (14)',
    file: 'src/watcher/replicate/outbox.ts',
    before: 'new Set([...waiting.filter(isOwner), ...others])',
    after: 'new Set([...others, ...waiting.filter(isOwner)])',
    killedBy: {
      file: 'test/unit/watcher/sending.test.ts',
      title: 'DaemonSets go before what belongs to them',
    },
  },
};
