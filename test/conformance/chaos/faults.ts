/**
 * What each fault does, and the evidence that it fired (M1).
 *
 * A fault ends healed: whatever it stopped runs again, whatever it cut is joined. It never waits for
 * Rollcall to recover; that is for others to judge. What two faults may not do at the same time is said by
 * the targets.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesObject } from '../control-plane/api.ts';
import { backUp, compact, currentRevision, restore } from './etcd.ts';
import { startEndedLoops } from './loops.ts';
import type { FaultKind, PlannedFault } from './plan.ts';
import { isStopped, type Program } from './program.ts';
import type { CutKind } from './tcp-proxy.ts';
import type { LinkName, Theatre } from './theatre.ts';
import type { Witness } from './witness.ts';

/** What a fault is done to, and who must know of it. */
export interface FaultContext {
  readonly theatre: Theatre;
  readonly witness: Witness;
}

export interface FaultResult {
  readonly hasFired: boolean;
  /** For the progress line. */
  readonly evidence: string;
}

/** What two faults may not touch at the same time. */
export type Target = 'watcher' | 'engine' | 'api-server' | 'lease' | LinkName;

interface Fault {
  readonly targets: readonly Target[];
  readonly perform: (context: FaultContext, planned: PlannedFault) => Promise<FaultResult>;
}

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';
const CUTS: readonly CutKind[] = ['dropped', 'silent', 'forgotten'];
const LOOK_MS = 250;
const EXPIRED = 'position expired';
const EPOCH_OVER = 'the epoch is over';
/** Generous: a busy machine takes its time, and a fault that is felt at once waits for nothing. */
const EVIDENCE_MS = 120_000;
/** A holder that died keeps the Lease for most of a minute; its successor needs some time to begin. */
const LEASE_RENEWED_MS = 180_000;
/** A position may be given up, for want of a Lease, before anybody could notice that it had expired. */
const COMPACTIONS_MAX = 3;
const FROZEN_MS = 30_000;

/** Every fault by its kind. */
export const FAULTS: Readonly<Record<FaultKind, Fault>> = {
  'kill-watcher': { targets: ['watcher'], perform: killProgram(({ watcher }) => watcher) },
  'kill-engine': { targets: ['engine'], perform: killProgram(({ engine }) => engine) },
  'kill-api-server': { targets: ['api-server'], perform: killApiServer },
  'stop-watcher': { targets: ['watcher'], perform: stopProgram(({ watcher }) => watcher) },
  'stop-engine': { targets: ['engine'], perform: stopProgram(({ engine }) => engine) },
  'stop-api-server': { targets: ['api-server'], perform: stopApiServer },
  'compact-etcd': {
    targets: ['watcher', 'api-server', 'watcher-api', 'lease'],
    perform: compactEtcd,
  },
  'restore-etcd': {
    targets: ['watcher', 'api-server', 'watcher-api', 'lease'],
    perform: restoreEtcd,
  },
  'delete-lease': { targets: ['lease', 'api-server'], perform: deleteLease },
  'second-watcher': {
    targets: ['lease', 'api-server', 'watcher-api'],
    perform: startSecondWatcher,
  },
  'cut-watcher-api': { targets: ['watcher-api'], perform: cutLink('watcher-api') },
  'cut-watcher-queue': { targets: ['watcher-queue'], perform: cutLink('watcher-queue') },
  'cut-functions-api': { targets: ['functions-api'], perform: cutLink('functions-api') },
  'late-writes': { targets: ['functions-api', 'engine'], perform: delayWrites },
};

function killProgram(choose: (theatre: Theatre) => Program): Fault['perform'] {
  return async ({ theatre }, { durationMs }) => {
    const program = choose(theatre);
    const before = await runningPid(program);
    await program.kill(durationMs);
    const after = program.pid();
    return {
      hasFired: after !== undefined && after !== before && !isAlive(before),
      evidence: `process ${String(before)} killed, ${String(after)} started ${seconds(durationMs)} later`,
    };
  };
}

async function killApiServer(
  { theatre: { controlPlane } }: FaultContext,
  { durationMs }: PlannedFault,
): Promise<FaultResult> {
  const before = controlPlane.pids().apiServer;
  await controlPlane.kill('apiServer');
  const isDown = controlPlane.pids().apiServer === undefined;
  await delay(durationMs);
  await controlPlane.restart('apiServer');
  await startEndedLoops(controlPlane);
  return {
    hasFired: before !== undefined && isDown,
    evidence: `process ${String(before)} killed, down for ${seconds(durationMs)}`,
  };
}

