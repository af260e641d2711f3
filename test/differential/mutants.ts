/**
 * Deliberate errors that the suite must catch: the source text of one file of src/core is changed while it is
 * loaded, in this process only. Production code has no seam for this.
 *
 * A mutant whose text is not found exactly once, or whose file was never loaded, is an error: a mutant that was
 * not planted proves nothing. To be called before anything of src/core is imported.
 */
import { registerHooks } from 'node:module';

/** One deliberate error. */
export interface Mutant {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  /** Comparisons and bounds that show it; another disagreement does not count as caught. */
  readonly shownBy: readonly string[];
}

/** The errors by name. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  placement: {
    file: 'src/core/taints.ts',
    before: 'taint.effect === input.effect &&',
    after: "(taint.effect === input.effect || taint.effect === 'PreferNoSchedule') &&",
    shownBy: ['placement'],
  },
  'max-unavailable': {
    file: 'src/core/rollout-budget.ts',
    before: 'return { maxUnavailable: isBothZero ? 1 : maxUnavailable, maxSurge: 0 };',
    after: 'return { maxUnavailable: (isBothZero ? 1 : maxUnavailable) + 1, maxSurge: 0 };',
    shownBy: ['availability', 'pod-count'],
  },
  release: {
    file: 'src/core/claim.ts',
    before: "return isKept ? 'keep' : 'release';",
    after: "return isKept ? 'keep' : 'keep';",
    shownBy: ['ownerless'],
  },
};

/** A planted mutant. */
export interface PlantedMutant {
  /** Throws unless the mutant's file has been loaded. */
  readonly assertLoaded: () => void;
}

/** Plants a mutant for all later imports of this process. */
export function plantMutant(name: string): PlantedMutant {
  const mutant = MUTANTS[name];
  if (mutant === undefined) {
    throw new Error(`no mutant named ${name}; there are ${Object.keys(MUTANTS).join(', ')}`);
  }
  const url = new URL(`../../${mutant.file}`, import.meta.url).href;
  let isLoaded = false;
  registerHooks({
    load: (loadedUrl, context, nextLoad) => {
      const loaded = nextLoad(loadedUrl, context);
      if (loadedUrl !== url) return loaded;
      isLoaded = true;
      return { ...loaded, source: mutate(textOf(loaded.source), mutant) };
    },
  });
  return {
    assertLoaded: () => {
      if (!isLoaded) throw new Error(`mutant ${name}: ${mutant.file} was not loaded`);
    },
  };
}

function mutate(source: string, { file, before, after }: Mutant): string {
  const parts = source.split(before);
  if (parts.length !== 2) {
    throw new Error(`${file} holds ${parts.length - 1} times, not once: ${before}`);
  }
  return parts.join(after);
}

function textOf(source: unknown): string {
  if (typeof source === 'string') return source;
  if (source instanceof Uint8Array) return Buffer.from(source).toString('utf8');
  throw new Error('the loader gave no source text');
}
