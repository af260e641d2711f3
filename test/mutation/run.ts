/**
 * Mutation testing by hand, in CI (the core) and at night (every area): a small change of the source must make a test fail.
 *
 * Usage: npm run test:mutation -- [--area NAME] [--files GLOB]... [--since REV] [--sample PERCENT] [--seed N]
 *        [--fast] [--workers N] [--json] [--help]
 *
 * Exit code: 0 at least the area's share of the mutants killed and every exclusion in order, 1 not so, 2 wrong usage.
 */
import { parseArgs } from 'node:util';
import { AREAS, areaNamed } from './areas.ts';
import { isKnownRevision } from './changed-files.ts';
import type { Sample } from './mutator-list.ts';
import { runMutation, type MutationRequest } from './run-mutation.ts';

const SEEDS = 1_000_000;

const USAGE = `Usage: npm run test:mutation -- [options]

  (no option)       all of src/core
  --area NAME       another area: ${Object.keys(AREAS).join(', ')}
  --files GLOB      only these files of the area; may be given several times
  --since REV       only files of the area that changed since REV, or whose mirrored tests did;
                    auto: since this branch left the main one, or the commit before; all without history
  --sample PERCENT  only so many of the mutants, drawn by --seed N (default: by the time; printed)
  --fast            unit tests only: survivors do not meet the property tests; a lower score
  --workers N       processes (default: 2)
  --json            one JSON document instead of text
  --help            this text

Exit code: 0 enough killed, 1 too few killed or an exclusion without a reason, 2 wrong usage.
`;

function parse(): MutationRequest | 'help' {
  const { values } = parseArgs({
    options: {
      area: { type: 'string', default: 'core' },
      files: { type: 'string', multiple: true },
      since: { type: 'string' },
      sample: { type: 'string' },
      seed: { type: 'string' },
      fast: { type: 'boolean', default: false },
      workers: { type: 'string', default: '2' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const workers = Number(values.workers);
  if (!Number.isInteger(workers) || workers < 1) throw new Error('--workers must be a number');
  if (values.since !== undefined && !isKnownRevision(values.since)) {
    throw new Error(`--since: git knows no revision ${values.since}`);
  }
  return {
    area: areaNamed(values.area),
    globs: values.files ?? [],
    since: values.since,
    sample: sampleOf(values.sample, values.seed),
    workersCount: workers,
    isFast: values.fast,
    isJson: values.json,
  };
}

function sampleOf(
  percentText: string | undefined,
  seedText: string | undefined,
): Sample | undefined {
  if (percentText === undefined) return undefined;
  const percent = Number(percentText);
  if (!(percent > 0 && percent <= 100)) throw new Error('--sample must be a part of a hundred');
  const seed = seedText === undefined ? Date.now() % SEEDS : Number(seedText);
  if (!Number.isInteger(seed)) throw new Error('--seed must be a whole number');
  return { percent, seed };
}

let request: MutationRequest | 'help';
try {
  request = parse();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exit(2);
}
if (request === 'help') process.stdout.write(USAGE);
else process.exitCode = await runMutation(request);
