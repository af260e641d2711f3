/**
 * Which content counts in this cluster, and its hashes: read at a pace, told beside the DaemonSets that ask for it (ADR 0061).
 *
 * Only for policies with `config`; while there is none it reads nothing, holds nothing, and has not even loaded what reads a
 * policy. Objects are read one after the other, by name: a cluster's ConfigMaps are never listed. A DaemonSet is sent anew
 * when a hash, or what is wrong, changed. One loop, which ends with the epoch; what it knew is read again by the next.
 */
import { defined } from '@rollcall/base/defined.ts';
import { findConfigReferences } from '../../core/config/references.ts';
import type { ConfigReference } from '../../core/config/references.ts';
import type {
  ConfigObservation,
  DaemonSetProjection,
  ObservedConfig,
} from '../../core/model/projections.ts';
import { POLICY_ANNOTATION } from '../../core/policy/rollout-policy.ts';
import type { ConfigSource, NamespacedConfig } from '../../ports/cluster/config-source.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { PolicyReader } from '../../ports/rollout-policy.ts';
import { Alarm } from '../pace/alarm.ts';
import type { SlimObject } from '../project/projection.ts';
import { readContent, readKey } from './content-reader.ts';
import type { KnownContent, KnownKey } from './content-reader.ts';

/** What the watcher is given to read content with; without it no content is read. */
export interface ContentPorts {
  readonly source: ConfigSource;
  /** Loaded when the first policy asks for content. */
  readonly loadPolicies: () => Promise<PolicyReader>;
}

/** Where DaemonSets are, and who hears that one has to be sent anew. */
export interface ContentStore {
  daemonSets(): Iterable<SlimObject>;
  replace(slim: SlimObject): void;
}

/** How often each object is looked at: about as late as a kubelet sees a change of what it mounts. */
const PACE_MS = 60_000;
/** Before a round, whoever asks for one. */
const ROUND_MS_MIN = 2_000;
/** While nobody asks for content. */
const IDLE_MS = 6 * 3_600_000;

/** Reads what counts. */
export class ContentKeeper {
  readonly #on: ContentPorts & ProcessPorts;
  readonly #store: ContentStore;
  readonly #alarm: Alarm;
  readonly #known = new Map<string, KnownContent>();
  #key: KnownKey = { key: undefined };
  #policies: PolicyReader | undefined;

  constructor(on: ContentPorts & ProcessPorts, store: ContentStore) {
    this.#on = on;
    this.#store = store;
    this.#alarm = new Alarm(on.clock);
  }

