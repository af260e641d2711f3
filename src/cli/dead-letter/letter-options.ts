/**
 * Options that the commands about dead letters share: which records, from when on.
 *
 * What an unverified sender claims about a cluster is never counted as that cluster's (S6).
 */
import { defined } from '@rollcall/base/defined.ts';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { LetterFilter } from '../../app/redrive/find-letters.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import { parseClusterId } from '../command-line/cluster-arguments.ts';
import { usageError } from '../process/exit-codes.ts';

/** Which records, as commander gives it. */
export interface LetterOptions {
  readonly cluster?: ClusterId;
  readonly unverified?: true;
  /** Duration before now, milliseconds. */
  readonly since?: number;
  readonly queue?: string;
  readonly code?: string;
}

/** Declares them. */
export function declareLetterOptions(command: Command): void {
  command
    .option('--cluster <id>', 'only records of this cluster', parseClusterId)
    .option('--since <duration>', 'only records of the last 30m, 6h, 7d …', parseDuration)
    .option('--queue <name>', 'only records of events, reconcile, delay, credentials or ingest')
    .option('--code <code>', 'only records with this code, e.g. lost-hint');
}

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads `90s`, `30m`, `6h`, `7d` as milliseconds. Throws what commander reports as a usage error. */
export function parseDuration(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = UNITS_MS[unit];
  if (unitMs === undefined) throw new InvalidArgumentError('Pass e.g. 30m, 6h or 7d.');
  return Number(digits) * unitMs;
}

/** The filter that the options mean. Throws CommandError when two exclude each other. */
export function filterOf(options: LetterOptions, nowMs: number): LetterFilter {
  const { cluster, unverified, since, queue, code } = options;
  if (cluster !== undefined && unverified === true) {
    throw usageError(
      '--cluster and --unverified exclude each other.',
      'What an unverified sender claims about a cluster is kept by sender: pass --unverified.',
    );
  }
  return {
    of: cluster === undefined ? (unverified === true ? 'unverified' : 'all') : { cluster },
    ...(since === undefined ? {} : { sinceMs: Math.max(0, nowMs - since) }),
    ...defined({ queue, code }),
  };
}
