/** docs/on-call.md: every command of it is run, in a cluster that has the symptom of its section. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { EXIT } from '../../../src/cli/process/exit-codes.ts';
import { Scene, type State } from '../../support/answer-scene.ts';

const text = readFileSync(new URL('../../../docs/on-call.md', import.meta.url), 'utf8');

/** What is on the page for a name of the scene. */
const NAMES: readonly (readonly [string, string])[] = [
  ['NAMESPACE/NAME', 'system/agents'],
  ['CLUSTER', 'a'],
  ['NODE', 'node-0001'],
  ['FLEET', 'monitoring/agent'],
];

/** The state of each section, and how its commands leave if not with 0. */
const SECTIONS: Readonly<Record<string, readonly [State, Readonly<Record<string, number>>?]>> = {
  'You are on call': ['well'],
  'Is everything well?': ['well'],
  'There is no pod on a node': ['nothing eligible'],
  'Which nodes lack it?': ['first release'],
  'What would this change do?': [
    'well',
    {
      'plan a --daemonset system/agents --set-image IMAGE': EXIT.differs,
      'plan a --daemonset system/agents --delete-node node-0001': EXIT.differs,
    },
  ],
  'What changed at 03:00?': ['first release'],
  'Is v2 proceeding, and what does it wait for?': ['held by a fleet'],
  'A rollout is halted': ['halted'],
  'Who froze this?': ['frozen'],
  'A cluster is silent': ['watcher gone'],
  'The stack is stopped, or behind': ['stopped', { status: EXIT.stopped }],
  'What does it cost?': ['well'],
};

/** They ask AWS, and the doctor the cluster too, neither of which is there; test/integration/doctor asks them for real. */
const OF_AWS = new Set(['stack check', 'cluster doctor a']);

function commandsIn(section: string): readonly string[] {
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  return blocks
    .flatMap((block) => block.trim().split('\n'))
    .map((line) =>
      NAMES.reduce((done, [from, to]) => done.replace(from, to), line.replace(/ +#.*$/, '')),
    )
    .map((line) => /^rollcall (.+)$/.exec(line)?.[1] ?? assert.fail(line));
}

const sections = text.split(/^#{1,2} /m).slice(1);

describe('docs/on-call.md', () => {
  it('has a section for each symptom', () => {
    const titles = sections.map((section) => section.split('\n')[0] ?? '');
    assert.deepEqual(titles, [...Object.keys(SECTIONS), 'It is none of these']);
    assert.deepEqual(commandsIn(sections[0] ?? ''), [
      'status',
      'why system/agents',
      'log --since 8h',
      'cost',
    ]);
  });

  for (const section of sections.slice(0, -1)) {
    const title = section.split('\n')[0] ?? '';
    it(`has commands that answer: ${title}`, async () => {
      const [state, exits = {}] = SECTIONS[title] ?? assert.fail(title);
      const scene = await Scene.make(state);
      for (const command of commandsIn(section)) {
        const words = command.split(' ');
        if (OF_AWS.has(command)) continue;
        const run = await scene.commands.run(words);
        const exitCode = exits[command] ?? EXIT.ok;
        assert.equal(run.exitCode, exitCode, `${command}\n${run.stdout}${run.stderr}`);
        const lines = run.stdout.trimEnd().split('\n');
        assert.ok(lines[0] !== '' && lines.length <= SCREEN_LINES_MAX, `${command}\n${run.stdout}`);
      }
    });
  }
});

/** A terminal shows so many at once, and nobody scrolls at three in the morning. */
const SCREEN_LINES_MAX = 40;
