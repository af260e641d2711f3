/**
 * The commands that go on with a rollout that is halted, or waits for an operator; of nodes and of clusters alike.
 *
 * One table by what the gate waits for, and one by the cause of a halt: what to look at. What goes on by itself has no next step,
 * nor has an outage, whose line names its own. Nothing is decided here.
 */
import type { FleetBreachCause } from '../fleet/rollout/fleet-record.ts';
import { namesOf } from '../health/breach.ts';
import type { BreachCause, OrderNote } from '../model/rollout-record.ts';
import { POLICY_ANNOTATION } from '../policy/rollout-policy.ts';
import type { ClusterMode } from '../model/registration.ts';
import type { Gate } from '../model/staged-progress.ts';

/** A command line, and what it does. */
export interface NextStep {
  readonly command: string;
  readonly about: string;
}

export type NextHome =
  | {
      readonly kind: 'rollout';
      readonly cluster: string;
      /** namespace/name */
      readonly key: string;
      readonly mode: ClusterMode;
      /** The fleet that gave it to some of its nodes, and decides what follows; absent: none. */
      readonly fleet?: string;
    }
  | { readonly kind: 'fleet'; readonly key: string };

export interface NextSubject {
  readonly home: NextHome;
  readonly gate: Gate;
  readonly breach?: {
    readonly cause: BreachCause | FleetBreachCause;
    /** Nodes, or clusters, that showed it. */
    readonly members: readonly string[];
    /** True where the halt says nothing against the release: no way back is proposed. */
    readonly isOfPlace: boolean;
  };
  /** Where an undo leads: `revision abc`; absent: nowhere. */
  readonly back?: string;
  readonly orders: { readonly paused?: OrderNote; readonly undo?: OrderNote };
}

type Cause = NonNullable<NextSubject['breach']>['cause'];
type Look = (subject: NextSubject, member: string) => NextStep | undefined;
type Steps = (subject: NextSubject) => readonly (NextStep | undefined)[];

/** The next steps, in the order in which an operator takes them. */
export function nextStepsOf(subject: NextSubject): readonly NextStep[] {
  const steps = STEPS[subject.gate.kind]?.(subject) ?? [];
  return steps.filter((step) => step !== undefined);
}

const why: Look = ({ home }) => whyStep(home, 'what its pods show, and what to do about it');

/** The first thing to look at. */
const LOOKS: Readonly<Record<Cause, Look>> = {
  StartFailure: why,
  Restarts: why,
  OOMKilled: why,
  CreateRefused: why,
  NotRecreated: why,
  NotReady: why,
  Flapping: why,
  Unexplained: why,
  ReturnFailed: (subject, member) => why(subject, member) ?? inCluster(subject, member),
  ProgressDeadlineExceeded: (subject, member) => why(subject, member) ?? inCluster(subject, member),
  NodesFailed: (subject, member) => {
    const { home } = subject;
    if (home.kind === 'fleet' || member === '') return inCluster(subject, member);
    const command = `rollcall why --cluster ${home.cluster} --node ${member}`;
    return { command, about: 'what runs on the first of these nodes, and what does not' };
  },
  ApiServerSlow: ({ home }) =>
    home.kind === 'fleet' ? undefined : doctorStep(home.cluster, 'how its API server answers'),
  KnownBad: ({ home }) =>
    home.kind === 'rollout'
      ? undefined
      : { command: `rollcall fleet history ${home.key}`, about: 'what else there is to apply' },
  ClustersFailed: inCluster,
  ClustersNotUpdated: inCluster,
  ClustersSilent: (_subject, member) =>
    member === '' ? undefined : doctorStep(member, 'why the first of these clusters is silent'),
};

/** By what it waits for; what is not here goes on by itself, or by the line of an outage. */
const STEPS: Readonly<Partial<Record<Gate['kind'], Steps>>> = {
  breach: afterHalt,
  approval: (subject) => [approveStep(subject, 'agrees: it goes on')],
  'no-evidence': (subject) => [approveStep(subject, 'lets it pass without evidence')],
  paused: ({ gate, home, orders: { paused } }) => [
    gate.kind === 'paused' && gate.by === 'policy'
      ? editStep(home, 'take paused: true out of it')
      : orderStep(
          home,
          'resume',
          `lifts the pause${paused === undefined ? '' : ` of ${paused.by}`}`,
        ),
  ],
  invalid: ({ home }) => [editStep(home, 'mend what is written above')],
  returned: (subject) => [takeBackStep(subject)],
  lost: ({ home }) => [whyStep(home, 'which nodes, and what is the matter with them')],
  'no-canary': ({ home }) => [whyStep(home, 'which nodes it may run on, and why no other')],
  'nodes-not-ready': ({ home }) => [whyStep(home, 'which nodes, and what is the matter with them')],
  refused: ({ gate }) => [
    gate.kind !== 'refused'
      ? undefined
      : { command: `rollcall fleet rights ${gate.cluster}`, about: 'which rights it needs there' },
  ],
  fleet: ({ gate }) => [
    gate.kind !== 'fleet'
      ? undefined
      : { command: `rollcall fleet status ${gate.fleet}`, about: 'what the fleet waits for' },
  ],
};

