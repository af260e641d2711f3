/**
 * How a refusal of the application becomes a failure of the command: words, what to do next, exit
 * code.
 *
 * Each problem is a line of its own. What clusters and files said is made plain.
 */
import type { FleetRefusal } from '../../app/fleet/refusals.ts';
import type { OrderRefusal } from '../../app/orders/order-refusals.ts';
import type { RolloutRefusal } from '../../app/rollout/refusals.ts';
import { CommandError, EXIT } from '../process/exit-codes.ts';
import { plainText } from './text-table.ts';

export type Refusal = FleetRefusal | OrderRefusal | RolloutRefusal;

/** A refusal of an order that would do something else than its author thinks, or may not be done here. */
const FOR_SAFETY: ReadonlySet<Refusal['code']> = new Set<Refusal['code']>([
  'changed',
  'halted',
  'observed',
  'no-right',
  'overrules',
  'held-by-fleet',
  'not-renderable',
  'not-applicable',
]);

/** The failure for a refusal. */
export function errorOf(
  refusal: Refusal,
  exitCode: number = FOR_SAFETY.has(refusal.code) ? EXIT.refused : EXIT.failed,
): CommandError {
  const problems = 'problems' in refusal ? refusal.problems : [];
  const lines = problems.map(({ cluster, field, message }) => {
    const where = [cluster, field === '' ? undefined : field].filter((part) => part !== undefined);
    return `  ${where.length === 0 ? '' : `${where.join(' ')}: `}${message}`;
  });
  const message = [refusal.message, ...lines].map(plainText).join('\n');
  return new CommandError({ message, remedy: refusal.remedy, exitCode });
}
