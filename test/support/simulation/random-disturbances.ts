/**
 * What happens rarely to a random schedule: lost tables, an etcd that goes back, dead kubelets, pods of
 * others. A schedule has one kind of it at most, by its dice.
 */
import { nodeOf } from '../simulated-cluster.ts';
import type { ClusterBackup } from '../simulated-cluster.ts';
import { rawPod } from './objects.ts';
import type { FaultDice } from './random-faults.ts';
import type { World } from './world.ts';

/** A restore is noticed by the Lease, so it goes back behind a renewal, as real ones do. */
const BACKUP_AGE_MIN_MS = 30_000;

/** The rare disturbances of one world. */
export class Disturbances {
  readonly #world: World;
  readonly #dice: FaultDice;
  readonly #names: { readonly nodes: readonly string[]; readonly sets: readonly string[] };
  #backup: { readonly atMs: number; readonly etcd: ClusterBackup } | undefined;

  constructor(
    world: World,
    dice: FaultDice,
    names: { readonly nodes: readonly string[]; readonly sets: readonly string[] },
  ) {
    this.#world = world;
    this.#dice = dice;
    this.#names = names;
    world.observer.allowsAdopted = dice.rare === 'orphans';
  }

  /** One of them happens, if this schedule has any. */
  happen(): void {
    const { rare } = this.#dice;
    this.#dice.note(rare);
    if (rare === 'restore') this.#restore();
    if (rare === 'lose-view') this.#loseView();
    if (rare === 'dead-kubelet') this.#stopKubelet();
    if (rare === 'orphans') this.#makeOrphan();
  }

  #restore(): void {
    const { api, clock } = this.#world;
    const atMs = clock.monotonicMs();
    if (this.#backup === undefined) {
      this.#backup = { atMs, etcd: api.backup() };
    } else if (atMs - this.#backup.atMs > BACKUP_AGE_MIN_MS) {
      api.restore(this.#backup.etcd);
      this.#restartSleepers();
    }
  }

  /** One that slept through the backup as well has no renewal to notice the restore by. */
  #restartSleepers(): void {
    for (const process of [...this.#world.watchers]) {
      if (!process.clock.isFrozen) continue;
      this.#world.stopWatcher(process);
      this.#world.startWatcher();
    }
  }

  #loseView(): void {
    const { host, view, observer } = this.#world;
    // Writers that survive the loss of a table are not what a table is lost with.
    host.killAll();
    view.lose(this.#dice.pick(['', 'META', 'STATE', 'SLICE']));
    observer.forgetView();
  }

  #stopKubelet(): void {
    const { controllers, clock } = this.#world;
    const node = this.#dice.pick(this.#names.nodes);
    controllers.deadNodes.add(node);
    clock.after(this.#dice.between(1000, 60_000), () => {
      controllers.deadNodes.delete(node);
      controllers.lookAtEverything();
    });
  }

  #makeOrphan(): void {
    const { api, clock } = this.#world;
    const name = `orphan-${clock.monotonicMs()}`;
    const [app, node] = [this.#dice.pick(this.#names.sets), this.#dice.pick(this.#names.nodes)];
    // Beside a pod that is there already it would be a second one, made by its user.
    const isTaken = api.list('pods').some((pod) => nodeOf(pod) === node);
    if (!isTaken) api.put('pods', rawPod({ name, app, node }));
  }
}
