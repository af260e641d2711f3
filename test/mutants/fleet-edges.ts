/**
 * Bugs where fleets meet operators: a brake that leaves them out, rights that are not named, copilots that roll everywhere at once (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const STOP_TEST = 'test/unit/cli/stack/stop-and-resume.test.ts';
const RIGHTS_TEST = 'test/unit/cli/fleet/rights-command.test.ts';
const DOCTOR = 'src/app/checks/judge-fleets.ts';
const DOCTOR_TEST = 'test/unit/app/checks/diagnose.test.ts';
const RIGHTS_ON_A_SERVER = 'test/conformance/rights/fleets.test.ts';
const FENCE_ON_A_SERVER = 'test/conformance/rights/fence.test.ts';

/** All of them. */
export const FLEET_EDGE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'stop-leaves-fleets': {
    bug: 'a stack that is stopped goes on to give clusters releases',
    file: 'src/cli/stack/stop-and-resume.ts',
    before: "['reconcile', 'fleet']",
    after: "['reconcile']",
    killedBy: { file: STOP_TEST, title: 'stop reconcile and the schedule of fleet' },
  },
  'stop-all-leaves-schedules': {
    bug: 'what has a schedule writes into a registry that is restored',
    file: 'src/cli/stack/stop-and-resume.ts',
    before: '[...MAPPED_FUNCTIONS, ...SCHEDULED_FUNCTIONS]',
    after: '[...MAPPED_FUNCTIONS]',
    killedBy: { file: STOP_TEST, title: 'stop every function that there is' },
  },
  'stop-waits-for-what-is-gone': {
    bug: 'a function that nothing calls keeps the others running',
    file: 'src/cli/stack/triggers.ts',
    before: 'if (others.length === 0) {',
    after: 'if (others.length === 0 || uncalled.length > 0) {',
    killedBy: { file: 'test/unit/cli/stack/triggers.test.ts', title: 'stops whatever is called' },
  },
  'rights-of-every-fleet': {
    bug: 'a cluster grants what is placed elsewhere',
    file: 'src/app/fleet/find-fleet.ts',
    before: 'compilePlacement(placement)(cluster)',
    after: 'compilePlacement(placement)(cluster) || true',
    killedBy: { file: RIGHTS_TEST, title: 'names all that are placed there and no other' },
  },
  'rights-lost-unseen': {
    bug: 'a FleetDaemonSet that cannot be read loses its right',
    file: 'src/cli/fleet/rights-command.ts',
    before: 'if (every.unreadable.length > 0) {',
    after: 'if (every.unreadable.length < 0) {',
    killedBy: { file: RIGHTS_TEST, title: 'it would lose its right' },
  },
  'doctor-forgives-every-verb': {
    bug: 'a role with every verb on DaemonSets is not told',
    file: DOCTOR,
    before: 'if (!isOfAll || isInProcess(deployment)) return [];',
    after: 'if (isOfAll || isInProcess(deployment)) return [];',
    killedBy: { file: DOCTOR_TEST, title: 'fleets-unbounded' },
  },
  'takeover-lets-any-be-created': {
    bug: 'in takeover whoever may create a DaemonSet of a fleet may create any in its namespace',
    file: 'infra/admission/policy.yaml',
    before: ".check('roll-out').allowed())",
    after: ".check('create').allowed())",
    killedBy: { file: RIGHTS_ON_A_SERVER, title: 'creates no other by POST' },
  },
  'fence-denies-nothing': {
    bug: 'the fence of fleets is printed, and refuses nothing',
    file: 'src/cli/fleet/rights-command.ts',
    before: "validationActions: ['Deny']",
    after: "validationActions: ['Audit']",
    killedBy: { file: FENCE_ON_A_SERVER, title: 'is refused, created and changed' },
  },
  'fence-forgets-the-release-before': {
    bug: 'a fence that is printed for a file refuses the way back to what was applied before it',
    file: 'src/cli/fleet/rights-command.ts',
    before: 'const documents = [...every, ...added];',
    after: 'const documents = [...others, ...added];',
    killedBy: { file: RIGHTS_TEST, title: 'by the one before it as well' },
  },
  'copilot-lets-any-be-created': {
    bug: 'in copilot whoever may create a DaemonSet of a fleet may create any in its namespace',
    file: 'infra/copilot/admission.yaml',
    before: ".check('roll-out').allowed())",
    after: ".check('create').allowed())",
    killedBy: { file: RIGHTS_ON_A_SERVER, title: 'and for nothing besides' },
  },
  'doctor-forgives-rights': {
    bug: 'rights of fleets are asked for, and one that is missing is not told',
    file: DOCTOR,
    before: 'if (missing.length > 0) {\n    const rights',
    after: 'if (missing.length < 0) {\n    const rights',
    killedBy: { file: DOCTOR_TEST, title: 'fleets-rights-missing' },
  },
  'copilot-rolls-everywhere': {
    bug: 'a release that a copilot cluster rolls everywhere at once is stored',
    file: 'src/app/fleet/apply-fleet.ts',
    before: 'renderForMode(renderFor(registration), registration.mode)',
    after: 'renderFor(registration)',
    killedBy: {
      file: 'test/unit/cli/fleet/fleet-commands.test.ts',
      title: 'keeps RollingUpdate from clusters in copilot',
    },
  },
  'copilot-plan-says-nothing': {
    bug: 'a plan shows nodes of a copilot cluster that could be given nothing',
    file: 'src/core/fleet/plan-fleet.ts',
    before: 'renderForMode(renderFor(facts), facts.mode)',
    after: 'renderFor(facts)',
    killedBy: {
      file: 'test/unit/core/fleet/plan-fleet.test.ts',
      title: 'keeps RollingUpdate from clusters in copilot alone',
    },
  },
};
