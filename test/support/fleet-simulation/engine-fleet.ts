/**
 * A fleet whose clusters are run by the engine: real watchers, `ingest`, `reconcile` and `resync` of every cluster, and the real `stepFleets`
 * above them, on one virtual clock and the same tables (issue 18).
 *
 * Steps of fleets come each minute, as their schedule does. API servers, kubelets and schedulers are those of the simulation. What is
 * harmed is counted on the API servers alone: no view and no record is believed.
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { createFleetReader } from '../../../src/adapters/policy/fleet/fleet-reader.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { applyFleet } from '../../../src/app/fleet/apply-fleet.ts';
import type { StepFleetsDependencies } from '../../../src/app/fleet/observe/dependencies.ts';
import { giveOrder } from '../../../src/app/rollout/give-order.ts';
import { stepFleets } from '../../../src/app/fleet/step/step-fleets.ts';
import { applyFleetOrder, orderedOf } from '../../../src/core/fleet/rollout/apply-fleet-order.ts';
import type { FleetRecord } from '../../../src/core/fleet/rollout/fleet-record.ts';
import { wayBackOf } from '../../../src/core/fleet/rollout/way-back.ts';
import { resumeOf, type RolloutOrder } from '../../../src/core/rollout/orders.ts';
import { FleetWorld, type FleetMember, type MemberOptions } from '../isolation/fleet-world.ts';
import { fleetDocument } from '../fleet-samples.ts';
import { MemoryFleetRolloutStore } from '../memory-fleet-rollout-store.ts';
import { RegistryInProcess } from '../registry-in-process.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { noHolder } from '../rollout-stores.ts';
import { startBuiltIn } from '../simulation/copilot-world.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { phaseOf } from '../simulation/controllers.ts';
import { imageOf } from '../simulation/look.ts';

/** The FleetDaemonSet of these worlds. */
const FLEET_KEY = { namespace: 'ns', name: 'agent' };
const MINUTE_MS = 60_000;
/** A turn of the schedule may take so long. */
const TURN_MAX_MS = 55_000;

/** What its releases have in common. */
export interface FleetTemplate {
  readonly nodeSelector?: JsonObject;
  readonly overrides?: readonly JsonObject[];
  readonly strategy: JsonObject;
}

/** The clusters, and the function `fleet` above them. */
export class EngineFleet extends FleetWorld {
  readonly rollouts = new MemoryFleetRolloutStore();
  readonly fleets = new RegistryInProcess().fleets;
  readonly told: string[] = [];
  readonly #template: FleetTemplate;
  readonly #failures: unknown[] = [];
  readonly #metrics = new MemoryMetrics();
  readonly #log = new MemoryLog();

  constructor(template: FleetTemplate) {
    super();
    this.#template = template;
    this.#scheduleSteps();
  }

  /** Clusters of these names, alike, whose watchers have told of them. */
  static async start(
    template: FleetTemplate,
    clusters: readonly (Omit<MemberOptions, 'daemonSets'> & Partial<MemberOptions>)[],
  ): Promise<EngineFleet> {
    const world = new EngineFleet(template);
    for (const one of clusters) world.add({ daemonSets: 0, ...one });
    await world.clock.advance(MINUTE_MS);
    return world;
  }

  /** Applies a release of this image, as an operator or GitOps does; `settings` names the ConfigMap that its pods mount. */
  async release(image: string, strategy: JsonObject = {}, settings?: string): Promise<void> {
    const { nodeSelector, overrides = [], strategy: usual } = this.#template;
    const document = {
      ...fleetDocument({
        template: templateOf(image, { nodeSelector, settings }),
        overrides,
        strategy: { ...usual, ...strategy },
      }),
      metadata: FLEET_KEY,
    };
    const reader = createFleetReader();
    const reading = reader.readDocument(document);
    assert.equal(reading.kind, 'fleet', JSON.stringify(reading));
    const { fleets, rollouts, registry, random } = this;
    const application = {
      fleet: reading.fleet,
      document,
      by: 'ann',
      nowMs: this.clock.nowMs(),
    };
    const applied = await applyFleet(application, { fleets, rollouts, registry, reader, random });
    assert.ok(['created', 'changed'].includes(applied.kind), JSON.stringify(applied));
  }

  /** Orders every cluster back, as `rollcall fleet undo` does. */
  async undo(): Promise<void> {
    const record = await this.record();
    const to = String(wayBackOf(record)?.generation);
    await this.#order(record, { kind: 'undo', release: String(record.release.generation), to });
  }

  /** Overrules what halts it, as `rollcall fleet resume` does. */
  async resume(): Promise<void> {
    const record = await this.record();
    await this.#order(record, resumeOf(orderedOf(record), 'it is mended'));
  }

  /** Overrules the halt of its own rollout in one cluster, as `rollcall rollout resume` does. */
  async resumeIn(name: string): Promise<void> {
    const { view, registry, freezes, clock, random } = this;
    const key = {
      cluster: this.member(name).id,
      namespace: FLEET_KEY.namespace,
      name: FLEET_KEY.name,
    };
    const hints = { sendHints: () => Promise.resolve() };
    const outcome = await giveOrder(
      { key, by: 'ann', ask: { kind: 'resume', overrules: 'it is mended' } },
      {
        view,
        registry,
        freezes,
        policies: createPolicyReader(),
        hints,
        clock,
        random,
        holderOf: noHolder,
      },
    );
    assert.equal(outcome.kind, 'given', JSON.stringify(outcome));
  }

