/** A world in which the built-in controller is at work, and Rollcall is its copilot (ADR 0056). */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterMode } from '../../../src/core/model/registration.ts';
import { BuiltInLoop } from './built-in-loop.ts';
import type { Observer } from './observer.ts';
import type { Site } from './site.ts';
import { setNames } from './step-context.ts';
import type { World } from './world.ts';

export interface CopilotPlace {
  readonly site: Site;
  readonly observer: Observer;
  readonly clock: Clock;
}

/** Starts the built-in controller, and takes all other rights from the functions. */
export function startBuiltIn(
  { site, observer, clock }: CopilotPlace,
  rights: { readonly mayRestore: boolean; readonly listed: readonly string[] },
): void {
  site.builtIn = new BuiltInLoop(site.api, {
    clock,
    deletePod: (pod) => {
      site.controllers.deletePod(pod);
    },
    // Two of its pods on a node are its own doing.
    onMade: ({ metadata }) => {
      observer.usersPods.add(metadata.uid);
    },
  });
  site.copilot.isOn = true;
  site.rights.role = 'copilot';
  site.rights.mayRestore = rights.mayRestore;
  for (const name of rights.listed) site.rights.listed.add(name);
}

/** The same in a world of one cluster, which is registered so. */
export function enterCopilot(world: World, kind: 'restores' | 'deletes'): void {
  const { site, observer, apiClock: clock } = world;
  startBuiltIn({ site, observer, clock }, { mayRestore: kind === 'restores', listed: setNames(5) });
  world.register({ mode: 'copilot' });
}

/** The operator sets another mode, and has every key looked at, as `rollcall cluster set` does. */
export function setMode(world: World, mode: ClusterMode): void {
  void world.reconfigure({ mode }).then(() => {
    for (const { metadata } of world.api.list('daemonsets')) world.hint(metadata.name);
  });
}
