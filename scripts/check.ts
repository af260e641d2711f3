/**
 * Runs the static checks: all of them, or those that are named (`npm run check -- types lint`).
 *
 * Two run at a time, since the slow ones are single-threaded; reports come out in a fixed order, failing ones whole.
 * Static means: nothing of the product is executed. Budget: two minutes on two cores. Exit code 1 if a check fails,
 * 2 if a name is unknown.
 */
import { boundariesCheck } from './checks/boundaries.ts';
import { canariesCheck } from './checks/canaries.ts';
import type { Check, CheckResult } from './checks/check.ts';
import { proseCheck } from './checks/prose.ts';
import { tidyCheck } from './checks/tidy.ts';
import { toolChecks } from './checks/tools.ts';
import { repositoryRoot } from './lib/run-tool.ts';

const CONCURRENCY = 2;

const checks: readonly Check[] = [
  ...toolChecks,
  boundariesCheck,
  tidyCheck,
  proseCheck,
  canariesCheck,
];

interface TimedResult extends CheckResult {
  readonly name: string;
  readonly seconds: number;
}

async function runTimed(check: Check): Promise<TimedResult> {
  const startedAtMs = performance.now();
  const result = await check.run(repositoryRoot);
  return { ...result, name: check.name, seconds: (performance.now() - startedAtMs) / 1000 };
}

/** Runs all, a few at a time, and prints each as soon as those before it are printed. */
async function runAll(selected: readonly Check[]): Promise<TimedResult[]> {
  const results = new Map<Check, TimedResult>();
  const waiting = [...selected];
  let printed = 0;
  const work = async (): Promise<void> => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      results.set(check, await runTimed(check));
      for (let next = selected[printed]; next !== undefined; next = selected[printed]) {
        const result = results.get(next);
        if (result === undefined) break;
        print(result);
        printed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return [...results.values()];
}

function print(result: TimedResult): void {
  const judgement = result.passed ? 'ok  ' : 'FAIL';
  console.log(`${judgement} ${result.name} (${result.seconds.toFixed(1)} s)`);
  if (!result.passed) console.log(result.report.replace(/^(?=.)/gm, '     '));
}

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    console.error(`rollcall: there is no check called ${unknown.join(', ')}`);
    console.error(`  checks: ${checks.map((check) => check.name).join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const selected = names.length === 0 ? checks : checks.filter(({ name }) => names.includes(name));
  const results = await runAll(selected);
  if (results.some((result) => !result.passed)) process.exitCode = 1;
}

await main();
