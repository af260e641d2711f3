/** The frame of `rollcall`: one document on stdout, sentences on stderr, exit codes, Ctrl-C. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command, Option } from 'commander';
import { defineCommand, flagOption } from '../../../../src/cli/command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../../../../src/cli/command-line/command-module.ts';
import { throwIfInterrupted } from '../../../../src/cli/command-line/run-program.ts';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { EngineRefusal } from '../../../../src/engine/engine-refusal.ts';
import { RELEASE } from '../../../../functions/release.ts';
import { COMMANDS } from '../../../../src/cli/commands.ts';
import { declareGlobalOptions } from '../../../../src/cli/command-line/global-options.ts';
import { CommandWorld } from '../../../support/command-world.ts';

type Run = (context: CommandContext, options: { readonly much?: true }) => Promise<CommandResult>;

function moduleOf(run: Run, interruption?: 'orderly'): CommandModule {
  return defineCommand({
    path: ['thing', 'do'],
    summary: 'do a thing',
    args: [['[what]', 'what to do']],
    options: { much: flagOption('--much', 'do much of it') },
    ...(interruption === undefined ? {} : { interruption }),
    run: ({ options, args }, context) =>
      run(context, options).then((result) => ({
        ...result,
        document: { ...result.document, args },
      })),
  });
}

const done: CommandResult = { document: { kind: 'Done' }, lines: ['done'] };

describe('running a command line', () => {
  it('reads every option under the name that its table has', () => {
    for (const { path, options } of COMMANDS) {
      for (const [name, { flags, about }] of Object.entries(options)) {
        assert.equal(new Option(flags, about).attributeName(), name, path.join(' '));
      }
    }
  });

  it('prints lines, or with --json exactly one document', async () => {
    const world = new CommandWorld();
    const module = moduleOf((context) => {
      context.say('working …');
      return Promise.resolve(done);
    });
    const text = (await world.run(['thing', 'do'], [module])).expectExit(EXIT.ok);
    assert.equal(text.stdout, 'done\n');
    assert.equal(text.stderr, 'working …\n');
    for (const argv of [
      ['--json', 'thing', 'do', 'it'],
      ['thing', 'do', 'it', '--json'],
    ]) {
      const json = (await world.run(argv, [module])).expectExit(EXIT.ok);
      const expected = { apiVersion: 'rollcall.dev/v1alpha1', kind: 'Done', args: ['it'] };
      assert.deepEqual(json.document(), expected);
    }
  });

  it('says what, why and what next of a failure, and gives it as a document too', async () => {
    const world = new CommandWorld();
    const error = { message: 'It broke.', remedy: 'Mend it.', exitCode: EXIT.refused };
    const module = moduleOf(() => Promise.reject(new CommandError(error)));
    const text = (await world.run(['thing', 'do'], [module])).expectExit(EXIT.refused);
    assert.equal(text.stdout, '');
    assert.equal(text.stderr, 'error: It broke.\nMend it.\n');
    const json = (await world.run(['thing', 'do', '--json'], [module])).expectExit(EXIT.refused);
    const document = { apiVersion: 'rollcall.dev/v1alpha1', kind: 'CommandError', ...error };
    assert.deepEqual(json.document(), document);
  });

  it('says refusals of the local engine with its exit codes', async () => {
    const world = new CommandWorld();
    const refusal = { code: 'other-cluster', message: 'Another.', remedy: 'Look.' } as const;
    const module = moduleOf(() => Promise.reject(new EngineRefusal(refusal)));
    const run = (await world.run(['thing', 'do'], [module])).expectExit(EXIT.refused);
    assert.equal(run.stderr, 'error: Another.\nLook.\n');
  });

  it('shows the stack of a bug and asks for a report', async () => {
    const world = new CommandWorld();
    const module = moduleOf(() => Promise.reject(new TypeError('undefined is not a function')));
    const run = (await world.run(['thing', 'do', '--json'], [module])).expectExit(EXIT.failed);
    assert.match(run.stderr, /this is a bug in rollcall, please report it\nTypeError: undefined/);
    assert.equal(run.document()['kind'], 'CommandError');
  });

  it('leaves with 2 for what cannot be parsed, also with --json one document', async () => {
    const world = new CommandWorld();
    const module = moduleOf(() => Promise.resolve(done));
    const lines = [
      ['thing'],
      ['thnig', 'do'],
      ['thing', 'do', '--little'],
      ['thing', 'do', 'a', 'b'],
      ['--stage', 'a b', 'thing', 'do'],
    ];
    for (const argv of lines) {
      const run = (await world.run(argv, [module])).expectExit(EXIT.usage);
      assert.equal(run.stdout, '');
      assert.notEqual(run.stderr, '');
    }
    const run = await world.run(['thing', 'do', '--json', '--little'], [module]);
    assert.equal(run.expectExit(EXIT.usage).document()['kind'], 'CommandError');
  });

  it('helps and tells its version on stdout, with 0', async () => {
    const world = new CommandWorld();
    const module = moduleOf(() => Promise.resolve(done));
    const help = (await world.run(['thing', 'do', '--help'], [module])).expectExit(EXIT.ok);
    assert.match(help.stdout, /Usage: rollcall thing do/);
    assert.deepEqual(
      help.stdout.match(/^.*--stage.*$/gm),
      [
        'Global options: --stage, --region, --profile, --stack-outputs, --json, --color; see rollcall --help.',
      ],
      'global options are one line',
    );
    const version = (await world.run(['--version'], [module])).expectExit(EXIT.ok);
    assert.equal(version.stdout, '0.0.0-test\n');
    const told = (await world.run(['version'])).expectExit(EXIT.ok);
    assert.equal(told.stdout, `${RELEASE}\n`);
  });

  it('says that there is no such command, also when its help is asked for', async () => {
    const world = new CommandWorld();
    for (const argv of [
      ['explain', '--help'],
      ['cluster', 'lost', '--help'],
      ['--stage', 'x', 'nope', '-h'],
    ]) {
      const run = (await world.run(argv)).expectExit(EXIT.usage);
      assert.equal(run.stdout, '');
      assert.match(run.stderr, /unknown command '(explain|lost|nope)'/);
    }
    assert.match((await world.run(['cluster', 'lst', '--help'])).stderr, /Did you mean list\?/);
    for (const argv of [['--help'], ['cluster', '--help'], ['fleet', 'mirror', '-h']]) {
      (await world.run(argv)).expectExit(EXIT.ok);
    }
  });

  it('refuses an option where the value of another one belongs, in every command', async () => {
    const world = new CommandWorld();
    const line = ['cluster', 'import', '--contexts', '--same-account'];
    const run = (await world.run(line)).expectExit(EXIT.usage);
    assert.match(run.stderr, /'--contexts <glob>' argument '--same-account' is invalid/);
    for (const { path, configure } of COMMANDS) {
      const command = new Command();
      declareGlobalOptions(command);
      configure(command);
      for (const { long } of command.options.filter(({ required }) => required)) {
        const given = await world.run([...path, long ?? '', '--other']);
        assert.match(given.expectExit(EXIT.usage).stderr, /argument '--other' is invalid/, long);
      }
    }
  });

  it('describes every command and every group of them', async () => {
    const world = new CommandWorld();
    const groups = COMMANDS.flatMap(({ path }) => path.map((_, depth) => path.slice(0, depth)));
    for (const group of new Set(groups.map((words) => words.join(' ')))) {
      const argv = [...group.split(' ').filter(Boolean), '--help'];
      const { stdout } = (await world.run(argv)).expectExit(EXIT.ok);
      const listed = stdout.split('Commands:\n')[1]?.split('\n\n')[0]?.split('\n') ?? [];
      assert.deepEqual(
        listed.filter((one) => !/^ +\S+.* {2}\S|^ {10,}\S/.test(one)),
        [],
        group,
      );
    }
  });

  it('opens the stack once and closes it, whatever happens', async () => {
    const world = new CommandWorld();
    let seen = 0;
    const module = moduleOf(async (context) => {
      const [first, second] = await Promise.all([context.openStack(), context.openStack()]);
      assert.equal(first, second);
      assert.equal(first.name, 'rollcall-prod');
      seen = world.openCount;
      throw new Error('broken');
    });
    await world.run(['thing', 'do', '--stage', 'prod'], [module]);
    assert.equal(seen, 1);
    assert.equal(world.openCount, 0);
  });

  it('leaves at once on Ctrl-C where nothing is changed', async () => {
    const world = new CommandWorld();
    const module = moduleOf(() => {
      world.controller.abort();
      return new Promise(() => undefined);
    });
    const run = (await world.run(['thing', 'do'], [module])).expectExit(EXIT.interrupted);
    assert.equal(run.stderr, 'error: Interrupted.\nRepeat the command to go on.\n');
  });

  it('lets an orderly command come to its safe point', async () => {
    const world = new CommandWorld();
    const steps: string[] = [];
    const module = moduleOf(async ({ clock, signal }) => {
      world.controller.abort();
      await clock.sleep(5000);
      steps.push('finished what was begun');
      throwIfInterrupted(signal);
      steps.push('never');
      return done;
    }, 'orderly');
    (await world.run(['thing', 'do'], [module])).expectExit(EXIT.interrupted);
    assert.deepEqual(steps, ['finished what was begun']);
  });
});
