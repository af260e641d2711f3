/**
 * Deliberate errors: one place of one file of the repository is changed. The place is named by its file, the declaration
 * or the path that it stands in, and its code there (change-code.ts, change-yaml.ts): no text of the file is quoted.
 *
 * Production code has no seam for this. A mutant that does not find its place once, or whose file was never loaded, is
 * an error: a mutant that was not planted proves nothing.
 */
import { registerHooks } from 'node:module';
import { changeCode } from './change-code.ts';
import { changeYaml } from './change-yaml.ts';

/** One deliberate error. */
export interface Mutant {
  /**
   * The file from the root of the repository, and in it `#` the declaration (`Class.member` for one of a class) or the
   * path of a YAML file.
   */
  readonly at: string;
  /** Code that stands there once; absent: the value of the constant, or of the path. */
  readonly change?: string;
  /** What it becomes; empty: it is taken out. */
  readonly to: string;
}

/** A planted mutant. */
export interface PlantedMutant {
  /** Throws unless the mutant's file has been loaded. */
  readonly assertLoaded: () => void;
}

const ROOT = new URL('../../', import.meta.url);

/** Path of the file that a mutant changes. */
export function fileOf({ at }: Pick<Mutant, 'at'>): string {
  return at.replace(/#.*$/s, '');
}

/**
 * Plants a mutant for all later imports of this process. To be called before anything that imports the file is
 * imported; each mutant needs a process of its own.
 */
export function plantMutant(name: string, mutant: Mutant): PlantedMutant {
  const file = fileOf(mutant);
  const url = new URL(file, ROOT).href;
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
      if (!isLoaded) throw new Error(`mutant ${name}: ${file} was not loaded`);
    },
  };
}

/** The changed text; throws unless there is one place to change. */
export function mutate(source: string, { at, change: code, to }: Mutant): string {
  const file = fileOf({ at });
  const name = file === at ? undefined : at.slice(file.length + 1);
  try {
    if (!/\.ya?ml$/.test(file)) return changeCode(source, { name, code, to });
    return changeYaml(source, { path: name ?? '', code, to });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${at} ${reason}`, { cause: error });
  }
}

function textOf(source: unknown): string {
  if (typeof source === 'string') return source;
  if (source instanceof Uint8Array) return Buffer.from(source).toString('utf8');
  throw new Error('the loader gave no source text');
}
