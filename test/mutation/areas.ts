/**
 * The areas of the source that mutation testing knows: what is changed, by which tests it is judged, how many must die.
 *
 * The tests of an area run in one process, again and again (test-bench.ts), so they start no server and no thread, and use of node:test
 * only what collected-tests.ts stands in for. Files that act while they load (the entries of programs) belong to no area.
 */

export interface MutationArea {
  readonly name: string;
  /** Globs of the files that are changed. */
  readonly sources: readonly string[];
  /** Globs of the tests that judge, quick ones first; the rest sees only what survived these. */
  readonly quickTests: readonly string[];
  readonly slowTests: readonly string[];
  /** What else the tests load. */
  readonly support: readonly string[];
  readonly tsconfig: string;
  /** Percent of the mutants that must be killed. */
  readonly thresholdPercent: number;
  /** The same if those had survived that the compiler refuses. */
  readonly strictThresholdPercent: number;
  /** Both for `--fast`, where what survives does not meet the property tests; absent: the same. */
  readonly fast?: Pick<MutationArea, 'thresholdPercent' | 'strictThresholdPercent'>;
}

const SHARED = [
  'src/**',
  'packages/**',
  'scripts/**',
  'test/support/**',
  'functions/**',
  'test/unit/**/!(*.test).ts',
  'serverless.yml',
  'package.json',
  'docs/*.md',
  'infra/**',
  'examples/**',
];

/** All of them by name; the core is what is tried unless another one is asked for. */
export const AREAS: Readonly<Record<string, MutationArea>> = {
  core: {
    name: 'core',
    sources: ['src/core/**/*.ts'],
    quickTests: ['test/unit/core/**/*.test.ts'],
    slowTests: ['test/property/core/**/*.test.ts'],
    support: SHARED,
    tsconfig: 'src/core/tsconfig.json',
    thresholdPercent: 90,
    strictThresholdPercent: 90,
    // Staged rollouts are held by worlds in test/property and test/simulation more than by tests of a module; 88.7 % of a quarter
    // are killed. A sample is allowed its sampling error on top (run-mutation.ts).
    fast: { thresholdPercent: 86, strictThresholdPercent: 80 },
  },
  base: {
    name: 'base',
    sources: ['packages/base/src/*.ts'],
    quickTests: ['packages/base/test/unit/**/*.test.ts', 'test/unit/core/**/*.test.ts'],
    slowTests: [],
    support: SHARED,
    tsconfig: 'packages/base/src/tsconfig.json',
    thresholdPercent: 90,
    strictThresholdPercent: 90,
  },
  reconcile: {
    name: 'reconcile',
    sources: ['src/app/reconcile/**/*.ts'],
    quickTests: ['test/unit/app/reconcile/**/*.test.ts'],
    slowTests: [],
    support: SHARED,
    tsconfig: 'src/app/tsconfig.json',
    thresholdPercent: 80,
    strictThresholdPercent: 65,
  },
  ingest: {
    name: 'ingest',
    sources: ['src/app/ingest/**/*.ts'],
    quickTests: ['test/unit/app/ingest/**/*.test.ts'],
    slowTests: ['test/property/app/ingest*.test.ts'],
    support: SHARED,
    tsconfig: 'src/app/tsconfig.json',
    thresholdPercent: 80,
    strictThresholdPercent: 70,
  },
  app: {
    name: 'app',
    sources: ['src/app/!(reconcile|ingest)/**/*.ts'],
    quickTests: ['test/unit/app/!(reconcile)/**/*.test.ts'],
    slowTests: [],
    support: SHARED,
    tsconfig: 'src/app/tsconfig.json',
    thresholdPercent: 60,
    strictThresholdPercent: 45,
  },
  adapters: {
    name: 'adapters',
    sources: ['src/adapters/**/*.ts'],
    quickTests: ['test/unit/adapters/**/!(metrics|clock-and-random|log).test.ts'],
    slowTests: [],
    support: SHARED,
    tsconfig: 'src/adapters/tsconfig.json',
    thresholdPercent: 70,
    strictThresholdPercent: 55,
  },
  cli: {
    name: 'cli',
    sources: ['src/cli/*/**/*.ts'],
    quickTests: ['test/unit/cli/**/!(options|add-roles).test.ts'],
    slowTests: [],
    support: SHARED,
    tsconfig: 'src/cli/tsconfig.json',
    thresholdPercent: 60,
    strictThresholdPercent: 50,
  },
  functions: {
    name: 'functions',
    sources: [
      'functions/reconcile/!(handler).ts',
      'functions/{egress-policy,events-endpoint,records}.ts',
    ],
    quickTests: ['test/unit/functions/!(deployed-*|middleware).test.ts'],
    slowTests: [],
    support: SHARED,
    tsconfig: 'functions/tsconfig.json',
    thresholdPercent: 60,
    strictThresholdPercent: 60,
  },
  watcher: {
    name: 'watcher',
    sources: ['src/watcher/*/**/!(options).ts'],
    quickTests: ['test/unit/watcher/**/*.test.ts'],
    slowTests: ['test/property/watcher/**/*.test.ts'],
    support: SHARED,
    tsconfig: 'src/watcher/tsconfig.json',
    thresholdPercent: 80,
    strictThresholdPercent: 70,
  },
};

/** The environment variable that tells Stryker's workers which area they serve. */
export const AREA_VARIABLE = 'ROLLCALL_MUTATION_AREA';

/** The area of a name. Throws for a name that nobody knows. */
export function areaNamed(name: string): MutationArea {
  const area = AREAS[name];
  if (area === undefined) {
    throw new Error(`no area is called ${name}; there are ${Object.keys(AREAS).join(', ')}`);
  }
  return area;
}
