// FleetDaemonSets as users write them: what each means, and how what cannot be meant is refused by its field.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFleetReader } from '../../../../../src/adapters/policy/fleet/fleet-reader.ts';
import type { FleetReading } from '../../../../../src/core/fleet/fleet-daemon-set.ts';
import type { NamedFile } from '../../../../../src/ports/fleet-reader.ts';
import { EVERY_FIELD, REFUSED_FLEETS, SMALLEST, refusedText } from './fleet-samples.ts';

const reader = createFleetReader();
const noFile = (): NamedFile => ({ kind: 'unreadable', message: 'is not there' });

function read(text: string, file: (name: string) => NamedFile = noFile): FleetReading {
  return reader.read(text, file);
}

function fleetOf(text: string, file?: (name: string) => NamedFile) {
  const reading = read(text, file);
  assert.equal(reading.kind, 'fleet', JSON.stringify(reading));
  return reading;
}

function problemsOf(
  text: string,
  file?: (name: string) => NamedFile,
): readonly (readonly [string, string])[] {
  const reading = read(text, file);
  assert.equal(reading.kind, 'invalid');
  return reading.problems.map(({ field, message }) => [field, message]);
}

describe('createFleetReader', () => {
  it('fills in the careful defaults', () => {
    const { fleet } = fleetOf(SMALLEST);
    const pace = {
      maxConcurrency: { kind: 'percent', percent: 10 },
      maxFailures: { kind: 'count', count: 0 },
      maxRefusals: { kind: 'count', count: 0 },
      soakMs: 3_600_000,
      approval: 'none',
      windows: [],
    };
    const [one, two] = [1, 2].map((count) => ({ kind: 'count', count }));
    assert.deepEqual(fleet.strategy, {
      stages: [
        { name: 'canary', share: two, nodes: one, ...pace },
        { name: 'early', share: { kind: 'percent', percent: 10 }, ...pace },
        { name: 'rest', ...pace },
      ],
      order: [],
      onHalt: 'halt',
      conflicts: 'abort',
      drift: 'report',
      policyText: '{}',
    });
    assert.deepEqual([fleet.placement, fleet.overrides], [{}, []]);
  });

  it('reads every field, those of the strategy for every stage that says nothing else', () => {
    const { fleet } = fleetOf(EVERY_FIELD);
    const [first, early, rest, ...more] = fleet.strategy.stages;
    assert.deepEqual(more, []);
    assert.deepEqual(first.choice, { names: ['prod-eu-1'] });
    assert.deepEqual([first.soakMs, early?.soakMs], [7_200_000, 1_800_000]);
    assert.deepEqual([first.approval, early?.approval], ['after', 'none']);
    assert.deepEqual(early?.maxConcurrency, { kind: 'count', count: 1 });
    assert.deepEqual(rest?.maxConcurrency, { kind: 'percent', percent: 20 });
    assert.deepEqual(
      [early.windows[0]?.timeZone, rest.windows[0]?.timeZone],
      ['Europe/Berlin', 'UTC'],
    );
    const { onHalt, progressDeadlineMs, policyText } = fleet.strategy;
    assert.deepEqual([onHalt, progressDeadlineMs], ['rollback', 86_400_000]);
    // As it was written: each cluster's reader fills in its own defaults.
    assert.equal(policyText, '{"canary":{"nodes":2},"window":{"timeZone":"UTC"}}');
    assert.deepEqual(fleet.placement.exclude, { names: ['lab-1'] });
  });

  it('adds a rest after stages that do not take every cluster', () => {
    const names = (stages: string): readonly string[] =>
      fleetOf(`${SMALLEST}  strategy: {stages: [${stages}]}\n`).fleet.strategy.stages.map(
        ({ name }) => name,
      );
    assert.deepEqual(names('{name: a, clusters: 100%}'), ['a', 'rest']);
    assert.deepEqual(names('{name: a}'), ['a']);
  });

  for (const refused of REFUSED_FLEETS) {
    const [what, , , field] = refused;
    it(`refuses ${what}`, () => {
      const problems = problemsOf(refusedText(refused));
      assert.deepEqual(
        problems.map(([name]) => name),
        [field],
        JSON.stringify(problems),
      );
    });
  }

  it('suggests the field that may have been meant', () => {
    const text = SMALLEST.replace('{all: true}', '{selector: {matchLabels: {a: b}}}');
    assert.deepEqual(problemsOf(text)[0], [
      'spec.placement.selector',
      'is not known here: did you mean clusterSelector?',
    ]);
  });

  it('takes approval and windows out of a policy for a way back, and nothing else', () => {
    const text = '{soak: 5m, paused: true, approval: each-step, window: {days: [sun]}}';
    assert.equal(reader.ungatePolicy(text), '{"soak":"5m","paused":true}');
    assert.equal(reader.ungatePolicy('soak: 5m'), 'soak: 5m', 'nothing holds it');
    assert.equal(reader.ungatePolicy('{'), '{', 'what cannot be read holds as it is');
  });

  it('repeats no value of a text that it refuses', () => {
    const text = SMALLEST.replace('agent:1', 'hunter2').replace('{all: true}', '{all: hunter2}');
    assert.doesNotMatch(JSON.stringify(read(text)), /hunter2/);
  });

  it('never throws, whatever the text', () => {
    for (const text of [
      '',
      '[]',
      '1',
      '{',
      'spec: {templateFile: a}',
      '\u0000',
      'a'.repeat(300_000),
    ]) {
      assert.equal(read(text).kind, 'invalid');
    }
    assert.equal(reader.readDocument({}).kind, 'invalid');
    assert.equal(reader.readDocument({ spec: { templateFile: 'a' } }).kind, 'invalid');
  });

  it('reads its own document again as the same', () => {
    for (const text of [SMALLEST, EVERY_FIELD]) {
      const { document, fleet } = fleetOf(text);
      const stored = JSON.parse(JSON.stringify(document)) as typeof document;
      const again = reader.readDocument(stored);
      assert.deepEqual(again.kind === 'fleet' && again.fleet, fleet);
    }
  });
});

