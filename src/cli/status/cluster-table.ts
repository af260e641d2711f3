/** Clusters as `rollcall get clusters` and `rollcall cluster list` print them, by one look at the fleet. */
import type { GatheredCluster } from '../../app/status/gather-fleet.ts';
import { missingPodsOf } from '../../core/status/health/health-of-pods.ts';
import type { HealthState } from '../../core/status/health/health-facts.ts';
import {
  findingsBySubject,
  isTold,
  stateOfCluster,
} from '../../core/status/health/fleet-health.ts';
import type { FindingsOf } from '../../core/status/health/fleet-health.ts';
import { SILENT_AFTER_MS, type OutageCode } from '../../core/status/outages.ts';
import { toned, type Piece } from '../command-line/colour.ts';
import { freezeLines, noteText, outageLines } from '../command-line/freeze-words.ts';
import { renderAge, renderTextTable } from '../command-line/text-table.ts';
import type { Printable } from '../command-line/output-form.ts';
import type { SeenFleet } from './look-at-fleet.ts';

const HEADINGS = ['ID', 'MODE', 'STATE', 'PODS', 'FROZEN', 'ENDPOINT', 'HEARD', 'VIEW'];

/** States that need no action, and those that wait for an operator; all others failed. */
const CALM: ReadonlySet<string> = new Set(['Well', 'NoNodes', 'Returning', 'Incomplete', 'Unseen']);
const WAITING: ReadonlySet<string> = new Set([
  ...(['RemovalHeld', 'AwaitsApproval', 'Paused', 'Returned', 'Frozen'] as const),
]);

export function statePiece(state: HealthState | 'Stopped' | 'NoNodes' | 'Well'): Piece {
  if (CALM.has(state)) return state;
  return toned(state, WAITING.has(state) ? 'waiting' : 'failing');
}

/** All of them. */
export function printClusters({ fleet, health }: SeenFleet): Printable & {
  readonly document: { readonly kind: 'ClusterList' } & Record<string, unknown>;
} {
  const { clusters, unreadable, freeze, outages } = fleet;
  const findings = findingsBySubject(health.findings);
  const judged = { bySubject: findings, outages };
  const states = clusters.map((one) => stateOfCluster(one, judged));
  const rows = (isWide: boolean): readonly (readonly Piece[])[] => [
    ...clusters.map((one, index) => {
      const notes = notesOf(one, findings).join('; ');
      const pods = podsText(one, isTold(one, outages));
      return [
        ...cellsOf(one, [statePiece(states[index] ?? 'Stopped'), pods]),
        ...(isWide ? [labelsOf(one)] : []),
        notes,
      ];
    }),
    ...unreadable.map(({ id, problem }) => {
      const unknown = HEADINGS.slice(3).map(() => '?');
      return [id, '?', statePiece('Unreadable'), ...unknown, ...(isWide ? ['?'] : []), problem];
    }),
  ];
  return {
    document: {
      kind: 'ClusterList',
      clusters: clusters.map(({ daemonSets, ...one }, index) => ({
        ...one,
        state: states[index],
        pods: podsOf({ daemonSets }),
        notes: notesOf({ ...one, daemonSets }, findings),
      })),
      unreadable,
      freeze,
      outages,
    },
    names: [...clusters, ...unreadable].map(({ id }) => `cluster/${id}`),
    table: (isWide) => [
      ...outageLines(outages),
      ...freezeLines({ daemonSets: freeze.daemonSets }).map((line) => `! ${line}`),
      ...(clusters.length + unreadable.length === 0
        ? ['No clusters. Add one with: rollcall cluster add']
        : renderTextTable([...HEADINGS, ...(isWide ? ['LABELS'] : []), 'NOTE'], rows(isWide))),
    ],
  };
}

function cellsOf(cluster: GatheredCluster, standing: readonly Piece[]): readonly Piece[] {
  const { id, mode, freezes, server, silentForMs, isViewComplete } = cluster;
  return [
    ...[id, mode, ...standing],
    toned(frozenCell(freezes), freezes.length > 0 ? 'waiting' : undefined),
    URL.parse(server)?.host ?? server,
    silentForMs === undefined
      ? toned('never', 'failing')
      : toned(
          `${renderAge(silentForMs)} ago`,
          silentForMs > SILENT_AFTER_MS ? 'failing' : undefined,
        ),
    isViewComplete ? 'complete' : toned('incomplete', 'failing'),
  ];
}

function podsText(cluster: GatheredCluster, isKnown: boolean): string {
  const { available, desired } = podsOf(cluster);
  return `${isKnown ? String(available) : '?'}/${String(desired)}`;
}

/** Of its DaemonSets, as their status was told last. */
function podsOf({ daemonSets }: Pick<GatheredCluster, 'daemonSets'>): {
  readonly available: number;
  readonly desired: number;
} {
  const desired = daemonSets.reduce((sum, { counts }) => sum + (counts?.desired ?? 0), 0);
  const missing = daemonSets.reduce((sum, set) => sum + missingPodsOf(set), 0);
  return { available: desired - missing, desired };
}

function labelsOf({ labels }: GatheredCluster): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function frozenCell([widest]: GatheredCluster['freezes']): string {
  if (widest === undefined) return 'no';
  return widest.scope === 'stack' ? 'yes (stack)' : 'yes';
}

/** Outages in few words; a freeze has a column of its own. */
const SHORTLY: Readonly<Partial<Record<OutageCode, readonly [string]>>> = {
  'watcher-silent': ['its watcher is silent'],
  'watcher-stands-by': ['its watcher stands by: another one holds its Lease'],
  'api-server-unreachable': ['its API server does not answer'],
  'functions-behind': ['no function came although a look was due'],
};

const WAITS: Readonly<Partial<Record<HealthState, string>>> = {
  Halted: 'halted',
  Stuck: 'stuck',
  Invalid: 'invalid policy',
  RemovalHeld: 'removal waits for a confirmation',
  AwaitsApproval: 'waits for approval',
  Paused: 'paused',
  Returned: 'gone back',
  Frozen: 'frozen',
};

/** A cluster's trouble, in few words; empty without one. */
function notesOf(cluster: GatheredCluster, findings: FindingsOf): readonly string[] {
  const own = cluster.freezes.find(({ scope }) => scope === 'cluster')?.note;
  const notes = own === undefined ? [] : [`frozen${noteText(own)}`];
  if (cluster.rebuilt !== undefined) {
    return [`rebuilt: it is ${cluster.rebuilt.foundUid} now; rollcall cluster reset ${cluster.id}`];
  }
  if (cluster.conflict !== undefined) notes.push('another controller was seen');
  if (cluster.heardAtMs === undefined) notes.push('its watcher was never heard');
  for (const { code } of cluster.outages) notes.push(...(SHORTLY[code] ?? []));
  if (cluster.heardAtMs !== undefined && !cluster.isViewComplete) {
    const why = cluster.incompleteReason ?? 'waiting for a snapshot';
    notes.push(`view incomplete: ${why}`);
  }
  return [...notes, ...waitsIn(cluster, findings)];
}

function waitsIn({ id, daemonSets }: GatheredCluster, findings: FindingsOf): readonly string[] {
  const found = daemonSets.flatMap(
    ({ namespace, name }) => findings.get(`${id}/${namespace}/${name}`) ?? [],
  );
  const groups = Map.groupBy(found, ({ state }) => WAITS[state]);
  return [...groups].flatMap(([word, group]) =>
    word === undefined ? [] : [`${word}: ${group.map(({ name }) => name).join(', ')}`],
  );
}
