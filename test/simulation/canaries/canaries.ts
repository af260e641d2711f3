/**
 * Canaries: known bugs of controllers, seeded into Rollcall, that the simulation must find (faults row 18).
 *
 * Each is a change of one text in one file of src, planted while it is loaded (test/support/mutants.ts). It says
 * which promise has to break, and within how many seeds: a crash of the changed code does not count. A canary that
 * is not found says that the simulation has become blind, not that the code has become good.
 */
import type { Mutant } from '../../support/mutants.ts';

/** One seeded bug. */
export interface Canary extends Mutant {
  /** What it is, and who had it. */
  readonly bug: string;
  /** Promises of which one must break. */
  readonly breaks: readonly string[];
  /** Where it is looked for: a profile of the simulation (`mixed` for all), or a hunt. */
  readonly in: string;
  /** Seeds from the first within which it must be found. */
  readonly seedsMax: number;
  /** Found within a second or two: part of `npm test`. */
  readonly isQuick?: boolean;
}

/** The canaries by name. */
export const CANARIES: Readonly<Record<string, Canary>> = {
  'counters-for-identities': {
    bug: 'any event of a pod meets the expectation of a delete (upstream counts, #76060)',
    file: 'src/core/intents/intents.ts',
    before: "if (intent.isAccepted) return 'unseen';",
    after:
      "if (intent.isAccepted) return hasPassed(input.marks.Pod, intent.resourceVersion) ? 'settled' : 'unseen';",
    breaks: ['S3'],
    in: 'hasty-rollbacks',
    seedsMax: 40,
  },
  'delete-without-uid': {
    bug: 'a delete goes by name: the UID is no precondition',
    file: 'src/app/reconcile/run/asserted-access.ts',
    before: 'await access.execute(sound, options)',
    after:
      "await access.execute(sound.map((each) => (each.kind === 'delete-pod' ? { ...each, uid: '' } : each)), options)",
    breaks: ['S4'],
    in: 'mixed',
    seedsMax: 3,
    isQuick: true,
  },
  'delete-without-version': {
    bug: 'a delete does not care whether the pod changed since it was confirmed',
    file: 'src/app/reconcile/run/asserted-access.ts',
    before: 'await access.execute(sound, options)',
    after:
      "await access.execute(sound.map((each) => (each.kind === 'delete-pod' ? { ...each, resourceVersion: '' } : each)), options)",
    breaks: ['S4'],
    in: 'mixed',
    seedsMax: 3,
  },
  'incomplete-view': {
    bug: 'a view that is not whole is acted upon (#14528, #33245)',
    file: 'src/core/view/freshness.ts',
    before: 'if (meta.isComplete) return undefined;',
    after: 'if (meta !== undefined) return undefined;',
    breaks: ['S1', 'S3', 'L1'],
    in: 'lost-messages',
    seedsMax: 60,
    isQuick: true,
  },
  'partial-list': {
    bug: 'a list that fails on its second page counts as whole (#14528)',
    file: 'src/watcher/observe/list-watch.ts',
    before: "if (answer.kind !== 'ok') return answer;",
    after:
      "if (answer.kind !== 'ok' && items.length === 0) return answer;\n if (answer.kind !== 'ok') break;",
    breaks: ['S1', 'S3', 'L1'],
    in: 'troubled-watchers',
    seedsMax: 60,
  },
  'no-stale-guard': {
    bug: 'own writes are not awaited: the next sync decides on a view from before them (#130767)',
    file: 'src/core/intents/intents.ts',
    before: "if (intent.isAccepted) return 'unseen';",
    after: "if (intent.isAccepted) return 'settled';",
    breaks: ['S3'],
    in: 'hasty-rollbacks',
    seedsMax: 40,
  },
  'retry-by-throwing': {
    bug: 'a retryable failure is thrown, so that the queue repeats it until it gives up',
    file: 'src/app/reconcile/end/schedule.ts',
    before: '  const timerId = random.uniqueId();',
    after:
      "  if (dueAtMs - clock.nowMs() < 60_000) throw new Error('injected: try again');\n  const timerId = random.uniqueId();",
    breaks: ['L1', 'L2'],
    in: 'mixed',
    seedsMax: 250,
  },
  'lock-without-version': {
    bug: 'the state is written whatever version it has: the last writer wins',
    file: 'src/app/reconcile/run/record-state.ts',
    before: 'await view.writeState(ref, state);',
    after:
      'await view.writeState(ref, { ...state, version: (await view.readState(ref))?.version ?? 0 });',
    breaks: ['S1', 'S2', 'S3'],
    in: 'overlapping-runs',
    seedsMax: 80,
  },
  'random-names': {
    bug: 'pods have generated names: nothing fences a second create (upstream)',
    file: 'src/core/pod/naming.ts',
    before: 'let letters = rememberedLetters.get(text);',
    after:
      'globalThis.canaryNames = (globalThis.canaryNames ?? 0) + 1;\n  let letters = nameHash(text + String(globalThis.canaryNames));',
    breaks: ['S1', 'S2'],
    in: 'lost-states',
    seedsMax: 60,
  },
  'name-reused': {
    bug: 'a pod gets the name of the one before it: nobody remembers that one (ADR 0005, as it was)',
    file: 'src/core/pods/planning.ts',
    before: 'return [...view.gone, ...unseen.filter(({ uid }) => !known.has(uid))];',
    after: 'return unseen.filter(({ uid }) => known.has(uid));',
    breaks: ['S13'],
    in: 'mixed',
    seedsMax: 5,
    isQuick: true,
  },
  'snapshot-without-epoch': {
    bug: 'messages of an older watcher are applied after those of a newer one',
    file: 'src/app/ingest/message/meta-transitions.ts',
    before: "if (difference < 0 || header.incarnation !== meta.incarnation) return 'older-epoch';",
    after: "if (difference < 0 || header.incarnation !== meta.incarnation) return 'newer-epoch';",
    breaks: ['S8'],
    in: 'troubled-watchers',
    seedsMax: 5,
  },
  'skip-by-number': {
    bug: 'a hint is skipped because the number of its message was seen',
    file: 'src/app/reconcile/read/skip.ts',
    before:
      'left.epoch === right.epoch &&\n    left.nodesChanged === right.nodesChanged &&\n    left.podsChanged === right.podsChanged &&',
    after:
      "Number(left.nodesChanged.split('.')[2]) >= Number(right.nodesChanged.split('.')[2]) && Number(left.podsChanged.split('.')[2]) >= Number(right.podsChanged.split('.')[2]) &&",
    breaks: ['L1'],
    in: 'troubled-watchers',
    seedsMax: 40,
  },
  'expiring-intents': {
    bug: 'an expectation expires by the clock while its request may still arrive',
    file: 'src/core/pod/request-life.ts',
    before: 'return Math.max(latestMs, earlierStartsByMs(intent) ?? 0) + lifeMs;',
    after: 'return (earlierStartsByMs(intent) ?? intent.recordedAtMs) - RUN_MAX_MS + 1000;',
    breaks: ['S1', 'S2', 'S3'],
    in: 'late-requests',
    seedsMax: 120,
  },
  'open-delete-not-counted': {
    bug: 'a delete without an answer takes nothing from the budget (row 78)',
    file: 'src/core/rollout/rollout-states.ts',
    before: 'isDoomed: unresolvedDeletes.has(pod.uid),',
    after: 'isDoomed: false,',
    breaks: ['S3'],
    in: 'late-deletes',
    seedsMax: 20,
  },
  'successor-without-resolution': {
    bug: 'a successor name is used while the earlier create may still arrive (protocol 5)',
    file: 'src/core/pods/plan-create.ts',
    before: 'const unresolved = planning.unresolvedCreates.get(node) ?? [];',
    after: 'const unresolved = [];',
    breaks: ['S1', 'S2'],
    in: 'late-requests',
    seedsMax: 120,
  },
  'memo-without-configuration': {
    bug: 'a freeze that was lifted does not undo the memo (protocol 11, 13)',
    file: 'src/app/reconcile/read/skip.ts',
    before:
      'left.configVersion === right.configVersion &&\n    left.configHash === right.configHash &&',
    after: '',
    breaks: ['L1'],
    in: 'freezes',
    seedsMax: 20,
  },
  'status-with-old-counts': {
    bug: 'a DaemonSet that changed gets the counts from before (protocol 8, upstream retries so)',
    file: 'src/app/reconcile/status/write-status.ts',
    before: 'const found = await readPresent(input);',
    after:
      "const read = await readPresent(input);\n    const { daemonSet } = input.subject;\n    const found = read.kind !== 'found' ? read : { ...read, object: { ...daemonSet, metadata: { ...daemonSet.metadata, resourceVersion: read.object.metadata.resourceVersion } } };",
    breaks: ['S7', 'L1'],
    in: 'overlapping-runs',
    seedsMax: 40,
  },
  'victim-not-read-again': {
    bug: 'a pod that was unavailable in the view is deleted beyond the budget, whatever it is now',
    file: 'src/app/reconcile/confirm/confirm-reason.ts',
    before: 'return !planned.isAvailable && this.#isAvailable(pod);',
    after: 'return false;',
    breaks: ['S3'],
    in: 'hasty-rollbacks',
    seedsMax: 30,
  },
  'age-not-subtracted': {
    bug: 'a message that was frozen for an hour counts as heard when the queue took it (protocol 1, ADR 0032)',
    file: 'src/app/ingest/message/meta-transitions.ts',
    before: 'heardAtMs[kind] = sentAtMs - cutAgeMs - silentMs;',
    after: 'heardAtMs[kind] = sentAtMs - 0 * cutAgeMs - silentMs;',
    breaks: ['S3'],
    in: 'lost-ways',
    seedsMax: 20,
  },
  'cut-without-age-ignored': {
    bug: 'a cut that does not tell its age, as of an earlier watcher, closes no flush: nothing is deleted any more (14 A.8)',
    file: 'src/app/ingest/message/meta-transitions.ts',
    before: 'return { ...moved, heardAtMs, marks, isCutOpen: cut === undefined };',
    after:
      'return { ...moved, heardAtMs, marks, isCutOpen: cut === undefined || context.arrival.cutAgeMs === undefined };',
    breaks: ['L1'],
    in: 'upgrades',
    seedsMax: 15,
  },
  'metadata-filtered': {
    bug: 'a write compares with the version of the view, which nobody reports when nothing else changes',
    file: 'src/app/reconcile/confirm/live-daemon-set.ts',
    before: '!isOlder(live, planned) &&',
    after: 'live.metadata.resourceVersion === planned.metadata.resourceVersion &&',
    breaks: ['L1', 'L5'],
    in: 'other-managers',
    seedsMax: 10,
  },
  'timer-not-merged': {
    bug: 'every look is a timer of its own, whatever is on its way already: chains never merge',
    file: 'src/core/hints/looks.ts',
    before: 'return pending.findLast(',
    after: 'return pending.slice(0, 0).findLast(',
    breaks: ['L5'],
    in: 'refused-status',
    seedsMax: 10,
    isQuick: true,
  },
  'create-without-look': {
    bug: 'pods are created for a DaemonSet that nobody looked at again (S5)',
    file: 'src/app/reconcile/confirm/batch-fence.ts',
    before: 'batch.isCreating || isForTemplate ?',
    after: 'isForTemplate ?',
    breaks: ['S5'],
    in: 'mixed',
    seedsMax: 5,
    isQuick: true,
  },
  'no-silence-guard': {
    bug: 'a view that nobody spoke for lately is acted upon as if it were fresh (protocol 1)',
    file: 'src/core/view/freshness.ts',
    before: 'if (silent.length === 0) return undefined;',
    after: 'if (silent.length >= 0) return undefined;',
    breaks: ['S5'],
    in: 'silent-clusters',
    seedsMax: 10,
    isQuick: true,
  },
  'silence-of-ten-days': {
    bug: 'a view may be ten days old instead of fifteen minutes (protocol 1)',
    file: 'src/app/reconcile/process/dependencies.ts',
    before: 'silenceBoundMs: 15 * 60_000,',
    after: 'silenceBoundMs: 10 * 24 * 3_600_000,',
    breaks: ['S5'],
    in: 'silent-clusters',
    seedsMax: 10,
  },
  'never-released': {
    bug: 'a pod that no longer matches the selector is never let go (spec 2.4)',
    file: 'src/core/view/view.ts',
    before: "return isKept ? 'keep' : 'release';",
    after: "return isKept ? 'keep' : 'ignore';",
    breaks: ['L1'],
    in: 'webhooks',
    seedsMax: 15,
  },
  'budget-by-old-pods': {
    bug: 'a budget is counted from pods that were heard of a quarter of an hour ago, not 90 seconds (S3)',
    file: 'src/app/reconcile/process/dependencies.ts',
    before: 'podsFreshMs: 90_000,',
    after: 'podsFreshMs: 15 * 60_000,',
    breaks: ['S3'],
    in: 'flapping-ways',
    seedsMax: 25,
  },
  'credential-in-memo': {
    bug: 'the memo holds the registration itself instead of its hash: a credential stands in the state (S11)',
    file: 'src/app/reconcile/read/skip.ts',
    before: 'configHash: hash48(canonicalJson(registration as unknown as JsonObject)),',
    after: 'configHash: canonicalJson(registration as unknown as JsonObject),',
    breaks: ['S11'],
    in: 'mixed',
    seedsMax: 3,
  },
  'credential-in-log': {
    bug: 'a line about a silent cluster tells how to authenticate to it (S11)',
    file: 'src/app/resync/look-at-cluster.ts',
    before: '{ cluster: id, silentMs }',
    after: '{ ...registration.authentication, silentMs }',
    breaks: ['S11'],
    in: 'silent-clusters',
    seedsMax: 5,
    isQuick: true,
  },
  'retry-after-ignored': {
    bug: 'a key asks again while the API server wants to be left alone (429 with Retry-After)',
    file: 'src/app/reconcile/end/schedule.ts',
    before: 'if (askedMs === 0) return 0;',
    after: 'if (askedMs >= 0) return 0;',
    breaks: ['L5'],
    in: 'crowded-api',
    seedsMax: 10,
  },
  'deadline-not-looked-at': {
    bug: 'creates start although the time of the run went by while it computed (protocol 5)',
    file: 'src/app/reconcile/execute/execute-creates.ts',
    before: 'await send(effects, fence);',
    after: 'await access.execute(effects, { deadlineMs: Infinity });',
    breaks: ['S1'],
    in: 'busy-functions',
    seedsMax: 20,
  },
  'limits-for-an-edit': {
    bug: 'a pod that a LimitRange gave resources counts as made of another template',
    file: 'src/watcher/project/project-object.ts',
    before: '  checkName(pod.boundNode);',
    after:
      "  if (JSON.stringify(input.raw['spec']).includes('\"resources\"')) Object.assign(pod, { labels: { ...pod.labels, 'controller-revision-hash': 'edited' } });\n  checkName(pod.boundNode);",
    breaks: ['L1', 'L5'],
    in: 'crowded-api',
    seedsMax: 5,
  },
  'injected-for-an-edit': {
    bug: 'a pod with a label that its template does not have counts as made of another template',
    file: 'src/watcher/project/project-object.ts',
    before: '  checkName(pod.boundNode);',
    after:
      "  if (Object.keys(pod.labels).length > 2) Object.assign(pod, { labels: { ...pod.labels, 'controller-revision-hash': 'edited' } });\n  checkName(pod.boundNode);",
    breaks: ['L1', 'L5'],
    in: 'webhooks',
    seedsMax: 5,
  },
  'unbound-is-nowhere': {
    bug: 'a pod that waits for the scheduler belongs to no node (spec 2.4)',
    file: 'src/core/projections/project.ts',
    before: "const target = bound === '' ? (readAffinityNode(spec, onFault) ?? '') : bound;",
    after: 'const target = bound;',
    breaks: ['S2', 'S13'],
    in: 'crowded-api',
    seedsMax: 20,
  },
  'refused-is-resent': {
    bug: 'a message that the queue refuses for its size is sent for ever (protocol 22)',
    file: 'src/watcher/replicate/sender.ts',
    before: "return 'refused';",
    after: 'await clock.sleep(backoff.nextMs(), this.#signal);\n        continue;',
    breaks: ['L5'],
    in: 'crowded-api',
    seedsMax: 20,
  },
  'node-names-too-few': {
    bug: 'a node that changed names one DaemonSet too few: that one sleeps (protocol 20, ADR 0046)',
    file: 'src/watcher/replicate/affected.ts',
    before: 'const keys = concerned.map(',
    after: 'const keys = concerned.slice(1).map(',
    breaks: ['L1'],
    in: 'changing-nodes',
    seedsMax: 20,
  },
  'no-interlock': {
    bug: 'a label that vanishes from all nodes takes every pod at once (upstream; Reddit, March 2023)',
    file: 'src/core/interlock/hold-shrink.ts',
    before: "const isTaken = decision.kind === 'go'",
    after: 'const isTaken = true',
    breaks: ['S14'],
    in: 'lost-labels',
    seedsMax: 2,
    isQuick: true,
  },
  'forgetful-interlock': {
    bug: 'a label that is taken off one node after the other takes every pod, two at a time',
    file: 'src/core/interlock/count-shrink.ts',
    before: 'if (nodeView.pods.length > 0 || gone.has(nodeView.node.name)) left.push(nodeView);',
    after: '',
    breaks: ['S14'],
    in: 'lost-labels',
    seedsMax: 6,
  },
};
