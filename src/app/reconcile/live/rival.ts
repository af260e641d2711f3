/**
 * Another DaemonSet controller was seen: Rollcall stops in that cluster (design 5, faults row 58).
 *
 * The registration is marked by compare-and-set, which raises configVersion: a run under way stops
 * at its next batch, and every later run finds the guard `rival-controller` (protocol 7, 13). Then every
 * key gets a hint, so that each DaemonSet tells of it at once. Evidence of an older takeover, or of one
 * that was left meanwhile, marks nothing. Only entering takeover anew, with its probe, takes the mark
 * away: two controllers on one cluster would break S1.
 */
import { hintFor } from '../../../core/model/hint.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { findForeignStatusWrite } from '../../../core/status/status-writers.ts';
import { namePages } from '../../clusters/name-pages.ts';
import type { RunContext, Subject } from '../run/context.ts';

/** What gave it away. */
export interface RivalSighting {
  readonly evidence: string;
  /** For the metric: which of the two ways of seeing it was. */
  readonly by: 'sentinel' | 'status-write';
  /** The registration under which it was seen. */
  readonly seenUnder: ClusterRegistration;
}

const WRITES_MAX = 5;
/** It may quote a name that an API server chose; the registration must stay a small item. */
const EVIDENCE_CHARACTERS_MAX = 1000;
const NAMES_PER_PAGE = 100;

/**
 * Looks at who else wrote the status of a DaemonSet that an API server just gave us, and stops the
 * cluster if that was another controller. Answers the evidence.
 */
export async function noteForeignStatusWrite(
  object: KubernetesObject,
  run: { readonly context: RunContext; readonly subject: Pick<Subject, 'basis'> },
): Promise<string | undefined> {
  const { registration } = run.subject.basis;
  // In copilot the built-in controller writes each status, as it should.
  if (registration.mode !== 'takeover') return undefined;
  const evidence = findForeignStatusWrite(object, registration.sentinel?.createdAtMs);
  if (evidence === undefined) return undefined;
  await noteRival({ evidence, by: 'status-write', seenUnder: registration }, run.context);
  return evidence;
}

/**
 * Marks the registration, once per takeover. Rejects when the registry or the queue fails: the hint is
 * then redelivered. Answers whether this call wrote the mark.
 */
export async function noteRival(sighting: RivalSighting, context: RunContext): Promise<boolean> {
  const { registry, clock, log, metrics } = context.dependencies;
  const { by, seenUnder } = sighting;
  const evidence = sighting.evidence.slice(0, EVIDENCE_CHARACTERS_MAX);
  for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
    const stored = await registry.readCluster(seenUnder.id);
    if (stored === undefined || !isSameTakeover(stored, seenUnder)) return false;
    if (stored.rival !== undefined) return false;
    const marked = { ...stored, rival: { seenAtMs: clock.nowMs(), evidence } };
    if ((await registry.writeCluster(marked, stored.configVersion)) !== 'written') continue;
    metrics.count('RivalControllers', { outcome: by });
    log.error('another DaemonSet controller is at work; Rollcall has stopped in this cluster', {
      cluster: seenUnder.id,
      code: 'rival-controller',
      detail: evidence,
    });
    await hintEveryKey(stored, context);
    return true;
  }
  throw new Error(`the registration of ${seenUnder.id} never stood still`);
}

function isSameTakeover(stored: ClusterRegistration, seenUnder: ClusterRegistration): boolean {
  return (
    stored.mode === 'takeover' &&
    stored.clusterUid === seenUnder.clusterUid &&
    stored.sentinel?.uid === seenUnder.sentinel?.uid &&
    stored.takeoverProbedAtMs === seenUnder.takeoverProbedAtMs
  );
}

async function hintEveryKey(registration: ClusterRegistration, context: RunContext): Promise<void> {
  const { view, queue, random } = context.dependencies;
  const prefix = `rival/${random.uniqueId()}`;
  for await (const names of namePages(view, registration.clusterUid, { limit: NAMES_PER_PAGE })) {
    const hints = names.map((name) => hintFor(registration, name, 'changed'));
    if (hints.length > 0) await queue.sendHints(hints, prefix);
  }
}
