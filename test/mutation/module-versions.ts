/**
 * Which version of a module is meant: the one that stays, or the one that is loaded anew for a single mutant.
 *
 * A mutant that runs while its module loads needs that module again, and each module that loads it, by whatever way; the others
 * are as they were, and what is loaded for good stays loaded: going back costs nothing. Who loads whom is learnt while
 * everything is loaded for the first time. Files are paths from the project's root.
 */

export class ModuleVersions {
  readonly #loadersOf = new Map<string, Set<string>>();
  /** The modules of each version that did not load everything. */
  readonly #partOf = new Map<number, ReadonlySet<string>>();
  #kept = 0;
  #newest = 0;
  #anew: number | undefined;

  /** `loader` loads `file`. */
  noteLoads(loader: string, file: string): void {
    const loaders = this.#loadersOf.get(file) ?? new Set();
    this.#loadersOf.set(file, loaders.add(loader));
  }

  /** Everything is loaded again, for good. */
  beginAll(): void {
    this.#anew = undefined;
    this.#newest += 1;
    this.#kept = this.#newest;
  }

  /** These files, and what loads them, are loaded again until `end`. */
  begin(files: readonly string[]): void {
    this.#newest += 1;
    this.#anew = this.#newest;
    this.#partOf.set(this.#anew, this.#withLoaders(files));
  }

  /** Back to what is loaded for good. */
  end(): void {
    this.#anew = undefined;
  }

  /** True if a file is one of those that are loaded again. */
  isAnew(file: string): boolean {
    return this.#anew !== undefined && this.of(file) === this.#anew;
  }

  /** The version of a file, as a loader of version `from` (by itself: now) wants it. */
  of(file: string, from: number = this.#anew ?? this.#kept): number {
    const part = this.#partOf.get(from);
    return part === undefined || part.has(file) ? from : this.#kept;
  }

  #withLoaders(files: readonly string[]): ReadonlySet<string> {
    const found = new Set(files);
    for (const file of found) {
      for (const loader of this.#loadersOf.get(file) ?? []) found.add(loader);
    }
    return found;
  }
}
