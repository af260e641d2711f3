/**
 * Formats the files that the format check looks at: `npm run format [-- <path…>]`.
 *
 * Without paths, all of them; prettier's own ignore file says what is left alone. It changes files in place and fixes
 * nothing but layout.
 */
import { repositoryRoot, runPackageScript } from './lib/run-tool.ts';

const paths = process.argv.slice(2);
const result = await runPackageScript(
  'prettier/bin/prettier.cjs',
  ['--write', '--log-level=log', ...(paths.length > 0 ? paths : ['.'])],
  repositoryRoot,
);
const changed = result.stdout.split('\n').filter((line) => !line.endsWith('(unchanged)'));
process.stdout.write(changed.join('\n'));
process.stderr.write(result.stderr);
process.exitCode = result.exitCode;
