/**
 * The way into a running `npm start` or `deploy:local` from a second terminal: one file of shell variables, for kubectl and
 * `rollcall`, which it puts on the PATH, also as a plugin of kubectl.
 *
 * `rollcall` knows a deployment by its outputs: of `npm start` the queues and tables of the local AWS, which listens on
 * 127.0.0.1 with free ports, and answers requests signed with the secret of this process: its holder has all that is in the
 * registry. So the file of variables, like the kubeconfig, is its owner's alone; it lies in the data directory, or in a
 * temporary one, and is stale once the process has ended.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { writeOwnerFile } from '@rollcall/local-aws/deployment/owner-file.ts';
import type { LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { RELEASE } from '../../../functions/release.ts';
import { shellWord } from '../../core/status/shell-word.ts';
import { STAGE } from '../../engine/engine-stores.ts';
import { packageFile } from '../../engine/package-files.ts';
import { NOT_LOCAL, STACK_OUTPUT_NAMES } from '../reach/stack.ts';

/** A running `npm start`, as a second terminal sees it. */
export interface SecondTerminal {
  readonly directory: string;
  readonly aws: Pick<LocalAws, 'environment' | 'queueUrls' | 'tableNames'>;
  /** As the Leases of its clusters name it. */
  readonly installation?: string;
  /** Absent: kubectl goes by the user's own. */
  readonly kubeconfigPath?: string;
}

export function outputsFileIn(directory: string): string {
  return path.resolve(directory, 'stack-outputs.json');
}

/** Writes the files of a running `npm start`; the path of the one to be read with `.`. */
export async function writeSecondTerminal(parts: SecondTerminal): Promise<string> {
  const { directory, aws, kubeconfigPath, installation } = parts;
  const outputsPath = outputsFileIn(directory);
  await writeFile(outputsPath, `${JSON.stringify(outputsOf(aws), null, 2)}\n`);
  return writeEnvironment(directory, {
    ...(kubeconfigPath === undefined ? {} : { KUBECONFIG: kubeconfigPath }),
    ...(installation === undefined ? {} : { ROLLCALL_INSTALLATION: installation }),
    ROLLCALL_STAGE: STAGE,
    ROLLCALL_STACK_OUTPUTS: outputsPath,
    ...Object.fromEntries(
      Object.entries(aws.environment).filter(([name]) => name.startsWith('AWS_')),
    ),
  });
}

/** Writes the file of variables, with which the commands are found; its path, to be read with `.`. */
export async function writeEnvironment(
  directory: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const environmentPath = path.resolve(directory, 'rollcall.env');
  const lines = [
    '# For a second terminal, while this runs: kubectl and rollcall reach what it started. It holds a secret.',
    // Either would win over the key below.
    'unset AWS_PROFILE AWS_SESSION_TOKEN',
    `export PATH=${shellWord(await linkCommands(directory))}:"$PATH"`,
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}`),
    '',
  ];
  writeOwnerFile(environmentPath, lines.join('\n'));
  return environmentPath;
}

/** A clone's own launcher, or the command of the installed package. */
const COMMAND_FILES = ['scripts/rollcall.mjs', 'dist/cli/rollcall.mjs'];

async function linkCommands(directory: string): Promise<string> {
  const commands = path.resolve(directory, 'bin');
  const target = COMMAND_FILES.map(packageFile).find((file) => existsSync(file));
  await mkdir(commands, { recursive: true });
  for (const name of ['rollcall', 'kubectl-rollcall']) {
    const link = path.join(commands, name);
    await rm(link, { force: true });
    if (target !== undefined) await symlink(target, link);
  }
  return commands;
}

/** Outputs as CloudFormation would tell them. */
export function outputsOf({
  queueUrls,
  tableNames,
}: Pick<LocalAws, 'queueUrls' | 'tableNames'>): Readonly<Record<string, string>> {
  const entries = STACK_OUTPUT_NAMES.map((name) => {
    if (name === 'Release') return [name, RELEASE] as const;
    const queue = name.endsWith('Url') ? queueUrls[name.slice(0, -'Url'.length)] : undefined;
    const table = name.endsWith('Name') ? tableNames[name.slice(0, -'Name'.length)] : undefined;
    return [name, queue ?? table ?? NOT_LOCAL] as const;
  });
  return Object.fromEntries(entries);
}
