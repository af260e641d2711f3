/**
 * Shows fleets in the cluster that an operator named (ADR 0066): object first, then its status.
 * An object that is shown already costs nothing; a failed write is tried again with the next turn, ever more
 * seldom. A failure is logged and noted once when it begins and once when it ends. An outage of the
 * cluster pauses all of its mirrors, a refusal of one object that one alone.
 */
import { isJsonObject, isSameJson, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { boundedText } from '../../../core/fleet/told/fleet-conditions.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { formatFleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetMirror, MirrorTrouble } from '../../../core/fleet/told/fleet-mirror.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type {
  MirrorAccess,
  MirrorConnector,
  MirrorWrite,
} from '../../../ports/cluster/cluster-access.ts';
import type { ProcessPorts } from '../../../ports/process.ts';
import type { FleetMirrorStore } from '../../../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import {
  formerConditions,
  mirrorObject,
  mirrorStatus,
} from '../../../core/fleet/told/fleet-facts.ts';

export interface MirrorOptions {
  readonly mirrors: FleetMirrorStore;
  readonly registry: Pick<RegistryStore, 'readCluster'>;
  readonly connector: MirrorConnector;
  /** Of the warm process. */
  readonly memory: MirrorMemory;
}

type Fleet = Pick<FleetRecord, 'namespace' | 'name' | 'uid'>;
type Failure = Pick<MirrorTrouble, 'code' | 'message'> & { readonly isOfAll: boolean };

/** How long the setting is taken as it was read. */
const SETTING_MS = 60_000;
/** Then an object is looked at again, although nothing changed: a user may have removed it. */
export const LOOK_AGAIN_MS = 3_600_000;
const FIRST_PAUSE_MS = 60_000;
const PAUSE_MS_MAX = 900_000;
const ALL = '';
/** Before the name of one whose mirror is to be removed. */
const GONE = 'gone ';
const TROUBLE_CHARACTERS_MAX = 500;

export class MirrorShow {
  readonly #options: MirrorOptions;
  readonly #process: Pick<ProcessPorts, 'clock' | 'log' | 'metrics'>;

  constructor(options: MirrorOptions, process: Pick<ProcessPorts, 'clock' | 'log' | 'metrics'>) {
    this.#options = options;
    this.#process = process;
  }

  async show(record: FleetRecord): Promise<void> {
    const nowMs = this.#process.clock.nowMs();
    const cluster = await this.#cluster(nowMs);
    if (cluster === undefined || this.#isShown(record, cluster, nowMs)) return;
    if (this.#isPaused(record, nowMs)) return;
    const outcome = await this.#attempt(record, cluster, (mirrors) =>
      writeMirror(record, mirrors, nowMs),
    );
    if (outcome !== 'done') return;
    const { uid, version } = record;
    remember(this.#options.memory.shown, formatFleetKey(record), {
      ...{ cluster, uid, version },
      atMs: nowMs,
    });
  }

  /**
   * Removes what was shown of a fleet. The first attempt waits for no pause of others; what failed is asked for again, as seldom as all
   * else, until it is removed or an operator names another cluster or none.
   */
  async hide(fleet: Fleet): Promise<'hidden' | 'later'> {
    const nowMs = this.#process.clock.nowMs();
    const cluster = await this.#cluster(nowMs);
    if (cluster === undefined) return 'hidden';
    const key = formatFleetKey(fleet);
    const { pauses, shown } = this.#options.memory;
    const own = `${GONE}${key}`;
    if ((pauses.get(own)?.untilMs ?? 0) > nowMs) return 'later';
    shown.delete(key);
    const outcome = await this.#attempt(fleet, cluster, (mirrors) => removeMirror(fleet, mirrors));
    // A cluster that is not registered any more shows nothing of ours that we could reach.
    if (outcome === 'done' || outcome === 'not-registered') {
      pauses.delete(own);
      return 'hidden';
    }
    this.#pause(own);
    return 'later';
  }

