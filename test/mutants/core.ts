/** Planted bugs of the core and its base, where no operator mutation looks (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const CORE_BUGS: PlantedBugs = {
  'start-up-where-nothing-counts': {
    bug: 'a start-up taint goes where no DaemonSet counts, as before the first label (45.4)',
    at: 'src/core/start-up/start-up-done.ts#startUpDone',
    change: 'counted.length > 0 && waitsFor.length === 0',
    to: 'waitsFor.length === 0',
    killedBy: 'test/unit/core/start-up/start-up-done.test.ts: never ends where nothing counts',
  },
  'log-tells-of-what-was-not-stored': {
    bug: 'an item of the log holds entries of a write that may be lost (43.3)',
    at: 'src/core/log/append-log.ts#leavingLog',
    change: '.filter((entry) => stored.has(entry))',
    to: '.filter((entry) => stored.size > 0 || stored.has(entry))',
    killedBy: 'test/unit/core/log/append-log.test.ts: takes what stood in the stored state',
  },
  'private-keys-published': {
    bug: 'cluster issuer writes the private half of a key, for everyone to read (44.8)',
    at: 'src/core/issuer/issuer-documents.ts#readKeys',
    change: 'if (secret !== undefined)',
    to: "if (secret === 'k')",
    killedBy: 'test/unit/core/issuer/issuer-documents.test.ts: are refused where a private one is',
  },
  'keys-compared-by-id': {
    bug: 'a key that was renewed under its former id counts as published (44.8)',
    at: 'src/core/issuer/issuer-documents.ts#textOf',
    change: "'kty', 'n', 'e', 'crv', 'x', 'y'",
    to: "'kty', 'e', 'crv', 'y'",
    killedBy:
      'test/unit/core/issuer/issuer-documents.test.ts: are missing where the id, or the key',
  },
  'fields-ignored': {
    bug: 'required affinity does not look at matchFields',
    at: 'packages/base/src/node-affinity.ts#compileTerm',
    change: '...(term.matchFields ?? []).map(compileFieldRequirement)',
    to: '...(term.matchFields ?? []).slice(0, 0).map(compileFieldRequirement)',
    killedBy: 'packages/base/test/unit/node-affinity.test.ts: ANDs expressions and fields',
  },
  'local-servers-answer-browsers': {
    bug: 'servers on 127.0.0.1 answer pages of other origins (40.6)',
    at: 'packages/base/src/system/local-caller.ts#whyNotLocal',
    change: 'if (origin !== undefined)',
    to: "if (origin === 'nobody')",
    killedBy: 'test/integration/local-aws/strangers.test.ts: refuses a browser in a sentence',
  },
  'no-execute-forgotten': {
    bug: 'a taint that ends pods ends none (14 A.3, row 52)',
    at: 'packages/base/src/taints.ts#findUntoleratedTaint',
    change: 'taint.effect === input.effect &&',
    to: "taint.effect === input.effect && taint.effect !== 'NoExecute' &&",
    killedBy: 'test/simulation/rows.test.ts: row 52: taints and tolerations',
  },
  'seconds-are-no-toleration': {
    bug: 'a taint that is tolerated for seconds is not tolerated: the pod is deleted, and not made again',
    at: 'packages/base/src/taints.ts#toleratesTaint',
    change: 'const { key, effect } = toleration;',
    to: 'const { key, effect } = toleration; if (toleration.tolerationSeconds !== undefined) return false;',
    killedBy: 'test/simulation/other-writers.test.ts: is made again each time it is evicted',
  },
  'watcher-ignores-retry-after': {
    bug: 'the back-off of the watcher is shorter than the server asked for',
    at: 'packages/base/src/wait.ts#createBackoff',
    change: 'return Math.max(ownMs, retryAfterMs);',
    to: 'return Math.max(ownMs, 0 * retryAfterMs);',
    killedBy: 'test/unit/watcher/observe/list-watch.test.ts: Retry-After is honoured',
  },
  'percentage-without-its-sign': {
    bug: 'maxUnavailable "50" as a text counts as a percentage (parity 2.9)',
    at: 'src/core/daemon-set/strategy.ts#percentOf',
    change: '/^([0-9]+)%$/',
    to: '/^([0-9]+)%?$/',
    killedBy: 'test/unit/core/daemon-set/strategy.test.ts: an integer as a text: as absent',
  },
  'fleet-pool-blames-what-was-bad': {
    bug: 'a node that was bad before the stage opened counts against the release (18.4)',
    at: 'src/core/fleet/attribution/fleet-pool.ts#startPool',
    change: 'outside: outside.slice(0, POOL_NODES_MAX)',
    to: 'outside: outside.slice(0, 0)',
    killedBy: 'test/unit/core/fleet/attribution/fleet-pool.test.ts: who was bad when it began',
  },
  'fleet-defaults-differ': {
    bug: 'what an API server fills in is a difference for ever (18.3)',
    at: 'src/core/fleet/compare-manifest.ts#isServers',
    change: 'return isFilledIn(name, value, beside);',
    to: 'return false;',
    killedBy:
      'test/unit/core/fleet/compare-manifest.test.ts: finds nothing in what an API server made',
  },
  'fleet-annotation-restarts': {
    bug: 'a plan says that pods are replaced where an annotation of the DaemonSet changes (18.1)',
    at: 'src/core/fleet/plan-cluster.ts#isOtherTemplate',
    change: 'field.startsWith(TEMPLATE_FIELD)',
    to: "field !== ''",
    killedBy: 'test/unit/core/fleet/plan-fleet.test.ts: outside of the pod template',
  },
  'copilot-plan-says-nothing': {
    bug: 'a plan shows nodes of a copilot cluster that could be given nothing',
    at: 'src/core/fleet/plan-fleet.ts#planFleet',
    change: 'renderForMode(renderFor(facts), facts.mode)',
    to: 'renderFor(facts)',
    killedBy:
      'test/unit/core/fleet/plan-fleet.test.ts: keeps RollingUpdate from clusters in copilot alone',
  },
  'fleet-name-is-content': {
    bug: 'another name of an override lets content that was halted roll again (18.1)',
    at: 'src/core/fleet/render-fleet.ts#fleetContentHash',
    change: 'const content = { manifest, overrides: rendered as unknown as Json };',
    to: 'const content = { manifest, overrides: overrides as unknown as Json };',
    killedBy: 'test/unit/core/fleet/content-hash.test.ts: is the same however clusters are staged',
  },
  'fleet-template-of-another-cluster': {
    bug: 'a cluster is given what was rendered for one with other overrides (18.2)',
    at: 'src/core/fleet/render-fleet.ts#fleetRenderer',
    change: 'const known = rendered.get(key);',
    to: 'const [known] = rendered.values();',
    killedBy: 'test/unit/cli/fleet/fleet-commands.test.ts: leaves with 3 when some cluster',
  },
  'fleet-simulated-concurrency': {
    bug: 'a simulated fleet rolls more clusters at once than it may (18.1)',
    at: 'src/core/fleet/rollout/advance-fleet.ts#giveMaxOf',
    change: 'rollingMaxOf(record, strategy) - record.counts.rolling',
    to: 'rollingMaxOf(record, strategy)',
    killedBy:
      'test/simulation/fleet-rollouts.test.ts: keeps every promise through a day of releases under faults',
  },
  'fleet-old-approval-counts': {
    bug: 'what was agreed to of the gates of another strategy opens those of this one (18.1)',
    at: 'src/core/fleet/rollout/begin-rollout.ts#beginAgain',
    change: 'orders,',
    to: '',
    killedBy: 'test/unit/core/fleet/rollout/begin-rollout.test.ts: with nothing agreed to',
  },
  'fleet-bad-content-again': {
    bug: 'content that was halted goes out again when GitOps applies it again (18.2)',
    at: 'src/core/fleet/rollout/begin-rollout.ts#knownOf',
    change: 'breach: knownBad(before.refused, beginning)',
    to: 'breach: undefined',
    killedBy: 'test/unit/core/fleet/rollout/begin-rollout.test.ts: holds content that was halted',
  },
  'fleet-simulated-budget': {
    bug: 'a simulated fleet forgives three clusters more than it may (18.1)',
    at: 'src/core/fleet/rollout/find-fleet-breach.ts#failedBeyond',
    change: 'failed.length <= clustersMax',
    to: 'failed.length <= clustersMax + 3',
    killedBy:
      'test/simulation/fleet-rollouts.test.ts: keeps every promise through a day of releases under faults',
  },
  'fleet-dark-rack-mutes-the-others': {
    bug: 'old nodes that die in one cluster outweigh what all others show',
    at: 'src/core/fleet/rollout/find-fleet-breach.ts#pooledEvidence',
    change: '.map(({ ratios = NO_EVIDENCE }) => ratios.map(halfKept))',
    to: '.map(({ ratios = NO_EVIDENCE }) => ratios)',
    killedBy: 'test/property/core/fleet/pooled-evidence.test.ts: do not mute the others',
  },
  'fleet-gives-while-paused': {
    bug: 'a paused fleet goes on (18.1)',
    at: 'src/core/fleet/rollout/judge-stage.ts#holdsOf',
    change: "pausedBy: record.orders.paused && 'order'",
    to: 'pausedBy: undefined',
    killedBy:
      'test/property/core/fleet/advance-fleet.test.ts: while it is frozen, paused or halted',
  },
  'fleet-gives-while-frozen': {
    bug: 'a frozen fleet goes on (18.5)',
    at: 'src/core/fleet/rollout/judge-stage.ts#holdsOf',
    change: 'freeze,',
    to: '',
    killedBy:
      'test/property/core/fleet/advance-fleet.test.ts: while it is frozen, paused or halted',
  },
  'fleet-simulated-halt': {
    bug: 'a simulated fleet that was halted goes on (18.4)',
    at: 'src/core/fleet/rollout/judge-stage.ts#holdsOf',
    change: 'isHalted: record.breach !== undefined',
    to: 'isHalted: false',
    killedBy:
      'test/simulation/fleet-rollouts.test.ts: keeps every promise through a day of releases under faults',
  },
  'fleet-simulated-pause': {
    bug: 'a simulated fleet that is paused goes on (18.1)',
    at: 'src/core/fleet/rollout/judge-stage.ts#holdsOf',
    change: "pausedBy: record.orders.paused && 'order'",
    to: 'pausedBy: undefined',
    killedBy:
      'test/simulation/fleet-rollouts.test.ts: keeps every promise through a day of releases under faults',
  },
  'fleet-refusal-is-stuck': {
    bug: 'a stage that clusters would refuse runs into its deadline, and its content is condemned (40.5)',
    at: 'src/core/fleet/rollout/judge-stage.ts#membersOf',
    change: "gate.kind === 'refused' ? { refused: gate } : {}",
    to: "gate.kind === 'refused' && waiting < 0 ? { refused: gate } : {}",
    killedBy: 'test/unit/app/fleet/step/ask-first.test.ts: hold their stage before any of it',
  },
  'fleet-resumed-where-it-was': {
    bug: 'after an undo was taken back, clusters of passed stages keep the old release and count as passed (18.1)',
    at: 'src/core/fleet/rollout/apply-fleet-order.ts#applyFleetOrder',
    change: 'isBack ? fromTheFirstStage(opened, note) : opened',
    to: 'opened',
    killedBy: 'test/unit/core/fleet/rollout/apply-fleet-order.test.ts: begins with the first stage',
  },
  'fleet-undone-comes-again': {
    bug: 'what was undone goes out again when GitOps applies it again',
    at: 'src/core/fleet/rollout/apply-fleet-order.ts#undone',
    change: "refused: noteRefused(record.refused, bad, 'contentHash')",
    to: '',
    killedBy: 'test/unit/core/fleet/rollout/begin-rollout.test.ts: holds what was undone',
  },
  'fleet-tenant-stops-the-way-back': {
    bug: 'a quota in one cluster keeps all others at a bad release',
    at: 'src/core/fleet/rollout/way-back.ts#findReturnFailure',
    change: "failedOfClass(inPlace, 'release')",
    to: 'inPlace',
    killedBy: 'test/unit/core/fleet/rollout/way-back.test.ts: is none for what lies with a place',
  },
  'fleet-liar-takes-back': {
    bug: 'a watcher that lies takes the release from the other eleven clusters',
    at: 'src/core/fleet/rollout/way-back.ts#returnTargetOf',
    change: "breach.grounds === undefined && onHalt === 'rollback'",
    to: "onHalt === 'rollback'",
    killedBy: 'test/simulation/fleet-liar.test.ts: takes nothing back from any other cluster',
  },
  'come-and-gone-counts-anew': {
    bug: 'a cluster that comes and goes counts each time, and holds its alarm for ever',
    at: 'src/core/hints/cluster-troubles.ts#FORGOTTEN_AFTER_MS',
    to: '1',
    killedBy:
      'test/unit/infra/alarm-actions.test.ts: calls no more for one cluster that comes and goes',
  },
  'well-although-not-whole': {
    bug: 'a warm resync asks for no snapshot of a cluster that it knows (protocol 17)',
    at: 'src/core/hints/cluster-troubles.ts#troublesOf',
    change: 'const ofView: readonly ClusterTrouble[] = meta.isComplete ?',
    to: 'const ofView: readonly ClusterTrouble[] = meta.isComplete || true ?',
    killedBy:
      'test/unit/app/resync/resync.test.ts: asks for the snapshot of a view that is not whole any more',
  },
  'hash-of-its-own': {
    bug: 'a revision that is adopted gets another hash: all pods are made anew (14 A.3, row 55)',
    at: 'src/core/history/history-patches.ts#buildRevisionAdoption',
    change: "return patchOf(orphan, 'adopt', { ownerReferences, ...annotations });",
    to: "return patchOf(orphan, 'adopt', { ownerReferences, ...annotations, labels: { 'controller-revision-hash': 'anew' } });",
    killedBy: 'test/simulation/rows.test.ts: row 55: an orphaning cascade',
  },
  'stages-former-trimmed': {
    bug: 'the revision that nodes go back to is trimmed while no pod runs it',
    at: 'src/core/history/history-plan.ts#planTrims',
    change: ', ...context.kept]',
    to: ']',
    killedBy:
      'test/unit/core/history/history-trim.test.ts: never deletes one that a staged rollout may give to a node',
  },
  'live-reads-settle-creates': {
    bug: 'an own create is forgotten once a live read, and no view, showed its pod (row 2, S10)',
    at: 'src/core/intents/intents.ts#judgeCreate',
    change: 'pods.shown.has(answer.uid) ||',
    to: 'pods.known.has(answer.uid) ||',
    killedBy: 'test/unit/core/intents/intents.test.ts: row 2, S10',
  },
  'own-creates-need-not-be-seen': {
    bug: 'a view older than an own create is acted upon (row 2)',
    at: 'src/core/intents/intents.ts#judgeCreate',
    change: "if (!isMet) return 'unseen';",
    to: "if (!isMet) return 'settled';",
    killedBy:
      'test/simulation/systematic/hidden.test.ts: faults rows 2, 3, 91: runs upon a view older than',
  },
  'own-creates-expire': {
    bug: 'half an hour without a word settles an own create (14 A.3, row 13)',
    at: 'src/core/intents/intents.ts#judgeCreate',
    change: "if (!isMet) return 'unseen';",
    to: "if (!isMet) return isDead(intent, input) ? 'settled' : 'unseen';",
    killedBy: 'test/simulation/upstream-untested.test.ts: expectation expiry; half an hour',
  },
  'shrink-confirmed-asleep': {
    bug: 'a confirmation by the command is not looked at until something else happens',
    at: 'src/core/removal-guard/confirm-removal.ts#confirmRemoval',
    change: 'const { memo: _memo, ...kept } = state;',
    to: 'const kept = state;',
    killedBy: 'test/unit/app/reconcile/removal-rules.test.ts: lose them once the state says so',
  },
  'breaker-ten-times-weaker': {
    bug: 'thirty failing runs open a breaker instead of three',
    at: 'src/core/model/breaker.ts#breakerPolicy',
    change: 'failuresToOpen: 3',
    to: 'failuresToOpen: 30',
    killedBy: 'test/unit/core/model/breaker.test.ts: opens after three failing runs',
  },
  'breaker-open-for-an-hour': {
    bug: 'an open breaker asks again after hours',
    at: 'src/core/model/breaker.ts#breakerPolicy',
    change: 'openMaxMs: 30_000',
    to: 'openMaxMs: 3_600_000',
    killedBy: 'test/unit/composition/dependent-bounds.test.ts: outlasts neither the probe of a run',
  },
  'breaker-never-opens': {
    bug: 'a cluster that hangs is asked again and again: its runs take the room of all others (14 A.3, L3)',
    at: 'src/core/model/breaker.ts#breakerPolicy',
    change: 'failuresToOpen: 3',
    to: 'failuresToOpen: 3000',
    killedBy: 'test/simulation/fleets.test.ts: keeps every promise beside a noisy cluster',
  },
  'state-takes-any-intents': {
    bug: 'a run records more deletes although thousands are open',
    at: 'src/core/plan/bound-state.ts#INTENTS_MAX',
    to: '20_000',
    killedBy:
      'test/property/adapters/dynamodb/largest-items.test.ts: hold the state of a DaemonSet',
  },
  'state-keeps-every-wait': {
    bug: 'a state keeps the refusals and back-offs of 15,000 nodes, and is too large to be written',
    at: 'src/core/plan/bound-state.ts#WAITS_MAX',
    to: '100_000',
    killedBy:
      'test/property/adapters/dynamodb/largest-items.test.ts: hold the state of a DaemonSet',
  },
  'copilot-writes-status': {
    bug: 'copilot writes the status beside the built-in controller',
    at: 'src/core/plan/copilot.ts#keepForCopilot',
    change: 'status: undefined',
    to: '',
    killedBy: 'test/unit/core/plan/copilot.test.ts: leaves pods, claims, history and status to it',
  },
  'revisions-under-another-label': {
    bug: 'the revision of a pod is read from another label than the release before wrote: all are restarted',
    at: 'src/core/pod/pod-facts.ts#REVISION_HASH_LABEL',
    to: "'rollcall.dev/revision-hash'",
    killedBy: 'test/regression/release-before.test.ts: S1, S3: its rollout goes on under this one',
  },
  'held-pods-block-their-node': {
    bug: 'a terminal pod that a finalizer holds gets no successor (row 47)',
    at: 'src/core/pod/pod-facts.ts#isHeld',
    change: 'return pod.isTerminating && isTerminal(pod);',
    to: 'return pod.isTerminating && isTerminal(pod) && pod.targetNode === undefined;',
    killedBy: 'test/simulation/names.test.ts: row 47',
  },
  'silent-before-fleet-ends': {
    bug: 'a move or a hand-back waits for a run of reconcile, and a turn of fleet goes on (40.4)',
    at: 'src/core/pod/request-life.ts#FUNCTION_MAX_MS',
    to: 'RUN_MAX_MS',
    killedBy: 'test/unit/app/reconcile/time-outs.test.ts: outlast every function',
  },
  'time-out-of-a-minute': {
    bug: 'one time-out of 60 s for transport and safety alike: two of them outlast a run',
    at: 'src/core/pod/request-life.ts#REQUEST_TIMEOUT_MS',
    to: '60_000',
    killedBy:
      'test/unit/composition/dependent-bounds.test.ts: has time for two requests that are never answered',
  },
  'sidecars-are-well': {
    bug: 'a sidecar or init container that fails is never told',
    at: 'src/core/projections/pod-trouble.ts#readContainers',
    change: "for (const field of ['initContainerStatuses', 'containerStatuses'] as const) {",
    to: "for (const field of ['containerStatuses'] as const) {",
    killedBy: 'test/unit/core/projections/pod-trouble.test.ts: is told of where it ended last',
  },
  'pull-words-flap': {
    bug: 'each try of a failed pull is two messages and two runs of its key (L5)',
    at: 'src/core/projections/pod-trouble.ts#readWaiting',
    change: 'if (FAILED_PULLS.has(word)) return { word: PULL_BACK_OFF, cause: undefined };',
    to: '',
    killedBy: 'test/unit/watcher/session/trouble.test.ts: is one message, at once',
  },
  'stops-are-failures': {
    bug: 'what a kubelet makes of a pod that was deleted counts as its failure',
    at: 'src/core/projections/project.ts#projectPod',
    change: 'pod.isTerminating ? undefined : readTrouble(status, reading)',
    to: 'readTrouble(status, reading)',
    killedBy: 'test/unit/core/projections/pod-trouble.test.ts: is each that is going',
  },
  'retries-for-days': {
    bug: 'what an API server refused is tried again after days',
    at: 'src/core/retry/retry-table.ts#LONGEST_MS',
    to: '300_000_000',
    killedBy: 'test/unit/composition/published-bounds.test.ts: sent again after ',
  },
  'looks-each-hour': {
    bug: 'what does not get any further is looked at once an hour, not each five minutes (14 A.3, L5)',
    at: 'src/core/retry/retry-table.ts#LONGEST_MS',
    to: '3_600_000',
    killedBy:
      'test/unit/app/reconcile/looks.test.ts: at a pod that lives and that the view never shows go to five minutes',
  },
  'refusals-do-not-grow': {
    bug: 'the back-off of a refused node does not grow: an hour without room costs thousands of requests',
    at: 'src/core/retry/retry.ts#nextRefusals',
    change: 'nextDelayMs(row, former?.delayMs);',
    to: 'nextDelayMs(row, undefined);',
    killedBy: 'test/simulation/refused-creates.test.ts: an hour in which a quota refuses every pod',
  },
  'surge-of-one-more': {
    bug: 'one node more than maxSurge has two pods (parity 2.9, S2)',
    at: 'src/core/rolling-update/rollout-with-surge.ts#walkWithSurge',
    change: 'const room = Math.max(0, rules.maxSurge - surging);',
    to: 'const room = Math.max(0, rules.maxSurge + 1 - surging);',
    killedBy:
      'test/unit/core/rolling-update/rollout-with-surge.test.ts: lets exactly maxSurge nodes have two pods',
  },
  'surging-nodes-not-counted': {
    bug: 'nodes that surge already take nothing from maxSurge (parity 2.9, S2)',
    at: 'src/core/rolling-update/rollout-with-surge.ts#walkWithSurge',
    change: 'const surging = taking.filter(isSurgingAnyway).length;',
    to: 'const surging = 0 * taking.filter(isSurgingAnyway).length;',
    killedBy:
      'test/property/core/rolling-update/plan-rollout.test.ts: S2: surge stays within maxSurge',
  },
  'patch-tests-no-generation': {
    bug: 'a status of a lost generation is written over a version that was given out again (S7)',
    at: 'src/core/status/status-patch.ts#statusPatch',
    change: "{ op: 'test', path: '/metadata/generation', value: generation }",
    to: '',
    killedBy:
      'test/unit/app/reconcile/status-rules.test.ts: gets no status, although the API server has its version again',
  },
  'foreign-conditions-are-dropped': {
    bug: 'a status write drops conditions of others (parity, upstream never tests)',
    at: 'src/core/status/status.ts#withCounts',
    change: 'const merged: { [member: string]: unknown } = { ...live };',
    to: 'const merged: { [member: string]: unknown } = { collisionCount: live?.collisionCount };',
    killedBy:
      'test/unit/core/status/status.test.ts: gets the counters and the generation over what stands there; the rest is left',
  },
  'thaw-of-the-stack-thaws-names': {
    bug: 'a thaw of the stack ends what somebody else froze by name (18.5)',
    at: 'src/core/may-act/freeze.ts#withoutFreeze',
    change: 'const { all: _lifted, ...rest } = freeze; return rest;',
    to: 'return { version: freeze.version, daemonSets: {} };',
    killedBy: 'test/unit/core/may-act/freeze.test.ts: is thawed by its own scope alone',
  },
  'silence-is-no-reason': {
    bug: 'a cluster that nobody heard of for half an hour is acted upon (14 A.3, protocol 1)',
    at: 'src/core/view/freshness.ts#findDoubt',
    change: 'if (silent.length === 0) return undefined;',
    to: 'if (silent.length >= 0) return undefined;',
    killedBy: 'test/simulation/protocol.test.ts: protocol 1: work',
  },
  'stages-dark-by-pods-alone': {
    bug: 'a gap in what is heard of nodes is none',
    at: 'src/core/view/freshness.ts#NEEDED',
    to: "['Pod'] as const",
    killedBy: 'test/unit/core/view/unheard.test.ts: whichever was longer',
  },
  'relabelled-is-kept': {
    bug: 'a pod that was given other labels as it was made is not let go (14 A.3, S1)',
    at: 'src/core/pod/owner.ts#claimOf',
    change: "return isKept ? 'keep' : 'release';",
    to: "return isKept ? 'keep' : 'ignore';",
    killedBy:
      'test/simulation/other-writers.test.ts: 5, S1: a create that is accepted with other labels',
  },
  'placement-without-the-network': {
    bug: 'of two DaemonSets that differ in hostNetwork alone the second gets the nodes of the first',
    at: 'src/core/placement/place-nodes.ts#placeNodes',
    change: 'JSON.stringify(daemonSet.spec.template.spec ?? {})',
    to: 'JSON.stringify({ ...daemonSet.spec.template.spec, hostNetwork: true })',
    killedBy:
      'test/property/core/placement/placement.test.ts: what is remembered for a list of nodes',
  },
  'a-hold-ends-with-its-nodes': {
    bug: 'nodes that go meanwhile end a held mass removal, and the rest of it goes unconfirmed',
    at: 'src/core/removal-guard/decide-removal.ts#decideHeld',
    change: 'if (isStillOver(rules, removal))',
    to: 'if (isOverShare(rules, removal))',
    killedBy:
      'test/unit/core/removal-guard/hold-removal.test.ts: does not end because nodes went, however long ago',
  },
  'entries-drop-the-coverage-trace': {
    bug: 'a state that gets an entry of its log loses its trace of coverage (S20)',
    at: 'src/core/log/append-log.ts#boundLog',
    change: 'defined({ leftOut, coverage: log.coverage })',
    to: 'defined({ leftOut })',
    killedBy: 'test/unit/core/log/append-log.test.ts: keeps the trace of coverage',
  },
};
