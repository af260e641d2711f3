/** Planted bugs of what the functions do beside the runs (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const APP_BUGS: PlantedBugs = {
  'copilot-unknown-names': {
    bug: 'the doctor does not say that admission names no DaemonSet that opts in',
    at: 'src/app/checks/judge-fleets.ts#judgeNames',
    change: 'followed.filter((name) => !named.includes(name));',
    to: 'followed.filter((name) => named.includes(name) && false);',
    killedBy:
      'test/unit/app/checks/judge-copilot.test.ts: names who opts in and may not be touched',
  },
  'doctor-forgives-every-verb': {
    bug: 'a role with every verb on DaemonSets is not told',
    at: 'src/app/checks/judge-fleets.ts#judgeRights',
    change: 'if (!isOfAll || isInProcess(deployment)) return [];',
    to: 'if (isOfAll || isInProcess(deployment)) return [];',
    killedBy: 'test/unit/app/checks/diagnose.test.ts: fleets-unbounded',
  },
  'doctor-forgives-rights': {
    bug: 'rights of fleets are asked for, and one that is missing is not told',
    at: 'src/app/checks/judge-fleets.ts#judgeRights',
    change: 'if (missing.length > 0) {',
    to: 'if (missing.length < 0) {',
    killedBy: 'test/unit/app/checks/diagnose.test.ts: fleets-rights-missing',
  },
  'reserved-not-told': {
    bug: 'places that other functions reserved are not missed',
    at: 'src/app/checks/judge-stack.ts#judgeConcurrency',
    change: 'if (unreserved >= CONCURRENCY_NEEDED) return undefined;',
    to: 'if (total >= CONCURRENCY_NEEDED) return undefined;',
    killedBy:
      'test/unit/app/checks/judge-stack.test.ts: warns of the quota of a new account, and of places that others reserved',
  },
  'explain-without-policy': {
    bug: 'verdicts of a staged rollout are those of upstream’s rolling update (17.9)',
    at: 'src/app/explain/explain.ts#explainRollout',
    change: '...defined({ staging })',
    to: '',
    killedBy:
      'test/unit/app/rollout/orders-in-runs.test.ts: says that nodes outside of open steps wait',
  },
  'explain-without-silence': {
    bug: 'verdicts forget that a silent watcher is waited for (protocol 1)',
    at: 'src/app/explain/explain.ts#findGuard',
    change: '?? doubt ?? registered;',
    to: '?? registered;',
    killedBy: 'test/unit/app/explain/explain.test.ts: tells that a silent watcher is waited for',
  },
  'explain-without-outage': {
    bug: 'verdicts of a cluster that does not answer say that pods are being created (L3)',
    at: 'src/app/explain/explain.ts#findGuard',
    change:
      "if (isOpen(stored.meta.breaker, nowMs)) return UNAVAILABLE['cluster-unavailable']; return UNAVAILABLE[state.retry?.code ?? ''] ?? doubt",
    to: 'return doubt',
    killedBy: 'test/unit/app/isolation/breaker.test.ts: says in the verdicts why there is no pod',
  },
  'explain-without-freeze': {
    bug: 'verdicts of a frozen cluster say that pods are being created',
    at: 'src/app/explain/explain.ts#guardOfSet',
    change: 'const registered = guardOfSubject(registration, daemonSet, frozen);',
    to: "const registered = { kind: 'act' } as Guard;",
    killedBy: 'test/unit/app/explain/explain.test.ts: tells that a frozen cluster waits, and why',
  },
  'explain-without-sentinel': {
    bug: 'verdicts of a takeover without its sentinel say that pods are being created (ADR 0033)',
    at: 'src/app/explain/explain.ts#isSentinelMissing',
    change: 'return seen === undefined || seen.object === null;',
    to: 'return seen !== undefined && seen.object === null;',
    killedBy:
      'test/unit/app/explain/explain.test.ts: tells that a takeover without its sentinel waits',
  },
  'explain-before-a-run': {
    bug: 'verdicts of a DaemonSet that nobody looked at yet are those of a lost state (protocol 6)',
    at: 'src/app/explain/explain.ts#prepare',
    change: 'if (stored.state === undefined) return undefined;',
    to: '',
    killedBy: 'test/unit/app/explain/explain.test.ts: tells nothing before a run has looked',
  },
  'probe-tells-a-later-opening': {
    bug: 'the answer of a probe counts for an opening that came after it',
    at: 'src/app/isolation/cluster-gate.ts#ClusterGate.settle',
    change: 'if (this.#isProbe) return;',
    to: '',
    killedBy:
      'test/unit/app/isolation/cluster-gate.test.ts: the answer of a probe counts for the opening that it was the probe of',
  },
  'refusals-are-not-counted': {
    bug: 'what an API server refuses counts in no metric (security, rights in a cluster)',
    at: 'src/app/isolation/reported-access.ts#reportedAccess',
    change: "metrics.count('ClusterRefusals', { outcome: code });",
    to: '',
    killedBy:
      'test/unit/app/isolation/reported-access.test.ts: tells of refused effects: a line for each kind and code, a metric for each',
  },
  'missing-tokens-are-not-told': {
    bug: 'a cluster without a token is told of nowhere',
    at: 'src/app/isolation/reported-access.ts#reportedConnector',
    change: 'reportToken(registration, connection.refusal, { log, metrics });',
    to: 'void reportToken;',
    killedBy:
      'test/unit/app/isolation/reported-access.test.ts: says what is the matter with a bound token, in one line and one metric',
  },
  'hung-runs-go-on': {
    bug: 'a run goes on after an API server let it time out',
    at: 'src/app/isolation/talk-tally.ts#HANG_MS',
    to: '20_000',
    killedBy: 'test/unit/app/isolation/talk-tally.test.ts: is given up after one time-out',
  },
  'slow-servers-unmarked': {
    bug: 'a cluster whose requests take most of a run does not count as slow',
    at: 'src/app/isolation/talk-tally.ts#SLOW_MS',
    to: '50_000',
    killedBy:
      'test/unit/app/isolation/talk-tally.test.ts: is slow when its answers took five seconds',
  },
  'retry-after-of-reads-lost': {
    bug: 'what an API server asks for in the answer to a read is forgotten: two seconds later it is asked again',
    at: 'src/app/isolation/talk-tally.ts#judgeRead',
    change: 'const talk = tally.judgeUnusable(read);',
    to: "const talk: Talk = read.retryAfterMs === undefined ? 'failed' : 'neutral';",
    killedBy: 'test/unit/app/reconcile/left-alone.test.ts: L5: is not looked at before',
  },
  'quota-is-a-right': {
    bug: 'a full quota of a tenant calls the operator as a missing right does',
    at: 'src/app/isolation/talk-tally.ts#talliedAccess',
    change: "each.kind === 'refused' && each.code === 'forbidden'",
    to: "each.kind === 'refused'",
    killedBy: 'test/unit/infra/alarm-actions.test.ts: calls nobody for what a tenant filled up',
  },
  'order-to-what-was': {
    bug: 'an order is given to what was there before somebody else wrote, and is lost for ever (17.9)',
    at: 'src/app/orders/order-home.ts#keepOrder',
    change: 'const edited = edit(found);',
    to: 'const edited = edit(first);',
    killedBy: 'test/unit/app/rollout/give-order.test.ts: applies the order to what it finds',
  },
  'forged-refusals-come-again': {
    bug: 'a forged message comes again while its record cannot be kept (L3, issue 40)',
    at: 'src/app/refusal/keep-refusal.ts#keepRefusal',
    change: "if (sender === 'verified') throw error;",
    to: 'if (code !== undefined) throw error;',
    killedBy:
      'test/security/forged-flood.test.ts: while nothing can be noted, nor is tried each time',
  },
  'due-timers-hop': {
    bug: 'a timer hops until it is overdue by the tolerance',
    at: 'src/app/requeue/requeue.ts#requeueTimer',
    change: 'timer.dueAtMs - DUE_TOLERANCE_MS',
    to: 'timer.dueAtMs + DUE_TOLERANCE_MS',
    killedBy:
      'test/unit/app/requeue/requeue.test.ts: forwards what is due, with two seconds of grace, as due',
  },
  'confirmation-of-another-shrink': {
    bug: 'a removal that nobody looked at is confirmed with the one before (17.7)',
    at: 'src/app/rollout/give-order.ts#confirm',
    change: 'state === undefined || heldToken(found) !== token',
    to: 'state === undefined',
    killedBy: 'test/unit/app/rollout/give-order.test.ts: confirms no other one that came meanwhile',
  },
  'order-leaves-the-memo': {
    bug: 'the run that an order wakes finds nothing new, and a pause that was lifted lasts for hours (17.9)',
    at: 'src/app/rollout/give-order.ts#homeOf',
    change: "(await view.writeState(stored.ref, rest)) === 'written'",
    to: "(await view.writeState(stored.ref, state)) === 'written'",
    killedBy:
      'test/unit/app/rollout/give-order.test.ts: edits the record, drops the memo, and wakes the key',
  },
  'order-is-not-told': {
    bug: 'an order waits for the next event of its DaemonSet (17.9)',
    at: 'src/app/rollout/give-order.ts#homeOf',
    change: 'await hints.sendHints([hint], `manual/${random.uniqueId()}/`);',
    to: 'void hint; void hints; void random; await Promise.resolve();',
    killedBy:
      'test/unit/app/rollout/give-order.test.ts: edits the record, drops the memo, and wakes the key',
  },
  'order-beside-its-fleet': {
    bug: 'while a fleet has the first nodes of a cluster, an approval there updates all others at once',
    at: 'src/app/rollout/give-order.ts#see',
    change: 'fleet?.isPartial === true && !isSure',
    to: 'fleet?.isPartial === true && !isSure && isSure',
    killedBy:
      'test/unit/cli/rollout/held-by-fleet.test.ts: is approved, resumed and undone by the fleet alone',
  },
  'status-frees-a-budget-that-is-used-up': {
    bug: 'a budget of which too much is used has less than nothing free (17.9)',
    at: 'src/app/rollout/rollout-status.ts#shownBudget',
    change: 'freeNodes: Math.max(0, free)',
    to: 'freeNodes: free',
    killedBy:
      'test/unit/app/rollout/rollout-status.test.ts: has nothing free where more is used than it allows',
  },
  'undo-in-a-moving-view': {
    bug: 'where pods flap, who asks for the way back in copilot is not told the command',
    at: 'src/app/rollout/undo-command.ts#undoCommand',
    change: "if (view.kind === 'incomplete' || read === READS_MAX) return undefined;",
    to: 'if (read <= READS_MAX) return undefined;',
    killedBy:
      'test/unit/app/rollout/undo-command.test.ts: reads a view again that is being written',
  },
  'leaving-lifts-freeze': {
    bug: 'leaving takeover lifts a freeze that a person had set',
    at: 'src/app/takeover/hand-back.ts#writeLeft',
    change: "mode: 'observe', isFrozen: wasFrozen",
    to: "mode: 'observe', isFrozen: false",
    killedBy: 'test/unit/app/takeover/hand-back.test.ts: keeps a freeze that stood before',
  },
  'probes-of-doubt-stay': {
    bug: 'the probe stays in a cluster where it could not be read',
    at: 'src/app/takeover/takeover-probe.ts#probeForBuiltInController',
    change: "if (result?.kind !== 'absent') {",
    to: "if (result?.kind === 'present') {",
    killedBy:
      'test/unit/app/takeover/takeover-probe.test.ts: knows nothing when the probe could not be created, read or kept',
  },
};
