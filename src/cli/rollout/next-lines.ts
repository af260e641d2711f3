/**
 * What to do next about a rollout that is halted or waits for somebody, as the last lines of its status.
 *
 * The commands are those of core/status/next-steps.ts; what they do stands behind them as a comment, so that a line can be copied.
 */
import type { NextStep } from '../../core/status/next-steps.ts';
import { plainText } from '../command-line/text-table.ts';

/** As lines; none where there is nothing to do. */
export function nextLines(steps: readonly NextStep[]): readonly string[] {
  if (steps.length === 0) return [];
  const width = Math.max(...steps.map(({ command }) => command.length));
  const lines = steps.map(({ command, about }) =>
    plainText(`  ${command.padEnd(width)}  # ${about}`),
  );
  return ['next:', ...lines];
}
