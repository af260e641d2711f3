/**
 * Bugs that mutation testing found alive beyond the core, and bugs of that tool which made its score say nothing.
 */
import type { PlantedBug } from './planted-bug.ts';

const INGEST = 'test/unit/app/ingest';
const WATCHER = 'test/unit/watcher';
const TOOL = 'test/unit/mutation';

/** The rows of finding 14 A.9. */
export const MUTATION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'names-first-page-only': {
    bug: 'of a cluster of more than 500 DaemonSets the others are woken by nothing (14 A.9)',
    file: 'src/app/ingest/slices/names.ts',
    before: 'for await (const page of pages) names.push(...page);',
    after: 'for await (const page of pages) { names.push(...page); break; }',
    killedBy: { file: `${INGEST}/slices/names.test.ts`, title: 'on however many pages' },
  },
  'names-of-a-message-collapse': {
    bug: 'of several DaemonSets in one message one name is written (14 A.9)',
    file: 'src/app/ingest/slices/daemon-set-writes.ts',
    before: 'const key = `${namespace}/${delta.name}`;',
    after: "const key = '';",
    killedBy: { file: `${INGEST}/slices/names.test.ts`, title: 'in one message are one each' },
  },
  'slice-at-the-count': {
    bug: 'a slice just beyond the slice count of its snapshot is taken (14 A.9)',
    file: 'src/app/ingest/apply/decide-step.ts',
    before: 'index >= sliceCount',
    after: 'index > sliceCount',
    killedBy: { file: `${INGEST}/snapshot-bounds.test.ts`, title: 'at or beyond its slice count' },
  },
  'outbox-size-not-counted': {
    bug: 'a message takes as many deltas as may be, whatever their text (14 A.9)',
    file: 'src/watcher/outbox/outbox.ts',
    before: 'chars + size > charsMax',
    after: 'size > charsMax',
    killedBy: {
      file: `${WATCHER}/outbox/outbox.test.ts`,
      title: 'by text and number of deltas',
    },
  },
  'lease-believes-days-ahead': {
    bug: 'a renewal that lies ten days ahead is believed, and all after it lie there (14 A.9)',
    file: 'src/watcher/lease/lease-object.ts',
    before: 'RENEWED_AHEAD_MS_MAX = 86_400_000',
    after: 'RENEWED_AHEAD_MS_MAX = 864_000_000',
    killedBy: { file: `${WATCHER}/lease/lease-object.test.ts`, title: 'more than a day ahead' },
  },
  'judge-refuses-everything': {
    bug: 'the compiler refuses all survivors of an area that reads another project (14 A.9)',
    file: 'test/mutation/compiler-judge.ts',
    before: 'rootDir: path.parse(path.resolve(configFile)).root',
    after: 'rootDir: path.dirname(path.resolve(configFile))',
    killedBy: {
      file: `${TOOL}/compiler-judge.nightly.test.ts`,
      title: 'reads a source of another project',
    },
  },
  'reload-forgets-loaders': {
    bug: 'what loads a mutated file keeps the constants of the file without the mutant (14 A.9)',
    file: 'test/mutation/module-versions.ts',
    before: 'found.add(loader)',
    after: 'void loader',
    killedBy: {
      file: `${TOOL}/module-versions.test.ts`,
      title: 'takes those with it that load it',
    },
  },
};