function afterHalt(subject: NextSubject): readonly (NextStep | undefined)[] {
  const { home, breach, orders } = subject;
  const look = breach && LOOKS[breach.cause](subject, breach.members[0] ?? '');
  const isStuckOnReturn = breach?.cause === 'ReturnFailed' && orders.undo !== undefined;
  return [
    look,
    logStep(home),
    isStuckOnReturn ? orderStep(home, 'undo', 'tries once more to go back') : undoStep(subject),
    overruleStep(subject),
  ];
}

function undoStep({ home, breach, back }: NextSubject): NextStep | undefined {
  if (back === undefined || breach?.isOfPlace === true) return undefined;
  const isPrinted = home.kind === 'rollout' && home.mode === 'copilot';
  const about = isPrinted
    ? `prints the kubectl command that goes back to ${back}`
    : `goes back to ${back}`;
  return orderStep(home, 'undo', about);
}

/** What was undone because of a halt goes on only where an operator overrules the halt, too. */
function takeBackStep(subject: NextSubject): NextStep | undefined {
  const { home, breach, orders } = subject;
  if (orders.undo === undefined) return overruleStep(subject);
  const about = `takes the undo of ${orders.undo.by} back`;
  return breach === undefined
    ? orderStep(home, 'resume', about)
    : overruleStep(subject, `${about}, and `);
}

function overruleStep({ home, breach }: NextSubject, before = ''): NextStep | undefined {
  if (breach === undefined) return undefined;
  const { cause, members } = breach;
  const on = members.length === 0 ? '' : ` on ${namesOf(members)}`;
  const about = `${before}overrules ${cause}${on}: only what happens later counts`;
  const step = orderStep(home, 'resume', about);
  return step && { ...step, command: `${step.command.replace(/ --yes$/, '')} --why '…' --yes` };
}

function approveStep({ home }: NextSubject, about: string): NextStep | undefined {
  return orderStep(home, 'approve', about);
}

/** Where Rollcall only looks it takes no orders; where a fleet has it they are confirmed. */
function orderStep(home: NextHome, verb: string, about: string): NextStep | undefined {
  if (home.kind === 'fleet') return { command: `rollcall fleet ${verb} ${home.key}`, about };
  const { cluster, key, mode, fleet } = home;
  if (mode === 'observe') return undefined;
  const command = `rollcall rollout ${verb} ${cluster} ${key}`;
  if (fleet === undefined) return { command, about };
  return { command: `${command} --yes`, about: `${about} (fleet ${fleet} decides what follows)` };
}

function whyStep(home: NextHome, about: string): NextStep | undefined {
  if (home.kind === 'fleet') return undefined;
  return { command: `rollcall why ${home.key} --cluster ${home.cluster}`, about };
}

function inCluster({ home }: NextSubject, member: string): NextStep | undefined {
  if (member === '' || home.kind === 'rollout') return undefined;
  const command = `rollcall rollout status ${member} ${home.key}`;
  return { command, about: 'how it stands in the first of these clusters' };
}

function logStep(home: NextHome): NextStep {
  const where = home.kind === 'fleet' ? '' : ` --cluster ${home.cluster}`;
  return {
    command: `rollcall log ${home.key}${where}`,
    about: 'what came before, and who ordered what',
  };
}

function doctorStep(cluster: string, about: string): NextStep {
  return { command: `rollcall cluster doctor ${cluster}`, about };
}

function editStep(home: NextHome, what: string): NextStep {
  if (home.kind === 'fleet') return { command: 'rollcall fleet apply -f FILE', about: what };
  const [namespace = '', name = ''] = home.key.split('/');
  const about = `${what} (annotation ${POLICY_ANNOTATION})`;
  return { command: `kubectl --namespace ${namespace} edit daemonset/${name}`, about };
}
