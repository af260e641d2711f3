/**
 * How a fleet stands, as conditions after the conventions of Kubernetes (metav1.Condition). Pure.
 * Progressing, Degraded, Paused and Succeeded say what happens; kstatus, Flux and `kubectl wait`
 * read Reconciling, Stalled and Ready, of which one is true at any time. Success is the gate `done`
 * alone.
 */
import { describeNote, timeText } from '../../rollout/gate-words.ts';
import type { FleetGate, FleetRecord } from '../rollout/fleet-record.ts';
import { summarizeFleet } from './describe-fleet.ts';

/** In the order in which they are written. */
export const FLEET_CONDITION_TYPES = [
  'Ready',
  'Progressing',
  'Degraded',
  'Paused',
  'Succeeded',
  'Reconciling',
  'Stalled',
] as const;

export type FleetConditionType = (typeof FLEET_CONDITION_TYPES)[number];

export interface FleetCondition {
  readonly type: FleetConditionType;
  readonly status: 'True' | 'False';
  /** CamelCase. */
  readonly reason: string;
  /** In one sentence, MESSAGE_CHARACTERS_MAX at most. */
  readonly message: string;
  /** Whole seconds, as the API server's own; moves with `status` alone. */
  readonly lastTransitionTime: string;
  /** metadata.generation of the object that they stand in. */
  readonly observedGeneration: number;
}

export interface FormerCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
}

export interface ConditionsAt {
  readonly former: readonly FormerCondition[];
  readonly observedGeneration: number;
  readonly nowMs: number;
}

/** Of a message; the convention allows 32,768. */
export const MESSAGE_CHARACTERS_MAX = 1024;

interface FleetStanding {
  /**
   * `moving`: it goes on by itself. `held`: it waits for an operator, or for something that need not come. `stalled`: an operator
   * has to look. `done`: all stages passed.
   */
  readonly kind: 'moving' | 'held' | 'stalled' | 'done';
  /** CamelCase: the reason of conditions. */
  readonly reason: string;
  readonly message: string;
}

/** Text of other people, in one line and bounded. */
export function boundedText(text: string, charactersMax = MESSAGE_CHARACTERS_MAX): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return line.length <= charactersMax ? line : `${cut(line, charactersMax - 1)}…`;
}

/** Never between the halves of one character. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** The breach that stands: one that was looked at and overruled does not. */
export function standingBreach({
  breach,
  orders: { resumed },
}: Pick<FleetRecord, 'breach' | 'orders'>): FleetRecord['breach'] {
  return breach !== undefined && resumed?.breach.atMs === breach.atMs ? undefined : breach;
}

const STANDINGS: Readonly<Record<FleetGate['kind'], Pick<FleetStanding, 'kind' | 'reason'>>> = {
  updating: { kind: 'moving', reason: 'RollingOut' },
  soaking: { kind: 'moving', reason: 'Soaking' },
  next: { kind: 'moving', reason: 'OpeningStage' },
  window: { kind: 'moving', reason: 'WaitingForWindow' },
  returning: { kind: 'moving', reason: 'RollingBack' },
  approval: { kind: 'held', reason: 'AwaitingApproval' },
  paused: { kind: 'held', reason: 'Paused' },
  frozen: { kind: 'held', reason: 'Frozen' },
  'no-evidence': { kind: 'held', reason: 'NoEvidence' },
  refused: { kind: 'held', reason: 'ClusterRefuses' },
  breach: { kind: 'stalled', reason: 'Halted' },
  returned: { kind: 'stalled', reason: 'RolledBack' },
  invalid: { kind: 'stalled', reason: 'Invalid' },
  done: { kind: 'done', reason: 'Completed' },
};

export function fleetStanding(record: FleetRecord): FleetStanding {
  const { gate } = record;
  const { kind, reason } = STANDINGS[gate.kind];
  const isUndone = gate.kind === 'returned' && record.breach === undefined;
  const message = boundedText(summarizeFleet(record));
  return { kind, reason: isUndone ? 'Undone' : reason, message };
}

type Judgement = Pick<FleetCondition, 'status' | 'reason' | 'message'>;

export function fleetConditions(record: FleetRecord, at: ConditionsAt): readonly FleetCondition[] {
  const judged = judge(record, fleetStanding(record));
  return FLEET_CONDITION_TYPES.map((type) => {
    const { status, ...words } = judged[type];
    const former = at.former.find((one) => one.type === type);
    const isSame = former?.status === status && isTime(former.lastTransitionTime);
    return {
      type,
      status,
      ...words,
      lastTransitionTime: isSame ? former.lastTransitionTime : timeText(at.nowMs),
      observedGeneration: at.observedGeneration,
    };
  });
}

/** The object that they are read from is not only ours to write. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) && Date.parse(text) > 0;
}

function judge(
  record: FleetRecord,
  { kind, reason, message }: FleetStanding,
): Readonly<Record<FleetConditionType, Judgement>> {
  const breach = standingBreach(record);
  const isInvalid = record.gate.kind === 'invalid';
  const isPaused = record.orders.paused !== undefined || record.gate.kind === 'frozen';
  const isStalled = kind === 'stalled' || (breach !== undefined && kind !== 'moving');
  const words = { reason, message };
  const when = (isTrue: boolean): Judgement => ({ status: isTrue ? 'True' : 'False', ...words });
  return {
    Ready: when(kind === 'done' && !isStalled),
    Progressing: when(kind === 'moving'),
    Degraded: degraded(breach, isInvalid ? words : undefined),
    Paused: isPaused ? paused(record, words) : no('NotPaused', 'no operator paused it'),
    Succeeded: when(kind === 'done'),
    Reconciling: when(kind !== 'done' && !isStalled),
    Stalled: when(isStalled),
  };
}

function no(reason: string, message: string): Judgement {
  return { status: 'False', reason, message };
}

function degraded(
  breach: FleetRecord['breach'],
  invalid: Pick<Judgement, 'reason' | 'message'> | undefined,
): Judgement {
  if (breach !== undefined) {
    return { status: 'True', reason: breach.cause, message: boundedText(breach.message) };
  }
  return invalid === undefined
    ? no('NoBreach', 'nothing halted it')
    : { status: 'True', ...invalid };
}

/** A pause stands whatever else the fleet waits for. */
function paused(
  { orders, gate }: FleetRecord,
  words: Pick<Judgement, 'reason' | 'message'>,
): Judgement {
  if (gate.kind === 'frozen' || orders.paused === undefined) return { status: 'True', ...words };
  const message = boundedText(`paused ${describeNote(orders.paused)}`);
  return { status: 'True', reason: 'Paused', message };
}
