/**
 * What may be ordered from the page: for each order the command line that does the same, what has to be said first, and the request.
 *
 * Nothing is decided here: which orders are offered follows what the rollout waits for, and a refusal of the command is told as it is.
 */
import { shellWord } from '../../core/status/shell-word.ts';
import type { FleetStatus, RolloutStatus } from './documents.ts';

/** An order that can be given. */
export interface Order {
  /** Words of the command, joined by `/`. */
  readonly words: string;
  readonly title: string;
  /** Whom it is about, as its arguments and options. */
  readonly parameters: Readonly<Record<string, string | number>>;
  /** The same on a command line. */
  readonly line: string;
  /** `--why` is required. */
  readonly asksWhy?: true;
  /** `--yes` is required: this has to be typed. */
  readonly typed?: string;
  /** What it means here, beside what the command says of itself. */
  readonly note?: string;
  readonly tone: 'plain' | 'going-on' | 'going-back';
}

export interface OrderAnswers {
  readonly why: string;
  readonly typed: string;
}

/** True if all was said that the command asks for. */
export function isAnswered(order: Order, { why, typed }: OrderAnswers): boolean {
  const isReasoned = order.asksWhy === undefined || why.trim() !== '';
  return isReasoned && (order.typed === undefined || typed.trim() === order.typed);
}

/** The body of the request. */
export function bodyOf(
  { parameters, asksWhy, typed }: Order,
  { why }: OrderAnswers,
): Readonly<Record<string, string | number | boolean>> {
  return {
    ...parameters,
    ...(asksWhy === undefined ? {} : { why: why.trim() }),
    ...(typed === undefined ? {} : { yes: true }),
  };
}

/** The command line. */
export function lineOfOrder({ line, asksWhy, typed }: Order, { why }: OrderAnswers): string {
  const reason = why.trim() === '' ? '"…"' : shellWord(why.trim());
  return [
    `rollcall ${line}`,
    ...(asksWhy === undefined ? [] : [`--why ${reason}`]),
    ...(typed === undefined ? [] : ['--yes']),
  ].join(' ');
}

/** Of the rollout of a DaemonSet. */
export function ordersOfRollout(status: RolloutStatus): readonly Order[] {
  const { cluster, namespace, name, staged, removal, fleet } = status;
  const daemonset = `${namespace}/${name}`;
  // Beside a fleet an order takes --yes.
  const holder =
    fleet === undefined
      ? {}
      : { typed: daemonset, note: `The fleet ${fleet.name} holds this rollout.` };
  const of = (verb: string): Pick<Order, 'words' | 'parameters' | 'line'> => ({
    words: `rollout/${verb}`,
    parameters: { cluster, daemonset },
    line: `rollout ${verb} ${cluster} ${daemonset}`,
  });
  const confirm: readonly Order[] =
    removal === undefined
      ? []
      : [{ ...of('confirm'), title: 'Confirm the removal', tone: 'going-on' }];
  if (staged === undefined) return confirm;
  const given = ordersAt(staged.gate.kind, { of, subject: daemonset });
  const back: readonly Order[] =
    staged.former === undefined || isBack(staged.gate.kind)
      ? []
      : [{ ...of('undo'), title: 'Undo', tone: 'going-back' }];
  return [
    ...confirm,
    ...[...given, ...back].map((order) => ({ ...order, ...(isPause(order) ? {} : holder) })),
  ];
}

function isPause({ words }: Order): boolean {
  return words.endsWith('/pause');
}

function isBack(gate: string): boolean {
  return gate === 'returning' || gate === 'returned';
}

/** Of the rollout of a fleet. */
export function ordersOfFleet(status: FleetStatus): readonly Order[] {
  const { namespace, name, staged, former } = status;
  if (staged === undefined) return [];
  const fleet = `${namespace}/${name}`;
  const of = (verb: string): Pick<Order, 'words' | 'parameters' | 'line'> => ({
    words: `fleet/${verb}`,
    parameters: { fleet },
    line: `fleet ${verb} ${fleet}`,
  });
  const { kind } = staged.gate;
  const isStuck = staged.breach?.cause === 'ReturnFailed';
  const back: readonly Order[] =
    former === undefined || (isBack(kind) && !isStuck)
      ? []
      : [{ ...of('undo'), title: 'Undo', tone: 'going-back' }];
  return [...ordersAt(kind, { of, subject: fleet }), ...back];
}

interface Giver {
  readonly of: (verb: string) => Pick<Order, 'words' | 'parameters' | 'line'>;
  readonly subject: string;
}

function ordersAt(gate: string, { of, subject }: Giver): readonly Order[] {
  const pause: Order = { ...of('pause'), title: 'Pause', tone: 'plain' };
  const resume: Order = { ...of('resume'), title: 'Resume', tone: 'going-on' };
  switch (gate) {
    case 'approval':
    case 'no-evidence':
      return [{ ...of('approve'), title: 'Approve', tone: 'going-on' }, pause];
    case 'breach':
      return [{ ...resume, title: 'Overrule the halt', asksWhy: true, typed: subject }];
    case 'paused':
    case 'returned':
      return [resume];
    case 'done':
      return [];
    default:
      return [pause];
  }
}

/** A freeze or a thaw of a cluster, of a DaemonSet in every cluster, or of the whole stack. */
export type FreezeTarget =
  | { readonly kind: 'cluster'; readonly id: string }
  | { readonly kind: 'daemon-set'; readonly name: string }
  | { readonly kind: 'stack' };

/** Both orders of a target. */
export function freezeOrders(target: FreezeTarget): Readonly<Record<'freeze' | 'thaw', Order>> {
  const { parameters, options, what } = scopeOf(target);
  const sure = target.kind === 'stack' ? { typed: 'the whole stack' } : {};
  const line = (verb: string): string => `${verb}${options}`;
  return {
    freeze: {
      ...{ words: 'freeze', title: `Freeze ${what}`, parameters, line: line('freeze') },
      ...{ asksWhy: true, tone: 'plain', ...sure },
    },
    thaw: {
      ...{ words: 'thaw', title: `Thaw ${what}`, parameters, line: line('thaw') },
      ...{ tone: 'going-on', ...sure },
    },
  };
}

function scopeOf(target: FreezeTarget): {
  readonly parameters: Readonly<Record<string, string>>;
  readonly options: string;
  readonly what: string;
} {
  switch (target.kind) {
    case 'cluster':
      return {
        parameters: { cluster: target.id },
        options: ` --cluster ${target.id}`,
        what: target.id,
      };
    case 'daemon-set':
      return {
        parameters: { daemonSet: target.name },
        options: ` --daemon-set ${target.name}`,
        what: `${target.name} everywhere`,
      };
    case 'stack':
      return { parameters: {}, options: '', what: 'the whole stack' };
  }
}
