/**
 * Arguments and options that the commands of `rollcall rollout` share: which DaemonSet, and whether to go on watching.
 *
 * What is no cluster, no namespace and name, or no duration is refused before anything is read, with the form that would
 * do.
 */
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import {
  parseClusterId,
  parseNamespacedName,
  parseSeconds,
} from '../command-line/cluster-arguments.ts';

/** Options of every command. */
export interface RolloutOptions {
  readonly watch?: true;
  readonly timeout?: number;
}

/** An hour: longer than a canary's soak, and no pipeline hangs for ever. */
const TIMEOUT_SECONDS = 3600;

/** Declares arguments and options. */
export function declareRollout(command: Command): void {
  command
    .argument('<cluster>', 'id of the cluster')
    .argument('<daemonset>', 'namespace/name of the DaemonSet')
    .option('--watch', 'go on until it is done, halted or paused, and say what changes')
    .option(
      '--timeout <seconds>',
      `for --watch: leave with 4 after so long (default: ${String(TIMEOUT_SECONDS)})`,
      parseSeconds,
    );
}

/** How long to watch. */
export function timeoutMsOf({ timeout }: RolloutOptions): number {
  return (timeout ?? TIMEOUT_SECONDS) * 1000;
}

/** The DaemonSet that is meant. Throws CommandError (2). */
export function parseKey([cluster = '', text = '']: readonly string[]): DaemonSetKey {
  const key = parseNamespacedName(text, 'DaemonSet');
  return { cluster: parseClusterId(cluster), ...key };
}

/** The index of a step, as status shows it. Throws what commander reports as a usage error. */
export function parseStep(text: string): number {
  const step = Number(text);
  if (Number.isSafeInteger(step) && step > 0) return step;
  throw new InvalidArgumentError('Pass the number of a step, as rollcall rollout status shows it.');
}

/** A metadata.generation. Throws what commander reports as a usage error. */
export function parseGeneration(text: string): number {
  const generation = Number(text);
  if (Number.isSafeInteger(generation) && generation > 0) return generation;
  throw new InvalidArgumentError(
    'Pass metadata.generation of the DaemonSet, a whole number from 1.',
  );
}
