/**
 * Rollcall's engine as a process of its own, without a watcher in it: queues, tables and handlers, with
 * all state in a data directory, so that SIGKILL and a new start continue.
 *
 * Reads its settings from the file that is its only argument; says where its queue is by writing a file. It ends by
 * itself only when it refuses to start (IN_VAIN_CODE); any other end is a crash.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { createConsoleLog } from '../../../src/adapters/system/logs.ts';
import type { LocalCredentials } from '@rollcall/local-aws/iam/authorizer.ts';
import type { LogLevel } from '@rollcall/base/log-of.ts';
import { EngineRefusal } from '../../../src/engine/engine-refusal.ts';
import { startEngine } from '../../../src/engine/engine.ts';
import { IN_VAIN_CODE } from './program.ts';

export interface EngineSettings {
  readonly cluster: string;
  readonly server: string;
  readonly caPem: string;
  readonly watcherToken: string;
  readonly functionsToken: string;
  readonly adminToken: string;
  /** Watchers go on when the engine is killed. */
  readonly watcherSecret: string;
  readonly dataDirectory: string;
  /** Written when it runs: an `EngineWhereabouts`. */
  readonly whereaboutsPath: string;
  readonly logLevel: LogLevel;
}

export interface EngineWhereabouts {
  readonly pid: number;
  readonly watcherEnvironment: Readonly<Record<string, string>>;
  readonly operator: LocalCredentials;
  /** Where timers wait. */
  readonly delayQueueUrl: string;
}

const PROBE_WAIT_MS = 3_000;

async function main(settings: EngineSettings): Promise<void> {
  const log = createConsoleLog({ level: settings.logLevel });
  const id = clusterId(settings.cluster);
  const engine = await startEngine({
    clusters: [
      {
        id,
        server: settings.server,
        caPem: settings.caPem,
        watcher: { kind: 'bearer', token: settings.watcherToken },
        functions: { kind: 'bearer', token: settings.functionsToken },
        probe: { kind: 'bearer', token: settings.adminToken },
        mode: 'takeover',
      },
    ],
    dataDir: settings.dataDirectory,
    log,
    metrics: { count: () => undefined, record: () => undefined },
    probeWaitMs: PROBE_WAIT_MS,
    watchersElsewhere: { secretAccessKey: settings.watcherSecret },
  }).catch((error: unknown) => {
    // Its cluster cannot be reached, or asked: it refuses to start, and whoever keeps it running tries again.
    if (!(error instanceof EngineRefusal)) throw error;
    log.error('refused to start', { code: error.code }, error);
    process.exit(IN_VAIN_CODE);
  });
  const whereabouts: EngineWhereabouts = {
    pid: process.pid,
    watcherEnvironment: engine.watcherEnvironment(id),
    operator: engine.aws.operator,
    delayQueueUrl: engine.aws.queueUrls['DelayQueue'] ?? '',
  };
  const written = `${settings.whereaboutsPath}.new`;
  writeFileSync(written, JSON.stringify(whereabouts));
  renameSync(written, settings.whereaboutsPath);
  process.once('SIGTERM', () => {
    void engine.stop().then(() => process.exit(0));
  });
}

const [settingsPath] = process.argv.slice(2);
if (settingsPath === undefined) throw new Error('usage: engine-child.ts SETTINGS_FILE');
await main(JSON.parse(readFileSync(settingsPath, 'utf8')) as EngineSettings);
