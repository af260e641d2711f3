/**
 * Runs the comparison by hand and prints the classes of differences, most frequent first.
 *
 * Usage: node scripts/launch.mjs test/conformance/emulator/run.ts [--seed 1] [--episodes 20] [--steps 60] [--right local|real]
 *        [--from 0] [--examples 2]; with more than two examples the bodies are printed too
 */
import { parseArgs } from 'node:util';
import { classOf } from './compare.ts';
import type { Difference } from './compare.ts';
import { generateEpisode } from './generate/generate-episode.ts';
import { openLocalServer } from './open-local-server.ts';
import { openRealServer } from './open-servers.ts';
import { runEpisode } from './run-episode.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    episodes: { type: 'string', default: '20' },
    from: { type: 'string', default: '0' },
    steps: { type: 'string', default: '60' },
    right: { type: 'string', default: 'local' },
    examples: { type: 'string', default: '2' },
  },
});
const startedAtMs = performance.now();
const left = await openRealServer('left');
const right = values.right === 'real' ? await openRealServer('right') : await openLocalServer();
const classes = new Map<string, { count: number; readonly examples: string[] }>();
let stepsPlayed = 0;
try {
  const openedAtMs = performance.now();
  const from = Number(values.from);
  for (let index = from; index < from + Number(values.episodes); index += 1) {
    const steps = generateEpisode({
      seed: Number(values.seed),
      index,
      prefix: `e${index}`,
      stepsCount: Number(values.steps),
    });
    const result = await runEpisode({ left: left.server, right: right.server }, steps);
    stepsPlayed += result.stepsPlayed;
    for (const difference of result.differences) note(index, difference);
  }
  const lines = [...classes.entries()].sort(([, one], [, other]) => other.count - one.count);
  for (const [name, { count, examples }] of lines) {
    process.stdout.write(`${String(count).padStart(5)}  ${name}\n${examples.join('')}`);
  }
  const secondsSince = (startMs: number): string =>
    ((performance.now() - startMs) / 1000).toFixed(1);
  process.stdout.write(
    `${stepsPlayed} steps, ${classes.size} classes, ${secondsSince(openedAtMs)} s (${secondsSince(startedAtMs)} s with start)\n`,
  );
} finally {
  await left.stop();
  await right.stop();
}

function note(index: number, difference: Difference): void {
  const name = classOf(difference);
  const entry = classes.get(name) ?? { count: 0, examples: [] };
  classes.set(name, entry);
  entry.count += 1;
  if (entry.examples.length >= Number(values.examples)) return;
  const { step, example } = difference;
  const body = step.body === undefined ? '' : JSON.stringify(step.body).slice(0, 700);
  const cut = (value: unknown): string => JSON.stringify(value).slice(0, 300);
  entry.examples.push(
    `         e${index}#${step.id} ${step.method} ${step.path} ${step.note.slice(0, 200)}\n` +
      `           at ${example.path}: real ${cut(example.left)} local ${cut(example.right)}\n` +
      (Number(values.examples) <= 2 ? '' : `           ${body}\n`),
  );
}
