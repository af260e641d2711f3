/**
 * All canaries, or those that are named: node scripts/launch.mjs test/simulation/canaries/run.ts [NAME…]
 *
 * Each in a process of its own, two at once. Prints how many seeds each took. Exit code 1 if one was not found.
 */
import { CANARIES } from './canaries.ts';
import { searchCanary } from './search-canary.ts';

const AT_ONCE = 2;

const asked = process.argv.slice(2);
const waiting = asked.length === 0 ? Object.keys(CANARIES) : asked;
let missed = 0;

async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { found, seeds, in: where, others, tookMs } = await searchCanary(name);
    const seconds = (tookMs / 1000).toFixed(1);
    const what = found === null ? 'NOT FOUND' : `${found.rule} at seed ${found.seed}`;
    const beside = Object.keys(others).length === 0 ? '' : `, others ${JSON.stringify(others)}`;
    process.stdout.write(`${name}: ${what} (${seeds} seeds of ${where}, ${seconds} s${beside})\n`);
    if (found === null) missed += 1;
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
process.exitCode = missed === 0 ? 0 : 1;
