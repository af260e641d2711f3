/**
 * Where the takeover probe and the sentinel stand in tests: one place for one DaemonSet, on a virtual
 * clock, beside users' DaemonSets that are only listed. `observesAfterMs` plays the built-in controller; answers can be replaced by failures.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { LiveRead } from '../../src/ports/cluster/cluster-access.ts';
import type {
  ConditionsWrite,
  HandBackAccess,
  ProbeAccess,
} from '../../src/ports/cluster/hand-back-access.ts';

/** A place for the probe. */
export class ProbePlace implements HandBackAccess {
  /** UIDs that deletes were fenced with; undefined for one without. */
  readonly deleted: (string | undefined)[] = [];
  /** What stands there now. */
  standing: DaemonSetObject | undefined;
  /** What was created last, standing or not. */
  created: DaemonSetObject | undefined;
  observesAfterMs = Infinity;
  createAnswer: LiveRead<never> | undefined;
  readAnswer: LiveRead<never> | undefined;
  /** Users' DaemonSets by name, for whoever hands the cluster back. */
  readonly others = new Map<string, DaemonSetObject>();
  listAnswer: LiveRead<never> | undefined;
  /** Called before conditions are written; answers instead if it says something. */
  onConditions: (name: string) => ConditionsWrite | undefined = () => undefined;
  readonly #clock: Clock;
  #uids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  createDaemonSet(
    probe: Parameters<ProbeAccess['createDaemonSet']>[0],
  ): Promise<LiveRead<DaemonSetObject>> {
    if (this.createAnswer !== undefined) return Promise.resolve(this.createAnswer);
    this.#uids += 1;
    const body = probe.body as unknown as DaemonSetObject; // a DaemonSet, without what a server adds
    const creationTimestamp = new Date(this.#clock.nowMs()).toISOString();
    const uid = `probe-${this.#uids}`;
    this.created = {
      ...body,
      metadata: { ...body.metadata, uid, creationTimestamp, generation: 1 },
    };
    this.standing = this.created;
    return Promise.resolve({ kind: 'found', object: this.created });
  }

  listDaemonSets(): Promise<LiveRead<readonly DaemonSetObject[]>> {
    if (this.listAnswer !== undefined) return Promise.resolve(this.listAnswer);
    return Promise.resolve({ kind: 'found', object: [...this.others.values()] });
  }

  replaceConditions(
    daemonSet: DaemonSetObject,
    conditions: readonly JsonObject[],
  ): Promise<ConditionsWrite> {
    const { name, resourceVersion } = daemonSet.metadata;
    const answer = this.onConditions(name);
    if (answer !== undefined) return Promise.resolve(answer);
    const stored = this.others.get(name);
    if (stored?.metadata.resourceVersion !== resourceVersion) {
      return Promise.resolve({ kind: 'changed' });
    }
    const status = { ...(stored.status as DaemonSetStatus), conditions };
    this.others.set(name, { ...stored, status });
    return Promise.resolve({ kind: 'written' });
  }

  getDaemonSet(key: { readonly name: string }): Promise<LiveRead<DaemonSetObject>> {
    const other = this.others.get(key.name);
    if (other !== undefined) return Promise.resolve({ kind: 'found', object: other });
    // Before anything was created, a failure would keep the probe from being made at all.
    if (this.readAnswer !== undefined && this.created !== undefined) {
      return Promise.resolve(this.readAnswer);
    }
    const { standing } = this;
    if (standing === undefined) return Promise.resolve({ kind: 'missing' });
    const ageMs = this.#clock.nowMs() - Date.parse(standing.metadata.creationTimestamp ?? '');
    if (ageMs < this.observesAfterMs) return Promise.resolve({ kind: 'found', object: standing });
    const status = { observedGeneration: 1 } as DaemonSetStatus; // counters do not matter
    return Promise.resolve({ kind: 'found', object: { ...standing, status } });
  }

  deleteDaemonSet(
    _key: unknown,
    precondition?: { readonly uid: string },
  ): Promise<LiveRead<unknown>> {
    this.deleted.push(precondition?.uid);
    const isIt = precondition === undefined || this.standing?.metadata.uid === precondition.uid;
    if (!isIt) return Promise.resolve({ kind: 'missing' });
    this.standing = undefined;
    return Promise.resolve({ kind: 'found', object: {} });
  }
}
