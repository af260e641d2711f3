/**
 * Bugs by which a staged rollout goes on by what it did not see, or sleeps over what it waits for (ADR 0055, S16).
 */
import type { PlantedBug } from './planted-bug.ts';

const SOAK = 'src/core/rollout/soak.ts';
const SOAK_TEST = 'test/unit/core/stages/soak.test.ts';
const LOST = 'src/core/stages/lost-canaries.ts';
const LOSSES = 'src/core/stages/canary-losses.ts';
const LOST_TEST = 'test/unit/core/stages/lost-canaries.test.ts';
const CANARY_TEST = 'test/unit/core/stages/canary.test.ts';

/** The rows of stages. */
export const STAGE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'stages-limits-of-the-beginning': {
    bug: 'after a scale-in a percentage is still of the nodes of the beginning: all that are left go down at once',
    file: 'src/core/policy/share.ts',
    before: 'Math.min(then, now)',
    after: 'then',
    killedBy: {
      file: 'test/unit/core/stages/changing-nodes.test.ts',
      title: 'takes no more down at once than the percentage of those that are left',
    },
  },
  'stages-partition-of-today': {
    bug: 'a partition shrinks with the nodes, and lets more of them go than it said',
    file: 'src/core/policy/share.ts',
    before: 'Math.max(then, now)',
    after: 'now',
    killedBy: {
      file: 'test/unit/core/stages/changing-nodes.test.ts',
      title: 'keeps as many at its partition',
    },
  },
  'stages-placeless-is-a-canary': {
    bug: 'a node on which the former pod was Pending as well is the canary, and halts a good release as Unschedulable',
    file: 'src/core/stages/excused.ts',
    before: 'return nowMs - old.createdAtMs >= GRACE_MS;',
    after: 'return nowMs < old.createdAtMs;',
    killedBy: {
      file: 'test/unit/core/stages/placeless.test.ts',
      title: 'is no canary, no breach, and uses no budget',
    },
  },
  'stages-placeless-is-forgotten': {
    bug: 'the new pod on a node without a place is young: five minutes later it is a breach',
    file: 'src/core/stages/excused.ts',
    before: 'known.has(nameOf(node)) && isUnbound(node)',
    after: 'known.has(nameOf(node)) && !isUnbound(node)',
    killedBy: {
      file: 'test/unit/core/stages/placeless.test.ts',
      title: 'is no canary, no breach, and uses no budget',
    },
  },
  'stages-placeless-without-end': {
    bug: 'a release that finds no place anywhere is excused everywhere',
    file: 'src/core/stages/excused.ts',
    before: '.slice(0, Math.min(most, open.length - 1))',
    after: '.slice(0, open.length - 1)',
    killedBy: {
      file: 'test/unit/core/stages/placeless.test.ts',
      title: 'is one of two at most',
    },
  },
  'stages-excluded-uses-budget': {
    bug: 'a node that the policy leaves out, and that serves nobody, uses up the budget of all others',
    file: 'src/core/stages/excused.ts',
    before: 'each.isExcluded || each.hasNoPlace',
    after: 'each.hasNoPlace',
    killedBy: {
      file: 'test/unit/core/stages/placeless.test.ts',
      title: 'uses no budget, though it has no pod',
    },
  },
  'stages-orphans-are-evidence': {
    bug: 'pods that a deleted DaemonSet of the name left count as updated: they prove a template that nobody runs',
    file: 'src/core/pod/pod-facts.ts',
    before: 'return hash === undefined ? isUpdated(pod, current) : hash === current.hash;',
    after: 'return hash === current.hash || isUpdated(pod, current);',
    killedBy: {
      file: 'test/unit/app/reconcile/staged-orphans.test.ts',
      title: 'are no evidence of the template',
    },
  },
  'stages-orphans-stay': {
    bug: 'a pod that names another revision is taken for one of the template by what is read live, and never goes',
    file: 'src/core/pods/plan-pods.ts',
    before: '(isNamed || targets.isFormer(node))',
    after: 'targets.isFormer(node)',
    killedBy: {
      file: 'test/unit/app/reconcile/staged-orphans.test.ts',
      title: 'are no evidence of the template',
    },
  },
  'stages-first-release-of-a-moment': {
    bug: 'a first release whose pods exit each eight seconds is the baseline by the moment in which they ran',
    file: 'src/core/stages/baseline.ts',
    before: 'lastMs + soakMs',
    after: 'lastMs',
    killedBy: {
      file: 'test/unit/core/stages/first-release.test.ts',
      title: 'is no baseline while its pods exit again and again',
    },
  },
  'stages-halted-is-baseline': {
    bug: 'a halted revision is the baseline of what comes after it, where nothing was good before',
    file: 'src/core/stages/baseline.ts',
    before: 'former === undefined || unproven.has(former)',
    after: 'former === undefined',
    killedBy: {
      file: 'test/unit/core/stages/first-release.test.ts',
      title: 'is not gone back to from a second one that is bad',
    },
  },
  'stages-canary-of-nobody': {
    bug: 'a canary of which no node is left has nothing unwell, and proves the revision',
    file: 'src/core/stages/gate.ts',
    before: "return step.kind === 'canary' && roomNodes > 0",
    after: 'return roomNodes < 0',
    killedBy: { file: CANARY_TEST, title: 'and none is able, opens nothing' },
  },
  'stages-canary-not-replaced': {
    bug: 'a canary node that is gone leaves the canary one short for ever',
    file: 'src/core/stages/canary.ts',
    before: 'if (before.length === canary.length) {',
    after: 'if (before.length <= canary.length) {',
    killedBy: { file: CANARY_TEST, title: 'has another node in the place of one that ' },
  },
  'stages-tainted-canary-stays': {
    bug: 'a canary node that is tainted before its turn is waited for by nobody, and the revision is proven by those that are left',
    file: 'src/core/stages/canary.ts',
    before: '(input.keptNodes ?? []).filter((node) => !isPending(node))',
    after: 'input.keptNodes ?? []',
    killedBy: { file: CANARY_TEST, title: 'that was tainted before its turn' },
  },
  'stages-edits-spread-their-canary': {
    bug: 'each edit in the middle of a canary begins on other nodes',
    file: 'src/core/stages/canary.ts',
    before: '[...useUpBudget(input), ...begunBefore(input)]',
    after: 'useUpBudget(input)',
    killedBy: { file: CANARY_TEST, title: 'goes on with its nodes' },
  },
  'stages-edits-leave-their-canary': {
    bug: 'an edit that is taken back, or that follows another one, begins on other nodes than those where a revision stands unproven',
    file: 'src/core/stages/canary.ts',
    before: "old === undefined || edited.has(revisionHashOfPod(old) ?? '');",
    after: 'old !== undefined && revisionHashOfPod(old) === record.hash;',
    killedBy: { file: CANARY_TEST, title: 'goes on with them where its revision comes back' },
  },
  'stages-edits-keep-a-wide-canary': {
    bug: 'an edit in the middle of a canary that was made wider begins on all of its nodes at once',
    file: 'src/core/stages/canary.ts',
    before: 'before: before.slice(0, most)',
    after: 'before',
    killedBy: { file: CANARY_TEST, title: 'is no wider than the policy says' },
  },
  'stages-healed-nodes-go-first': {
    bug: 'a canary that was made wider for broken pods takes their nodes though they serve by then: the revision is on most nodes untried',
    file: 'src/core/stages/steps.ts',
    before: '.slice(0, beyond));',
    after: '.slice(0, 0));',
    killedBy: {
      file: 'test/unit/core/stages/steps.test.ts',
      title: 'leaves those that serve again before their turn',
    },
  },
  'stages-healed-node-of-few-goes-first': {
    bug: 'a node that a halted revision was left on serves again, and is given the next one beside its whole canary',
    file: 'src/core/stages/steps.ts',
    before: 'if (beyond <= 0 || refused.length === 0)',
    after: 'if (beyond <= 1 || refused.length === 0)',
    killedBy: {
      file: 'test/unit/core/stages/steps.test.ts',
      title: 'leaves one that serves again also where',
    },
  },
  'stages-left-nodes-beside-a-canary': {
    bug: 'nodes that a halted revision was left on, and that serve, are given the next one beside its whole canary',
    file: 'src/core/stages/start-record.ts',
    before: '[...broken, ...pickCanary(input, left)]',
    after: '[...left.map(nameOf), ...pickCanary(input)]',
    killedBy: {
      file: 'test/unit/core/stages/start-record.test.ts',
      title: 'is no wider for nodes that a halted revision was left on',
    },
  },
  'stages-wide-canary-is-replaced': {
    bug: 'a node that was added to a canary because it was broken dies, and a healthy one goes in its place: an unproven revision is on two for one',
    file: LOST,
    before: 'return due.slice(0, Math.max(0, wanted - left));',
    after: 'return due.slice(0, wanted + left);',
    killedBy: {
      file: 'test/unit/core/stages/lost-canaries.test.ts',
      title: 'needs nobody in its place where it dies',
    },
  },
  'stages-lost-canary-counts': {
    bug: 'a canary of which a node died passes its soak, as if that one had given evidence',
    file: LOST,
    before: 'Math.min(lost.size, Math.max(0, wanted - standing))',
    after: '0',
    killedBy: { file: LOST_TEST, title: 'is held at once, has one more node after a minute' },
  },
  'stages-lost-canary-soaks-on': {
    bug: 'the soak goes on over a canary that was lost, where another one stands for it',
    file: SOAK,
    before: 'losses.some(({ atMs }) => atMs > wellSinceMs)',
    after: 'losses.length < 0',
    killedBy: { file: LOST_TEST, title: 'begins its soak anew for a node that is lost while' },
  },
  'stages-lost-canary-sleeps': {
    bug: 'nothing wakes a rollout when a lost canary is to be replaced',
    file: 'src/core/stages/find-breach.ts',
    before: ', moments: lossesOf',
    after: '',
    killedBy: { file: LOST_TEST, title: 'nothing else would wake it' },
  },
  'stages-lost-canaries-one-by-one': {
    bug: 'each canary that dies is replaced, and a release that kills nodes is given one after the other',
    file: LOSSES,
    before: 'if (lone === 0) return false;',
    after: '',
    killedBy: { file: LOST_TEST, title: 'adds one for one' },
  },
  'stages-added-canary-may-die': {
    bug: 'the node that went in the place of a canary dies as well, and nothing halts',
    file: 'src/core/stages/find-breach.ts',
    before: '{ find: findCanariesLost,',
    after: '{ find: () => undefined,',
    killedBy: { file: LOST_TEST, title: 'halts when the added node dies as well' },
  },
  'stages-outage-is-a-loss': {
    bug: 'nodes that die with their zone are taken for the work of the release',
    file: LOSSES,
    before: '!each.isUpdated && each.stratum === stratum',
    after: 'each.stratum === `${stratum}.`',
    killedBy: { file: LOST_TEST, title: 'is replaced whole where all of it was in that zone' },
  },
  'stages-lost-canary-in-the-same-zone': {
    bug: 'the node that goes in the place of a lost canary is of the zone that may be failing',
    file: LOST,
    before: 'elsewhere.length === 0 ? free : elsewhere',
    after: 'free',
    killedBy: { file: LOST_TEST, title: 'goes to another zone, wherever the first one was' },
  },
  'stages-deadline-counts-approval': {
    bug: 'a rollout that waited three days for approval is late at once when a canary dies',
    file: SOAK,
    before: 'return nowMs - wellSinceMs >= soakMs;',
    after: 'return nowMs < soakMs;',
    killedBy: { file: LOST_TEST, title: 'its deadline counts from then' },
  },
  'stages-unseen-turn': {
    bug: 'a pod that was not ready between two looks soaks on',
    file: SOAK,
    before: 'turned > spared ||',
    after: '',
    killedBy: { file: SOAK_TEST, title: 'though no run saw it' },
  },
  'stages-soak-begins-unseen': {
    bug: 'a soak begins in a view that is too old',
    file: SOAK,
    before: 'at.isViewFresh && isWhole && blockingNodes === 0',
    after: 'isWhole && blockingNodes === 0',
    killedBy: { file: SOAK_TEST, title: 'does not begin in a view that is too old' },
  },
  'stages-soak-lost-in-a-moment': {
    bug: 'a view that is too old for a moment begins a soak anew, again and again',
    file: SOAK,
    before: 'isWell(step, at) ? continued(record, at) : {}',
    after: 'isWell(step, at) && at.isViewFresh ? continued(record, at) : {}',
    killedBy: { file: SOAK_TEST, title: 'is not lost in a view that is too old for a moment' },
  },
  'stages-dark-counts': {
    bug: 'a soak goes on while nothing is heard of the cluster for an hour',
    file: SOAK,
    before: 'Math.min(wellSinceMs + darkMs, at.nowMs)',
    after: 'wellSinceMs',
    killedBy: { file: SOAK_TEST, title: 'counts without it' },
  },
  'stages-dark-begins-never-anew': {
    bug: 'a soak of which nothing was seen goes on where it stopped',
    file: SOAK,
    before: 'darkMs >= at.soakMs',
    after: 'darkMs >= at.soakMs * 99',
    killedBy: { file: SOAK_TEST, title: 'as much darkness as it is long' },
  },
  'stages-dark-by-pods-alone': {
    bug: 'a gap in what is heard of nodes is none',
    file: 'src/core/view/unheard.ts',
    before: "['Node', 'Pod']",
    after: "['Pod']",
    killedBy: { file: 'test/unit/core/view/unheard.test.ts', title: 'whichever was longer' },
  },
  'stages-looks-in-step': {
    bug: 'looks come in step with heartbeats, always just before one, and find the view too old for ever',
    file: 'src/core/stages/gate.ts',
    before: '277_000',
    after: '300_000',
    killedBy: { file: SOAK_TEST, title: 'in no step with bookmarks' },
  },
  'stages-first-by-name': {
    bug: 'a rollout begins on a healthy canary while broken pods use up the budget that it waits for: it stands for ever',
    file: 'src/core/stages/advance-stages.ts',
    before: 'turns.find(servesNobody) ?? next',
    after: 'next',
    killedBy: {
      file: 'test/unit/core/stages/advance-stages.test.ts',
      title: 'begins on a node whose pod serves nobody',
    },
  },
  'stages-third-revision-stays': {
    bug: 'a rollback leaves pods of a third revision, edited away on its canary: unproven, and watched by nobody',
    file: 'src/core/stages/former.ts',
    before: 'isAll ? unprovenBefore(record) : NONE',
    after: 'NONE',
    killedBy: {
      file: 'test/unit/core/stages/former.test.ts',
      title: 'of a third revision that nothing proved',
    },
  },
  'stages-baseline-of-nothing': {
    bug: 'a revision of which no pod ever ran is the baseline, and a rollback leads to it',
    file: 'src/core/stages/baseline.ts',
    before: 'return serves ? { hash, provenAtMs: nowMs, isBaseline: true } : undefined;',
    after: 'return { hash, provenAtMs: nowMs, isBaseline: serves || true };',
    killedBy: {
      file: 'test/unit/core/stages/start-record.test.ts',
      title: 'takes what runs first for the baseline',
    },
  },
  'stages-canary-beside-refused-nodes': {
    bug: 'nodes that are refused their former pods use up the budget of a canary that was chosen before, and it waits for ever',
    file: 'src/core/stages/canary.ts',
    before: 'const before = isBegun ? able : withRefused(able, input);',
    after: 'const before = able;',
    killedBy: { file: CANARY_TEST, title: 'goes to a node that is refused its former pod' },
  },
  'stages-canary-of-two-deletes': {
    bug: 'a canary moves on while a delete on it is on its way: two nodes are given what nothing proved',
    file: 'src/core/rolling-update/stage-nodes.ts',
    before: 'isLeaving: old !== undefined && doomed.has(old.uid) ? true : undefined,',
    after: '',
    killedBy: {
      file: 'test/unit/core/rolling-update/plan-stages.test.ts',
      title: 'keep a canary of which a delete is on its way',
    },
  },
  'stages-canary-of-sick-nodes-first': {
    bug: 'the canary is a node whose pod cannot be taken away, since nodes without one use up the budget',
    file: 'src/core/stages/canary.ts',
    before: '? [...empty, ...rest] : empty;',
    after: '? able : able;',
    killedBy: { file: CANARY_TEST, title: 'is of those without a pod first' },
  },
  'stages-canary-beside-empty-nodes': {
    bug: 'nodes whose former pod admission refuses use up the budget, and the rollout waits for them for ever',
    file: 'src/core/stages/canary.ts',
    before: 'isUpAndOpen(node) && node.updated === undefined',
    after: 'isUpAndOpen(node) && isPending(node)',
    killedBy: {
      file: 'test/unit/core/stages/canary.test.ts',
      title: 'is of nodes without a pod, where they use it up',
    },
  },
  'stages-soak-of-another-pod': {
    bug: 'a soak goes on over a pod that came in the place of another one while nobody looked',
    file: 'src/core/stages/advance-stages.ts',
    before: 'if (!isReplaced) return record;',
    after: 'if (isReplaced || !isReplaced) return record;',
    killedBy: { file: SOAK_TEST, title: 'another pod came in the place of one' },
  },
  'stages-former-trimmed': {
    bug: 'the revision that nodes go back to is trimmed while no pod runs it',
    file: 'src/core/history/history-trim.ts',
    before: ', ...context.kept]',
    after: ']',
    killedBy: {
      file: 'test/unit/core/history/history-trim.test.ts',
      title: 'never deletes one that a staged rollout may give to a node',
    },
  },
  'stages-undo-what-ran-before-them': {
    bug: 'where a policy is first seen half-way, nodes with the new revision are put back, to be updated once more (17.5, row 56)',
    file: 'src/core/stages/former.ts',
    before: 'return isAll || isMadeSince(updated, record);',
    after: 'return true;',
    killedBy: {
      file: 'test/property/core/stages/stuck-rollouts.test.ts',
      title: 'where a policy is first seen half-way, it restarts no pod that has the new revision',
    },
  },
};
