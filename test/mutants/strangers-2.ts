/**
 * Bugs of adapters, watcher and app that a second stranger to the tests chose: sixty, of which all but two stand here and
 * in strangers-above-2.ts (functions, engine, infra, command line).
 *
 * 40 of the sixty died at once; the tests that the others lacked were written then. What is left out cannot be told from
 * the original: a Lease that is given back before the run has ended, which is over by then for all that anybody can see;
 * and the admission rule that a pin names one node alone, which the API server demands of every pod.
 */
import type { PlantedBug } from './planted-bug.ts';

/** The rows. */
export const MORE_STRANGERS: Readonly<Record<string, PlantedBug>> = {
  'position-lost-beside-other': {
    bug: 'of two stamps of which one stands higher already, neither is raised (14)',
    file: 'src/adapters/dynamodb/view-store.ts',
    before: "if (result === 'written' || given.length === 1) return;",
    after: "if (result === 'written' || given.length > 0) return;",
    killedBy: {
      file: 'test/integration/dynamodb/stores.test.ts',
      title: 'the DynamoDB stores on the local tables (M4, row 62)',
    },
  },
  'rebuilt-token-older': {
    bug: 'a token of a rebuilt cluster is older than the one of the cluster before (14)',
    file: 'src/adapters/dynamodb/single-item-stores.ts',
    before:
      "'attribute_not_exists(pk) OR issuedAtMs < :issued OR clusterUid <> :uid',\n        values: { ':issued': token.issuedAtMs, ':uid': token.clusterUid },",
    after:
      "'attribute_not_exists(pk) OR issuedAtMs < :issued',\n        values: { ':issued': token.issuedAtMs },",
    killedBy: {
      file: 'test/integration/dynamodb/stores.test.ts',
      title: 'the DynamoDB stores on the local tables (M4, row 62)',
    },
  },
  'wish-to-wait-heard-by-nobody': {
    bug: 'what one request is asked by an API server, the next one does not know',
    file: 'src/adapters/kubernetes/api/cluster-access.ts',
    before: 'this.#pressure.note(answer.retryAfterMs);',
    after: 'this.#pressure.note(undefined);',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/api/cluster-access.test.ts',
      title: 'leaves it alone whichever read was asked to wait',
    },
  },
  'event-limit-holds-pods': {
    bug: 'a limit on Events holds pods back (14)',
    file: 'src/adapters/kubernetes/api/cluster-access.ts',
    before: "const isOfItsOwn = effect.kind === 'create-event';",
    after: 'const isOfItsOwn = false;',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/api/cluster-access.test.ts',
      title: 'lets throttled Events hold nothing back',
    },
  },
  'credential-after-deadline': {
    bug: 'a write is repeated with a new credential after the deadline of the run (14)',
    file: 'src/adapters/kubernetes/api/cluster-access.ts',
    before: 'refreshCredential() && !(options !== undefined && isOver(options, clock));',
    after: 'refreshCredential();',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/api/cluster-access.test.ts',
      title: 'starts no repetition after the deadline',
    },
  },
  'retry-after-unbounded': {
    bug: 'a server may silence us for as long as it likes (14)',
    file: 'packages/base/src/wait.ts',
    before: 'Math.min(askedMs, RETRY_AFTER_MAX_MS)',
    after: 'askedMs',
    killedBy: {
      file: 'packages/base/test/unit/wait.test.ts',
      title: 'lets no answer silence us',
    },
  },
  'no-bookmarks': {
    bug: 'no bookmarks are asked for: marks of a quiet kind stand still (14)',
    file: 'src/adapters/kubernetes/watch/watch-source.ts',
    before: "    allowWatchBookmarks: 'true',\n",
    after: '',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/watch/watch-source.test.ts',
      title: 'a stream asks for bookmarks and its time-out',
    },
  },
  'answer-timeout-kept': {
    bug: 'every stream is torn down half a minute after it was opened (14)',
    file: 'src/adapters/kubernetes/watch/watch-connection.ts',
    before: '      cancel();\n      resolve(response);',
    after: '      resolve(response);',
    killedBy: {
      file: 'test/integration/adapters/kubernetes/watch/watch-source.test.ts',
      title: 'the time for an answer is over once it begins',
    },
  },
  'retired-kept-alive': {
    bug: 'a connection that was busy when its pool retired stays open (14)',
    file: 'src/adapters/kubernetes/transport/pooled-agent.ts',
    before: '    if (this.#isRetired) return false;\n',
    after: '',
    killedBy: {
      file: 'test/unit/adapters/kubernetes/transport/pooled-agent.test.ts',
      title: 'and none once it has retired',
    },
  },
  'cut-list-is-whole': {
    bug: 'a list whose connection broke in the middle counts as whole (14)',
    file: 'src/adapters/kubernetes/watch/list-page.ts',
    before: "    if (this.#state !== 'end') throw new ListItemError('the list is cut short');\n",
    after: '',
    killedBy: {
      file: 'test/unit/adapters/kubernetes/watch/list-page.test.ts',
      title: 'row 35: a page that is cut short',
    },
  },
  'own-lease-waited-for': {
    bug: 'a standing-by watcher waits forty seconds for the Lease that it holds itself (14)',
    file: 'src/watcher/lease/lease.ts',
    before: 'holder === own || holder === former;',
    after: 'holder === own;',
    killedBy: {
      file: 'test/unit/watcher/stand-by.test.ts',
      title: 'does not wait for itself after its own epoch ended',
    },
  },
  'takes-from-living-holder': {
    bug: 'who stands by takes the Lease from a holder that renews it (14)',
    file: 'src/watcher/lease/vacancy.ts',
    before: '      this.#pulse = facts.pulse;\n      this.#changedMs = clock.monotonicMs();',
    after: '      this.#pulse = facts.pulse;',
    killedBy: {
      file: 'test/unit/watcher/epochs.test.ts',
      title: 'takes over soon after the Lease has run out, not before (row 72)',
    },
  },
  'stream-backoff-grows': {
    bug: 'the back-off of a kind never begins anew: after a month every failure costs its cap (14)',
    file: 'src/watcher/observe/list-watch.ts',
    before: '    if (this.#hasProgressed) this.#backoff.reset();\n',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/observe/list-watch.test.ts',
      title: 'what works begins the back-off anew',
    },
  },
  'broken-position-kept': {
    bug: 'a stream that cannot be read is opened again at the same place for ever (14)',
    file: 'src/watcher/observe/list-watch.ts',
    before: '          reason: end.message,\n        });\n        this.#version = undefined;',
    after: '          reason: end.message,\n        });',
    killedBy: {
      file: 'test/unit/watcher/observe/list-watch.test.ts',
      title: 'a line that cannot be read leads to a relist, and is counted',
    },
  },
  'opaque-for-ever': {
    bug: 'an object that was refused once travels opaque for as long as the process lives (14)',
    file: 'src/watcher/session/session.ts',
    before: '    this.#on.memory.unsendable.clear();\n',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/snapshots.test.ts',
      title: 'what was refused once travels whole again',
    },
  },
  'fewer-slices-announced': {
    bug: 'a cluster that shrinks, and one whose sets need fewer slices, announces snapshots for it (14)',
    file: 'src/watcher/session/session.ts',
    before: 'if (sliceCount > this.#publisher.sliceCount) return announcement',
    after: 'if (sliceCount !== this.#publisher.sliceCount) return announcement',
    killedBy: {
      file: 'test/unit/watcher/snapshots.test.ts',
      title: 'crossing a threshold announces again, falling below does not',
    },
  },
  'standby-never-ready': {
    bug: 'a watcher that stands by is never ready: a rollout of two replicas hangs (14)',
    file: 'src/watcher/process/health.ts',
    before: "if (status.state === 'standby') return [...problems, ...heldElsewhere(status)];",
    after: "if (status.state === 'standby') problems.push(...heldElsewhere(status));",
    killedBy: {
      file: 'test/unit/watcher/process/health.test.ts',
      title: 'that stands by is ready, as long as it can read the Lease',
    },
  },
  'stop-keeps-lease': {
    bug: 'a pod that is told to stop keeps its Lease: the next one waits forty seconds (14)',
    file: 'src/watcher/main.ts',
    before: 'await parts.watcher.retire();',
    after: 'await parts.watcher.stop();',
    killedBy: {
      file: 'test/integration/watcher/process.test.ts',
      title: 'gives the Lease back at a signal and ends with 0',
    },
  },
  'leaving-lifts-freeze': {
    bug: 'leaving takeover lifts a freeze that a person had set (14)',
    file: 'src/app/takeover/hand-back.ts',
    before: "mode: 'observe', isFrozen: wasFrozen",
    after: "mode: 'observe', isFrozen: false",
    killedBy: {
      file: 'test/unit/app/takeover/hand-back.test.ts',
      title: 'keeps a freeze that stood before',
    },
  },
  'silent-before-fleet-ends': {
    bug: 'a move or a hand-back waits for a run of reconcile, and a turn of fleet goes on (40.4)',
    file: 'src/core/pod/request-life.ts',
    before: 'FUNCTION_MAX_MS = 55_000',
    after: 'FUNCTION_MAX_MS = RUN_MAX_MS',
    killedBy: {
      file: 'test/unit/app/reconcile/time-outs.test.ts',
      title: 'outlast every function',
    },
  },
  'silence-of-first-page': {
    bug: 'open requests of the hundred-and-first DaemonSet are not waited for (14)',
    file: 'src/app/clusters/await-silence.ts',
    before: '    }\n  }\n  return lastMs;',
    after: '    }\n    break;\n  }\n  return lastMs;',
    killedBy: {
      file: 'test/unit/app/clusters/await-silence.test.ts',
      title: 'waits for an open request of any DaemonSet, beyond the first hundred too',
    },
  },
  'clock-back-holds-lease-check': {
    bug: 'a wall clock that stepped back holds the check of the Lease for as long (14)',
    file: 'src/app/ingest/message/lease-check.ts',
    before: 'sinceMs >= intervalMs || sinceMs < 0;',
    after: 'sinceMs >= intervalMs;',
    killedBy: {
      file: 'test/unit/app/ingest/message/lease-check.test.ts',
      title: 'is not held back by a wall clock that stepped back',
    },
  },
  'former-of-this-epoch-removed': {
    bug: 'what a DaemonSet left that was replaced in this very epoch is removed by a manifest (14)',
    file: 'src/app/ingest/apply/apply-manifest.ts',
    before: 'item.stamp < target.epochStart && (item.formerUids ?? []).length > 0',
    after: '(item.formerUids ?? []).length > 0',
    killedBy: {
      file: 'test/unit/app/ingest/crashes.test.ts',
      title: 'a run that wakes up late, wherever it slept',
    },
  },
  'refusals-of-old-template': {
    bug: 'what the template before was refused for holds the new one back (14)',
    file: 'src/core/retry/retry.ts',
    before: '  if (entry.generation !== change.generation) return false;\n',
    after: '',
    killedBy: {
      file: 'test/unit/app/reconcile/refused-deletes.test.ts',
      title: 'grows while it is refused again, and is forgotten some time after',
    },
  },
  'deletes-go-on-in-trouble': {
    bug: 'deletes go on though the API server turns some away (14)',
    file: 'src/app/reconcile/confirm/batch-fence.ts',
    before: '!sent.some(({ outcome }) => isLast(outcome))',
    after: '!(sent.length > 0 && sent.every(({ outcome }) => isLast(outcome)))',
    killedBy: {
      file: 'test/unit/app/reconcile/execute/execute-deletes.test.ts',
      title: 'stop after a batch of which the API server turned one away',
    },
  },
  'deferral-begins-anew': {
    bug: 'a deferral begins anew at each look: its cap is never reached (14)',
    file: 'src/app/reconcile/requeue/defer.ts',
    before: 'deferredSinceMs: state.deferredSinceMs ?? nowMs',
    after: 'deferredSinceMs: nowMs',
    killedBy: {
      file: 'test/unit/app/reconcile/freshness-rules.test.ts',
      title: 'ends by the cap however often the key is looked at meanwhile',
    },
  },
  'former-sets-not-forgotten': {
    bug: 'slices and state of former DaemonSets stay when a cluster is removed (14)',
    file: 'src/app/clusters/forget-view.ts',
    before: 'const uids = [...(item.formerUids ?? []), ...(item.uid === null ? [] : [item.uid])];',
    after: 'const uids = item.uid === null ? [] : [item.uid];',
    killedBy: {
      file: 'test/unit/app/clusters/forget-view.test.ts',
      title: 'forgets slices and state of a DaemonSet, of those before it',
    },
  },
};
