/**
 * A small world in which nothing moves but what a schedule lets move, one call of one actor at a time.
 *
 * Watchers stand still, queues deliver nothing, requests take no time: leases and FIFO groups protect
 * nobody here, only the compare-and-set and the API server do (faults rows 19, 20). At the end all is
 * let go, and the world must settle as any other.
 */
import { createHash } from 'node:crypto';
import { World } from '../simulation/world.ts';
import type { QueueName } from '../simulation/queues.ts';
import { Actor, type ActorPlan } from './actor.ts';
import { maskedText } from './masked-text.ts';
import { SETTLES_WITHIN_MS } from './trial.ts';

const QUEUES: readonly QueueName[] = ['events.fifo', 'reconcile.fifo', 'delay'];

export interface SmallScene {
  readonly name: string;
  readonly nodes: readonly string[];
  /** Brings the world to where its actors begin; the queues deliver nothing to `reconcile` then. */
  readonly prepare: (world: World) => Promise<void>;
  /** What is known to the API server alone: its message, if any, waits in the queue. */
  readonly unseen?: (world: World) => void;
  readonly actors: readonly ActorPlan[];
}

export class SmallWorld {
  readonly world: World;
  readonly actors: readonly Actor[];

  private constructor(world: World, actors: readonly Actor[]) {
    this.world = world;
    this.actors = actors;
  }

  /** A world whose actors stand before their first calls. */
  static async start(scene: SmallScene): Promise<SmallWorld> {
    const world = await World.start({ nodes: scene.nodes, seed: 7 });
    await scene.prepare(world);
    for (const queue of QUEUES) world.mapping(queue).isPaused = true;
    scene.unseen?.(world);
    await world.advance(20);
    for (const process of world.watchers) process.clock.freeze();
    world.site.requestDelayMs = () => 0;
    world.host.coolDown();
    const actors: Actor[] = [];
    for (const plan of scene.actors) {
      const actor = new Actor(world, plan);
      await actor.arrive();
      actors.push(actor);
    }
    return new SmallWorld(world, actors);
  }

  /** Indices of actors that are not done. */
  get enabled(): readonly number[] {
    return this.actors.flatMap((actor, index) => (actor.isFinished ? [] : [index]));
  }

  /** What decides all that can still happen: the tables, the API server, and what each actor heard. */
  digest(): string {
    return `${this.shared()} ${this.actors.map((actor) => actor.digest).join(' ')}`;
  }

  /** The tables and the API server. */
  shared(): string {
    const { api, view } = this.world;
    const kinds = ['nodes', 'daemonsets', 'pods', 'controllerrevisions'] as const;
    const objects = kinds.map((kind) => api.list(kind));
    const text = maskedText([view.dump(), objects]);
    return createHash('sha256').update(text).digest('base64url');
  }

  /** Lets everything go and demands that it settles with every promise kept. */
  async finish(): Promise<void> {
    const { world } = this;
    for (const process of world.watchers) process.clock.thaw();
    for (const queue of QUEUES) world.resume(queue);
    world.site.requestDelayMs = () => 2;
    await world.settle(SETTLES_WITHIN_MS);
  }
}
