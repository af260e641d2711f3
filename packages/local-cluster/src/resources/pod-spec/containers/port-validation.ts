/**
 * Ports of containers: numbers, names, protocols, and no port of the host twice.
 *
 * Names are unique within a container; a host port is unique within the pod, for each protocol and host address. Those
 * of init containers are looked at one container at a time, as the real server does. That a probe names a port which
 * exists is not asked: only what it looks like. Whether host ports are free is the scheduler's question and the node's.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  at,
  duplicate,
  inRange,
  invalidText,
  NO_ERRORS,
  oneOf,
  required,
} from '../../shared/field-errors.ts';
import { listAt, numberAt, textAt } from '../../shared/json-edit.ts';
import { checkPortName } from '../../shared/names.ts';

const PORT_NUMBERS = { min: 1, max: 65_535 };
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** The ports of one container, at `field` (`….ports`). */
export function validatePorts(ports: readonly JsonObject[], field: string): readonly FieldError[] {
  if (ports.length === 0) return NO_ERRORS;
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const portField = at(field, index);
    const containerPort = numberAt(port, 'containerPort') ?? 0;
    const errors: FieldError[] = [...validateName(port, `${portField}.name`, names)];
    if (containerPort === 0) errors.push(required(`${portField}.containerPort`));
    else errors.push(...inRange(`${portField}.containerPort`, containerPort, PORT_NUMBERS));
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort !== 0) errors.push(...inRange(`${portField}.hostPort`, hostPort, PORT_NUMBERS));
    errors.push(...oneOf(`${portField}.protocol`, textAt(port, 'protocol'), PROTOCOLS));
    return errors;
  });
}

function validateName(port: JsonObject, field: string, names: Set<string>): readonly FieldError[] {
  const name = textAt(port, 'name');
  if (name === '') return NO_ERRORS;
  const problems = checkPortName(name);
  if (problems.length > 0) return invalidText(field, name, problems);
  if (names.has(name)) return [duplicate(field, name)];
  names.add(name);
  return NO_ERRORS;
}

/** Ports of the host that several ports of these containers claim, at `field` (`….containers`). */
export function validateHostPorts(
  containers: readonly JsonObject[],
  field: string,
): readonly FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap((container, index) =>
    listAt(container, 'ports').flatMap((port, portIndex) => {
      const hostPort = numberAt(port, 'hostPort') ?? 0;
      if (hostPort === 0) return [];
      const claim = [textAt(port, 'protocol'), textAt(port, 'hostIP'), String(hostPort)].join('/');
      if (!taken.has(claim)) {
        taken.add(claim);
        return [];
      }
      const portField = at(`${at(field, index)}.ports`, portIndex);
      return [duplicate(`${portField}.hostPort`, claim)];
    }),
  );
}

/** A port as a probe names it: a number, or the name of a port. */
export function validatePortReference(
  port: Json | undefined,
  field: string,
): readonly FieldError[] {
  if (typeof port === 'string') return invalidText(field, port, checkPortName(port));
  return inRange(field, typeof port === 'number' ? port : 0, PORT_NUMBERS);
}
