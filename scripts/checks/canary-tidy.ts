/**
 * Canaries for the project's own rules in scripts/tidy: one planted file for each.
 *
 * Texts that the rules forbid are put together here from pieces where that is easy; this module is otherwise exempt
 * from the rules on text (scripts/tidy/text.ts).
 */
import type { Canary } from './check.ts';

const header = '/**\n * One line.\n * Two lines.\n * Three lines.\n */\n';
const longFunction = `function long(): void {\n${'  work();\n'.repeat(75)}}\n`;
const longTest = `it('is long', () => {\n${'  work();\n'.repeat(125)}});\n`;
const longBlock = `(() => {\n${'  work();\n'.repeat(75)}});\n`;

const crowd = Object.fromEntries(
  Array.from({ length: 16 }, (_, index) => [`src/app/crowd/file-${index}.ts`, header]),
);

const files: Readonly<Record<string, string>> = {
  'src/core/long-function.ts': header + longFunction,
  'test/unit/long-test.test.ts': header + longTest,
  'test/unit/long-helper.test.ts': header + longFunction,
  'test/unit/long-callback.test.ts': `${header}described${longBlock}`,
  // A chapter, which must be let through.
  'test/unit/clean-chapter.test.ts': `${header}describeThings${longBlock}`,
  'functions/many-lines.md': '\n'.repeat(10_000),
  'src/core/long-file.ts': header + '\n'.repeat(410),
  'test/unit/clean-file.test.ts': header + '\n'.repeat(310),
  'src/app/one/asks.ts': `${header}import '../two/answers.ts';\n`,
  'src/app/two/answers.ts': header,
  'src/app/two/asks-back.ts': `${header}import type { Asks } from '../one/asks.ts';\n`,
  'packages/local-cluster/src/room/asks.ts': `${header}import './inner/answers.ts';\n`,
  'packages/local-cluster/src/room/inner/answers.ts': `${header}import type { Asks } from '../asks.ts';\n`,
  ...crowd,
  'src/core/no-header.ts': 'export {};\n',
  'src/core/long-header.ts': `/**\n${' * A line.\n'.repeat(17)} */\n`,
  'src/core/no-docstring.ts': `${header}import './clean.ts';\n\nexport function bare(): void {}\n`,
  'src/core/header-is-no-docstring.ts': `${header}export const bare = 1;\n`,
  'src/core/clean-plain-export.ts': `${header}import './clean.ts';\n\nexport function plain(): void {}\n`,
  'src/core/room/asks-for-bare.ts': `${header}import { bare } from '../no-docstring.ts';\nexport { bare as other } from '../header-is-no-docstring.ts';\n`,
  'test/unit/only.test.ts': `${header}it.only('alone', () => undefined);\n`,
  'src/core/suppression.ts': `${header}// eslint-disable-next-line no-eval\n// @ts-expect-error\n`,
  'src/core/bidi.ts': `${header}// \u202e reversed\n`,
  'docs/path.md': 'See /home/someone/notes.\n',
  'docs/registry.md': 'From registry.npmjs.org.\n',
  'docs/bare.md': '    kubectl get ds | node scripts/install/policy.ts | kubectl apply -f -\n',
  'docs/clean-bare.md': '    node scripts/launch.mjs scripts/install/policy.ts\n',
  'docs/adr/README.md': '# Decisions\n',
  'docs/adr/0001-lost.md': '# Lost\n\n## Context\n',
  'docs/adr/0001-twice.md': '# Twice\n',
  'src/core/wrong-place.ts': `${header}/**\n * It is simple. Differs from\n * Kubernetes: it does less.\n */\n`,
  'packages/local-cluster/src/clean-differs.ts': `${header}// Differs from Kubernetes: it is named.\n`,
  'packages/local-cluster/src/wrong-tag.ts': `${header}// Differs from upstream: but which?\n`,
  'docs/spec/README.md': '| `protocol 4` | [protocol.md](../protocol.md) | rules |\n',
  'docs/protocol.md': '### 1. The only rule\n',
  'src/core/cites.ts': `${header}// A rule (protocol 1, protocol\n// 2), and one more (protocol 1, 3).\n`,
  'src/core/clean-cites.ts': `${header}// A rule (protocol 1, #54).\n`,
  'src/core/cites-unknown.ts': `${header}// As spec other-worlds 3 says; see ../shared/design.md and docs/lost.md.\n`,
  'package.json':
    '{"scripts":{"bare":"tsc"},"dependencies":{"ranged":"^1.0.0"},"allowScripts":{"node":true}}\n',
  'package-lock.json':
    '{"packages":{"node_modules/unknown":{"hasInstallScript":true,\n"resolved": "x"}}}\n',
};

/** Violations for the check tidy. */
export const tidyCanaries: readonly Canary[] = [
  {
    check: 'tidy',
    files,
    expected: [
      /long-function\.ts:\d+ function-length/,
      /long-test\.test\.ts:\d+ function-length/,
      /long-helper\.test\.ts:\d+ function-length/,
      /long-callback\.test\.ts:\d+ function-length/,
      /functions:1 line-budget: has 100\d\d lines/,
      /long-file\.ts:\d+ file-length/,
      /src\/app\/one:1 folder: needs src\/app\/two, which needs it: .*asks\.ts/,
      /local-cluster\/src\/room:1 folder: needs packages\/local-cluster\/src\/room\/inner, which needs it/,
      /src\/app\/crowd:1 folder: has 16 modules; at most 15/,
      /no-header\.ts:\d+ module-header/,
      /long-header\.ts:\d+ module-header/,
      /no-docstring\.ts:\d+ docstring: the export bare/,
      /header-is-no-docstring\.ts:\d+ docstring: the export bare/,
      /only\.test\.ts:\d+ only/,
      /bare\.md:1 bare-typescript/,
      /suppression\.ts:6 suppression-reason/,
      /suppression\.ts:7 suppression-reason/,
      /bidi\.ts:\d+ invisible-character/,
      /docs\/path\.md:1 machine-path/,
      /docs\/registry\.md:1 registry-host/,
      /0001-lost\.md:1 adr: not linked/,
      /0001-lost\.md:1 adr: has no section "decision"/,
      /0001-twice\.md:1 adr: has the number/,
      /wrong-place\.ts:7 parity: a difference with the tag of another part/,
      /wrong-tag\.ts:\d+ parity: a difference with the tag of another part/,
      /core\/cites\.ts:6 citation: docs\/protocol\.md has no 2/,
      /core\/cites\.ts:7 citation: docs\/protocol\.md has no 3/,
      /cites-unknown\.ts:6 citation: there is no specification other-worlds/,
      /cites-unknown\.ts:6 citation: a document outside of the repository/,
      /cites-unknown\.ts:6 citation: docs\/lost\.md does not exist/,
      /package\.json:1 manifest: ranged has the range/,
      /package\.json:1 manifest: the script bare/,
      /package\.json:1 manifest: unknown has an install script/,
      /package-lock\.json:2 lockfile-address/,
    ],
  },
];
