/** docs/reference/cli.md: every command, from the definitions that `rollcall` runs. */
import { Command, type Option } from 'commander';
import type { CommandModule } from '../../src/cli/command-line/command-module.ts';
import { policyOf } from '../../src/cli/command-line/explain-error.ts';
import { declareGlobalOptions } from '../../src/cli/command-line/global-options.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT_MEANINGS, exitsOf } from '../../src/cli/process/exit-codes.ts';
import { bullets, fence, page, sentence, term, wrapped } from './markdown.ts';

const INTRODUCTION = [
  wrapped(
    '`npm install --global .` in a clone puts `rollcall` and `kubectl rollcall` on your PATH. `npm run rollcall --` runs the same without it. Beside `npm start`, source the file whose path it prints.',
  ),
  wrapped(
    'A command that reaches into a cluster uses your own kubeconfig. It compares the UID of kube-system with the registered one first, and refuses another cluster.',
  ),
  wrapped(
    'Credentials, region and endpoints of AWS are those that the AWS SDK finds, `AWS_ENDPOINT_URL` too.',
  ),
  wrapped(
    'The first Ctrl-C lets a command that changes something reach a safe point, and the second leaves at once. Repeat the command to go on.',
  ),
  wrapped(
    '<a id="who"></a>Orders, freezes and stops are stored with their author: `USER`, and in brackets the identity that AWS knows. `USER` is not checked; CloudTrail has the last word.',
  ),
  wrapped(
    '<a id="outages"></a>Above every answer a line names each thing that makes it untrue: a stop, a freeze, a silent watcher. The field `outages` of a JSON document has the [same](codes.md#outages).',
  ),
];

/** Text of the page. */
export function renderCliPage(): string {
  const globals = new Command();
  declareGlobalOptions(globals);
  const [first = '', ...notes] = INTRODUCTION;
  return page('Command line', [
    first,
    '## Commands',
    bullets(
      COMMANDS.map((module) => `[\`${nameOf(module)}\`](#${anchorOf(module)}): ${module.summary}`),
    ),
    '## Options of every command',
    bullets(optionsOf(globals)),
    '## Exit codes',
    bullets(
      exitsOf(EXIT_MEANINGS).map(({ code, meaning }) => term(String(code), sentence(meaning))),
    ),
    '## What commands share',
    ...notes,
    '<a id="rights"></a>',
    '## Rights in AWS',
    wrapped(
      'Four managed policies of [operators](../operations.md#operators) allow commands that change something, and each allows all commands that only read.',
    ),
    bullets(POLICY_LINES),
    ...COMMANDS.flatMap(sectionOf),
  ]);
}

const POLICY_LINES = [...new Set(COMMANDS.map(({ path: [group] }) => group))].flatMap((group) => {
  const policy = policyOf(group);
  return policy === undefined ? [] : [term(`rollcall ${group}`, policy)];
});

const nameOf = ({ path }: CommandModule): string => path.join(' ');
const anchorOf = ({ path }: CommandModule): string => ['rollcall', ...path].join('-');

function sectionOf(module: CommandModule): readonly string[] {
  const command = new Command(`rollcall ${nameOf(module)}`);
  module.configure(command);
  const { about = [], examples = [], exits = {}, documents = [] } = module;
  const args = command.registeredArguments;
  const own = exitsOf(exits).map(({ code, meaning }) =>
    term(String(code), flagsAsCode(sentence(meaning))),
  );
  const inputs = args.map((arg) =>
    term(arg.required ? `<${arg.name()}>` : `[${arg.name()}]`, flagsAsCode(arg.description)),
  );
  return [
    `## \`rollcall ${nameOf(module)}\``,
    wrapped(flagsAsCode([sentence(module.summary), ...about].join(' '))),
    fence(
      'sh',
      examples.map((line) => `rollcall ${line}`),
    ),
    bullets([...inputs, ...optionsOf(command)]),
    own.length === 0 ? '' : `Exit codes:\n\n${bullets(own)}`,
    documents.length === 0
      ? ''
      : wrapped(
          `JSON: ${documents.map((kind) => `[\`${kind}\`](json.md#${kind.toLowerCase()})`).join(', ')}.`,
        ),
  ];
}

/** Of a text that `--help` prints too: names of options as code. */
function flagsAsCode(text: string): string {
  return text.replaceAll(/(?<![`\w-])--[a-z][a-z-]*(?:=[a-z]+)?/g, (flag) => `\`${flag}\``);
}

function optionsOf(command: Command): readonly string[] {
  return command.options.map((option) => term(option.flags, flagsAsCode(aboutOf(option))));
}

function aboutOf({ description, argChoices, defaultValue, envVar }: Option): string {
  const isTold = description.includes('(default');
  const notes = [
    argChoices === undefined ? '' : `One of ${argChoices.map((each) => `\`${each}\``).join(', ')}.`,
    defaultValue === undefined || isTold ? '' : `Default: \`${String(defaultValue)}\`.`,
    envVar === undefined ? '' : `Environment: \`${envVar}\`.`,
  ].filter((note) => note !== '');
  return notes.length === 0 ? description : [`${description}.`, ...notes].join(' ');
}
