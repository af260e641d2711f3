/** Bugs by which a freeze is not seen, not obeyed, or never ends (issue 18). */
import type { PlantedBug } from './planted-bug.ts';

const FREEZE = 'src/core/takeover/freeze.ts';
const FREEZE_TEST = 'test/unit/core/takeover/freeze.test.ts';
const RULES_TEST = 'test/unit/app/reconcile/freeze-rules.test.ts';
const COMMANDS_TEST = 'test/unit/cli/freeze/freeze-commands.test.ts';

/** The rows of freezes. */
export const FREEZE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'thaw-of-the-stack-thaws-names': {
    bug: 'a thaw of the stack ends what somebody else froze by name (18.5)',
    file: FREEZE,
    before: 'const { all: _lifted, ...rest } = freeze;\n    return rest;',
    after: 'return { version: freeze.version, daemonSets: {} };',
    killedBy: { file: FREEZE_TEST, title: 'is thawed by its own scope alone' },
  },
  'freeze-unfenced': {
    bug: 'a run that has begun does not look at the freeze again (18.5, protocol 7)',
    file: 'src/app/reconcile/confirm/batch-fence.ts',
    before: 'const frozen = standingFreeze(freeze, context.hint.key);',
    after: 'const frozen = standingFreeze({ version: 0, daemonSets: {} }, context.hint.key);',
    killedBy: { file: RULES_TEST, title: 'lets one batch more pass, nothing until the thaw' },
  },
  'template-restored-unfenced': {
    bug: 'the template of a frozen stack is restored after the deletes of its run (18.5, protocol 7)',
    file: 'src/app/reconcile/execute/restore-template.ts',
    before: 'const isFirst = !result.hasActed;',
    after: 'const isFirst = true;',
    killedBy: {
      file: 'test/unit/app/reconcile/execute/restore-template.test.ts',
      title: 'asks the cluster for nothing once the stack was frozen',
    },
  },
  'unreadable-freeze-is-none': {
    bug: 'a freeze that cannot be read before a batch counts as none (18.5, protocol 13)',
    file: 'src/app/reconcile/confirm/batch-fence.ts',
    before: 'if (registration === undefined || freeze === undefined) {',
    after: 'if (registration === undefined) {',
    killedBy: { file: RULES_TEST, title: 'becomes unreadable stops a run at its next batch' },
  },
  'thaw-is-nothing-new': {
    bug: 'the memo of a frozen run hides the thaw for hours (18.5, protocol 11)',
    file: 'src/app/reconcile/read/skip.ts',
    before: 'frozen === undefined ? hashOf(registration) : hashOf({ registration, frozen })',
    after: 'frozen === undefined ? hashOf(registration) : hashOf(registration)',
    killedBy: { file: RULES_TEST, title: 'lets one batch more pass, nothing until the thaw' },
  },
  'thaw-wakes-nobody': {
    bug: 'a thaw waits for the next change, or for resync (18.5)',
    file: 'src/cli/freeze/freeze-command.ts',
    before: "const isWaking = thaw.kind === 'thawed' || options.wake === true;",
    after: 'const isWaking = options.wake === true;',
    killedBy: { file: COMMANDS_TEST, title: 'wakes what may act' },
  },
  'stack-freeze-unconfirmed': {
    bug: 'a forgotten option freezes everything (18.5)',
    file: 'src/cli/freeze/freeze-command.ts',
    before: '&& options.yes !== true) throw unconfirmedFreeze',
    after: "&& options.yes === undefined && why === '') throw unconfirmedFreeze",
    killedBy: { file: COMMANDS_TEST, title: 'once it is confirmed' },
  },
  'status-write-stops-the-cluster': {
    bug: 'whoever may edit one DaemonSet stops all of its cluster (40.1)',
    file: 'src/app/reconcile/confirm/rival.ts',
    before: 'findSentinelEvidence(live.object, registration.sentinel)',
    after:
      "(findSentinelEvidence(live.object, registration.sentinel) ?? 'somebody wrote a status')",
    killedBy: {
      file: 'test/unit/app/reconcile/rival-rules.test.ts',
      title: 'no pod is made, and the cluster goes on',
    },
  },
  'pause-ends-unlooked': {
    bug: 'a pause that is over is not looked at live, so a second controller has its turn every ten minutes (40.1)',
    file: 'src/app/reconcile/confirm/rival-checks.ts',
    before: 'const again = guardOfPause(context.note.paused, stored.registration, nowMs);',
    after: 'const again = guardOfPause(undefined, stored.registration, nowMs);',
    killedBy: {
      file: 'test/unit/app/reconcile/rival-rules.test.ts',
      title: 'is looked at again before a pod is deleted',
    },
  },
  'rival-of-any-takeover': {
    bug: 'a rival of a former takeover stops the one that was entered anew (40.7)',
    file: 'src/adapters/dynamodb/registry-store.ts',
    before: "if (takeover === undefined || noted?.['takeover'] !== takeover) return registration;",
    after: 'if (takeover === undefined || noted === undefined) return registration;',
    killedBy: {
      file: 'test/integration/dynamodb/stores.test.ts',
      title: 'the DynamoDB stores on the local tables',
    },
  },
  'fence-blind-to-rivals': {
    bug: 'a run under way goes on beside a rival, whose note raises no version (40.7)',
    file: 'src/app/reconcile/confirm/batch-fence.ts',
    before: 'registration.rival?.seenAtMs !== rival?.seenAtMs',
    after: 'rival !== undefined',
    killedBy: {
      file: 'test/unit/app/reconcile/rival-rules.test.ts',
      title: 'stops a run under way at its next batch',
    },
  },
  'reconcile-owns-the-registry': {
    bug: 'a stolen session of reconcile leaves a registration of its own behind (40.7)',
    file: 'infra/roles.yml',
    before: "dynamodb:LeadingKeys: ['RIVAL#*']",
    after: "dynamodb:LeadingKeys: ['RIVAL#*', 'CLUSTER#*']",
    killedBy: {
      file: 'test/security/stolen-reconcile.test.ts',
      title: 'writes no registration and no freeze',
    },
  },
};
