/**
 * A mutator for numbers, which Stryker lacks: bounds and periods are where bugs were planted and lived.
 *
 * A number below ten becomes one more, another one ten times itself: a test that knows a bound sees either.
 */
import { mutatorList, type Mutator } from './mutator-list.ts';

const SMALL_MAX = 9;

/** What a number becomes. */
export function changedNumber(value: number): number {
  return value <= SMALL_MAX ? value + 1 : value * 10;
}

/** Puts the mutator into Stryker's list, once. */
export async function addNumberMutator(): Promise<void> {
  const allMutators = await mutatorList();
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
