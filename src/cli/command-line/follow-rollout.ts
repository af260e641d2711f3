/**
 * Tells how a rollout stands, of a cluster or of a fleet: at once, or with --watch once it ended,
 * was held, or the time is over.
 *
 * What is looked at its command says, and how it is rendered at the end; here is what both have
 * alike: exit codes, Ctrl-C, what is said of each change, and what an order came to.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { OrderGiven } from '../../app/orders/keep-order.ts';
import { watchRollout, type Watching } from '../../app/rollout/watch-rollout.ts';
import { describeNote, timeText } from '../../core/rollout/gate-words.ts';
import { outageLine, type Watched } from '../../core/status/outages.ts';
import { EXIT } from '../process/exit-codes.ts';
import { phasePiece, type Line } from './colour.ts';
import type { CommandContext } from './command-module.ts';
import { errorOf, type Refusal } from './refusal-error.ts';
import { throwIfInterrupted } from './run-program.ts';
import { plainText } from './text-table.ts';

/** An order that was given before. */
export interface FollowedOrder {
  readonly outcome: OrderGiven;
  readonly given: string;
  /** True after an undo: it is done when all are back; without one the rollout is held then. */
  readonly isUndo: boolean;
}

interface Followed<Status extends Watched> extends Pick<
  Watching<Status, Refusal>,
  'look' | 'isMeant' | 'timeoutMs'
> {
  readonly isWatched: boolean;
  readonly clock: Clock;
  readonly context: Pick<CommandContext, 'say' | 'signal'>;
  /** It stands whether anything acts or not. */
  readonly order?: FollowedOrder;
}

/** The last look, and what the command leaves with. */
interface FollowEnd<Status> {
  readonly status: Status;
  readonly exitCode: number;
  /** Of its document, and of its lines: what an order came to. */
  readonly told: { readonly order?: OrderGiven['kind'] };
  readonly lines: readonly string[];
}

/** Follows it. Throws what a refusal is. */
export async function followRollout<Status extends Watched>(
  followed: Followed<Status>,
): Promise<FollowEnd<Status>> {
  const { order, isWatched, context } = followed;
  const said = order === undefined ? [] : [plainText(orderText(order))];
  // What comes of it is told while it is watched, so the order is told before.
  if (isWatched) said.forEach((line) => context.say(line));
  const end = isWatched ? await watch(followed) : await lookOnce(followed);
  const told = defined({ order: order?.outcome.kind });
  return { ...end, told, lines: isWatched ? [] : said };
}

type End<Status> = Pick<FollowEnd<Status>, 'status' | 'exitCode'>;

async function lookOnce<Status extends Watched>({
  look,
  order,
}: Followed<Status>): Promise<End<Status>> {
  const status = await look();
  if ('kind' in status) throw errorOf(status);
  return { status, exitCode: order === undefined ? standstillExit(status) : EXIT.ok };
}

async function watch<Status extends Watched>(followed: Followed<Status>): Promise<End<Status>> {
  const { look, isMeant, timeoutMs, clock, context, order } = followed;
  const end = await watchRollout<Status, Refusal>({
    look,
    onChange: (status) => {
      context.say(renderChange(status, clock.nowMs()));
    },
    timeoutMs,
    clock,
    signal: context.signal,
    ...defined({ isMeant }),
  });
  if (end.kind === 'refused') throw errorOf(end);
  if (end.kind === 'interrupted') throwIfInterrupted(context.signal);
  const exitCode =
    end.kind === 'timed-out' ? EXIT.timedOut : exitOf(end.status, order?.isUndo === true);
  return { status: end.status, exitCode };
}

function standstillExit({ phase }: Pick<Watched, 'phase'>): number {
  return phase === 'Stopped' ? EXIT.stopped : EXIT.ok;
}

function exitOf({ phase }: Watched, isUndo: boolean): number {
  if (phase === 'Stopped') return EXIT.stopped;
  return phase === 'Done' || (phase === 'Returned' && isUndo) ? EXIT.ok : EXIT.held;
}

/** In one line, with one full stop at the end of its sentence. */
function renderChange({ phase, summary, ...status }: Watched, nowMs: number): Line {
  const outages = status.outages.map((outage) => ` ${outageLine(outage)}.`).join('');
  const notes = status.notes.map((note) => ` ${note}`).join('');
  const sentence = summary.endsWith('.') ? summary : `${summary}.`;
  const rest = plainText(`: ${sentence}${outages}${notes}`);
  return [`${timeText(nowMs).slice(11)} `, phasePiece(phase), rest];
}

function orderText({ outcome, given }: FollowedOrder): string {
  if (outcome.kind === 'given') return given;
  const { since } = outcome;
  return since === undefined
    ? 'It stood so already.'
    : `It stood so already: ordered ${describeNote(since)}.`;
}
