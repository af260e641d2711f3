/**
 * Probes and lifecycle hooks: exactly one handler, and numbers that make sense.
 *
 * Liveness and startup probes succeed at once (successThreshold 1); only they may bring a grace period of their own. A
 * sleep must fit into the pod's grace period. Assumes defaults. What a probe finds, and what follows, is the node
 * agent's matter (spec node-agent 6); which containers may have probes at all is the caller's.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../shared/resource.ts';
import {
  forbidden,
  invalid,
  NO_ERRORS,
  nonNegative,
  notSupported,
  required,
} from '../../shared/field-errors.ts';
import {
  isPresent,
  listAt,
  numberAt,
  optionalObjectAt,
  textAt,
  textsAt,
} from '../../shared/json-edit.ts';
import { validatePortReference } from './port-validation.ts';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];
const NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];
const SCHEMES = ['HTTP', 'HTTPS'];

/** The three probes and the hooks of a container that may have them. */
export function validateProbesAndHooks(
  container: JsonObject,
  field: string,
  graceSeconds: number | undefined,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const lifecycle = optionalObjectAt(container, 'lifecycle');
  for (const hook of ['postStart', 'preStop']) {
    const handler = lifecycle === undefined ? undefined : optionalObjectAt(lifecycle, hook);
    if (handler === undefined) continue;
    errors.push(...validateHandler(handler, `${field}.lifecycle.${hook}`, graceSeconds));
  }
  for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = optionalObjectAt(container, kind);
    if (probe === undefined) continue;
    errors.push(...validateProbe(probe, `${field}.${kind}`, graceSeconds));
    errors.push(
      ...(kind === 'readinessProbe' ? noOwnGrace : oneSuccess)(probe, `${field}.${kind}`),
    );
  }
  return errors;
}

function oneSuccess(probe: JsonObject, field: string): readonly FieldError[] {
  const threshold = numberAt(probe, 'successThreshold');
  if (threshold === 1) return NO_ERRORS;
  return [invalid(`${field}.successThreshold`, threshold, 'must be 1')];
}

function noOwnGrace(probe: JsonObject, field: string): readonly FieldError[] {
  const graceSeconds = probe['terminationGracePeriodSeconds'];
  if (graceSeconds === undefined) return NO_ERRORS;
  const detail = 'must not be set for readinessProbes';
  return [invalid(`${field}.terminationGracePeriodSeconds`, graceSeconds, detail)];
}

function validateProbe(
  probe: JsonObject,
  field: string,
  graceSeconds: number | undefined,
): readonly FieldError[] {
  const errors: FieldError[] = [...validateHandler(probe, field, graceSeconds)];
  for (const key of NUMBERS) errors.push(...nonNegative(`${field}.${key}`, numberAt(probe, key)));
  const ownGrace = numberAt(probe, 'terminationGracePeriodSeconds');
  if (ownGrace !== undefined && ownGrace <= 0) {
    errors.push(
      invalid(`${field}.terminationGracePeriodSeconds`, ownGrace, 'must be greater than 0'),
    );
  }
  return errors;
}

function validateHandler(
  handler: JsonObject,
  field: string,
  graceSeconds: number | undefined,
): readonly FieldError[] {
  const given = HANDLERS.filter((kind) => isPresent(handler, kind));
  const [first, ...others] = given;
  if (first === undefined) return [required(field, 'must specify a handler type')];
  return [
    ...validateAction(optionalObjectAt(handler, first) ?? {}, `${field}.${first}`, {
      kind: first,
      graceSeconds,
    }),
    ...others.map((kind) =>
      forbidden(`${field}.${kind}`, 'may not specify more than 1 handler type'),
    ),
  ];
}

function validateAction(
  action: JsonObject,
  field: string,
  context: { readonly kind: string; readonly graceSeconds: number | undefined },
): readonly FieldError[] {
  switch (context.kind) {
    case 'exec':
      return textsAt(action, 'command').length === 0 ? [required(`${field}.command`)] : NO_ERRORS;
    case 'httpGet':
      return validateHttpGet(action, field);
    case 'sleep':
      return validateSleep(action, field, context.graceSeconds);
    default:
      return validatePortReference(action['port'], `${field}.port`);
  }
}

function validateHttpGet(action: JsonObject, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(action, 'path') === '') errors.push(required(`${field}.path`));
  errors.push(...validatePortReference(action['port'], `${field}.port`));
  const scheme = textAt(action, 'scheme');
  if (!SCHEMES.includes(scheme)) errors.push(notSupported(`${field}.scheme`, scheme, SCHEMES));
  for (const header of listAt(action, 'httpHeaders')) {
    const name = textAt(header, 'name');
    if (/^[-A-Za-z0-9]+$/.test(name)) continue;
    errors.push(
      invalid(
        `${field}.httpHeaders`,
        name,
        "a valid HTTP header must consist of alphanumeric characters or '-'",
      ),
    );
  }
  return errors;
}

function validateSleep(
  action: JsonObject,
  field: string,
  graceSeconds: number | undefined,
): readonly FieldError[] {
  const seconds = numberAt(action, 'seconds') ?? 0;
  if (graceSeconds === undefined || (seconds >= 0 && seconds <= graceSeconds)) return NO_ERRORS;
  return [
    invalid(field, seconds, 'must be non-negative and less than terminationGracePeriodSeconds'),
  ];
}
