/** Completion: words, options and choices of the definitions, names of the stack, and nothing where anything fails. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMANDS, HIDDEN_COMMANDS } from '../../../../src/cli/commands.ts';
import { EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { storeRollout } from '../../../support/rollout-stores.ts';
import { fleetDocument } from '../../../support/fleet-samples.ts';

const MODULES = [...COMMANDS, ...HIDDEN_COMMANDS];

const FLEET = {
  ...{ namespace: 'ops', name: 'agents', uid: 'uid-1', generation: 1, appliedAtMs: 1 },
  ...{ appliedBy: 'x', contentHash: 'c', history: [], document: fleetDocument() },
};

async function complete(words: readonly string[], world = new CommandWorld()): Promise<string[]> {
  const run = await world.run(['__complete', '--', ...words], MODULES);
  assert.equal(run.stderr, '');
  return run.expectExit(EXIT.ok).stdout.split('\n').slice(0, -1);
}

describe('completion of a command line', () => {
  it('goes on with the words of commands', async () => {
    assert.deepEqual(await complete(['rollo']), ['rollout']);
    assert.deepEqual(await complete(['cluster', 'sh']), ['show']);
    assert.deepEqual(await complete(['--stage', 'prod', 'stack', '']), ['check', 'stop', 'resume']);
    assert.ok(!(await complete([''])).includes('__complete'));
  });

  it('goes on with options of the command and of all commands, and with their choices', async () => {
    assert.deepEqual(await complete(['cluster', 'doctor', '--a']), ['--all']);
    assert.deepEqual(await complete(['rollout', 'status', '--st']), ['--stage', '--stack-outputs']);
    assert.deepEqual(await complete(['cluster', 'list', '--color', 'a']), ['auto', 'always']);
    assert.deepEqual(await complete(['cluster', 'list', '--color=ne']), ['--color=never']);
    assert.deepEqual(await complete(['cluster', 'list', '--color', '=', 'ne']), ['never']);
    assert.deepEqual(await complete(['fleet', 'apply', '-f', '']), [':files']);
    assert.deepEqual(await complete(['fleet', 'undo', '--to-generation', '']), []);
  });

  it('goes on with names of the stack that the line is about', async () => {
    const world = new CommandWorld();
    await storeRollout(world.stores('prod'), { cluster: 'eu-1' });
    await storeRollout(world.stores('prod'), { cluster: 'us-1' });
    await world.stores('prod').fleets.writeFleet(FLEET, undefined);
    const stage = ['--stage', 'prod'];
    assert.deepEqual(await complete([...stage, 'cluster', 'show', ''], world), ['eu-1', 'us-1']);
    assert.deepEqual(await complete([...stage, 'freeze', '--cluster', 'e'], world), ['eu-1']);
    assert.deepEqual(await complete([...stage, 'rollout', 'status', 'eu-1', ''], world), [
      'ops/agent',
    ]);
    assert.deepEqual(await complete([...stage, 'rollout', 'status', 'nowhere', ''], world), []);
    assert.deepEqual(await complete([...stage, 'fleet', 'status', 'ops/'], world), ['ops/agents']);
    assert.deepEqual(await complete(['cluster', 'show', ''], world), [], 'another stage');
    assert.deepEqual(
      await complete([...stage, 'cluster', 'add', ''], world),
      [],
      'it is a new name',
    );
  });

  it('names nothing, and says nothing, where the stack fails or is slow', async () => {
    const failing = new CommandWorld();
    failing.open = () => {
      throw new Error('no credentials');
    };
    assert.deepEqual(await complete(['cluster', 'show', ''], failing), []);
    const slow = new CommandWorld();
    slow.stores().registry.listClusters = () => new Promise(() => undefined);
    assert.deepEqual(await complete(['cluster', 'show', ''], slow), []);
    assert.equal(slow.clock.nowMs() - new CommandWorld().clock.nowMs(), 1000);
  });

  it('prints a script for each shell, and for no other one', async () => {
    const world = new CommandWorld();
    for (const shell of ['bash', 'zsh', 'fish', 'kubectl']) {
      const { stdout } = (await world.run(['completion', shell])).expectExit(EXIT.ok);
      assert.match(stdout, /rollcall __complete -- /);
    }
    const { stderr } = (await world.run(['completion', 'tcsh'])).expectExit(EXIT.usage);
    assert.match(stderr, /bash, zsh, fish, kubectl/);
  });
});
