/** A run that dies at a write: to the states' table or to the API server, counted alike. */
import type { ReconcileWorld } from './reconcile-world.ts';

/** What such a run throws. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** Throws once, before or after the `index`-th write from now on, whichever run makes it. */
export function crashAt(world: ReconcileWorld, index: number, moment: 'before' | 'after'): void {
  let seen = 0;
  const strike = (): undefined => {
    seen += 1;
    if (seen === index) throw new Crash(`at write ${index}`);
    return undefined;
  };
  const onStore = ({ operation }: { readonly operation: string }): void => {
    if (operation === 'writeState') strike();
  };
  world.view.hooks = moment === 'before' ? { before: onStore } : { after: onStore };
  world.cluster.hooks = moment === 'before' ? { beforeEffect: strike } : { afterEffect: strike };
}
