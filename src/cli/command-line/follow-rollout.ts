/**
 * Tells how a rollout stands, of a cluster or of a fleet: at once, or with --watch once it ended, was held, or the time is over.
 *
 * What is looked at, and how it is rendered, its command says; here is what both have alike: exit codes, Ctrl-C, and what an
 * order came to.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { watchRollout } from '../../app/rollout/watch-rollout.ts';
import type { Watched } from '../../core/status/outages.ts';
import type { Watching } from '../../app/rollout/watch-rollout.ts';
import type { OrderNote } from '../../core/model/rollout-record.ts';
import { describeNote } from '../../core/rollout/gate-words.ts';
import { EXIT } from '../process/exit-codes.ts';
import type { CommandContext } from './command-module.ts';
import { throwIfInterrupted } from './run-program.ts';
import { plainText } from './text-table.ts';

/** What is followed. */
export interface Followed<
  Status extends Watched,
  Refusal extends { readonly kind: 'refused' },
> extends Pick<Watching<Status, Refusal>, 'look' | 'isMeant' | 'timeoutMs'> {
  readonly isWatched: boolean;
  readonly clock: Clock;
  readonly context: Pick<CommandContext, 'say' | 'signal'>;
  /** What somebody is told at a change. */
  readonly renderChange: (status: Status, nowMs: number) => string;
  readonly errorOf: (refusal: Refusal) => Error;
  /** True after an order, which stands whether anything acts or not. */
  readonly isOrder?: boolean;
  /** True after an undo: it is done when all are back; for anybody else the rollout is held then. */
  readonly isUndo?: boolean;
}

/** Follows it; the last look, and what the command leaves with. Throws what a refusal is. */
export async function followRollout<
  Status extends Watched,
  Refusal extends { readonly kind: 'refused' },
>(
  followed: Followed<Status, Refusal>,
): Promise<{ readonly status: Status; readonly exitCode: number }> {
  const { look, isMeant, isWatched, isOrder = false, timeoutMs } = followed;
  const { clock, context, renderChange, errorOf } = followed;
  if (!isWatched) {
    const status = await look();
    if ('kind' in status) throw errorOf(status);
    return { status, exitCode: isOrder ? EXIT.ok : standstillExit(status) };
  }
  const end = await watchRollout<Status, Refusal>({
    look,
    onChange: (status) => {
      context.say(plainText(renderChange(status, clock.nowMs())));
    },
    timeoutMs,
    clock,
    signal: context.signal,
    ...defined({ isMeant }),
  });
  if (end.kind === 'refused') throw errorOf(end);
  if (end.kind === 'interrupted') throwIfInterrupted(context.signal);
  const exitCode = end.kind === 'timed-out' ? EXIT.timedOut : exitOf(end.status, followed);
  return { status: end.status, exitCode };
}

/** What a look by itself leaves with. */
function standstillExit({ phase }: Pick<Watched, 'phase'>): number {
  return phase === 'Stopped' ? EXIT.stopped : EXIT.ok;
}

function exitOf({ phase }: Watched, { isUndo = false }: { readonly isUndo?: boolean }): number {
  if (phase === 'Stopped') return EXIT.stopped;
  return phase === 'Done' || (phase === 'Returned' && isUndo) ? EXIT.ok : EXIT.held;
}

/** With one full stop at its end. */
export function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

/** What an order came to; `given`: what is said of one that was given. */
export function orderText(
  outcome: { readonly kind: 'given' } | { readonly kind: 'unchanged'; readonly since?: OrderNote },
  given: string,
): string {
  if (outcome.kind === 'given') return given;
  const { since } = outcome;
  return since === undefined
    ? 'It stood so already.'
    : `It stood so already: ordered ${describeNote(since)}.`;
}
