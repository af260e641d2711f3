/** Planted bugs of the runs of a DaemonSet (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const RECONCILE_BUGS: PlantedBugs = {
  'start-up-by-an-old-view': {
    bug: 'a start-up taint goes by pods that nobody heard of lately (S19)',
    at: 'src/app/reconcile/confirm/live-start-ups.ts#confirmStartUps',
    change: 'confirmed[index] === true ? [node] : []',
    to: 'confirmed.length > index ? [node] : []',
    killedBy:
      'test/simulation/start-up-taints.test.ts: S19: go by live reads where pods were not heard of lately',
  },
  'start-up-refused-for-ever': {
    bug: 'a refused removal of a start-up taint is sent by each run (45.4)',
    at: 'src/app/reconcile/execute/remove-start-up-taints.ts#removeStartUpTaints',
    change: "heldWrite('start-up-refused', input) ?? doubtOf(step)",
    to: 'doubtOf(step)',
    killedBy:
      'test/simulation/start-up-taints.test.ts: are asked for ever more seldom where the right is missing',
  },
  'start-up-in-observe': {
    bug: 'start-up taints go where nothing may be changed (45.4)',
    at: 'src/core/plan/invariants.ts#findNodeBreach',
    change: "if (mode === 'observe') return breach('S19', 'no node is changed in mode observe');",
    to: '',
    killedBy:
      'test/unit/core/plan/invariants.test.ts: S19 as a taint that is not the start-up taint',
  },
  'freeze-unfenced': {
    bug: 'a run that has begun does not look at the freeze again (18.5, protocol 7)',
    at: 'src/app/reconcile/confirm/batch-fence.ts#findStop',
    change: 'const frozen = standingFreeze(freeze, context.hint.key);',
    to: 'const frozen = standingFreeze({ version: 0, daemonSets: {} }, context.hint.key);',
    killedBy:
      'test/unit/app/reconcile/freeze-rules.test.ts: lets one batch more pass, nothing until the thaw',
  },
  'unseen-orphans-are-doubled-in-a-cluster': {
    bug: 'creates do not wait for orphans that the view lacks (row 85, S1)',
    at: 'src/app/reconcile/confirm/live-pods.ts#checkForeignPods',
    change: 'ownerUid === view.uid || (ownerUid === undefined && !isTerminating);',
    to: 'ownerUid === view.uid && !(ownerUid === undefined && isTerminating);',
    killedBy:
      'test/simulation/names.test.ts: rows 38, 85: orphans that are not seen yet hold the pods of the DaemonSet that is made again',
  },
  'half-a-pause-between-plan-and-confirm': {
    bug: 'a DaemonSet that is paused between plan and confirmation has no pod made, and one that failed deleted',
    at: 'src/app/reconcile/confirm/confirm.ts#leavesAll',
    change: "live.kind === 'paused' || adopts.length > 0",
    to: 'adopts.length > 0',
    killedBy:
      'test/unit/app/reconcile/rival-rules.test.ts: of which only the live one tells keeps all pods',
  },
  'pods-for-a-node-that-is-being-deleted': {
    bug: 'beside a silent watcher a node that is being deleted gets a pod',
    at: 'src/app/reconcile/confirm/confirm.ts#confirmNodes',
    change: ' && read.object.metadata.deletionTimestamp === undefined',
    to: '',
    killedBy:
      'test/unit/app/reconcile/freshness-rules.test.ts: after the cap acts on live reads of each node',
  },
  'pause-ends-unlooked': {
    bug: 'a pause that is over is not looked at live, so a second controller has its turn every ten minutes (40.1)',
    at: 'src/app/reconcile/confirm/guard.ts#checkPause',
    change: 'const again = guardOfPause(context.note.paused, stored.registration, nowMs);',
    to: 'const again = guardOfPause(undefined, stored.registration, nowMs);',
    killedBy:
      'test/unit/app/reconcile/rival-rules.test.ts: is looked at again before a pod is deleted',
  },
  'status-write-stops-the-cluster': {
    bug: 'whoever may edit one DaemonSet stops all of its cluster (40.1)',
    at: 'src/app/reconcile/confirm/rival.ts#noteRival',
    change: 'findSentinelEvidence(sentinel, seenUnder.sentinel)',
    to: "(findSentinelEvidence(sentinel, seenUnder.sentinel) ?? 'somebody wrote a status')",
    killedBy:
      'test/unit/app/reconcile/rival-rules.test.ts: no pod is made, and the cluster goes on',
  },
  'adoptions-hide-a-freeze': {
    bug: 'a freeze during adoptions does not stop the creates after them',
    at: 'src/app/reconcile/execute/act.ts#actOnPlan',
    change: 'isStale: isPatching',
    to: 'isStale: false',
    killedBy:
      'test/unit/app/reconcile/freeze-rules.test.ts: that comes during adoptions stops the creates after them',
  },
  'copies-of-an-edited-template': {
    bug: 'a template that was edited since it was seen is copied as the proven one',
    at: 'src/app/reconcile/admission/keep-copy.ts',
    change: 'import { readPlanned } from',
    to: 'import { readPresent as readPlanned } from',
    killedBy:
      'test/unit/app/reconcile/admission/keep-copy.test.ts: is not written of a template that was edited',
  },
  'copies-over-the-forgotten': {
    bug: 'after a lost state the copy of the former revision is written over',
    at: 'src/app/reconcile/admission/keep-copy.ts#judgeFormer',
    change: 'if (hashOfCopy(found) === hash) return YES;',
    to: 'if (hashOfCopy(found) === hash) return NO;',
    killedBy:
      'test/unit/app/reconcile/admission/former-copy.test.ts: is not written over by the next revision',
  },
  'copies-held-by-a-conflict': {
    bug: 'a copy that somebody else wrote meanwhile is taken for the one that was to be written',
    at: 'src/app/reconcile/admission/keep-copy.ts#noteOutcome',
    change: "case 'done': noteHeld",
    to: "case 'done': case 'conflict': noteHeld",
    killedBy: 'test/unit/app/reconcile/admission/copy-trouble.test.ts: that meets another version',
  },
  'slices-wait-for-the-daemon-set': {
    bug: 'a run of which something moved asks for its slices only once the DaemonSet is read',
    at: 'src/app/reconcile/load-input.ts#knownKeyOf',
    change: 'return isCertain ? readSlices(of, dependencies) : undefined;',
    to: 'return isCertain ? undefined : undefined;',
    killedBy:
      'test/unit/app/reconcile/read/early-reads.test.ts: takes two moments of reads: META and state',
  },
  'copilot-lists-pods': {
    bug: 'copilot asks for a list of pods, to which it has no right',
    at: 'src/app/reconcile/plan-step.ts#judgeFreshness',
    change: "return isCopilot ? STALE : { kind: 'need', need: { kind: 'pods' } };",
    to: "return { kind: 'need', need: { kind: 'pods' } };",
    killedBy:
      'test/unit/app/reconcile/copilot-rules.test.ts: waits for the watcher where nothing was heard of pods',
  },
  'pods-heard-of-an-hour-ago': {
    bug: 'availability is spent by pods heard of within an hour, not 90 s (S3)',
    at: 'src/app/reconcile/process/dependencies.ts#defaultReconcileOptions',
    change: 'podsFreshMs: 90_000',
    to: 'podsFreshMs: 3_600_000',
    killedBy:
      'test/unit/app/reconcile/freshness-rules.test.ts: else waits for the watcher, and then goes by one live list of all its pods',
  },
  'silence-of-ten-days': {
    bug: 'a cluster counts as silent after ten days',
    at: 'src/app/reconcile/process/dependencies.ts#defaultReconcileOptions',
    change: 'silenceBoundMs: 15 * 60_000',
    to: 'silenceBoundMs: 10 * 86_400_000',
    killedBy:
      'test/unit/composition/published-bounds.test.ts: Nothing was heard of the cluster for',
  },
  'burst-of-251': {
    bug: 'one run makes a pod more than its burst (14 A.3, row 60)',
    at: 'src/app/reconcile/process/dependencies.ts#defaultReconcileOptions',
    change: 'burstPodsMax: 250',
    to: 'burstPodsMax: 251',
    killedBy: 'test/simulation/rows.test.ts: row 60, S9: a storm',
  },
  'memo-of-the-end': {
    bug: 'a run remembers what was there when it had read its slices, not what it stood on (14 A.3, row 73)',
    at: 'src/app/reconcile/read/read-view.ts#readSlices',
    change: 'return assemble({',
    to: 'Object.assign(stored, { meta: (await readers.view.readMeta(ref.clusterUid)) ?? meta, daemonSet: (await readers.view.readDaemonSet(ref)) ?? daemonSet }); return assemble({',
    killedBy: 'test/simulation/races.test.ts: readSlice',
  },
  'thaw-is-nothing-new': {
    bug: 'the memo of a frozen run hides the thaw for hours (18.5, protocol 11)',
    at: 'src/app/reconcile/read/skip.ts#memoOf',
    change: 'frozen === undefined ? hashOf(registration) : hashOf({ registration, frozen })',
    to: 'frozen === undefined ? hashOf(registration) : hashOf(registration)',
    killedBy:
      'test/unit/app/reconcile/freeze-rules.test.ts: lets one batch more pass, nothing until the thaw',
  },
  'merged-outcomes-are-not-awaited': {
    bug: 'a run ends before outcomes whose write was lost are merged into the stored state',
    at: 'src/app/reconcile/finish/finish.ts#finishRun',
    change: 'await mergeOutcomes(result, stored, context);',
    to: 'void mergeOutcomes(result, stored, context);',
    killedBy:
      'test/unit/app/reconcile/lost-outcomes.test.ts: are merged into the stored state before the run ends',
  },
  'state-too-large-throws': {
    bug: 'a state that is too large for its item is a throw, for ever',
    at: 'src/app/reconcile/run/record-state.ts#writeFitting',
    change: 'isItemTooLarge(error) ? halvedState(state) : undefined',
    to: 'isItemTooLarge(error) ? undefined : halvedState(state)',
    killedBy: 'test/unit/app/reconcile/run/write-state.test.ts: where all of them do not fit',
  },
  'doubted-view-is-patched': {
    bug: 'counts are written by a view that a live read has contradicted (S7, row 71)',
    at: 'src/app/reconcile/status/update-status.ts#updateStatus',
    change: 'await (isDoubted ? writeStatus : writeCounts)(',
    to: 'await (isDoubted ? writeCounts : writeCounts)(',
    killedBy:
      'test/unit/app/reconcile/restored-etcd.test.ts: makes no pod and writes no status where nobody touched the DaemonSet',
  },
  'status-conflicts-without-end': {
    bug: 'a run writes its status a thousand times against conflicts (row 11)',
    at: 'src/app/reconcile/status/write-status.ts#TRIES_MAX',
    to: '1000',
    killedBy:
      'test/unit/app/reconcile/memo-rules.test.ts: that lasts a minute is tried three times in a run, ever more seldom, and ends (row 11)',
  },
  'memo-of-a-run-that-was-cut': {
    bug: 'a run that the burst cut writes a memo, which says that nothing is left',
    at: 'src/app/reconcile/finish/finish.ts#finishRun',
    change: 'result.isComplete && plan.cappedCount === 0',
    to: 'result.isComplete',
    killedBy:
      'test/unit/app/reconcile/memo-rules.test.ts: is not written by a run that the burst cut',
  },
};
