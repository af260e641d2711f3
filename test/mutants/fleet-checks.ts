/**
 * Bugs in the server-side dry run of fleets: each would change a cluster, or let a release be stored, or refused, for the wrong reason (issue 18.1).
 */
import type { PlantedBug } from './planted-bug.ts';

const ASK = 'src/app/fleet/check/ask-clusters.ts';
const ASK_TEST = 'test/unit/app/fleet/check/ask-clusters.test.ts';
const VERDICT = 'src/app/fleet/check/ask-clusters.ts';
const VERDICT_TEST = 'test/unit/app/fleet/check/verdict.test.ts';
const COMMAND_TEST = 'test/unit/cli/fleet/server-check.test.ts';

/** All of them. */
export const FLEET_CHECK_BUGS: Readonly<Record<string, PlantedBug>> = {
  'check-changes-clusters': {
    bug: 'asking gives the clusters the release',
    file: ASK,
    before: 'isDryRun: true,',
    after: 'isDryRun: false,',
    killedBy: { file: ASK_TEST, title: 'nothing is kept' },
  },
  'check-without-fence': {
    bug: 'what rollcall itself wrote otherwise is told as a conflict',
    file: 'src/app/fleet/send-at-version.ts',
    before: '{ ...options, resourceVersion, uid }',
    after: 'options',
    killedBy: { file: ASK_TEST, title: 'at the version that it read' },
  },
  'check-never-ends': {
    bug: 'clusters that hang are asked one after the other for as long as it takes',
    file: ASK,
    before: 'if (clock.monotonicMs() >= deadlineMs)',
    after: 'if (clock.monotonicMs() < 0)',
    killedBy: { file: ASK_TEST, title: 'nobody is asked after two minutes' },
  },
  'check-webhook-refuses': {
    bug: 'a webhook that takes no dry run is in the way of every release',
    file: VERDICT,
    before: 'if (takesNoDryRun(outcome)) return notChecked(message);',
    after: '',
    killedBy: { file: VERDICT_TEST, title: 'a webhook that takes no dry run' },
  },
  'check-rights-of-a-person': {
    bug: 'whoever may not ask a cluster may release nothing',
    file: VERDICT,
    before: 'return isRight ?',
    after: 'return status < 0 ?',
    killedBy: { file: VERDICT_TEST, title: 'a right that whoever asks does not have' },
  },
  'check-policy-is-a-right': {
    bug: 'what admission refuses is told as not checked',
    file: VERDICT,
    before: 'status === 403 && NO_RIGHT.test(message) &&',
    after: 'status === 403 &&',
    killedBy: { file: VERDICT_TEST, title: 'an admission policy' },
  },
  'apply-ignores-conflicts': {
    bug: 'a conflict is told, and the release is stored all the same',
    file: 'src/cli/fleet/server-check.ts',
    before: "kind === 'conflict' || kind === 'refused'",
    after: "kind === 'refused'",
    killedBy: { file: COMMAND_TEST, title: 'stores nothing' },
  },
  'apply-dry-run-stores': {
    bug: '--dry-run=server stores the release',
    file: 'src/app/fleet/apply-fleet.ts',
    before: 'if (isDryRun) return applied;',
    after: '',
    killedBy: { file: COMMAND_TEST, title: 'asks and stores nothing' },
  },
  'apply-goes-on-after-ctrl-c': {
    bug: 'a check that was interrupted counts as passed',
    file: 'src/cli/fleet/server-check.ts',
    before: '  throwIfInterrupted(signal);\n',
    after: '',
    killedBy: { file: COMMAND_TEST, title: 'stores nothing after Ctrl-C' },
  },
};
