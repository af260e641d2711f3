/** The arguments of the command: followed, or refused by name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCommand } from '../../../src/command/options.ts';

describe('the arguments of local-aws', () => {
  it('have defaults that work, and are taken as they are said', () => {
    const options = { port: 0, region: 'us-east-1', dataDirectory: undefined };
    assert.deepEqual(parseCommand([]), { kind: 'run', options });
    assert.deepEqual(parseCommand(['--port=4566', '--region=eu-west-1', '--data=d']), {
      kind: 'run',
      options: { port: 4566, region: 'eu-west-1', dataDirectory: 'd' },
    });
    assert.equal(parseCommand(['--help']).kind, 'help');
  });

  for (const argv of [['--port=65536'], ['--port=x'], ['--region=here'], ['--regions=a'], ['x']]) {
    it(`are refused by name: ${argv.join(' ')}`, () => {
      const parsed = parseCommand(argv);
      assert.equal(parsed.kind, 'refused');
      const [name = ''] = (argv[0] ?? '').split('=');
      assert.ok(parsed.kind === 'refused' && parsed.message.includes(name));
    });
  }
});
