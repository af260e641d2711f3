/**
 * How long the open step of a staged rollout has been well, by our clock (issue 17).
 *
 * Only what was looked at counts. In the canary step a restart, a pod that was not ready in
 * between, a node that was lost, or another watcher begins it anew. After it a rate does: of
 * thousands of pods one always restarts, and one node is always down. As much darkness as the soak
 * is long begins either anew. A view that is too old for a moment shuts the gate (judge-step.ts)
 * and loses nothing. Values in, values out; which nodes have to be well is the caller's.
 */
import type { OpenStep, RolloutRecord } from '../model/rollout-record.ts';

export interface SoakMoment {
  readonly nowMs: number;
  readonly soakMs: number;
  /** Of pods of the revision, all together. */
  readonly restarts: number;
  /** Era and epoch of the view. */
  readonly seenView: string;
  readonly isViewFresh: boolean;
  /** Sum of all times in the dark. */
  readonly unheardMs: number;
  readonly well: Wellness;
}

/** How nodes of open steps are. */
export interface Wellness {
  /** Those that were updated. */
  readonly nodes: number;
  readonly unwellNodes: number;
  /** Of these what keeps a soak from beginning and a step from opening (`blockingNodes`). */
  readonly blockingNodes: number;
  /** Nothing is left to be updated, to be shown in the place of a lost canary, or shared with the former revision. */
  readonly isWhole: boolean;
}

/** Since when a step is well after another look; nothing where it is not. */
export type Soak = Pick<OpenStep, 'wellSinceMs' | 'unheardMs' | 'soaksLost'>;

/** So many begun anew are told, and are a lack of progress. */
export const SOAKS_LOST_MAX = 3;
/** Of the nodes of a later step that may be unwell, and of its pods that may restart in an hour. */
const SPARED_PERCENT = 2;
const HOUR_MS = 3_600_000;

/** Nodes of a step that may be unwell when it opens the next one: none in the canary, and none of fewer than fifty. */
export function sparedNodes({ kind }: Pick<OpenStep, 'kind'>, nodes: number): number {
  return kind === 'canary' ? 0 : Math.floor((nodes * SPARED_PERCENT) / 100);
}

/** A begun soak forgives this within an hour: one restart, also on few nodes. */
function sparedHourly(step: OpenStep, nodes: number): number {
  return step.kind === 'canary' ? 0 : Math.max(1, sparedNodes(step, nodes));
}

/** True if soaks were begun anew so often that to wait for one is no progress, unless the present one is over. */
export function isSoakHopeless(
  { soaksLost = 0, wellSinceMs = Infinity }: OpenStep,
  { nowMs, soakMs }: Pick<SoakMoment, 'nowMs' | 'soakMs'>,
): boolean {
  return soaksLost >= SOAKS_LOST_MAX && nowMs - wellSinceMs < soakMs;
}

/** The soak after another look, and the restarts from which its own are counted. */
export function soakAfter(
  record: RolloutRecord,
  at: SoakMoment,
): { readonly soak: Soak; readonly restarts: number } {
  const { step } = record;
  const since = isWell(step, at) ? continued(record, at) : {};
  const lost = lostSoaks(step, since, at);
  if (since.wellSinceMs === undefined) {
    const { isWhole, blockingNodes } = at.well;
    const begins = at.isViewFresh && isWhole && blockingNodes === 0;
    const soak = begins ? { ...lost, wellSinceMs: at.nowMs, ...unheard(at) } : lost;
    return { soak, restarts: at.restarts };
  }
  // Of the canary each look counts anew; later all of one soak together.
  const restarts = step.kind === 'canary' ? at.restarts : Math.min(record.restarts, at.restarts);
  return { soak: { ...lost, ...since }, restarts };
}

function lostSoaks(step: OpenStep, after: Soak, at: SoakMoment): Pick<Soak, 'soaksLost'> {
  const { wellSinceMs, soaksLost = 0 } = step;
  const isLost =
    wellSinceMs !== undefined &&
    after.wellSinceMs === undefined &&
    at.nowMs - wellSinceMs < at.soakMs;
  const count = soaksLost + (isLost ? 1 : 0);
  return count === 0 ? {} : { soaksLost: count };
}

function unheard({ unheardMs }: SoakMoment): Pick<Soak, 'unheardMs'> {
  return unheardMs === 0 ? {} : { unheardMs };
}

function isWell(step: OpenStep, { well }: SoakMoment): boolean {
  return well.isWhole && well.unwellNodes <= sparedHourly(step, well.nodes);
}

/** True if it was over, and is not any more: what waited for a person or a window is no lack of progress, so a deadline counts from here. */
export function isSoakLost(
  { wellSinceMs }: OpenStep,
  after: Soak,
  { nowMs, soakMs }: Pick<SoakMoment, 'nowMs' | 'soakMs'>,
): boolean {
  if (wellSinceMs === undefined || after.wellSinceMs !== undefined) return false;
  return nowMs - wellSinceMs >= soakMs;
}

/**
 * The soak if nothing disturbed it. Time in the dark is taken out of it: the same watcher tells afterwards what became of pods, but no run
 * looked. As much of it as a whole soak begins it anew.
 */
function continued(record: RolloutRecord, at: SoakMoment): Pick<Soak, 'wellSinceMs' | 'unheardMs'> {
  const { wellSinceMs, unheardMs = 0 } = record.step;
  if (wellSinceMs === undefined) return {};
  const darkMs = at.unheardMs - unheardMs;
  const isDark = darkMs < 0 || (darkMs > 0 && darkMs >= at.soakMs);
  if (isDark || isDisturbed(record, at)) return {};
  return { wellSinceMs: Math.min(wellSinceMs + darkMs, at.nowMs), ...unheard(at) };
}

function isDisturbed(record: RolloutRecord, at: SoakMoment): boolean {
  const { step, restarts, seenView, turns = [], losses = [] } = record;
  const { wellSinceMs = at.nowMs } = step;
  const turned = turns.filter(({ turnedAtMs = 0 }) => turnedAtMs > wellSinceMs).length;
  const hours = Math.max(1, Math.ceil((at.nowMs - wellSinceMs) / HOUR_MS));
  const spared = hours * sparedHourly(step, at.well.nodes);
  return (
    !isSameView(step, seenView, at.seenView) ||
    at.restarts - restarts > spared ||
    turned > spared ||
    losses.some(({ atMs }) => atMs > wellSinceMs)
  );
}

/** Another watcher saw nothing of the time before it: the canary has to be seen throughout. Another era is another history. */
function isSameView({ kind }: OpenStep, before: string, now: string): boolean {
  const [era] = now.split('/');
  return before === now || (kind !== 'canary' && before.split('/')[0] === era);
}
