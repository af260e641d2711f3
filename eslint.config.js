/**
 * The linter: type-aware rules for everything that Node runs, plus the project's own limits.
 *
 * Core, app and watcher get their clock, timers and randomness through ports, so the globals are banned there: a
 * simulation must be able to own time. A suppression is allowed with a reason after `--` (the tidy check demands it).
 * Formatting is prettier's alone; import direction is dependency-cruiser's.
 */
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const TIME_MESSAGE = 'Time, timers and randomness come through ports here (src/ports).';

const restrictedTimeGlobals = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'performance',
  'crypto',
].map((name) => ({ name, message: TIME_MESSAGE }));

const restrictedTimeProperties = [
  ['Date', 'now'],
  ['Math', 'random'],
  ['process', 'hrtime'],
  ['process', 'uptime'],
  ['AbortSignal', 'timeout'],
  ['globalThis', 'setTimeout'],
  ['globalThis', 'setInterval'],
  ['globalThis', 'setImmediate'],
  ['globalThis', 'performance'],
  ['globalThis', 'crypto'],
].map(([object, property]) => ({ object, property, message: TIME_MESSAGE }));

const restrictedTimeSyntax = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: TIME_MESSAGE },
  { selector: "CallExpression[callee.name='Date']", message: TIME_MESSAGE },
];

const restrictedTimeImports = {
  paths: [
    ...['timers', 'timers/promises', 'perf_hooks'].flatMap((name) => [
      { name, message: TIME_MESSAGE },
      { name: `node:${name}`, message: TIME_MESSAGE },
    ]),
    {
      name: 'node:crypto',
      importNames: [
        'default',
        'randomBytes',
        'randomInt',
        'randomUUID',
        'randomFillSync',
        'webcrypto',
      ],
      message: TIME_MESSAGE,
    },
  ],
};

/** Syntax that no layer uses. */
const restrictedSyntaxEverywhere = [
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  { selector: 'TSEnumDeclaration', message: 'A const object and a union instead of an enum.' },
  {
    selector: 'TSParameterProperty',
    message: 'Declare the field: type stripping cannot run this.',
  },
  { selector: 'LabeledStatement', message: 'No labels: extract a function.' },
];

/** In what is deployed or shipped: the SDK's own clients wait for ever. (The other one calls no network.) */
const restrictedClientSyntax = [
  {
    selector: 'NewExpression[callee.name=/^(?!InProcessClient$)[A-Z]\\w*Client$/]',
    message: 'A client without limits: createAwsClient of src/adapters/aws.',
  },
];

const languageRules = {
  eqeqeq: ['error', 'always'],
  'no-console': 'off',
  'no-empty': ['error', { allowEmptyCatch: false }],
  'no-eval': 'error',
  'no-fallthrough': 'error',
  'no-implicit-coercion': 'error',
  'no-param-reassign': 'error',
  'no-self-compare': 'error',
  'no-sequences': 'error',
  'no-unreachable-loop': 'error',
  'no-unsafe-finally': 'error',
  'no-var': 'error',
  'object-shorthand': 'error',
  'preserve-caught-error': 'error',
  'prefer-const': 'error',
  'require-atomic-updates': 'off',
  'no-restricted-syntax': ['error', ...restrictedSyntaxEverywhere],
};

const sizeRules = {
  complexity: ['error', 12],
  'max-depth': ['error', 4],
  'max-lines': ['error', { max: 500 }],
  'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 4],
};

const typeRules = {
  '@typescript-eslint/ban-ts-comment': [
    'error',
    { 'ts-expect-error': 'allow-with-description', 'ts-ignore': true, 'ts-nocheck': true },
  ],
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/explicit-module-boundary-types': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-import-type-side-effects': 'error',
  '@typescript-eslint/no-unnecessary-boolean-literal-compare': 'error',
  '@typescript-eslint/no-unused-vars': [
    'error',
    { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'all' },
  ],
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/require-await': 'off',
  '@typescript-eslint/restrict-template-expressions': [
    'error',
    { allowNumber: true, allowBoolean: true },
  ],
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true },
  ],
  '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
};

export default defineConfig(
  { ignores: ['node_modules/', 'dist/', '.cache/', '.serverless/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx}', 'scripts/**/*.mjs'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: { ...languageRules, ...sizeRules, ...typeRules },
  },
  {
    // The launcher must run before anything is installed, so it is JavaScript with types in its comments.
    files: ['scripts/**/*.mjs'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  {
    files: ['*.js', '*.mjs'],
    rules: { ...languageRules, ...sizeRules, 'no-restricted-syntax': 'off' },
  },
  {
    files: ['src/**/*.{ts,tsx}', 'functions/**/*.ts', 'packages/*/src/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...restrictedSyntaxEverywhere, ...restrictedClientSyntax],
    },
  },
  {
    // Where time, timers and randomness exist only as ports.
    files: [
      'src/core/**/*.ts',
      'src/app/**/*.ts',
      'src/watcher/**/*.ts',
      'packages/base/src/{*,ports/*}.ts',
      'packages/local-cluster/src/**/*.ts',
    ],
    rules: {
      'no-restricted-globals': ['error', ...restrictedTimeGlobals],
      'no-restricted-properties': ['error', ...restrictedTimeProperties],
      'no-restricted-imports': ['error', restrictedTimeImports],
      'no-restricted-syntax': [
        'error',
        ...restrictedSyntaxEverywhere,
        ...restrictedClientSyntax,
        ...restrictedTimeSyntax,
      ],
    },
  },
  {
    // A describe block is a chapter, not a function; node:test's describe and it return promises that the runner
    // itself awaits. The tidy check limits the functions of tests.
    files: ['test/**/*.ts', 'packages/*/test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: [
                'describe',
                'suite',
                'it',
                'test',
                'before',
                'after',
                'beforeEach',
                'afterEach',
              ],
            },
          ],
        },
      ],
    },
  },
);
