/** docs/modes.md: its commands of kubectl, as they stand there, on a cluster whose pods they must not restart. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { execFileSync } from 'node:child_process';
import { repositoryPath } from '../scenarios/repository.ts';
import { describeKubectl, EXAMPLE } from './on-local-cluster.ts';

const page = readFileSync(repositoryPath('docs/modes.md'), 'utf8');
const { namespace, name } = EXAMPLE;

/** The words of each command in code blocks, for the DaemonSet of the example. */
const commands = [...page.matchAll(/^ *```sh\n([^]*?)^ *```/gm)]
  .flatMap(([, block = '']) => block.split('\n').map((line) => line.trim()))
  .filter((line) => line.startsWith('kubectl '))
  .map((line) => line.replace(/-n (?:ops|NAMESPACE)/, `-n ${namespace}`))
  .map((line) => line.replace(/daemonset (?:logs|NAME)/, `daemonset ${name}`));

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", '')).slice(1);

const find = (pattern: RegExp): readonly string[] =>
  wordsOf(commands.find((line) => pattern.test(line)) ?? assert.fail(String(pattern)));

describeKubectl('on docs/modes.md', ({ kubectl }) => {
  const uids = (): Promise<string> =>
    kubectl().succeed(`get pods -n ${namespace} -o jsonpath={.items[*].metadata.uid}`);
  const strategy = (): Promise<string> =>
    kubectl().succeed(
      `get daemonset ${name} -n ${namespace} -o jsonpath={.spec.updateStrategy.type}`,
    );

  it('opts a DaemonSet in and out, and restarts no pod', async () => {
    const before = await uids();
    await kubectl().succeed(find(/OnDelete/));
    await kubectl().succeed(find(/annotate daemonset/));
    assert.equal(await strategy(), 'OnDelete');
    const line = commands.find((one) => one.includes('copilot-policy.ts')) ?? assert.fail();
    const [list = '', program = '', apply = ''] = line.split(' | ');
    const input = await kubectl().succeed(wordsOf(list));
    const [, ...parameters] = program.split(' ');
    const policy = execFileSync(process.execPath, parameters, {
      cwd: repositoryPath('.'),
      input,
      encoding: 'utf8',
    });
    assert.match(policy, new RegExp(`${namespace}/${name}`));
    await kubectl().succeed(wordsOf(apply), { input: policy });
    await kubectl().succeed(find(/"RollingUpdate"/));
    assert.equal(await strategy(), 'RollingUpdate');
    assert.equal(await uids(), before);
  });

  it('shows who wrote a DaemonSet, and takes the patch of the entries without a restart', async () => {
    const before = await uids();
    const shown = await kubectl().succeed(find(/--show-managed-fields/));
    assert.match(shown, /manager: kubectl/);
    await kubectl().succeed(find(/managedFields", "value"/));
    assert.equal(await uids(), before);
  });
});
