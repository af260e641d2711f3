/**
 * A mutator for numbers, which Stryker lacks: bounds and periods are where bugs were planted and lived (issue 14).
 *
 * A number below ten becomes one more, another one ten times itself: a test that knows a bound sees either. Stryker takes no
 * mutators from plugins, so this one is put into its list; the list is not exported, hence the path. Throws if another version of
 * Stryker keeps it elsewhere.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';

const LIST = 'node_modules/@stryker-mutator/instrumenter/dist/src/mutators/mutate.js';
const SMALL_MAX = 9;

/** The part of Babel's path to a node that is used. */
interface NodePath {
  readonly node: { readonly value?: unknown };
  readonly parent: object;
  readonly isNumericLiteral: () => boolean;
}

interface Mutator {
  readonly name: string;
  readonly mutate: (path: NodePath) => Iterable<unknown>;
}

/** What a number becomes. */
export function changedNumber(value: number): number {
  return value <= SMALL_MAX ? value + 1 : value * 10;
}

/** Puts the mutator into Stryker's list, once. */
export async function addNumberMutator(): Promise<void> {
  const url = pathToFileURL(path.join(repositoryRoot, LIST)).href;
  const { allMutators } = (await import(url)) as { allMutators?: Mutator[] }; // no types: see above
  if (allMutators === undefined) throw new Error(`Stryker has no list of mutators in ${LIST}`);
  if (allMutators.some(({ name }) => name === numberMutator.name)) return;
  allMutators.push(numberMutator);
}

const numberMutator: Mutator = {
  name: 'NumericLiteral',
  *mutate(nodePath) {
    const { node, parent } = nodePath;
    if (!nodePath.isNumericLiteral() || typeof node.value !== 'number') return;
    // The name of a member is no quantity.
    if ('key' in parent && parent.key === node) return;
    yield { type: 'NumericLiteral', value: changedNumber(node.value) };
  },
};
