/**
 * What a write to a pod's status may not do: change the class, move an ended container back, name a malformed address.
 *
 * Differs from Kubernetes: dynamic resources and users of containers are not looked at.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../objects/api-object.ts';
import {
  validatePodAnnotations,
  validatePodAnnotationsUpdate,
} from '../../pod-spec/annotation-validation.ts';
import type { FieldError } from '../../shared/resource.ts';
import { at, forbidden, invalid, invalidText, NO_ERRORS } from '../../shared/field-errors.ts';
import { listAt, numberAt, objectAt, optionalObjectAt, textAt } from '../../shared/json-edit.ts';
import { validateCoreMetadataUpdate } from '../../shared/metadata-validation.ts';
import { checkQualifiedName, checkSubdomain } from '../../shared/names.ts';
import { validateAddresses } from './address-validation.ts';

/** A changed status. */
export function validatePodStatusUpdate(
  next: ApiObject,
  current: ApiObject,
): readonly FieldError[] {
  const [after, before] = [objectAt(next, 'status'), objectAt(current, 'status')];
  const spec = objectAt(current, 'spec');
  return [
    ...validateCoreMetadataUpdate(next, current),
    ...validatePodAnnotationsUpdate(next.metadata, current.metadata),
    ...validatePodAnnotations(next.metadata, spec, 'metadata.annotations'),
    ...validateConditions(after),
    ...validateNomination({ after, before, nodeName: textAt(spec, 'nodeName') }),
    ...validateObservation(after, before),
    ...validateTransitions({
      after,
      before,
      list: 'containerStatuses',
      mayRestart: (exitCode) => mayRestart(spec, exitCode),
    }),
    ...validateTransitions({
      after,
      before,
      list: 'initContainerStatuses',
      mayRestart: (exitCode, name) => mayInitRestart({ spec, exitCode, name }),
    }),
    ...validateClaims(after, spec),
    ...validateAddresses(after, before),
  ];
}

function validateClaims(status: JsonObject, spec: JsonObject): readonly FieldError[] {
  const known = new Set(listAt(spec, 'resourceClaims').map((claim) => textAt(claim, 'name')));
  return listAt(status, 'resourceClaimStatuses').flatMap((claim, index) => {
    const name = textAt(claim, 'name');
    if (known.has(name)) return [];
    const field = `${at('status.resourceClaimStatuses', index)}.name`;
    return [invalid(field, name, 'must match the name of an entry in `spec.resourceClaims`')];
  });
}

function validateConditions(status: JsonObject): readonly FieldError[] {
  return listAt(status, 'conditions').flatMap((condition, index) => {
    const field = at('status.conditions', index);
    const type = textAt(condition, 'type');
    const errors: FieldError[] = [];
    if ((numberAt(condition, 'observedGeneration') ?? 0) < 0) {
      errors.push(
        invalid(
          `${field}.observedGeneration`,
          condition['observedGeneration'],
          'must be a non-negative integer',
        ),
      );
    }
    if (SYSTEM_CONDITIONS.has(type)) return errors;
    return [...errors, ...invalidText(`${field}.Type`, type, checkQualifiedName(type))];
  });
}

const SYSTEM_CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);

function validateNomination(input: {
  readonly after: JsonObject;
  readonly before: JsonObject;
  readonly nodeName: string;
}): readonly FieldError[] {
  const name = textAt(input.after, 'nominatedNodeName');
  if (name === '' || name === textAt(input.before, 'nominatedNodeName')) return NO_ERRORS;
  const field = 'status.nominatedNodeName';
  const errors: FieldError[] = [...invalidText(field, name, checkSubdomain(name))];
  if (input.nodeName !== '') {
    errors.push(forbidden(field, 'may not be set on pods that are already bound to a node'));
  }
  return errors;
}

function validateObservation(after: JsonObject, before: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if ((numberAt(after, 'observedGeneration') ?? 0) < 0) {
    errors.push(
      invalid(
        'status.observedGeneration',
        after['observedGeneration'],
        'must be a non-negative integer',
      ),
    );
  }
  if (textAt(after, 'qosClass') !== textAt(before, 'qosClass')) {
    errors.push(invalid('status.qosClass', after['qosClass'], 'field is immutable'));
  }
  return errors;
}

function validateTransitions(input: {
  readonly after: JsonObject;
  readonly before: JsonObject;
  readonly list: string;
  readonly mayRestart: (exitCode: number, name: string) => boolean;
}): readonly FieldError[] {
  const { after, before, list, mayRestart: isAllowed } = input;
  const next = listAt(after, list);
  return listAt(before, list).flatMap((old, index) => {
    const terminated = optionalObjectAt(objectAt(old, 'state'), 'terminated');
    if (terminated === undefined) return [];
    const name = textAt(old, 'name');
    if (isAllowed(numberAt(terminated, 'exitCode') ?? 0, name)) return [];
    const revived = next.find((it) => textAt(it, 'name') === name);
    if (revived === undefined) return [];
    if (optionalObjectAt(objectAt(revived, 'state'), 'terminated') !== undefined) return [];
    return [
      forbidden(
        `${at(`status.${list}`, index)}.state`,
        'may not be transitioned to non-terminated state',
      ),
    ];
  });
}

function mayRestart(spec: JsonObject, exitCode: number): boolean {
  const policy = textAt(spec, 'restartPolicy');
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

function mayInitRestart(input: {
  readonly spec: JsonObject;
  readonly exitCode: number;
  readonly name: string;
}): boolean {
  const { spec, exitCode, name } = input;
  const container = listAt(spec, 'initContainers').find((it) => textAt(it, 'name') === name);
  if (container !== undefined && textAt(container, 'restartPolicy') === 'Always') return true;
  return mayRestart(spec, exitCode);
}
