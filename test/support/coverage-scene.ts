/**
 * Days of a cluster in which pods fail, nodes join and go, the watcher is silent and the stack is stopped; with the truth beside it.
 *
 * Runs come when something is told and when they are due, as in a stack; heartbeats come each thirteen minutes. One seed decides
 * everything.
 */
import { withStop } from '../../src/core/status/outages.ts';
import type { DaemonSetState } from '../../src/core/model/state.ts';
import { TrueCoverage, trueNodes } from './coverage-truth.ts';
import { ReconcileWorld, phaseOf } from './reconcile-world.ts';

const HEARTBEAT_MS = 780_000;
const DARK_AFTER_MS = 900_000;

/** One cluster over some days. */
export class CoverageScene {
  readonly world: ReconcileWorld;
  readonly truth = new TrueCoverage();
  /** Changes of who is served: each is told some seconds late. */
  changes = 0;
  /** Nodes that joined, and had a pod in time. */
  joined = 0;
  #isHeard = true;
  #isStopped = false;
  #sentAtMs: number;
  #unheardMs = 0;
  #random: () => number;
  #names = 0;

  constructor(seed: number, nodes = 5) {
    this.world = new ReconcileWorld({ nodes });
    this.#random = randomOf(seed);
    this.#sentAtMs = this.world.clock.nowMs();
  }

  get state(): Promise<DaemonSetState | undefined> {
    return this.world.view.readState(this.world.ref);
  }

  /** Until all has settled once: what was before is not counted. */
  async begin(): Promise<void> {
    await this.world.settle();
    this.#sentAtMs = this.world.clock.nowMs();
    this.truth.days.clear();
  }

  /** Plays so many things. */
  async play(count: number): Promise<void> {
    for (let each = 0; each < count; each += 1) {
      const acts = [
        () => this.#breakPod(),
        () => this.#breakPod(),
        () => this.#mendPods(),
        () => this.join(),
        () => this.#leave(),
        () => this.#silence(),
        () => this.#stop(),
      ];
      await acts[Math.floor(this.#random() * acts.length)]?.();
      await this.pass(Math.floor(this.#random() * 4 * 3_600_000));
    }
  }

  /** Time passes; what is due comes. */
  async pass(lengthMs: number, isKnown = true): Promise<void> {
    const untilMs = this.world.clock.nowMs() + lengthMs;
    while (this.world.clock.nowMs() < untilMs) {
      const nowMs = this.world.clock.nowMs();
      await this.#advance(Math.min(60_000, untilMs - nowMs), isKnown);
      const isHeartbeat = this.world.clock.nowMs() - this.#sentAtMs >= HEARTBEAT_MS;
      if (this.#isHeard && isHeartbeat) await this.#tell();
      const dueAtMs = (await this.state)?.dueAtMs ?? Infinity;
      if (!this.#isStopped && dueAtMs <= this.world.clock.nowMs()) await this.world.run();
    }
  }

  async #advance(lengthMs: number, isKnown = true): Promise<void> {
    const { cluster, daemonSet, clock } = this.world;
    const now = trueNodes(cluster, daemonSet);
    this.truth.add(clock.nowMs(), lengthMs, { ...now, isKnown });
    await clock.advance(lengthMs);
  }

  /** What changed is told a second later, and runs look until nothing is left to do. */
  async #react(): Promise<void> {
    this.changes += 1;
    if (!this.#isHeard || this.#isStopped) return;
    for (let round = 0; round < 12; round += 1) {
      await this.#advance(1_000);
      this.world.runKubelets();
      await this.#tell();
      await this.world.run();
    }
  }

  async #tell(): Promise<void> {
    const nowMs = this.world.clock.nowMs();
    const gapMs = nowMs - this.#sentAtMs;
    if (gapMs > DARK_AFTER_MS) this.#unheardMs += gapMs;
    this.#sentAtMs = nowMs;
    await this.world.mirror.sync({ unheardMs: this.#unheardMs });
  }

  async #breakPod(): Promise<void> {
    const running = this.world.pods.filter((pod) => phaseOf(pod) === 'Running');
    const pod = running[Math.floor(this.#random() * running.length)];
    if (pod === undefined) return;
    this.world.cluster.change('pods', { namespace: 'system', name: pod.metadata.name }, (each) => ({
      ...each,
      status: {
        phase: 'Running',
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            lastTransitionTime: new Date(this.world.clock.nowMs()).toISOString(),
          },
        ],
      },
    }));
    await this.#react();
  }

  async #mendPods(): Promise<void> {
    for (const pod of this.world.pods) {
      if (phaseOf(pod) === 'Running') this.world.setPhase(pod.metadata.name, 'Running');
    }
    await this.#react();
  }

  /** A node joins. */
  async join(): Promise<void> {
    this.#names += 1;
    this.world.addNode(`joined-${String(this.#names)}`);
    this.joined += 1;
    await this.#react();
  }

  async #leave(): Promise<void> {
    const { cluster } = this.world;
    const nodes = cluster.list('nodes');
    const node = nodes[Math.floor(this.#random() * nodes.length)];
    if (node === undefined || nodes.length < 3) return;
    cluster.remove('nodes', node.metadata.name);
    cluster.finishTermination();
    await this.#react();
  }

  /** The watcher says nothing for some hours, in which something changes. */
  async #silence(): Promise<void> {
    await this.#react();
    this.#isHeard = false;
    const lengthMs = 3_600_000 + Math.floor(this.#random() * 9 * 3_600_000);
    await this.pass(lengthMs / 2, false);
    await this.#breakPod();
    await this.pass(lengthMs / 2, false);
    this.#isHeard = true;
    await this.#react();
  }

  /** The functions are stopped, as `stack stop` does it. */
  async #stop(): Promise<void> {
    const { freezes, clock } = this.world;
    const fromMs = clock.nowMs();
    this.#isStopped = true;
    const lengthMs = 600_000 + Math.floor(this.#random() * 5 * 3_600_000);
    await this.pass(lengthMs / 2, false);
    await this.#breakPod();
    await this.pass(lengthMs / 2, false);
    await freezes.writeStops(withStop(await freezes.readStops(), [fromMs, clock.nowMs()]));
    this.#isStopped = false;
    await this.#react();
  }
}

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
