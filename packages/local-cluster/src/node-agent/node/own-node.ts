/**
 * The agent's own Node object, as an observation keeps it: labels and taints for admission, the annotation that asks
 * for pressure, and the conditions that were written last.
 *
 * Before the node is registered, and after it was deleted, the machine's own values stand in. What a write has answered
 * is taken at once, so that the next report compares with it. A word that names no pressure is passed over. Reads only:
 * who writes the Node is node-status and register-node.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { AdmissionNode } from './admission.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { NodeConditionType } from './node-conditions.ts';

/** The own Node. */
export interface OwnNode {
  readonly get: () => ApiObject | undefined;
  /** Takes a Node that a write has answered with. */
  readonly put: (node: ApiObject) => void;
  readonly forAdmission: () => AdmissionNode;
  /** Pressures that the annotation asks for. */
  readonly askedPressures: () => readonly NodeConditionType[];
  readonly stop: Cancel;
}

/** Asks a node for pressure: `memory`, `disk`, `pid`, or several with commas. */
const PRESSURE_ANNOTATION = 'simulate.rollcall.dev/pressure';

const PRESSURE_TYPES: ReadonlyMap<string, NodeConditionType> = new Map([
  ['memory', 'MemoryPressure'],
  ['disk', 'DiskPressure'],
  ['pid', 'PIDPressure'],
]);

/** Observes the node until stopped; `onAnnotations` is called when the asked pressures change. */
export function observeOwnNode(
  { client, machine }: Pick<AgentContext, 'client' | 'machine'>,
  onPressure: () => void,
): OwnNode {
  let node: ApiObject | undefined;
  const put = (next: ApiObject | undefined): void => {
    const before = pressureText(node);
    node = next;
    if (pressureText(next) !== before) onPressure();
  };
  const observation = client.observe(
    { resource: 'nodes', fieldSelector: `metadata.name=${machine.name}` },
    ({ type, object }) => {
      put(type === 'DELETED' ? undefined : object);
    },
  );
  return {
    get: () => node,
    put,
    forAdmission: () => admissionNode(node, machine),
    askedPressures: () =>
      pressureText(node)
        .split(',')
        .map((word) => PRESSURE_TYPES.get(word.trim()))
        .filter((type) => type !== undefined),
    stop: () => {
      observation.stop();
    },
  };
}

function pressureText(node: ApiObject | undefined): string {
  return node?.metadata.annotations?.[PRESSURE_ANNOTATION] ?? '';
}

function admissionNode(
  node: ApiObject | undefined,
  machine: AgentContext['machine'],
): AdmissionNode {
  if (node === undefined) {
    const { name, labels, taints, capacity } = machine;
    return { name, labels, taints, allocatable: { ...capacity } };
  }
  const spec = isJsonObject(node['spec']) ? node['spec'] : {};
  const status = isJsonObject(node['status']) ? node['status'] : {};
  const allocatable = status['allocatable'];
  return {
    name: machine.name,
    labels: node.metadata.labels ?? {},
    taints: Array.isArray(spec['taints']) ? spec['taints'] : [], // validated by the API
    allocatable: isJsonObject(allocatable)
      ? (allocatable as Readonly<Record<string, string>>)
      : { ...machine.capacity },
  };
}
