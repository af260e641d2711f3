/** Bugs of mode copilot: what is done beside the built-in controller that is its own business, or told as if it were ours. */
import type { PlantedBug } from './planted-bug.ts';

const PLAN = 'src/core/plan/copilot.ts';
const PLAN_TEST = 'test/unit/core/plan/copilot.test.ts';
const RULES_TEST = 'test/unit/app/reconcile/copilot-rules.test.ts';

/** The rows of copilot. */
export const COPILOT_BUGS: Readonly<Record<string, PlantedBug>> = {
  'copilot-sends-anything': {
    bug: 'nothing stands between a plan and the cluster in copilot (issue 17)',
    file: 'src/core/plan/invariants.ts',
    before: "const isAllowed = mode === 'copilot' && COPILOT_KINDS.includes(kind);",
    after: "const isAllowed = mode === 'copilot';",
    killedBy: {
      file: 'test/unit/core/plan/invariants.test.ts',
      title: 'S4 in copilot unless it deletes a pod or tells an Event',
    },
  },
  'copilot-deletes-failed': {
    bug: 'copilot deletes pods that the built-in controller removes by its back-off (issue 17)',
    file: PLAN,
    before: "return (repeats ?? reason) === 'outdated';",
    after: "return repeats !== undefined || reason === 'outdated';",
    killedBy: { file: PLAN_TEST, title: 'is nothing else, for whatever reason' },
  },
  'copilot-deletes-unasked': {
    bug: 'copilot rolls DaemonSets that did not opt in (issue 17)',
    file: PLAN,
    before: 'deletes: isFollowed ? plan.deletes.filter(isOfRollingUpdate) : [],',
    after: 'deletes: plan.deletes.filter(isOfRollingUpdate),',
    killedBy: { file: PLAN_TEST, title: 'is the rolling update of a DaemonSet that opted in' },
  },
  'copilot-follows-rolling-update': {
    bug: 'a policy beside RollingUpdate is followed: two controllers roll one DaemonSet (issue 17)',
    file: 'src/core/takeover/opt-in.ts',
    before: "return strategyTypeOf(daemonSet) === 'OnDelete' ? 'followed' : 'rolling-update';",
    after: "return 'followed';",
    killedBy: {
      file: 'test/unit/core/takeover/opt-in.test.ts',
      title: 'only observes RollingUpdate',
    },
  },
  'copilot-writes-status': {
    bug: 'copilot writes the status beside the built-in controller (issue 17)',
    file: PLAN,
    before: '    status: undefined,\n',
    after: '',
    killedBy: { file: PLAN_TEST, title: 'leaves pods, claims, history and status to it' },
  },
  'copilot-makes-history': {
    bug: 'copilot makes revisions (issue 17)',
    file: 'src/app/reconcile/history/find-history.ts',
    before: "stored.registration.mode === 'copilot' ? lookUpBuiltInHistory : lookUpHistory;",
    after: 'lookUpHistory;',
    killedBy: { file: RULES_TEST, title: 'is read once for each revision, and never written' },
  },
  'copilot-old-generation': {
    bug: 'copilot takes the newest revision for current before the built-in controller saw the edit (issue 17)',
    file: 'src/core/daemon-set/generation.ts',
    before: '>= generationOf(daemonSet);',
    after: '>= 0;',
    killedBy: {
      file: 'test/unit/core/daemon-set/generation.test.ts',
      title: 'is observed once a controller has seen it',
    },
  },
  'copilot-sees-rival': {
    bug: 'copilot takes the built-in controller for a stranger and pauses (issue 17)',
    file: 'src/app/reconcile/confirm/rival.ts',
    before: "  if (registration.mode !== 'takeover') return undefined;\n",
    after: '',
    killedBy: {
      file: 'test/unit/app/reconcile/confirm/rival.test.ts',
      title: 'is not in copilot',
    },
  },
  'copilot-tells-again': {
    bug: 'each run tells again that a policy has no effect (issue 17)',
    file: 'src/app/reconcile/status/notices.ts',
    before: '  if (isTold) return undefined;\n',
    after: '',
    killedBy: { file: RULES_TEST, title: 'is told once that its policy has no effect' },
  },
  'copilot-blind-to-opt-out': {
    bug: 'a delete goes although the policy was taken away meanwhile (issue 17)',
    file: 'src/app/reconcile/confirm/live-daemon-set.ts',
    before: 'isEdited(live, planned) || policyTextOf(live) !== policyTextOf(planned);',
    after: 'isEdited(live, planned);',
    killedBy: { file: RULES_TEST, title: 'is not sent for a policy that was taken away' },
  },
  'copilot-lists-pods': {
    bug: 'copilot asks for a list of pods, to which it has no right (issue 17)',
    file: 'src/app/reconcile/plan-step.ts',
    before: "return isCopilot ? exitStale(input) : { kind: 'need', need: { kind: 'pods' } };",
    after: "return { kind: 'need', need: { kind: 'pods' } };",
    killedBy: { file: RULES_TEST, title: 'waits for the watcher where nothing was heard of pods' },
  },
  'copilot-fights-gitops': {
    bug: 'a template that GitOps puts back before anybody looked is restored again and again (issue 17)',
    file: 'src/app/reconcile/requeue/finish.ts',
    before: 'return restoring === undefined ? record : noteRestoring(record, restoring);',
    after:
      "return restoring !== undefined && 'restoreRefusedAtMs' in restoring ? noteRestoring(record, restoring) : record;",
    killedBy: {
      file: 'test/unit/app/reconcile/staged-rollout.test.ts',
      title: 'does not fight who applies the halted template again',
    },
  },
  'copilot-unknown-names': {
    bug: 'the doctor does not say that admission names no DaemonSet that opts in (issue 17)',
    file: 'src/app/checks/judge-fleets.ts',
    before: 'followed.filter((name) => !named.includes(name));',
    after: 'followed.filter((name) => named.includes(name) && false);',
    killedBy: {
      file: 'test/unit/app/checks/judge-copilot.test.ts',
      title: 'names who opts in and may not be touched',
    },
  },
  'copilot-keeps-restored-fields': {
    bug: "the fields of a restored template stay the functions' own, and whoever rolls the fix meets a conflict",
    file: 'src/adapters/kubernetes/api/cluster-access.ts',
    before: "outcome.kind === 'done' ? releaseRequestOf(effect, outcome.object)",
    after: "outcome.kind === 'gone' ? releaseRequestOf(effect, {})",
    killedBy: {
      file: 'test/conformance/scenarios/restored-template.test.ts',
      title: 'conflicts with no server-side apply',
    },
  },
};
