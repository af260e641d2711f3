/**
 * A soak on a real control plane.
 *
 * npm run test:soak -- [--minutes 60] [--seed N] [--nodes 40] [--keep-logs] [--json]
 *
 * A few minutes of setting and settling come on top. Exit codes: 0 passed, 1 failed, 2 usage. No process is left.
 */
import { parseArgs } from 'node:util';
import { mebibytes } from './growth.ts';
import { runSoak, type SoakResult } from './soak.ts';

const EXIT = { passed: 0, failed: 1, usage: 2 } as const;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    nodes: { type: 'string', default: '40' },
    'keep-logs': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

function numberOf(name: 'minutes' | 'seed' | 'nodes'): number {
  const value = Number(values[name]);
  if (Number.isFinite(value) && value > 0) return value;
  process.stderr.write(`--${name} ${values[name]}: not a number above zero\n`);
  process.exit(EXIT.usage);
}

function summarize(result: SoakResult, minutes: number): string {
  const { seed, routines, refused, rates, memory, settledMs, looksInQuiet, failures } = result;
  const done = Object.entries(routines).map(([name, count]) => `${name} ${String(count)}`);
  const byThirds = (of: Readonly<Record<string, readonly number[]>>, unit: (n: number) => string) =>
    Object.entries(of).map(([name, thirds]) => `  ${name}: ${thirds.map(unit).join(', ')}`);
  return [
    '',
    `seed     ${String(seed)}, ${String(minutes)} minutes`,
    `day      ${done.join(', ')}; refused ${String(refused)}`,
    'a minute, by thirds of the day',
    ...byThirds(rates, (rate) => rate.toFixed(0)),
    'memory, by thirds of the day',
    ...byThirds(memory, mebibytes),
    `settled  ${(settledMs / 1000).toFixed(1)} s`,
    `quiet    ${String(looksInQuiet)} looks at DaemonSets in 30 s`,
    failures.length === 0 ? 'PASSED' : `FAILED\n  ${failures.join('\n  ')}`,
  ].join('\n');
}

const [minutes, seed, nodesCount] = [numberOf('minutes'), numberOf('seed'), numberOf('nodes')];
const result = await runSoak({
  seed,
  minutes,
  nodesCount,
  keepLogs: values['keep-logs'],
  say: (line) => {
    process.stderr.write(`${line}\n`);
  },
});
process.stdout.write(`${values.json ? JSON.stringify(result) : summarize(result, minutes)}\n`);
process.exit(result.failures.length === 0 ? EXIT.passed : EXIT.failed);
