/**
 * Canaries for layout, types and dead code.
 *
 * The types show that the core has neither Node nor a browser under it, that indexing may miss, that syntax which
 * needs a build step is refused, and that a layer cannot import one that it does not reference.
 */
import type { Canary } from './check.ts';

/** Violations for the checks format, types and dead-code. */
export const projectCanaries: readonly Canary[] = [
  {
    check: 'format',
    files: { 'src/core/ugly.ts': 'export const  ugly = "quotes"\n' },
    expected: [/ugly\.ts/],
  },
  {
    check: 'types',
    files: {
      'src/core/uses-node.ts': 'export const directory = process.cwd();\n',
      'src/core/uses-timer.ts': 'setTimeout(() => undefined, 1);\nexport {};\n',
      'src/core/uses-fetch.ts': "export const answer = fetch('x');\n",
      'src/app/index-may-miss.ts': 'export const first: string = ([] as string[])[0];\n',
      'src/app/exact-optional.ts':
        'export const options: { name?: string } = { name: undefined };\n',
      'src/app/needs-build.ts': 'export class Box {\n  constructor(readonly size: number) {}\n}\n',
      'src/adapters/system/real.ts': 'export const real = 1;\n',
      'src/app/wrong-layer.ts': "export { real } from '../adapters/system/real.ts';\n",
    },
    expected: [
      /uses-node\.ts.*TS2591/,
      /uses-timer\.ts.*TS2304/,
      /uses-fetch\.ts.*TS2304/,
      /index-may-miss\.ts.*TS2322/,
      /exact-optional\.ts.*TS2375/,
      /needs-build\.ts.*TS1294/,
      /wrong-layer\.ts.*TS(6059|6307)/,
    ],
  },
  {
    check: 'dead-code',
    files: {
      'src/core/unused-file.ts': 'export const forgotten = 1;\n',
      'src/core/half-used.ts': 'export const used = 1;\nexport const unusedExport = 2;\n',
      'functions/uses/handler.ts':
        "import { used } from '../../src/core/half-used.ts';\nimport 'an-undeclared-package';\n" +
        'export const handler = used;\n',
    },
    expected: [/unused-file\.ts/, /unusedExport/, /an-undeclared-package/],
    // The small project rightly uses few of the declared packages, and says so in its report.
  },
];
