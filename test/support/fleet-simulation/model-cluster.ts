/**
 * One cluster of a fleet's simulation: an API server with one DaemonSet, the staged rollout inside it, and the view of both.
 *
 * The rollout is a compact model with its own pace and failures. What it shows is what the engine's would: a RolloutRecord and a
 * DaemonSet's status, as of some while ago, and nothing new while the cluster is out of reach.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { startTrial } from '../../../src/core/health/trial.ts';
import type { FleetManifest } from '../../../src/core/fleet/fleet-daemon-set.ts';
import { imagesOf } from '../../../src/core/fleet/plan-cluster.ts';
import { clusterId, clusterUid, nodeName } from '../../../src/core/model/identifiers.ts';
import type { ClusterMode } from '../../../src/core/model/registration.ts';
import type { BreachCause, RolloutRecord } from '../../../src/core/model/rollout-record.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';

export type Harm = 'start-failure' | 'late-restarts' | 'silence';

export interface ClusterTraits {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly mode: ClusterMode;
  readonly nodes: number;
  /** Soak of its canary. */
  readonly canaryMs: number;
  readonly nodesPerMinute: number;
  /** By how much its view lags. */
  readonly lagMs: number;
}

/** Somebody who sets the image back. */
export interface Rival {
  readonly image: string;
  readonly delayMs: number;
  turnsLeft: number;
}

interface Rolling {
  readonly hash: string;
  readonly startedAtMs: number;
  readonly former: string | undefined;
  kind: RolloutRecord['step']['kind'];
  updated: number;
  breach?: BreachCause;
  provenAtMs?: number;
  soakedAtMs?: number;
}

interface Shown {
  readonly atMs: number;
  readonly object: DaemonSetObject | undefined;
}

const MINUTE_MS = 60_000;

export function imageOf(manifest: object): string {
  return [...imagesOf(manifest as never).values()].join();
}

/** A cluster. */
export class ModelCluster {
  readonly traits: ClusterTraits;
  readonly id: ReturnType<typeof clusterId>;
  clusterUid: ReturnType<typeof clusterUid>;
  nodes: number;
  /** It was scaled to nothing: there is not one node, selected or not. */
  hasNoMachines = false;
  /** Of these so many are not Ready. */
  downNodes = 0;
  /** What the API server holds. */
  object: DaemonSetObject | undefined;
  rolling: Rolling | undefined;
  isOffline = false;
  /** A release took it off the network; nobody brings it back. */
  isSilenced = false;
  /** Its registration is frozen: nobody may touch it, and it does not count. */
  isFrozen = false;
  /** What its API server refuses every apply with, dry run or not: a missing right, admission, a quota. Absent: nothing. */
  refusal: string | undefined;
  /** Its view lost a message, and is not whole. */
  isUnclear = false;
  heardAtMs: number;
  rival: Rival | undefined;
  /** What an image does here. */
  harmOf: (image: string) => Harm | undefined = () => undefined;
  /** Nodes that it selects; absent: all of the cluster. */
  nodesOf: ((image: string) => number) | undefined;
  /** Every image that a pod of it ran here. */
  readonly ran = new Set<string>();
  /** When it was last out of reach. */
  outOfReachAtMs = -Infinity;
  #version = 100;
  readonly #history: Shown[] = [];
  #seen: Shown = { atMs: 0, object: undefined };

  constructor(traits: ClusterTraits, nowMs: number) {
    this.traits = traits;
    this.id = clusterId(traits.id);
    this.clusterUid = clusterUid(`uid-of-${traits.id}`);
    this.nodes = traits.nodes;
    this.heardAtMs = nowMs;
  }

  /** Of the DaemonSet that it holds. */
  image: string | undefined;

  /** True where the release that it holds is through: as far as was asked for. */
  get isThrough(): boolean {
    const { rolling } = this;
    if (rolling === undefined || rolling.breach !== undefined) return false;
    return rolling.kind === 'done' || (this.#isPartial && rolling.soakedAtMs !== undefined);
  }

  get #isPartial(): boolean {
    return (this.object?.metadata.annotations?.[POLICY_ANNOTATION] ?? '').includes('after-canary');
  }

  /** As an API server does: a generation for what changes the spec, a version for what changes anything. */
  apply(manifest: FleetManifest, nowMs: number): DaemonSetObject {
    const former = this.object;
    const { annotations: before, generation = 0, uid = '' } = former?.metadata ?? {};
    const annotations = { ...before, ...annotationsOf(manifest) };
    const spec = { ...former?.spec, ...manifest.spec };
    const isSpecSame = isSameJson(spec, former?.spec);
    if (former !== undefined && isSpecSame && isSameJson(annotations, before)) return former;
    this.#version += 1;
    const metadata = {
      ...manifest.metadata,
      uid: uid === '' ? `ds-${this.traits.id}-${String(this.#version)}` : uid,
      resourceVersion: String(this.#version),
      generation: generation + (isSpecSame ? 0 : 1),
      annotations,
    };
    return this.#hold({ ...manifest, metadata, spec }, nowMs);
  }

  #hold(object: DaemonSetObject, nowMs: number): DaemonSetObject {
    this.object = object;
    this.image = imageOf(object);
    this.nodes = this.nodesOf?.(this.image) ?? this.nodes;
    this.#history.push({ atMs: nowMs, object });
    return object;
  }

