/** A world in which the built-in controller is at work, and Rollcall is its copilot (ADR 0056). */
import type { ClusterMode } from '../../../src/core/model/registration.ts';
import { BuiltInLoop } from './built-in-loop.ts';
import { setNames } from './step-context.ts';
import type { World } from './world.ts';

/** Starts the built-in controller, takes all other rights from the functions, and registers the mode. */
export function enterCopilot(world: World, kind: 'restores' | 'deletes'): void {
  const { site, observer, apiClock: clock } = world;
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
  site.rights.mayRestore = kind === 'restores';
  for (const name of setNames(5)) site.rights.listed.add(name);
  world.register({ mode: 'copilot' });
}

/** The operator sets another mode, and has every key looked at, as `rollcall cluster set` does. */
export function setMode(world: World, mode: ClusterMode): void {
  void world.reconfigure({ mode }).then(() => {
    for (const { metadata } of world.api.list('daemonsets')) world.hint(metadata.name);
  });
}
