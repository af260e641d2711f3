/**
 * A broken promise in words: seed, profile, commit, where and when, the last lines, and one command that plays it again.
 */
import { presentCommit } from '../commit.ts';
import type { PlayBroken } from './play-plan.ts';

const LAST_LINES = 30;

/** The text of a failure (M3). */
export function describeBroken(broken: PlayBroken, again = replayCommand(broken)): string {
  const { plan, rule, finding, during, atMs, trace } = broken;
  // The line in which the observer spoke is where it broke; what comes after shows less.
  const brokenAt = trace.findIndex((line) => /^[\d.]+ BROKEN /.test(line));
  const until = brokenAt < 0 ? trace.length : brokenAt + 1;
  return [
    `seed ${plan.seed} of profile ${plan.profile} at commit ${presentCommit()}`,
    `${rule} broken at ${(atMs / 1000).toFixed(3)} s of virtual time, in ${during}: ${finding}`,
    ...trace.slice(Math.max(0, until - LAST_LINES), until).map((line) => `  ${line}`),
    `again: ${again}`,
  ].join('\n');
}

function replayCommand({ plan }: Pick<PlayBroken, 'plan'>): string {
  const { seed, profile, steps } = plan;
  return `npm run sim -- --seed ${seed} --profile ${profile} --steps ${steps.length}`;
}