function stopProgram(choose: (theatre: Theatre) => Program): Fault['perform'] {
  return async ({ theatre }, { durationMs }) => {
    const program = choose(theatre);
    const pid = await freeze(program);
    await delay(durationMs);
    const wasStopped = program.isPaused() && program.pid() === pid;
    program.resume();
    return {
      hasFired: wasStopped,
      evidence: `process ${String(pid)} frozen for ${seconds(durationMs)}`,
    };
  };
}

async function stopApiServer(
  { theatre: { controlPlane } }: FaultContext,
  { durationMs }: PlannedFault,
): Promise<FaultResult> {
  controlPlane.pause('apiServer');
  await delay(durationMs);
  const wasStopped = isStopped(controlPlane.pids().apiServer);
  controlPlane.resume('apiServer');
  await startEndedLoops(controlPlane);
  return { hasFired: wasStopped, evidence: `frozen for ${seconds(durationMs)}` };
}

/**
 * The history that the watcher needs is gone when it wakes up: etcd's by compaction, the API server's
 * cache by its restart. Fired when the watcher itself says that its position has expired.
 */
async function compactEtcd(
  { theatre }: FaultContext,
  { durationMs }: PlannedFault,
): Promise<FaultResult> {
  let result: FaultResult = { hasFired: false, evidence: 'nothing was compacted' };
  for (let attempt = 1; attempt <= COMPACTIONS_MAX && !result.hasFired; attempt += 1) {
    result = await compactOnce(theatre, attempt === 1 ? durationMs : 0);
  }
  return result;
}

async function compactOnce(theatre: Theatre, durationMs: number): Promise<FaultResult> {
  const { controlPlane, watcher } = theatre;
  // Between two epochs it has no position that could expire.
  const isWatching = await within(
    LEASE_RENEWED_MS,
    async () => hasOpenEpoch(watcher) && (await readLease(theatre)) !== undefined,
  );
  if (!isWatching) return { hasFired: false, evidence: 'the watcher had no epoch all the time' };
  const before = watcher.logOfThisLife().length;
  watcher.pause();
  await delay(durationMs);
  const revision = await compact(controlPlane);
  await controlPlane.kill('apiServer');
  await controlPlane.restart('apiServer');
  await startEndedLoops(controlPlane);
  watcher.resume();
  const said = (text: string): boolean => watcher.logOfThisLife().includes(text, before);
  await within(EVIDENCE_MS, () => said(EXPIRED) || said(EPOCH_OVER));
  // It lists each kind in turn: the word may come after it gave up its epoch for another reason.
  const hasFired = said(EXPIRED);
  const noticed = said(EPOCH_OVER) ? 'gave up its epoch' : 'noticed nothing';
  return {
    hasFired,
    evidence: `revision ${String(revision)}, the watcher ${hasFired ? 'lists again' : noticed}`,
  };
}

/** Back behind a renewal of the watcher's Lease: how a restore is noticed (docs/promise.md). */
async function restoreEtcd(
  { theatre, witness }: FaultContext,
  { durationMs }: PlannedFault,
): Promise<FaultResult> {
  const { controlPlane, directory } = theatre;
  const copy = join(directory, 'etcd-backup');
  await backUp(controlPlane, copy);
  const leaseThen = await leaseVersion(theatre);
  await delay(durationMs);
  const isRenewed = await within(LEASE_RENEWED_MS, async () => {
    const now = await leaseVersion(theatre);
    return now !== undefined && now !== leaseThen;
  });
  if (!isRenewed) return { hasFired: false, evidence: 'the Lease was not renewed after the copy' };
  await witness.endHistory();
  const before = await currentRevision(controlPlane);
  await restore(controlPlane, copy);
  const after = await currentRevision(controlPlane);
  await witness.beginHistory();
  return {
    hasFired: after < before,
    evidence: `revision ${String(before)} back to ${String(after)}`,
  };
}

async function deleteLease({ theatre }: FaultContext): Promise<FaultResult> {
  // The one before may have been deleted a moment ago, with the watcher cut off since.
  let status = 0;
  const hasFired = await within(LEASE_RENEWED_MS, async () => {
    if ((await readLease(theatre)) === undefined) return false;
    ({ status } = await theatre.admin.request({ method: 'DELETE', path: LEASE }));
    return status === 200;
  });
  return { hasFired, evidence: `HTTP ${String(status)}` };
}