  async #cluster(nowMs: number): Promise<ClusterId | undefined> {
    const { memory, mirrors } = this.#options;
    const known = memory.setting;
    if (known === undefined || nowMs - known.readAtMs >= SETTING_MS) {
      memory.setting = { mirror: await mirrors.readMirror(), readAtMs: nowMs };
    }
    return memory.setting?.mirror.cluster;
  }

  #isShown(record: FleetRecord, cluster: ClusterId, nowMs: number): boolean {
    const shown = this.#options.memory.shown.get(formatFleetKey(record));
    return (
      shown?.cluster === cluster &&
      shown.uid === record.uid &&
      shown.version >= record.version &&
      nowMs - shown.atMs < LOOK_AGAIN_MS
    );
  }

  #isPaused(fleet: Fleet, nowMs: number): boolean {
    const { pauses } = this.#options.memory;
    return [ALL, formatFleetKey(fleet)].some((name) => (pauses.get(name)?.untilMs ?? 0) > nowMs);
  }

  /** `done`: the mirror is as it should be. */
  async #attempt(
    fleet: Fleet,
    cluster: ClusterId,
    act: (mirrors: MirrorAccess) => Promise<MirrorShown>,
  ): Promise<'done' | 'changed' | Failure['code']> {
    const key = formatFleetKey(fleet);
    const { pauses } = this.#options.memory;
    const opened = await this.#open(cluster);
    const failure = 'code' in opened ? opened : failureOf(await act(opened));
    if (failure === 'changed') return 'changed';
    if (failure !== undefined) {
      await this.#fail(key, failure);
      return failure.code;
    }
    this.#process.metrics.count('FleetMirrors', { outcome: 'shown' });
    pauses.delete(ALL);
    pauses.delete(key);
    await this.#settle(key);
    return 'done';
  }

  async #open(cluster: ClusterId): Promise<MirrorAccess | Failure> {
    const { registry, connector } = this.#options;
    const registration = await registry.readCluster(cluster);
    const refuse = (code: Failure['code'], message: string): Failure => ({
      ...{ code, message },
      isOfAll: true,
    });
    if (registration === undefined) {
      return refuse('not-registered', `cluster ${cluster} is not registered`);
    }
    if (registration.isFrozen) {
      return refuse('frozen', `cluster ${cluster} is frozen: nothing is written there`);
    }
    const connection = await connector.connectMirror(registration);
    if (connection.kind === 'connected') return connection.mirrors;
    const { refusal } = connection;
    const why = refusal.kind === 'unavailable' ? refusal.message : refusal.kind;
    return refuse('not-connected', `cluster ${cluster} cannot be reached: ${why}`);
  }

  async #fail(key: string, { code, message, isOfAll }: Failure): Promise<void> {
    const { clock, log, metrics } = this.#process;
    const { memory } = this.#options;
    metrics.count('FleetMirrors', { outcome: code });
    const failures = this.#pause(isOfAll ? ALL : key);
    const known = memory.setting?.mirror.trouble;
    const trouble: MirrorTrouble = {
      code,
      message: boundedText(message, TROUBLE_CHARACTERS_MAX),
      sinceMs: clock.nowMs(),
      ...(isOfAll ? {} : { fleet: key }),
    };
    if (known?.code === code && known.fleet === trouble.fleet) return;
    const detail = trouble.message;
    if (failures === 1) log.warn('a fleet cannot be mirrored', { fleet: key, code, detail });
    // Of several troubles the first one is kept until it ends; one of the whole cluster outranks it.
    if (known === undefined || isOfAll) await this.#note(trouble);
  }

  /** How often it failed by now. */
  #pause(about: string): number {
    const { pauses } = this.#options.memory;
    const failures = (pauses.get(about)?.failures ?? 0) + 1;
    const pauseMs = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** (failures - 1));
    remember(pauses, about, { failures, untilMs: this.#process.clock.nowMs() + pauseMs });
    return failures;
  }

  /** A successful write ends the trouble. */
  async #settle(key: string): Promise<void> {
    const known = this.#options.memory.setting?.mirror.trouble;
    if (known === undefined || (known.fleet !== undefined && known.fleet !== key)) return;
    this.#process.log.info('fleets are mirrored again', { fleet: key });
    await this.#note(undefined);
  }

  async #note(trouble: MirrorTrouble | undefined): Promise<void> {
    const { memory, mirrors } = this.#options;
    if (memory.setting === undefined) return;
    const { trouble: _former, ...rest } = memory.setting.mirror;
    const next: FleetMirror = trouble === undefined ? rest : { ...rest, trouble };
    const written = await mirrors.writeMirror(next);
    // After a lost write the stored note is unknown: it is read again, and written with the next failure.
    if (written === 'lost') delete memory.setting;
    else memory.setting = { ...memory.setting, mirror: { ...next, version: next.version + 1 } };
  }
}

/** `changed`: another process showed it meanwhile; what it showed is looked at with the next walk. */
function failureOf(shown: MirrorShown): Failure | 'changed' | undefined {
  if (shown.kind === 'shown') return undefined;
  if (shown.kind === 'changed') return 'changed';
  const { kind: code, message } = shown;
  return { code, message, isOfAll: code === 'unavailable' };
}

