/** Colours: only where a terminal shows them or they are asked for, and never by what a cluster said. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phasePiece, toned } from '../../../../src/cli/command-line/colour.ts';
import { defineCommand } from '../../../../src/cli/command-line/command-module.ts';
import { renderTextTable } from '../../../../src/cli/command-line/text-table.ts';
import { EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { CommandWorld } from '../../../support/command-world.ts';

const EVIL = '\u001b[32mrun\u0007';
const RED = /\u001b\[31m/;

const module = defineCommand({
  path: ['show'],
  summary: 'show a table',
  run: (_invocation, context) => {
    context.say(['now ', phasePiece('Halted')]);
    const rows = [
      [toned('n1', 'waiting'), 'a', toned(EVIL, 'failing')],
      ['node-2', toned('long', undefined), ''],
    ];
    return Promise.resolve({
      document: { kind: 'Shown', name: EVIL },
      lines: renderTextTable(['NODE', 'IS', 'NOTE'], rows),
    });
  },
});

interface Surroundings {
  readonly out?: boolean;
  readonly error?: boolean;
  readonly environment?: NodeJS.ProcessEnv;
}

async function shown(
  argv: readonly string[],
  { out = false, error = false, environment = {} }: Surroundings,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const world = new CommandWorld();
  world.terminals = { out, error };
  world.environment = environment;
  return (await world.run(['show', ...argv], [module])).expectExit(EXIT.ok);
}

const PLAIN = 'NODE    IS    NOTE\nn1      a      [32mrun \nnode-2  long\n';

describe('colours', () => {
  it('mark what failed and what waits on a terminal, and leave columns as they are', async () => {
    const { stdout, stderr } = await shown([], { out: true, error: true });
    assert.equal(
      stdout,
      'NODE    IS    NOTE\n\u001b[33mn1\u001b[0m      a     \u001b[31m [32mrun \u001b[0m\nnode-2  long\n',
    );
    assert.equal(stderr, 'now \u001b[31mHalted\u001b[0m\n');
  });

  it('are told apart for stdout and stderr', async () => {
    const { stdout, stderr } = await shown([], { error: true });
    assert.equal(stdout, PLAIN);
    assert.match(stderr, RED);
  });

  it('are left out with NO_COLOR, on a dumb terminal, and with --color never', async () => {
    for (const [argv, environment] of [
      [[], { NO_COLOR: '1' }],
      [[], { TERM: 'dumb' }],
      [['--color', 'never'], {}],
    ] as const) {
      const { stdout, stderr } = await shown(argv, { out: true, error: true, environment });
      assert.deepEqual([stdout, stderr], [PLAIN, 'now Halted\n']);
    }
    assert.match((await shown([], { out: true, environment: { NO_COLOR: '' } })).stdout, RED);
  });

  it('are there with --color always, whatever the environment says', async () => {
    const { stdout } = await shown(['--color', 'always'], { environment: { NO_COLOR: '1' } });
    assert.match(stdout, RED);
  });

  it('are never in a document', async () => {
    const { stdout } = await shown(['--json', '--color', 'always'], { out: true });
    assert.deepEqual(JSON.parse(stdout), {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'Shown',
      name: EVIL,
    });
    assert.doesNotMatch(stdout, /\u001b/);
  });
});
