/**
 * MiniStack, an emulator of AWS that needs no Docker: installed on demand from its registry package.
 *
 * It comes by pip into a virtual environment, with everything under it pinned in requirements.txt. Python has to be
 * there, with its venv module.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled, runDownloader, runInstaller } from '../install-cache.ts';

const requirementsFile = path.join(
  path.dirname(fileURLToPath(import.meta.url)),
  'requirements.txt',
);

/** The python of the virtual environment that has MiniStack, installed if it was not. */
export async function ensureMiniStack(): Promise<string> {
  const directory = await ensureInstalled({
    name: 'aws-python',
    recipes: [requirementsFile],
    install: async (target) => {
      await runInstaller('python3', ['-m', 'venv', target]);
      const python = path.join(target, 'bin', 'python');
      await runDownloader(python, [
        '-m',
        'pip',
        'install',
        '-q',
        '--no-deps',
        '-r',
        requirementsFile,
      ]);
    },
  });
  // A virtual environment may be renamed as long as its own scripts, which name its first place, are not used.
  return path.join(directory, 'bin', 'python');
}
