/** Bugs of mode copilot: what is done beside the built-in controller that is its own business, or told as if it were ours. */
import type { PlantedBug } from './planted-bug.ts';

const PLAN = 'src/core/plan/copilot.ts';
const PLAN_TEST = 'test/unit/core/plan/copilot.test.ts';
const RULES_TEST = 'test/unit/app/reconcile/copilot-rules.test.ts';

/** The rows of copilot. */
export const COPILOT_BUGS: Readonly<Record<string, PlantedBug>> = {
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
