/**
 * What is said of a move, and with which exit code: where the cluster is now, and how to go on or back.
 *
 * Words only. Every end but arrival is an error that says in which stack the cluster is frozen.
 */
import type { MoveRefusal, MoveResult } from '../../../app/clusters/move-types.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { CommandResult } from '../../command-line/command-module.ts';
import { CommandError, EXIT, failure, refusal } from '../../process/exit-codes.ts';

/** A move that ended, somehow. */
export interface EndedMove {
  readonly id: string;
  readonly result: MoveResult;
  /** `<stage>.<region>` */
  readonly from: string;
  readonly to: string;
}

/** The result of one that succeeded. Throws CommandError for every other. */
export function presentMove({ id, result, from, to }: EndedMove): CommandResult {
  switch (result.kind) {
    case 'moved':
      return arrived(result.registration, to, from);
    case 'called-back':
      return arrived(result.registration, from, to);
    case 'already-there':
      return {
        document: { kind: 'ClusterMove', cluster: id, stack: to, isMoved: false },
        lines: [`${id} is in ${to} already.`],
      };
    case 'refused':
      throw refusalOf(result.reason, { id, from, to });
    case 'lost':
      throw failure(
        `The registration of ${id} was changed by somebody else meanwhile (step ${result.step}).`,
        'Repeat the command: it begins its wait anew and goes on.',
      );
    case 'still-acting':
      throw failure(
        `Something still acts on ${id} although it is frozen in ${from}.`,
        'Nothing was turned over. Look for functions of an older release, then repeat.',
      );
    case 'timed-out':
    case 'interrupted':
      throw unfinished(id, result);
  }
}

function unfinished(
  id: string,
  result: Extract<MoveResult, { readonly kind: 'timed-out' | 'interrupted' }>,
): CommandError {
  const isTimedOut = result.kind === 'timed-out';
  const missing =
    isTimedOut && result.waitsFor === 'token'
      ? 'no token of the renewer came'
      : 'the view is not complete yet';
  return new CommandError({
    message: isTimedOut
      ? `${id} has not arrived: ${missing}. It is frozen in both stacks; its pods run on.`
      : `Interrupted: ${id} is frozen in both stacks; its pods run on.`,
    remedy:
      'To go on, repeat the command; to go back, repeat it with --back. ' +
      'If nothing comes: may the watcher’s role send to that queue, and is it the registered one (--role-id)? Its log says.',
    exitCode: isTimedOut ? EXIT.timedOut : EXIT.interrupted,
  });
}

function arrived(
  { id, isFrozen }: Pick<ClusterRegistration, 'id' | 'isFrozen'>,
  where: string,
  left: string,
): CommandResult {
  const freeze = isFrozen
    ? 'It is frozen, as it was before.'
    : 'Its freeze is lifted; every DaemonSet is looked at now.';
  const [stage = '', region = ''] = where.split('.', 2);
  const notes = [
    freeze,
    `See whether every link is in order there: rollcall cluster doctor ${id} --stage ${stage} --region ${region}`,
    `What ${left} had for it can go: the roles of its watcher there, and the access entries of that stack’s functions.`,
  ];
  return {
    document: { kind: 'ClusterMove', cluster: id, stack: where, isMoved: true, isFrozen, notes },
    lines: [`${id} is in ${where} now; no pod was touched.`, ...notes],
  };
}

function refusalOf(reason: MoveRefusal, { id, from, to }: Omit<EndedMove, 'result'>): CommandError {
  switch (reason) {
    case 'unknown-cluster':
      return failure(
        `${id} is registered neither in ${from} nor in ${to}.`,
        'List what there is: rollcall cluster list',
      );
    case 'registered-in-both':
      return refusal(
        `${id} is registered in ${to} as well, and not by this move. Nothing was changed.`,
        `Look which one is right, and remove the other: rollcall cluster show ${id}`,
      );
    case 'uid-taken':
      return refusal(
        `${to} has this very cluster under another id. ${id} is frozen in ${from}.`,
        'Remove that registration and repeat, or lift the freeze again with --back.',
      );
    case 'another-move':
      return refusal(
        `${id} is being moved to another stack already.`,
        'Finish that move, or call it back (--back), first. `rollcall cluster show` names it.',
      );
    case 'arrived-already':
      return refusal(
        `${id} has arrived in ${to}: there is nothing to call back.`,
        'Move it in the other direction instead.',
      );
    case 'not-moving':
      return refusal(
        `No move of ${id} from ${from} to ${to} was begun.`,
        'Nothing is to be called back.',
      );
  }
}
