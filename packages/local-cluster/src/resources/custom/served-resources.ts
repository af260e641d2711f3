/**
 * What the API server serves now: the built-in resources, and those of the definitions in the store.
 *
 * Read at each request, so that a definition is served from the write on that establishes it, also after a restart.
 */
import type { Store } from '../../store/store.ts';
import type { Resource } from '../shared/resource.ts';
import { DEFINITIONS } from '../../objects/custom-definition.ts';
import { customResources } from './custom-resources.ts';

/** Tells what is served now: the same list until a definition changes. */
export function createServedResources(
  store: Store,
  builtIn: readonly Resource[],
): () => readonly Resource[] {
  let definitions = store.list(DEFINITIONS);
  const resources = (): readonly Resource[] => [
    ...builtIn,
    ...definitions.flatMap((definition) => customResources(definition)),
  ];
  let served = resources();
  return () => {
    const stored = store.list(DEFINITIONS);
    if (stored !== definitions) {
      definitions = stored;
      served = resources();
    }
    return served;
  };
}
