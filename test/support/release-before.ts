/**
 * The release before this one, out of git history: its sources, and what its own code leaves in the middle of a rollout.
 *
 * A checkout without history (a copy, a shallow clone) has none; who asks says so, and is skipped with that reason.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { NewMessage } from '@rollcall/local-aws/sqs/queue/message.ts';
import { linkModules } from '../../scripts/lib/link-modules.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import type { WatcherMessage } from '../../src/core/model/watcher-message.ts';
import type { ViewDump } from './memory-view-store.ts';
import type { ClusterBackup } from './simulated-cluster.ts';
import type * as Look from './simulation/look.ts';
import type { QueueName } from './simulation/queues.ts';
import type * as Worlds from './simulation/world.ts';

/** The release before: the only place that names it. A release that goes out is named here by the next change. */
const RELEASE_BEFORE = 'd48375e2dfa905eb735f44e0648145d9a5005c15';

/** A checkout with the history: a copy of the repository has none (test/mutants). */
const historyRoot = process.env['ROLLCALL_HISTORY'] ?? repositoryRoot;
const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024;
const SOURCES = ['package.json', 'serverless.yml', 'infra', 'src', 'functions', 'packages'];

/** Why it is not there; undefined where it is. */
export function missingReleaseBefore(): string | undefined {
  try {
    const parameters = ['cat-file', '-e', `${RELEASE_BEFORE}^{commit}`];
    execFileSync('git', parameters, { cwd: historyRoot, stdio: 'ignore' });
    return undefined;
  } catch {
    // No git, no repository, or one without its history: all say the same here.
    return `git history does not reach back to ${RELEASE_BEFORE}`;
  }
}

/** Writes these files and folders of it into a directory, as far as it had them. */
export function extractReleaseBefore(paths: readonly string[], directory: string): void {
  const listed = execFileSync('git', ['ls-tree', '--name-only', RELEASE_BEFORE, ...paths], {
    cwd: historyRoot,
    encoding: 'utf8',
  });
  const present = listed.split('\n').filter((name) => name !== '');
  const archive = execFileSync('git', ['archive', RELEASE_BEFORE, ...present], {
    cwd: historyRoot,
    maxBuffer: ARCHIVE_BYTES_MAX,
  });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
}

/** Its modules, and its simulation. */
export interface ReleaseBefore {
  readonly load: <Module>(file: string) => Promise<Module>;
  readonly remove: () => void;
}

/** Makes it ready to be loaded, in a directory of its own. */
export function openReleaseBefore(): ReleaseBefore {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-before-'));
  extractReleaseBefore([...SOURCES, 'test/support'], directory);
  linkModules(repositoryRoot, directory);
  return {
    load: async <Module>(file: string): Promise<Module> =>
      (await import(pathToFileURL(path.join(directory, file)).href)) as Module,
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A message that it sent, or that lies in a queue. */
export interface SentMessage {
  readonly queue: QueueName;
  readonly message: Omit<NewMessage, 'bodyMd5'>;
  /** Until it may be received. */
  readonly waitMs: number;
}

/** What it left: a cluster, a view and queues in the middle of two rollouts, which nobody works on any more. */
export interface LeftHalfWay {
  readonly nowMs: number;
  readonly cluster: ClusterBackup;
  readonly view: ViewDump;
  readonly queued: readonly SentMessage[];
  /** All that its watcher said, and all that went through its queues. */
  readonly events: readonly WatcherMessage[];
  readonly sent: readonly SentMessage[];
}

const QUEUES = ['events.fifo', 'reconcile.fifo', 'delay'] as const;
const STEPS_MAX = 400;

/** Has its functions and its watcher begin two rollouts, `agent` with maxUnavailable and `surging` with maxSurge, and stops. */
export async function leaveHalfWay({ load }: ReleaseBefore): Promise<LeftHalfWay> {
  const { World } = await load<typeof Worlds>('test/support/simulation/world.ts');
  const { imageOf, podsOf, setImage } = await load<typeof Look>('test/support/simulation/look.ts');
  const world = new World({ nodes: ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'] });
  const sent: (SentMessage & { readonly atMs: number })[] = [];
  for (const queue of QUEUES) {
    const broker = world.queues.named(queue).queue;
    const send = broker.send.bind(broker);
    broker.send = (message, nowMs) => {
      const waitMs = (message.delaySeconds ?? 0) * 1000;
      sent.push({ queue, message, waitMs, atMs: world.clock.monotonicMs() });
      return send(message, nowMs);
    };
  }
  world.startWatcher();
  await world.advance(2_000);
  const updating = (rollingUpdate: object): object => ({
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
  });
  world.addDaemonSet('agent', updating({ maxUnavailable: 2 }));
  world.addDaemonSet('surging', updating({ maxSurge: 1, maxUnavailable: 0 }));
  await world.settle();
  for (const name of ['agent', 'surging']) setImage(world, name, 2);
  const isHalfWay = (name: string): boolean =>
    new Set(podsOf(world, name).map((pod) => imageOf(pod))).size === 2;
  for (let step = 0; !['agent', 'surging'].every(isHalfWay); step += 1) {
    if (step === STEPS_MAX) throw new Error('no moment was half-way');
    await world.advance(50);
  }
  const stoppedMs = world.clock.monotonicMs();
  for (const queue of QUEUES) world.mapping(queue).isPaused = true;
  // Whoever runs ends; what comes after that lies in its queue.
  await world.advance(5_000);
  world.addNode('n7');
  for (const process of [...world.watchers]) world.stopWatcher(process);
  const nowMs = world.clock.monotonicMs();
  const queued = sent
    .filter(({ queue, atMs, waitMs }) =>
      queue === 'delay' ? atMs + waitMs > stoppedMs : atMs >= stoppedMs,
    )
    .map((each) => ({ ...each, waitMs: Math.max(0, each.atMs + each.waitMs - nowMs) }));
  return {
    nowMs: world.clock.nowMs(),
    cluster: structuredClone(world.api.backup()),
    view: structuredClone(world.view.dump()),
    queued,
    events: world.queues.events,
    sent,
  };
}