type MirrorShown =
  /** It is as the record says, or later. */
  | { readonly kind: 'shown'; readonly writes: number }
  | Exclude<MirrorWrite, { readonly kind: 'written' }>;

async function writeMirror(
  record: FleetRecord,
  mirrors: MirrorAccess,
  nowMs: number,
): Promise<MirrorShown> {
  const read = await mirrors.readMirror(record);
  if (read.kind === 'unavailable') {
    const { isRefused, message } = read;
    return { kind: isRefused ? 'refused' : 'unavailable', message };
  }
  const live = read.kind === 'found' ? read.object : undefined;
  if (live !== undefined && isLater(live, record)) return { kind: 'shown', writes: 0 };
  const wanted = mirrorObject(record);
  const isSame = live !== undefined && isSameJson(live['spec'], wanted['spec']);
  const object: MirrorWrite = isSame
    ? { kind: 'written', object: live }
    : await mirrors.applyMirror(withVersion(wanted, live), 'object');
  if (object.kind !== 'written') return object;
  const status = mirrorStatus(record, {
    former: formerConditions(object.object),
    observedGeneration: generationOf(object.object),
    nowMs,
  });
  const writes = isSame ? 0 : 1;
  if (saysTheSame(object.object['status'], status['status'])) return { kind: 'shown', writes };
  const written = await mirrors.applyMirror(withVersion(status, object.object), 'status');
  return written.kind === 'written' ? { kind: 'shown', writes: writes + 1 } : written;
}

/** Removes the mirror of a FleetDaemonSet that is gone; one of another uid under its name stays. */
async function removeMirror(
  fleet: Pick<FleetRecord, 'namespace' | 'name' | 'uid'>,
  mirrors: MirrorAccess,
): Promise<MirrorShown> {
  const read = await mirrors.readMirror(fleet);
  if (read.kind === 'missing') return { kind: 'shown', writes: 0 };
  if (read.kind === 'unavailable') {
    return { kind: read.isRefused ? 'refused' : 'unavailable', message: read.message };
  }
  if (jsonMember(read.object['spec'], 'uid') !== fleet.uid) return { kind: 'shown', writes: 0 };
  const removed = await mirrors.removeMirror(read.object);
  return removed.kind === 'written' ? { kind: 'shown', writes: 1 } : removed;
}

/** Of the same FleetDaemonSet, with a newer record. */
function isLater(live: JsonObject, record: FleetRecord): boolean {
  const version = jsonMember(live['status'], 'recordVersion');
  const isOurs = jsonMember(live['spec'], 'uid') === record.uid;
  return isOurs && typeof version === 'number' && version > record.version;
}

/** A record that only falls due later has another version, and nothing to tell. */
function saysTheSame(live: Json | undefined, wanted: Json | undefined): boolean {
  const told = (status: Json | undefined): Json | undefined =>
    isJsonObject(status) ? { ...status, recordVersion: 0 } : status;
  return isSameJson(told(live), told(wanted));
}

function withVersion(object: JsonObject, live: JsonObject | undefined): JsonObject {
  const resourceVersion = jsonMember(live?.['metadata'], 'resourceVersion');
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return typeof resourceVersion === 'string'
    ? { ...object, metadata: { ...metadata, resourceVersion } }
    : object;
}

function generationOf(object: JsonObject): number {
  const generation = jsonMember(object['metadata'], 'generation');
  return typeof generation === 'number' ? generation : 0;
}

interface Shown {
  readonly cluster: ClusterId;
  readonly uid: string;
  readonly version: number;
  readonly atMs: number;
}

interface Pause {
  readonly failures: number;
  readonly untilMs: number;
}

/** Of one process. */
export interface MirrorMemory {
  /** The item, as it was read or written last. */
  setting?: { readonly mirror: FleetMirror; readonly readAtMs: number };
  readonly shown: Map<string, Shown>;
  /** By `namespace/name`; '': of the whole cluster. */
  readonly pauses: Map<string, Pause>;
  /** Ids of decisions that the bus took. */
  readonly told: Map<string, true>;
  /** Ids of decisions that the log has. */
  readonly logged: Map<string, true>;
}

/** As of a process that just began. */
export function createMirrorMemory(): MirrorMemory {
  return { shown: new Map(), pauses: new Map(), told: new Map(), logged: new Map() };
}

const FLEETS_MAX = 2000;

/** Sets an entry; the one that was set longest ago goes, where there are too many. */
export function remember<T>(entries: Map<string, T>, key: string, value: T): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > FLEETS_MAX && oldest !== undefined) entries.delete(oldest);
}
