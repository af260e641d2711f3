/**
 * Bugs of slices by columns (ADR 0069): of other releases that read or leave them, and of what comes back.
 */
import type { PlantedBug } from './planted-bug.ts';

const COLUMNS = 'src/adapters/dynamodb/slice-columns.ts';
const COLUMNS_TEST = 'test/unit/adapters/dynamodb/slice-columns.test.ts';
const META = 'src/adapters/dynamodb/meta-codec.ts';
const META_TEST = 'test/unit/adapters/dynamodb/meta-codec.test.ts';

/** The rows of columns. */
export const COLUMN_BUGS: Readonly<Record<string, PlantedBug>> = {
  'columns-of-another-write': {
    bug: 'columns are believed that the release before left beside the list that it wrote: a stale view (S8)',
    file: COLUMNS,
    before: "item['columns'] !== undefined && item['columnsAt'] === item['stamp']",
    after: "item['columns'] !== undefined",
    killedBy: { file: COLUMNS_TEST, title: 'left standing' },
  },
  'columns-move-what-stands-among-them': {
    bug: 'an opaque pod changes its place among the others with each write of its slice',
    file: COLUMNS,
    before: 'members.splice(index, 0, member);',
    after: 'members.push(member);',
    killedBy: { file: COLUMNS_TEST, title: 'come back as they were, in their order' },
  },
  'columns-drop-what-is-new': {
    bug: 'a release drops members that a newer one wrote, so that both disagree about hashes',
    file: COLUMNS,
    before: '(isNone ? object : Object.assign(object, others))',
    after: 'object',
    killedBy: { file: COLUMNS_TEST, title: 'only a newer release knows' },
  },
  'columns-bind-every-pod': {
    bug: 'a pod that is only aimed at its node counts as bound',
    file: COLUMNS,
    before: 'if (boundNode !== undefined) pod.boundNode = boundNode;',
    after: 'if (targetNode !== undefined) pod.boundNode = boundNode ?? targetNode;',
    killedBy: { file: COLUMNS_TEST, title: 'come back as they were, in their order' },
  },
  'columns-unsaid-to-the-release-before': {
    bug: 'gone back to, the release before finds nodes without pods, and makes all of them anew (S1)',
    file: META,
    before: 'isComplete: false,\n    incompleteReason:',
    after: 'isComplete,\n    incompleteReason:',
    killedBy: { file: META_TEST, title: 'one after a loss to the release before' },
  },
  'wholeness-of-another-release': {
    bug: 'a loss that the release before noted is forgotten with the way forward again (protocol 18)',
    file: META,
    before: 'whole?.version === version ?',
    after: 'whole !== undefined ?',
    killedBy: { file: META_TEST, title: 'as the release before left it' },
  },
};
