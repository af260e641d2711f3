/**
 * The table of pods: NAME READY STATUS RESTARTS AGE, and with `-o wide` where they are.
 *
 * What the status says in a word is pod-summary.ts's matter.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from './columns.ts';
import { humanDuration, timeSince } from './human-duration.ts';
import { summarizePod } from './pod-summary.ts';
import { viewPod } from './pod-view.ts';
import type { PodView } from './pod-view.ts';
import type { Cell, TableShape } from './table.ts';

const NONE = '<none>';

/** The table of pods. */
export const PODS_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Ready', 'Ready containers of all containers.'),
    column('Status', 'What the containers are doing, in a word.'),
    column('Restarts', 'How often containers were restarted, and when last.'),
    AGE_COLUMN,
    wideColumn('IP', 'IP address of the pod.'),
    wideColumn('Node', 'Node that the pod is bound to.'),
    wideColumn('Nominated Node', 'Node on which pods make room for this one.'),
    wideColumn('Readiness Gates', 'True conditions of all that readiness asks for.'),
  ],
  cells: podCells,
  rowConditions: podRowConditions,
};

function podCells(object: ApiObject, nowMs: number): readonly Cell[] {
  const pod = viewPod(object);
  const { readyContainers, totalContainers, status, restarts, lastRestartMs } = summarizePod(pod);
  const since =
    restarts === 0 || lastRestartMs === undefined
      ? ''
      : ` (${humanDuration(nowMs - lastRestartMs)} ago)`;
  return [
    pod.metadata.name,
    `${String(readyContainers)}/${String(totalContainers)}`,
    status,
    `${String(restarts)}${since}`,
    timeSince(pod.metadata.creationTimestamp, nowMs),
    orNone(pod.status.podIPs?.[0]?.ip),
    orNone(pod.spec.nodeName),
    orNone(pod.status.nominatedNodeName),
    readinessGates(pod),
  ];
}

function orNone(text: string | undefined): string {
  return text === undefined || text === '' ? NONE : text;
}

function readinessGates({ spec, status }: PodView): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const passed = gates.filter(
    ({ conditionType }) =>
      (status.conditions ?? []).find(({ type }) => type === conditionType)?.status === 'True',
  );
  return `${String(passed.length)}/${String(gates.length)}`;
}

const COMPLETED = { type: 'Completed', status: 'True' };
const SUCCEEDED = [
  { ...COMPLETED, reason: 'Succeeded', message: 'The pod has completed successfully.' },
];
const FAILED = [{ ...COMPLETED, reason: 'Failed', message: 'The pod failed.' }];

function podRowConditions(object: ApiObject): readonly JsonObject[] | undefined {
  const { phase } = viewPod(object).status;
  if (phase === 'Succeeded') return SUCCEEDED;
  return phase === 'Failed' ? FAILED : undefined;
}
