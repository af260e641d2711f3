/**
 * Reads coverage of a cluster: days with an item of their own, and those of states, up to now.
 *
 * The time since a state was written is counted as a run would count it, and what stands in the way of runs now makes it unknown. Nothing
 * is written, and no cluster is asked.
 */
import { defined } from '@rollcall/base/defined.ts';
import { labelOf } from '@rollcall/base/label-selector.ts';
import { pagesOf } from '@rollcall/base/pages.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { daysUntil } from '../../core/coverage/count-coverage.ts';
import { COVERAGE_DAYS_MAX, allDays, mergeDays } from '../../core/coverage/kept-days.ts';
import type { CoverageDays } from '../../core/coverage/kept-days.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { toldObject } from '../../core/model/view-items.ts';
import type { ClusterMeta, NameItem } from '../../core/model/view-items.ts';
import { isStandstill, type StackStanding, type StopSpan } from '../../core/status/outages.ts';
import { hasSentinelName } from '../../core/may-act/takeover-sentinel.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import type { CoverageStore, StateStore, ViewReader } from '../../ports/stores/view-store.ts';
import { namePages } from '../clusters/read-registry.ts';
import { readPosition } from '../reconcile/read/stored-inputs.ts';
import { outagesOfBasis } from '../why/standing.ts';

export interface CoverageQuestion {
  /** The first day, since 1970. */
  readonly fromDay: number;
  readonly nowMs: number;
  /** Key of the label of DaemonSets that says whose they are. */
  readonly ownerLabel: string;
}

export interface CoverageSources {
  readonly view: ViewReader &
    Pick<StateStore, 'readState'> &
    Pick<CoverageStore, 'listCoverageDays'>;
  readonly standing: StackStanding;
  readonly stops: readonly StopSpan[];
}

/** Node-seconds by day of what bears one name. */
export interface NameCoverage {
  readonly namespace: string;
  readonly name: string;
  /** Absent: it has no such label, or is gone. */
  readonly ownerLabel?: string;
  readonly days: ReadonlyMap<number, readonly number[]>;
}

export interface ReadCoverage {
  readonly names: readonly NameCoverage[];
  readonly unreadable: readonly string[];
}

const AT_ONCE = 16;
interface Found extends CoverageDays {
  readonly ownerLabel?: string;
}

/** Reads it. Rejects when a table does not answer. */
export async function readCoverage(
  registration: ClusterRegistration,
  question: CoverageQuestion,
  sources: CoverageSources,
): Promise<ReadCoverage> {
  const { view } = sources;
  const { clusterUid } = registration;
  const found: Found[] = [];
  const unreadable: string[] = [];
  const fromDay = Math.max(0, question.fromDay - COVERAGE_DAYS_MAX);
  const pages = pagesOf((from) => view.listCoverageDays(clusterUid, { fromDay, ...from }));
  for await (const page of pages) {
    found.push(...page.items);
    unreadable.push(...page.unreadable);
  }
  const meta = await orUnreadable(() => view.readMeta(clusterUid));
  if (meta.kind === 'unreadable') unreadable.push(meta.problem);
  const known = meta.kind === 'read' ? meta.value : undefined;
  for await (const names of namePages(view, clusterUid)) {
    const wanted = names.filter((item) => !hasSentinelName(item));
    await sideBySide(wanted, AT_ONCE, async (item) => {
      const read = await orUnreadable(() =>
        readSet(item, { registration, meta: known, question, sources }),
      );
      if (read.kind === 'unreadable') unreadable.push(read.problem);
      else if (read.value !== undefined) found.push(read.value);
    });
  }
  return { names: namesOf(found, question), unreadable };
}

async function readSet(
  { uid, namespace, name }: NameItem,
  at: {
    readonly registration: ClusterRegistration;
    readonly meta: ClusterMeta | undefined;
    readonly question: CoverageQuestion;
    readonly sources: CoverageSources;
  },
): Promise<Found | undefined> {
  if (uid === null) return undefined;
  const { registration, meta, question, sources } = at;
  const { nowMs } = question;
  const { view, standing, stops } = sources;
  const ref = { clusterUid: registration.clusterUid, uid };
  const [state, daemonSet] = await Promise.all([view.readState(ref), view.readDaemonSet(ref)]);
  const object = daemonSet && toldObject(daemonSet);
  const ownerLabel = labelOf(object?.metadata.labels ?? {}, question.ownerLabel);
  const named = { namespace, name, uid, ...defined({ ownerLabel }) };
  if (state?.coverage === undefined) return undefined;
  const { at: countedAt } = state.coverage;
  if (meta === undefined || daemonSet === undefined) {
    const unknown: StopSpan = [countedAt * 1000, nowMs];
    const moment = { nowMs, untilMs: nowMs, lastSentAtMs: nowMs, unheardMs: 0, stops: [unknown] };
    return { ...named, ...allDays(daysUntil(state.coverage, moment)) };
  }
  const position = await readPosition(meta, ref, view);
  const stored = { registration, meta, ref, daemonSet, state, position };
  const now = outagesOfBasis(stored, { standing, nowMs })
    .filter(isStandstill)
    .map(({ sinceMs }): StopSpan => [sinceMs ?? countedAt * 1000, nowMs]);
  const { lastSentAtMs, unheardMs = 0, broken, announcedAtMs: wholeSinceMs } = meta;
  const whole = meta.isComplete ? { broken, wholeSinceMs } : {};
  const heard = { lastSentAtMs, unheardMs, ...whole };
  const moment = { nowMs, untilMs: nowMs, ...heard, stops: [...stops, ...now] };
  return { ...named, ...allDays(daysUntil(state.coverage, moment)) };
}

function namesOf(
  found: readonly Found[],
  { fromDay, nowMs }: CoverageQuestion,
): readonly NameCoverage[] {
  const today = Math.floor(nowMs / 86_400_000);
  const groups = Map.groupBy(found, ({ namespace, name }) => `${namespace}/${name}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { namespace, name } = first;
    const ownerLabel = group.find((each) => each.ownerLabel !== undefined)?.ownerLabel;
    const days = [...mergeDays(group)].filter(([day]) => day >= fromDay && day <= today);
    return [{ namespace, name, ...defined({ ownerLabel }), days: new Map(days) }];
  });
}