  /** Another cluster under its id. */
  rebuild(nowMs: number): void {
    this.clusterUid = clusterUid(`uid-of-${this.traits.id}-${String(nowMs)}`);
    this.object = undefined;
    this.image = undefined;
    this.rolling = undefined;
    this.#history.length = 0;
    this.#seen = { atMs: nowMs, object: undefined };
  }

  /** What the view shows of its DaemonSet, without a status. */
  get seen(): DaemonSetObject | undefined {
    return this.#seen.object;
  }

  /** Goes on to this time. */
  tick(nowMs: number): void {
    if (this.isOffline || this.isSilenced) {
      this.outOfReachAtMs = nowMs;
      return;
    }
    this.#takeBack(nowMs);
    this.#roll(nowMs);
    this.heardAtMs = nowMs;
    const until = nowMs - this.traits.lagMs;
    while (this.#history[0] !== undefined && this.#history[0].atMs <= until) {
      this.#seen = this.#history.shift() ?? this.#seen;
    }
  }

  #takeBack(nowMs: number): void {
    const { rival, object } = this;
    if (rival === undefined || object === undefined || rival.turnsLeft <= 0) return;
    const changedAtMs = this.#history.at(-1)?.atMs ?? this.#seen.atMs;
    if (this.image === rival.image || nowMs - changedAtMs < rival.delayMs) return;
    rival.turnsLeft -= 1;
    const text = JSON.stringify(object).replaceAll(this.image ?? '', rival.image);
    const { metadata, ...rest } = JSON.parse(text) as FleetManifest;
    this.apply({ ...rest, metadata: { ...metadata } } as FleetManifest, nowMs);
  }

  #roll(nowMs: number): void {
    const { image } = this;
    if (image === undefined) return;
    if (this.rolling?.hash !== image) {
      const former =
        this.rolling?.provenAtMs === undefined ? this.rolling?.former : this.rolling.hash;
      this.rolling = { hash: image, startedAtMs: nowMs, former, kind: 'waiting', updated: 0 };
      if (former === image) this.rolling.provenAtMs = nowMs;
    }
    const { rolling } = this;
    if (rolling.breach !== undefined) return;
    const ageMs = nowMs - rolling.startedAtMs;
    if (ageMs < MINUTE_MS) return;
    this.#move(rolling, ageMs, nowMs);
    if (rolling.updated > 0) {
      this.ran.add(image);
      this.#harm(rolling, ageMs);
    }
  }

  #move(rolling: Rolling, ageMs: number, nowMs: number): void {
    if (this.nodes === 0) {
      rolling.updated = 0;
      rolling.kind = 'done';
      return;
    }
    // Back to what was proven: nothing soaks.
    const isBack = rolling.former === rolling.hash;
    const goesOnMs = isBack ? MINUTE_MS : MINUTE_MS + this.traits.canaryMs;
    if (ageMs < goesOnMs) {
      rolling.kind = 'canary';
      rolling.updated = Math.min(1, this.nodes);
      return;
    }
    rolling.soakedAtMs ??= nowMs;
    // A person, or the next stage of the fleet, has to agree: until then nothing is proven.
    if (this.#isPartial && rolling.provenAtMs === undefined) {
      rolling.kind = 'canary';
      rolling.updated = Math.min(1, this.nodes);
      return;
    }
    rolling.provenAtMs ??= nowMs;
    const more = Math.floor(((ageMs - goesOnMs) / MINUTE_MS) * this.traits.nodesPerMinute);
    rolling.updated = Math.min(this.nodes, 1 + more);
    rolling.kind = rolling.updated === this.nodes ? 'done' : 'group';
  }

  #harm(rolling: Rolling, ageMs: number): void {
    const harm = this.harmOf(rolling.hash);
    if (harm === 'silence' && ageMs > 2 * MINUTE_MS) this.isSilenced = true;
    if (harm === 'start-failure' && ageMs > 2 * MINUTE_MS) rolling.breach = 'StartFailure';
    if (harm === 'late-restarts' && ageMs > 25 * MINUTE_MS) rolling.breach = 'Restarts';
  }

  /** Its record, as state shows it. */
  record(): RolloutRecord | undefined {
    const { rolling } = this;
    if (rolling === undefined) return undefined;
    const { hash, startedAtMs, kind, updated, breach, provenAtMs, soakedAtMs } = rolling;
    return {
      hash,
      id: hash,
      good: [],
      startedAtMs,
      baseNodes: this.nodes,
      step: {
        kind,
        name: '',
        index: 0,
        openedAtMs: startedAtMs,
        progressedAtMs: startedAtMs,
        updatedNodes: updated,
        ...(kind === 'canary' && soakedAtMs !== undefined ? { soakedAtMs } : {}),
      },
      canary: [nodeName('n0')],
      isReturn: rolling.former === hash,
      ...(rolling.former === hash ? {} : { triedAtMs: startedAtMs }),
      trial: startTrial([], startedAtMs),
      restarts: 0,
      seenView: 'e1',
      refused: [],
      orders: {},
      ...(provenAtMs === undefined ? {} : { proven: { hash, provenAtMs, isBaseline: false } }),
      ...(breach === undefined
        ? {}
        : {
            breach: {
              cause: breach,
              atMs: startedAtMs,
              message: 'as planned',
              nodes: [nodeName('n0')],
            },
          }),
    };
  }
}

function isSameJson(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function annotationsOf({ metadata }: FleetManifest): Readonly<Record<string, string>> {
  const { annotations } = metadata;
  return (annotations ?? {}) as Readonly<Record<string, string>>;
}
