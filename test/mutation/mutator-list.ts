/**
 * Stryker's list of mutators, to which one is added and from which a part may be drawn. Stryker takes no mutators from plugins and
 * does not export the list, hence the path. Throws if another version of Stryker keeps it elsewhere.
 *
 * A drawn sample depends on the seed, the mutator and the place alone: the same in each run of the same source, whichever files
 * are tried beside it.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';

const LIST = 'node_modules/@stryker-mutator/instrumenter/dist/src/mutators/mutate.js';
const HASH_BYTES = 6;

export interface NodePath {
  readonly node: {
    readonly value?: unknown;
    readonly start?: number | null;
    readonly end?: number | null;
  };
  readonly parent: object;
  readonly isNumericLiteral: () => boolean;
}

export interface Mutator {
  readonly name: string;
  mutate: (path: NodePath, ...more: readonly unknown[]) => Iterable<unknown>;
}

export interface Sample {
  readonly percent: number;
  readonly seed: number;
}

export async function mutatorList(): Promise<Mutator[]> {
  const url = pathToFileURL(path.join(repositoryRoot, LIST)).href;
  const { allMutators } = (await import(url)) as { allMutators?: Mutator[] }; // no types: see above
  if (allMutators === undefined) throw new Error(`Stryker has no list of mutators in ${LIST}`);
  return allMutators;
}

/** From now on each mutator of the list yields only what is drawn. */
export function drawFrom(mutators: readonly Mutator[], sample: Sample): void {
  for (const mutator of mutators) {
    const all = mutator.mutate.bind(mutator);
    mutator.mutate = function* drawn(nodePath, ...more) {
      const { start, end } = nodePath.node;
      let number = 0;
      for (const replacement of all(nodePath, ...more)) {
        number += 1;
        if (isDrawn(`${mutator.name} ${start}-${end} ${number}`, sample)) yield replacement;
      }
    };
  }
}

/** True for `percent` of a hundred of all names. */
function isDrawn(name: string, { percent, seed }: Sample): boolean {
  const hash = createHash('sha256').update(`${seed} ${name}`).digest();
  return hash.readUIntBE(0, HASH_BYTES) / 2 ** (8 * HASH_BYTES) < percent / 100;
}