  /** The DaemonSet with what is known of its content; one that asks for some is read for soon. */
  attach(slim: SlimObject): SlimObject {
    const { projection } = slim;
    if (projection.kind !== 'DaemonSet' || !mayAsk(projection)) return slim;
    const references = this.#referencesOf(projection);
    if (references?.length === 0) return slim;
    if (references?.every((each) => this.#known.has(keyOf(projection, each))) !== true) {
      this.#alarm.ring();
    }
    return this.#attached(slim, projection, references);
  }

  /** Reads, at the pace, until the signal. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#on;
    signal.addEventListener('abort', () => {
      this.#alarm.ring();
    });
    let dueMs = clock.monotonicMs() + IDLE_MS;
    while (!signal.aborted) {
      await this.#alarm.sleepUntil(dueMs);
      // Who rang is in the store only after this: a list is put there as a whole.
      await clock.sleep(ROUND_MS_MIN, signal);
      if (signal.aborted) return;
      const isAsked = await this.#round(signal).catch((cause: unknown) => {
        this.#on.metrics.count('WatcherBugs', { outcome: 'content' });
        this.#on.log.error('content could not be looked at', {}, cause);
        return true;
      });
      dueMs = clock.monotonicMs() + (isAsked ? PACE_MS - ROUND_MS_MIN : IDLE_MS);
    }
  }

  /** One look at everything that counts; false: nothing does. */
  async #round(signal: AbortSignal): Promise<boolean> {
    const asking = [...this.#store.daemonSets()].flatMap(({ projection }) =>
      projection.kind === 'DaemonSet' && mayAsk(projection) ? [projection] : [],
    );
    if (asking.length === 0) {
      this.#known.clear();
      return false;
    }
    this.#policies ??= await this.#on.loadPolicies();
    const wanted = this.#wanted(asking);
    for (const key of this.#known.keys()) if (!wanted.has(key)) this.#known.delete(key);
    if (wanted.size === 0) return false;
    await this.#readAll(wanted, signal);
    for (const slim of [...this.#store.daemonSets()]) this.#tell(slim);
    return true;
  }

  async #readAll(
    wanted: ReadonlyMap<string, NamespacedConfig>,
    signal: AbortSignal,
  ): Promise<void> {
    const before = this.#key;
    this.#key = await readKey(before, this.#on.source);
    // Content is not kept: under another key all of it is read again.
    if (idOf(before) !== idOf(this.#key)) this.#known.clear();
    const { key } = this.#key;
    for (const [name, of] of wanted) {
      if (signal.aborted) return;
      if (key === undefined || key === 'none') this.#known.set(name, {});
      else
        this.#known.set(
          name,
          await readContent(of, this.#known.get(name) ?? {}, { ...this.#on, key }),
        );
    }
  }

  #wanted(asking: readonly DaemonSetProjection[]): ReadonlyMap<string, NamespacedConfig> {
    const wanted = new Map<string, NamespacedConfig>();
    for (const projection of asking) {
      const { namespace } = projection;
      for (const { kind, name } of this.#referencesOf(projection) ?? []) {
        wanted.set(keyOf(projection, { kind, name }), { kind, namespace, name });
      }
    }
    return wanted;
  }

  /** Sends it anew, if something else is known of its content. */
  #tell(slim: SlimObject): void {
    const { projection } = slim;
    if (projection.kind !== 'DaemonSet') return;
    if (!mayAsk(projection) && projection.config === undefined) return;
    const references = mayAsk(projection) ? this.#referencesOf(projection) : [];
    // Equal ones are left out by the store.
    this.#store.replace(this.#attached(slim, projection, references));
  }

  #attached(
    slim: SlimObject,
    projection: DaemonSetProjection,
    references: readonly ConfigReference[] | undefined,
  ): SlimObject {
    const { config: _before, ...rest } = projection;
    const config = references === undefined ? undefined : this.#observe(projection, references);
    return { ...slim, projection: { ...rest, ...defined({ config }) } };
  }

  /** What is known; undefined before the first look at the key, or where nothing counts. */
  #observe(
    of: DaemonSetProjection,
    references: readonly ConfigReference[],
  ): ObservedConfig | undefined {
    const { key } = this.#key;
    if (key === undefined || references.length === 0) return undefined;
    const objects = references.map(({ kind, name }): ConfigObservation => {
      const { hash, problem } = this.#known.get(keyOf(of, { kind, name })) ?? {};
      return { kind, name, ...defined({ hash, problem }) };
    });
    return { ...(key === 'none' ? {} : { key: key.id }), objects };
  }

  /** Undefined: nobody can tell yet, as no policy was read so far. */
  #referencesOf({ object }: DaemonSetProjection): readonly ConfigReference[] | undefined {
    if (this.#policies === undefined) return undefined;
    const reading = this.#policies.read(object.metadata.annotations?.[POLICY_ANNOTATION]);
    if (reading.kind !== 'policy' || reading.policy.config === undefined) return [];
    return findConfigReferences(object, reading.policy.config).references;
  }
}

/** A word that a policy with content has in it; most have not, and cost a look at a text. */
function mayAsk({ object }: DaemonSetProjection): boolean {
  const text: unknown = object.metadata.annotations?.[POLICY_ANNOTATION];
  return typeof text === 'string' && text.includes('config');
}

function keyOf(
  { namespace }: Pick<DaemonSetProjection, 'namespace'>,
  { kind, name }: Pick<ConfigReference, 'kind' | 'name'>,
): string {
  return `${kind}/${namespace}/${name}`;
}

function idOf({ key }: KnownKey): string | undefined {
  return key === undefined || key === 'none' ? key : key.id;
}
