/**
 * The differential suite by hand: seeded scenarios on two real control planes side by side, one with the
 * built-in DaemonSet loop, one with Rollcall.
 *
 * Usage: npm run test:differential -- [--seed 1] [--steps 20] [--scenarios 20] [--from 0] [--at-once 8]
 *        [--file SCENARIO.json] [--mutant NAME] [--stop-at-first] [--no-keep] [--keep-to DIRECTORY] [--shrink-seconds 120]
 *        [--json] [--log FILE] [--planes FILE] [--place-prefix s]
 *
 * What disagrees is played again twice, alone; excused.ts says what is chance then.
 *
 * Exit code: 0 all agree, 1 disagreements (with --mutant: 0 caught, 1 not caught), 2 wrong usage.
 */
import { parseArgs } from 'node:util';
import { plantDifferentialMutant } from './mutants.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '20' },
    scenarios: { type: 'string', default: '20' },
    from: { type: 'string', default: '0' },
    'at-once': { type: 'string', default: '8' },
    file: { type: 'string' },
    mutant: { type: 'string' },
    'stop-at-first': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: true },
    'shrink-seconds': { type: 'string', default: '120' },
    json: { type: 'boolean', default: false },
    log: { type: 'string' },
    planes: { type: 'string' },
    'place-prefix': { type: 'string', default: 's' },
    'keep-to': { type: 'string' },
  },
});

function numberOf(
  name: 'seed' | 'steps' | 'scenarios' | 'from' | 'at-once' | 'shrink-seconds',
): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 0) return value;
  process.stderr.write(`--${name} must be a number, not ${values[name]}\n`);
  process.exit(2);
}

const request = {
  seed: numberOf('seed'),
  stepsCount: numberOf('steps'),
  scenariosCount: numberOf('scenarios'),
  from: numberOf('from'),
  atOnceMax: numberOf('at-once'),
  shrinkMs: numberOf('shrink-seconds') * 1000,
  file: values.file,
  mutant: values.mutant,
  isStoppedAtFirst: values['stop-at-first'] || values.mutant !== undefined,
  isKeeping: values.keep && values.mutant === undefined,
  isJson: values.json,
  logPath: values.log,
  planesPath: values.planes,
  placePrefix: values['place-prefix'],
  keepDirectory: values['keep-to'],
};
const planted = values.mutant === undefined ? undefined : plantDifferentialMutant(values.mutant);
// Only now: what is imported earlier cannot be changed while it is loaded.
const { runDifferential } = await import('./run-differential.ts');
process.exitCode = await runDifferential(request, planted);
