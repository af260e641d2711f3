/**
 * The built-in DaemonSet controller at work beside us, on virtual time: when it syncs, and with what in its caches.
 *
 * It reacts to commits after a delay. It may be away for an hour, slow for minutes, or there twice: then a sync also goes by
 * what the caches held when it was asked for, as that of a leader that does not know yet that it is none. What it does
 * in a sync is in built-in-sync.ts.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import { syncBuiltIn, type BuiltInDesk, type ObservedCluster } from './built-in-sync.ts';

export interface BuiltInSurroundings {
  readonly clock: Clock;
  readonly deletePod: (pod: KubernetesObject) => void;
  /** Hears of each pod that it makes. */
  readonly onMade: (pod: KubernetesObject) => void;
}

const SYNC_MS = 20;
/** How long it waits after a create that was refused. */
const RETRY_MS = 2000;
const KINDS: readonly string[] = ['pods', 'nodes', 'daemonsets', 'controllerrevisions'];

export class BuiltInLoop {
  /** How long after a change it syncs. */
  delayMs: () => number = () => SYNC_MS;
  /** True: another one does the same by older caches. */
  isTwofold = false;
  /** Names of pods that it made. */
  readonly made = new Set<string>();
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #desk: BuiltInDesk;
  /** Names of DaemonSets that are to be synced. */
  readonly #pending = new Set<string>();
  /** Why it stands still: it has no leader, or somebody switched it off. */
  readonly #away = new Set<'leaderless' | 'switched-off'>();

  constructor(api: SimulatedApiServer, { clock, deletePod, onMade }: BuiltInSurroundings) {
    this.#api = api;
    this.#clock = clock;
    this.#desk = {
      api,
      deletePod,
      nowMs: () => clock.nowMs(),
      nextName: (daemonSet) => `${daemonSet}-x${String(this.made.size).padStart(5, '0')}`,
      onMade: (pod) => {
        this.made.add(pod.metadata.name);
        onMade(pod);
      },
    };
    api.subscribe((commit) => {
      this.#note(commit);
    });
  }

  /** It stands still. */
  leave(why: 'leaderless' | 'switched-off'): void {
    this.#away.add(why);
  }

  /** It is back, unless another reason keeps it, and lists everything. */
  comeBack(why: 'leaderless' | 'switched-off'): void {
    this.#away.delete(why);
    this.#note(undefined);
  }

  #note(commit: Commit | undefined): void {
    if (this.#away.size > 0 || (commit !== undefined && !KINDS.includes(commit.kind))) return;
    for (const { metadata } of this.#api.list('daemonsets')) this.#poke(metadata.name);
  }

  #poke(name: string, delayMs = this.delayMs()): void {
    if (this.#pending.has(name)) return;
    this.#pending.add(name);
    const older = this.isTwofold ? this.#look() : undefined;
    this.#clock.after(delayMs, () => {
      this.#pending.delete(name);
      if (this.#away.size > 0) return;
      const key = { namespace: 'ns', name };
      if (older !== undefined) syncBuiltIn(this.#desk, key, older);
      const { isRefused, againInMs } = syncBuiltIn(this.#desk, key, this.#look());
      if (isRefused) this.#poke(name, RETRY_MS);
      else if (againInMs !== undefined) this.#poke(name, againInMs);
    });
  }

  #look(): ObservedCluster {
    return { pods: this.#api.list('pods'), nodes: this.#api.list('nodes') };
  }
}
