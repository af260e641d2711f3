/**
 * The way into a running `npm start` from a second terminal: one file of shell variables, for kubectl and `rollcall`.
 *
 * `rollcall` knows a deployment by its outputs, here too: the queues and tables of the local AWS, which listens on
 * 127.0.0.1 with free ports and dummy credentials. The files lie in the data directory, or in a temporary one; they hold
 * no secret but the kubeconfig, whose owner alone may read it, and are stale once the process has ended.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { STAGE } from '../../engine/engine-stores.ts';
import { STACK_OUTPUT_NAMES } from '../reach/stack.ts';

/** What a stack here has no such thing for. */
const NOT_LOCAL = 'none-in-a-local-stack';

/** What the files are made of. */
export interface SecondTerminal {
  readonly directory: string;
  readonly aws: Pick<LocalAws, 'environment' | 'queueUrls' | 'tableNames'>;
  /** Absent: kubectl goes by the user's own. */
  readonly kubeconfigPath?: string;
}

/** Writes the files; the path of the one to be read with `.`. */
export async function writeSecondTerminal(parts: SecondTerminal): Promise<string> {
  const outputsPath = path.resolve(parts.directory, 'stack-outputs.json');
  const environmentPath = path.resolve(parts.directory, 'rollcall.env');
  await writeFile(outputsPath, `${JSON.stringify(outputsOf(parts.aws), null, 2)}\n`);
  await writeFile(environmentPath, environmentText(parts, outputsPath));
  return environmentPath;
}

/** Outputs as CloudFormation would tell them. */
export function outputsOf({
  queueUrls,
  tableNames,
}: Pick<LocalAws, 'queueUrls' | 'tableNames'>): Readonly<Record<string, string>> {
  const entries = STACK_OUTPUT_NAMES.map((name) => {
    const queue = name.endsWith('Url') ? queueUrls[name.slice(0, -'Url'.length)] : undefined;
    const table = name.endsWith('Name') ? tableNames[name.slice(0, -'Name'.length)] : undefined;
    return [name, queue ?? table ?? NOT_LOCAL] as const;
  });
  return Object.fromEntries(entries);
}

function environmentText({ aws, kubeconfigPath }: SecondTerminal, outputsPath: string): string {
  const ofAws = Object.entries(aws.environment).filter(([name]) => name.startsWith('AWS_'));
  const variables = [
    ...(kubeconfigPath === undefined ? [] : [['KUBECONFIG', kubeconfigPath] as const]),
    ['ROLLCALL_STAGE', STAGE] as const,
    ['ROLLCALL_STACK_OUTPUTS', outputsPath] as const,
    ...ofAws,
  ];
  return [
    '# For a second terminal, while npm start runs: kubectl and rollcall reach what it started.',
    // Either would win over the dummy key below.
    'unset AWS_PROFILE AWS_SESSION_TOKEN',
    ...variables.map(([name, value]) => `export ${name}=${quoted(value)}`),
    '',
  ].join('\n');
}

/** For a shell: whatever a path holds. */
function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