describe('createFleetReader: templateFile', () => {
  const at = SMALLEST.indexOf('  template:\n');
  const [head, rest] = [SMALLEST.slice(0, at), SMALLEST.slice(at + '  template:\n'.length)];
  const inline = rest.slice(0, rest.indexOf('  placement'));
  const manifest = inline.replaceAll(/^ {4}/gm, '');
  const byFile = `${head}  templateFile: rendered/agent.yaml\n${rest.slice(inline.length)}`;
  const file = (text: string) => (): NamedFile => ({ kind: 'text', text });

  it('takes the one DaemonSet of what Helm rendered, and names what else is there', () => {
    const text = `---\n# Source: agent\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: agent}\n---\n${manifest}---\n`;
    const asked: string[] = [];
    const reading = fleetOf(byFile, (name) => {
      asked.push(name);
      return { kind: 'text', text };
    });
    assert.deepEqual(asked, ['rendered/agent.yaml']);
    assert.deepEqual(reading.leftOut, ['ServiceAccount agent']);
    assert.deepEqual(reading.fleet, fleetOf(SMALLEST).fleet);
    assert.doesNotMatch(JSON.stringify(reading.document), /templateFile/);
  });

  it('takes one out of a List', () => {
    const list = JSON.stringify({
      kind: 'List',
      items: [{ kind: 'ConfigMap' }, { apiVersion: 'apps/v1', kind: 'DaemonSet' }],
    });
    assert.deepEqual(
      problemsOf(byFile, file(list)).map(([field]) => field),
      ['spec.template.spec.selector', 'spec.template.spec.template.spec.containers'],
    );
  });

  const REFUSED: readonly (readonly [what: string, opened: NamedFile, message: RegExp])[] = [
    ['a file that is not there', noFile(), /is not there/],
    [
      'two DaemonSets',
      { kind: 'text', text: `${manifest}---\n${manifest}` },
      /one DaemonSet, and holds 2/,
    ],
    ['none', { kind: 'text', text: 'kind: ConfigMap' }, /holds none/],
    ['what is no YAML', { kind: 'text', text: '{' }, /is not YAML/],
    ['a number with a leading 0', { kind: 'text', text: 'mode: 0644' }, /octal/],
    ['too long a file', { kind: 'text', text: ' '.repeat(262_145) }, /262,144/],
  ];
  for (const [what, opened, message] of REFUSED) {
    it(`refuses ${what}`, () => {
      const [[field, words] = ['', '']] = problemsOf(byFile, () => opened);
      assert.match(field, /^spec\.templateFile/);
      assert.match(words, message);
    });
  }

  it('is not read where the template is inline as well', () => {
    const both = `${SMALLEST}  templateFile: a.yaml\n`;
    assert.deepEqual(
      problemsOf(both).map(([field]) => field),
      ['spec'],
    );
  });
});