  async #order(record: FleetRecord, order: RolloutOrder): Promise<void> {
    const note = { by: 'ann', atMs: this.clock.nowMs() };
    const result = applyFleetOrder(record, order, note);
    assert.equal(result.kind, 'changed', JSON.stringify(result));
    await this.rollouts.writeRecord(result.record);
  }

  /** Its record as stored. */
  async record(): Promise<FleetRecord> {
    const record = await this.rollouts.readRecord(FLEET_KEY);
    assert.ok(record !== undefined, 'no step was made');
    return record;
  }

  /** Minutes pass until its record is so. */
  async until(
    what: string,
    isSo: (record: FleetRecord) => boolean,
    minutesMax = 600,
  ): Promise<FleetRecord> {
    for (let minute = 0; minute < minutesMax; minute += 1) {
      const record = await this.rollouts.readRecord(FLEET_KEY);
      if (record !== undefined && isSo(record)) return record;
      await this.minutes(1);
    }
    const { gate, stage, counts, breach } = await this.record();
    const found = JSON.stringify({
      gate,
      stage,
      counts,
      breach,
      pool: (await this.record()).pool,
      told: this.told.slice(-5),
    });
    throw new Error(`${what} within ${String(minutesMax)} minutes: ${found}`);
  }

  /** Time passes; nothing may be broken meanwhile. */
  async minutes(count: number): Promise<void> {
    await this.clock.advance(count * MINUTE_MS);
    this.assertSafe();
    assert.deepEqual(this.#failures, []);
  }

  /** Pods of an image, by cluster: those that stay. */
  podsOf(name: string, image?: string): readonly KubernetesObject[] {
    const { api } = this.member(name).site;
    return api
      .list('pods')
      .filter(
        (pod) =>
          pod.metadata.deletionTimestamp === undefined &&
          (image === undefined || imageOf(pod) === image),
      );
  }

  /** Nodes of a cluster with a pod that runs. */
  runningNodes(name: string, image?: string): number {
    const running = this.podsOf(name, image).filter((pod) => phaseOf(pod) === 'Running');
    return new Set(running.map(nodeOf)).size;
  }

  /** The built-in controller is at work in it, and Rollcall its copilot, which may restore a template. */
  async enterCopilot(name: string): Promise<void> {
    const { id, site, observer } = this.member(name);
    const { clock } = this;
    startBuiltIn({ site, observer, clock }, { mayRestore: true, listed: [FLEET_KEY.name] });
    const registration = await this.registry.readCluster(id);
    assert.ok(registration !== undefined);
    this.registry.seed({ ...registration, mode: 'copilot' });
    site.copilot.noteMode('copilot');
  }

  member(name: string): FleetMember {
    const found = [...this.members.values()].find(({ id }) => id === name);
    assert.ok(found !== undefined, `no cluster ${name}`);
    return found;
  }

  /** Deletes of pods that were sent to a cluster from now on, by name. */
  watchDeletes(name: string): readonly string[] {
    const { hooks } = this.member(name).site.api;
    const deleted: string[] = [];
    const { onPodDelete } = hooks;
    hooks.onPodDelete = (pod) => {
      deleted.push(pod.metadata.name);
      onPodDelete?.(pod);
    };
    return deleted;
  }

  #scheduleSteps(): void {
    this.clock.after(MINUTE_MS, () => {
      const deadlineMs = this.clock.monotonicMs() + TURN_MAX_MS;
      void stepFleets({ deadlineMs }, this.#dependencies()).catch((error: unknown) => {
        this.#failures.push(error);
      });
      this.#scheduleSteps();
    });
  }

  #dependencies(): StepFleetsDependencies {
    const { clock, random, fleets, rollouts, registry, freezes, view } = this;
    return {
      ...{ clock, random, fleets, rollouts, registry, freezes, view },
      log: this.#log,
      metrics: this.#metrics,
      reader: createFleetReader(),
      connector: {
        connect: (registration) => {
          const { site, observer } = this.member(registration.id);
          const facts = { key: FLEET_KEY, registration, burstPodsMax: 250 };
          const access = observer.watchAccess(site.api, site.api, facts);
          return Promise.resolve({ kind: 'connected', access });
        },
        forget: () => undefined,
      },
      notifier: {
        tell: (decisions) => {
          for (const { kind, message } of decisions) this.told.push(`${kind}: ${message}`);
          return Promise.resolve();
        },
        show: () => Promise.resolve(),
        hide: () => Promise.resolve('hidden'),
      },
    };
  }
}

function templateOf(
  image: string,
  {
    nodeSelector,
    settings,
  }: { readonly nodeSelector: JsonObject | undefined; readonly settings: string | undefined },
): JsonObject {
  const volumes = [{ name: 'settings', configMap: { name: settings ?? '' } }];
  const rollingUpdate = { maxUnavailable: 2, maxSurge: 0 };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: {
          containers: [{ name: 'main', image }],
          ...(nodeSelector === undefined ? {} : { nodeSelector }),
          ...(settings === undefined ? {} : { volumes }),
        },
      },
    },
  };
}
