/**
 * Bugs of slices by columns (ADR 0069): of what comes back.
 */
import type { PlantedBug } from './planted-bug.ts';

const COLUMNS = 'src/adapters/dynamodb/slice-codec.ts';
const COLUMNS_TEST = 'test/unit/adapters/dynamodb/slice-columns.test.ts';

/** The rows of columns. */
export const COLUMN_BUGS: Readonly<Record<string, PlantedBug>> = {
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
};
