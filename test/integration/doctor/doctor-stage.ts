/**
 * A local cluster in takeover under the embedded engine, and the doctor as a person runs it.
 *
 * What is broken for a test is broken where the doctor looks (the registration that it reads, an output,
 * a record) or in the cluster itself; the engine goes on.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Transport } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Finding } from '../../../src/app/checks/finding.ts';
import type { Stack } from '../../../src/cli/reach/stack.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import { LOCAL_PROBE_WAIT_MS, startLocalFleet } from '../../../src/engine/local-fleet.ts';
import type { LocalFleet } from '../../../src/engine/local-fleet.ts';
import { openTransport } from '../../../src/engine/reach-cluster.ts';
import { openEngineStack, runOnEngine } from '../../support/engine-commands.ts';
import type { Breakage, CommandRun } from '../../support/engine-commands.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';

/** Deadline of waiting for the cluster to be heard. */
const HEARD_MS = 120_000;

export class DoctorStage {
  readonly engine: Engine;
  readonly id: string;
  readonly admin: Transport;
  readonly kubeconfigFile: string;
  environment: NodeJS.ProcessEnv = {};
  readonly #fleet: LocalFleet;
  readonly #directory: string;
  readonly #clock = createSystemClock();

  private constructor(parts: {
    readonly engine: Engine;
    readonly fleet: LocalFleet;
    readonly directory: string;
  }) {
    const [cluster] = parts.fleet.clusters;
    assert.ok(cluster !== undefined);
    this.engine = parts.engine;
    this.#fleet = parts.fleet;
    this.#directory = parts.directory;
    this.id = cluster.id;
    this.admin = openTransport(cluster, cluster.probe);
    this.kubeconfigFile = path.join(parts.directory, 'kubeconfig');
  }

  /** Starts everything, and waits until the view of the cluster is whole. */
  static async open(): Promise<DoctorStage> {
    const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-doctor-'));
    const log = new MemoryLog();
    const fleet = await startLocalFleet({
      clusterCount: 1,
      nodesPerCluster: 2,
      port: 0,
      isCold: false,
      mode: 'takeover',
      manifests: [],
      log,
      logLevel: 'info',
      onFailure: (error) => {
        throw error;
      },
    });
    const engine = await startEngine({
      clusters: fleet.clusters,
      log,
      metrics: new MemoryMetrics(),
      probeWaitMs: LOCAL_PROBE_WAIT_MS,
    });
    const stage = new DoctorStage({ engine, fleet, directory });
    await writeFile(stage.kubeconfigFile, fleet.kubeconfig, { mode: 0o600 });
    await stage.#untilWhole();
    return stage;
  }

  async #untilWhole(): Promise<void> {
    const [uid] = this.engine.clusterUids.values();
    assert.ok(uid !== undefined);
    const endMs = this.#clock.monotonicMs() + HEARD_MS;
    while ((await this.engine.view.readMeta(uid))?.isComplete !== true) {
      assert.ok(this.#clock.monotonicMs() < endMs, 'the view never became whole');
      await this.#clock.sleep(50);
    }
  }

  /** Stops everything. */
  async close(): Promise<void> {
    this.admin.retire();
    await this.engine.stop();
    await this.#fleet.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Findings that are not in order, with `--json`. */
  async troubles(breakage: Breakage = {}, ...argv: readonly string[]): Promise<readonly Finding[]> {
    const run = await this.run(['cluster', 'doctor', this.id, '--json', ...argv], breakage);
    const { clusters } = JSON.parse(run.stdout) as {
      readonly clusters: readonly { readonly findings: readonly Finding[] }[];
    };
    const findings = clusters.flatMap((cluster) => cluster.findings);
    assert.ok(findings.length > 15, run.stderr);
    const hasFailed = findings.some(({ level }) => level === 'failed');
    assert.equal(run.exitCode, hasFailed ? 1 : 0);
    return findings.filter(({ level }) => level !== 'ok');
  }

  /** Runs one command line. */
  run(argv: readonly string[], breakage: Breakage = {}): Promise<CommandRun> {
    return runOnEngine(argv, { engine: this.engine, breakage, environment: this.environment });
  }

  /** The stack of the engine as the CLI would open it, with what is broken. */
  openStack(breakage: Breakage = {}): Stack {
    return openEngineStack(this.engine, breakage);
  }
}