/** Fired when the Lease changed hands to it. */
async function startSecondWatcher(
  { theatre }: FaultContext,
  { durationMs, variant }: PlannedFault,
): Promise<FaultResult> {
  const before = await leaseHolder(theatre);
  const second = theatre.openSecondWatcher();
  second.start();
  const hasFired = await within(EVIDENCE_MS, async () => {
    const holder = await leaseHolder(theatre);
    return holder !== undefined && holder !== before;
  });
  await delay(durationMs);
  const isKilled = variant < 0.5;
  await (isKilled ? second.end() : second.stop());
  return {
    hasFired,
    evidence: `held the Lease for ${seconds(durationMs)}, then ${isKilled ? 'killed' : 'stopped'}`,
  };
}

function cutLink(name: LinkName): Fault['perform'] {
  return async ({ theatre }, { durationMs, variant }) => {
    const how = CUTS[Math.floor(variant * CUTS.length)] ?? 'dropped';
    const link = theatre.links[name];
    const before = link.counts();
    const resetsNow = (): number => link.counts().connectionsReset - before.connectionsReset;
    const bytesNow = (): number => link.counts().bytesHeld - before.bytesHeld;
    link.cut(how);
    await delay(durationMs);
    // Perhaps nobody spoke, because another fault has silenced a party: then it lasts until somebody does.
    const hasFired = await within(EVIDENCE_MS, () => resetsNow() + bytesNow() > 0);
    link.heal();
    const [resets, bytes] = [resetsNow(), bytesNow()];
    return {
      hasFired,
      evidence: `${how} for ${seconds(durationMs)}, ${String(resets)} resets, ${String(bytes)} bytes held`,
    };
  };
}

/** Requests of functions that gave up arrive all the same (row 78). */
async function delayWrites(
  { theatre }: FaultContext,
  { durationMs }: PlannedFault,
): Promise<FaultResult> {
  const link = theatre.links['functions-api'];
  const before = link.counts().bytesHeld;
  // With nothing to send there is nothing to delay: wait for a first request to be caught. While a Lease runs
  // out that somebody else holds, the view waits for a snapshot, and nothing is sent.
  link.cut('late');
  await within(LEASE_RENEWED_MS, () => link.counts().bytesHeld > before);
  await delay(durationMs);
  link.heal();
  const bytes = link.counts().bytesHeld - before;
  return {
    hasFired: bytes > 0,
    evidence: `${String(bytes)} bytes up to ${seconds(durationMs)} late`,
  };
}

async function leaseVersion(theatre: Theatre): Promise<string | undefined> {
  return (await readLease(theatre))?.metadata.resourceVersion;
}

async function leaseHolder(theatre: Theatre): Promise<string | undefined> {
  return ((await readLease(theatre))?.['spec'] as { holderIdentity?: string } | undefined)
    ?.holderIdentity;
}

async function readLease({ admin }: Theatre): Promise<KubernetesObject | undefined> {
  const answer = await admin.request({ method: 'GET', path: LEASE });
  return answer.status === 200 ? (answer.body as KubernetesObject) : undefined;
}

/** Whether the last that the watcher said of an epoch is that its snapshot is closed. */
function hasOpenEpoch(watcher: Program): boolean {
  const log = watcher.logOfThisLife();
  const beginsAndEnds = /took the lease|the epoch is over|announced a snapshot/g;
  const closedAt = log.lastIndexOf('closed a snapshot');
  const others = [...log.matchAll(beginsAndEnds)].map(({ index }) => index);
  return closedAt > (others.at(-1) ?? 0) && watcher.pid() !== undefined;
}

/** Freezes a program that runs: one that was about to end by itself cannot be, its next life can. */
async function freeze(program: Program): Promise<number> {
  let pid = 0;
  const isFrozen = await within(FROZEN_MS, async () => {
    pid = await runningPid(program);
    program.pause();
    return program.isPaused() && program.pid() === pid;
  });
  if (!isFrozen) throw new Error(`${program.name} could not be frozen`);
  return pid;
}

/** A program may be between two starts. */
async function runningPid(program: Program): Promise<number> {
  await within(EVIDENCE_MS, () => program.pid() !== undefined);
  const pid = program.pid();
  if (pid === undefined) throw new Error(`${program.name} does not run`);
  return pid;
}

/** Asks until it is so; a question that fails is asked again: a connection of a killed server may be left. */
async function within(boundMs: number, ask: () => boolean | Promise<boolean>): Promise<boolean> {
  const endsAtMs = performance.now() + boundMs;
  for (;;) {
    let failure: unknown;
    try {
      if (await ask()) return true;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= endsAtMs) {
      if (failure === undefined) return false;
      throw new Error(`not within ${seconds(boundMs)}`, { cause: failure });
    }
    await delay(LOOK_MS);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // No such process: the only reason for a child of ours.
    return false;
  }
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
