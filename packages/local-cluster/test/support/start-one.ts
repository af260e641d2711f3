/**
 * Runs one controller alone in a world, so that a test sees what that one does.
 */
import type { ClientFactory } from '../../src/client/local-client.ts';
import type {
  ControllerSettings,
  StartController,
} from '../../src/controllers/shared/controller-context.ts';
import { createKnownKinds } from '../../src/controllers/shared/known-resources.ts';
import { createMirrors, createPodsByNode } from '../../src/controllers/shared/mirrors.ts';
import { nodeObject } from './objects.ts';
import { ADMINISTRATOR, createPodWorld } from './world.ts';
import type { LocalWorld } from './world.ts';

/** The controller. */
export interface StartedController {
  readonly stop: () => Promise<void>;
}

/** Starts it, on the world's clients unless others are given. */
export function startOne(
  world: LocalWorld,
  start: StartController,
  options: { readonly clients?: ClientFactory; readonly settings?: ControllerSettings } = {},
): StartedController {
  const mirrors = createMirrors(world.admin);
  const controller = start({
    mirrors,
    kinds: createKnownKinds(mirrors),
    podsByNode: createPodsByNode(mirrors),
    client: (options.clients ?? world.clients).clientFor(ADMINISTRATOR),
    clock: world.clock,
    log: world.log,
    settings: options.settings ?? {},
  });
  return {
    stop: async () => {
      mirrors.stop();
      await controller.stop();
    },
  };
}

/** A world of pods with the node `n`, and one controller in it. */
export async function startOnNode(
  start: StartController,
): Promise<{ readonly world: LocalWorld; readonly controller: StartedController }> {
  const world = await createPodWorld();
  await world.create('nodes', nodeObject('n'));
  const controller = startOne(world, start);
  await world.settle();
  return { world, controller };
}
