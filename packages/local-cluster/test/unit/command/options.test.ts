/** The arguments of the command: followed, or refused by name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCommand } from '../../../src/command/options.ts';

describe('the arguments of local-cluster', () => {
  it('have defaults that work', () => {
    assert.deepEqual(parseCommand([]), {
      kind: 'run',
      options: {
        nodesCount: 3,
        port: 0,
        kubeconfigFile: 'local-cluster.kubeconfig',
        dataDirectory: undefined,
      },
    });
  });

  it('are taken as they are said', () => {
    const argv = ['--nodes', '0', '--port=6443', '--kubeconfig', 'k', '--data', 'd'];
    assert.deepEqual(parseCommand(argv), {
      kind: 'run',
      options: { nodesCount: 0, port: 6443, kubeconfigFile: 'k', dataDirectory: 'd' },
    });
    assert.equal(parseCommand(['--help']).kind, 'help');
  });

  for (const argv of [
    ['--nodes', 'many'],
    ['--nodes=1001'],
    ['--port=65536'],
    ['--node=3'],
    ['x'],
  ]) {
    it(`are refused by name: ${argv.join(' ')}`, () => {
      const parsed = parseCommand(argv);
      assert.equal(parsed.kind, 'refused');
      const [name = ''] = (argv[0] ?? '').split('=');
      assert.ok(parsed.kind === 'refused' && parsed.message.includes(name));
    });
  }
});
