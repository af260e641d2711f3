/**
 * Bugs in what a rollout policy says and when its windows are open: each would let a rollout go on that was to be held.
 */
import type { PlantedBug } from './planted-bug.ts';

const READER_TEST = 'test/unit/adapters/policy/policy-reader.test.ts';
const WINDOW_TEST = 'test/unit/core/policy/window.test.ts';

/** All of them. */
export const POLICY_BUGS: Readonly<Record<string, PlantedBug>> = {
  'partition-rounds-up': {
    bug: 'a partition keeps one node more than its percentage (17.2)',
    file: 'src/core/policy/share.ts',
    before: 'Math.floor((share.percent * nodes) / 100)',
    after: 'Math.ceil((share.percent * nodes) / 100)',
    killedBy: {
      file: 'test/unit/core/policy/share.test.ts',
      title: 'down and what it leaves are all nodes',
    },
  },
  'midnight-is-24': {
    bug: 'midnight is 24:00, and a window from 00:00 opens an hour late (17.2)',
    file: 'src/core/policy/window.ts',
    before: "    hourCycle: 'h23',",
    after: "    hourCycle: 'h24',",
    killedBy: { file: WINDOW_TEST, title: 'until 24:00 and from 00:00, at midnight too' },
  },
  'next-opening-by-yesterdays-offset': {
    bug: 'the next opening is found with the offset of now, across a change of it (17.2)',
    file: 'src/core/policy/window.ts',
    before: '[zone, localTime(zone, quarterMs)]',
    after: '[zone, later(localTime(zone, fromMs), (quarterMs - fromMs) / MINUTE_MS)]',
    killedBy: { file: WINDOW_TEST, title: 'is where a skipped hour ends' },
  },
  'zones-of-the-other-sign': {
    bug: 'Etc/GMT+2 is taken, two hours on the wrong side (17.2)',
    file: 'src/core/policy/window.ts',
    before: '(?!Etc\\/|SystemV\\/)',
    after: '',
    killedBy: { file: WINDOW_TEST, title: 'isTimeZone of core/policy/window.ts' },
  },
  'policy-of-the-first-document': {
    bug: 'of two YAML documents the second, which pauses, is passed over (17.2)',
    file: 'src/adapters/policy/read-yaml.ts',
    before: "logLevel: 'error'",
    after: "logLevel: 'silent'",
    killedBy: { file: READER_TEST, title: 'a second document' },
  },
  'policy-by-directive': {
    bug: 'a directive makes a policy one of YAML 1.1, where on is true (17.2)',
    file: 'src/adapters/policy/read-yaml.ts',
    before: '/^%/m.test(text)',
    after: 'false',
    killedBy: { file: READER_TEST, title: 'a directive, by which `on` would be true' },
  },
  'policy-says-it-twice': {
    bug: 'of a field that is given twice the last one counts (17.2)',
    file: 'src/adapters/policy/read-yaml.ts',
    before: 'if (entries.has(name)) problems.push',
    after: 'if (entries.size < 0) problems.push',
    killedBy: { file: READER_TEST, title: 'a key that is given twice' },
  },
  'aliases-in-a-policy': {
    bug: 'anchors are read over: a policy that is short may be long (17.2)',
    file: 'src/adapters/policy/read-yaml.ts',
    before: 'if (node.anchor !== undefined)',
    after: 'if (depth < 0)',
    killedBy: { file: READER_TEST, title: 'anchors, aliases and tags, each at its field' },
  },
  'unknown-fields-one-at-a-time': {
    bug: 'of several unknown fields only the first is told (17.2)',
    file: 'src/adapters/policy/problems.ts',
    before: '.filter((key) => !known.includes(key))',
    after: '.filter((key) => key === last.key)',
    killedBy: { file: READER_TEST, title: 'says no more than ten problems' },
  },
  'problems-quote-the-policy': {
    bug: 'a problem quotes what was written, secrets too (17.2, S11)',
    file: 'src/adapters/policy/schema-parts.ts',
    before: "return v.picklist(words, `must be one of ${words.join(', ')}`);",
    after: 'return v.picklist(words, (issue) => issue.message);',
    killedBy: { file: READER_TEST, title: 'is no value of it, whatever is wrong' },
  },
  'deadline-within-the-soak': {
    bug: 'a deadline that every soak would miss is taken (17.2)',
    file: 'src/adapters/policy/policy-schema.ts',
    before: 'progressDeadline === undefined || progressDeadline > soak',
    after: 'progressDeadline === undefined || progressDeadline >= soak',
    killedBy: { file: READER_TEST, title: 'a deadline that each soak would miss' },
  },
  'rollback-unasked': {
    bug: 'a policy that says nothing of breaches rolls back (17.2)',
    file: 'src/adapters/policy/policy-schema.ts',
    before: "'rollback', 'pause'),",
    after: "'rollback', 'rollback'),",
    killedBy: { file: READER_TEST, title: 'a policy that says nothing has every default' },
  },
  'readings-without-end': {
    bug: 'a warm process keeps every policy that it ever read (17.2)',
    file: 'src/adapters/policy/policy-reader.ts',
    before: 'readings.size > READINGS_MAX',
    after: 'readings.size < 0',
    killedBy: { file: READER_TEST, title: 'as long as it is among the last 128' },
  },
  'policies-need-require': {
    bug: 'the bundle of reconcile holds the YAML parser that calls require, and never starts (17.2)',
    file: 'scripts/build/function-plugins.ts',
    before: 'module: /^yaml$/,',
    after: 'module: /^yaml-not$/,',
    killedBy: {
      file: 'test/unit/scripts/function-plugins.test.ts',
      title: 'reads policies, good and bad, as the sources do',
    },
  },
  'bundles-errors-of-no-class': {
    bug: 'in a bundle an error of the SDK is no instance of its class: a write that loses its condition throws',
    file: 'scripts/build/function-plugins.ts',
    before: ' Object.setPrototypeOf(this, new.target.prototype); }',
    after: ' }',
    killedBy: {
      file: 'test/unit/scripts/function-plugins.test.ts',
      title: 'are what they were, in fewer bytes',
    },
  },
};
