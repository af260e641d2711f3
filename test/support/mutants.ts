/**
 * Deliberate errors: the source text of one file of src is changed while it is loaded, in this process only.
 *
 * Production code has no seam for this. A mutant whose text is not found exactly once, or whose file was never
 * loaded, is an error: a mutant that was not planted proves nothing. To be called before anything that imports
 * the file is imported; each mutant needs a process of its own.
 */
import { registerHooks } from 'node:module';

/** One deliberate error. */
export interface Mutant {
  /** Path of the file from the root of the repository. */
  readonly file: string;
  /** Text that the file holds exactly once. */
  readonly before: string;
  readonly after: string;
}

/** A planted mutant. */
export interface PlantedMutant {
  /** Throws unless the mutant's file has been loaded. */
  readonly assertLoaded: () => void;
}

const ROOT = new URL('../../', import.meta.url);

/** Plants a mutant for all later imports of this process. */
export function plantMutant(name: string, mutant: Mutant): PlantedMutant {
  const url = new URL(mutant.file, ROOT).href;
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

/** The changed text; throws unless `before` stands in it exactly once. */
export function mutate(source: string, { file, before, after }: Mutant): string {
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
