/**
 * What is allowed in a pod or template, and hardly meant: the API server warns of it.
 *
 * Differs from Kubernetes: old annotations of AppArmor and volumes of removed plug-ins raise no warning.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { at } from '../../shared/field-errors.ts';
import { listAt, numberAt, objectAt, optionalObjectAt, textAt } from '../../shared/json-edit.ts';
import { quantityAt } from '../../shared/resource-lists.ts';
import { affinityWarnings, deprecatedLabelWarnings } from './affinity-warnings.ts';
import { portWarnings } from './port-warnings.ts';
import { overlappingPathWarnings } from './volume-warnings.ts';

const CRITICAL_POD = 'scheduler.alpha.kubernetes.io/critical-pod';
const BYTE_RESOURCES = ['memory', 'ephemeral-storage'];

/** Warnings about a pod (`field` '') or template (`spec.template.`). */
export function podWarnings(podOrTemplate: JsonObject, field: string): readonly string[] {
  const spec = objectAt(podOrTemplate, 'spec');
  const annotations = objectAt(objectAt(podOrTemplate, 'metadata'), 'annotations');
  const specField = `${field}spec`;
  const containers = [
    ...withFields(spec, 'initContainers', specField),
    ...withFields(spec, 'containers', specField),
  ];
  return [
    ...deprecatedLabelWarnings(spec, specField),
    ...(annotations[CRITICAL_POD] === undefined
      ? []
      : [
          `${field}metadata.annotations[${CRITICAL_POD}]: non-functional in v1.16+; use the "priorityClassName" field instead`,
        ]),
    ...overlappingPathWarnings(listAt(spec, 'volumes')),
    ...repeatedWarnings(spec, specField),
    ...containers.flatMap(containerWarnings),
    ...portWarnings(containers),
    ...graceWarnings(spec, specField),
    ...affinityWarnings(spec, specField),
  ];
}

/** A container and where it stands. */
export interface PlacedContainer {
  readonly container: JsonObject;
  readonly field: string;
}

function withFields(spec: JsonObject, list: string, specField: string): readonly PlacedContainer[] {
  return listAt(spec, list).map((container, index) => ({
    container,
    field: at(`${specField}.${list}`, index),
  }));
}

function repeatedWarnings(spec: JsonObject, specField: string): readonly string[] {
  const warnings: string[] = [];
  const addresses = new Set<string>();
  for (const [index, alias] of listAt(spec, 'hostAliases').entries()) {
    const address = textAt(alias, 'ip');
    if (addresses.has(address)) {
      warnings.push(`${at(`${specField}.hostAliases`, index)}.ip: duplicate ip "${address}"`);
    }
    addresses.add(address);
  }
  const names = new Set<string>();
  for (const [index, secret] of listAt(spec, 'imagePullSecrets').entries()) {
    const nameField = `${at(`${specField}.imagePullSecrets`, index)}.name`;
    const name = textAt(secret, 'name');
    if (names.has(name)) warnings.push(`${nameField}: duplicate name "${name}"`);
    if (name === '') warnings.push(`${nameField}: invalid empty name ""`);
    names.add(name);
  }
  return warnings;
}

function containerWarnings({ container, field }: PlacedContainer): readonly string[] {
  return [...fractionWarnings(container, field), ...variableWarnings(container, field)];
}

function fractionWarnings(container: JsonObject, field: string): readonly string[] {
  const resources = optionalObjectAt(container, 'resources');
  if (resources === undefined) return [];
  return BYTE_RESOURCES.flatMap((name) =>
    ['limits', 'requests'].flatMap((list) => {
      const amounts = objectAt(resources, list);
      if (quantityAt(amounts, name).nanos % 1_000_000_000n === 0n) return [];
      const place = `${field}.resources.${list}[${name}]`;
      return [
        `${place}: fractional byte value "${textAt(amounts, name)}" is invalid, must be an integer`,
      ];
    }),
  );
}

function variableWarnings(container: JsonObject, field: string): readonly string[] {
  const names = new Set<string>();
  return listAt(container, 'env').flatMap((variable, index) => {
    const name = textAt(variable, 'name');
    if (!names.has(name)) {
      names.add(name);
      return [];
    }
    // A later value may build on an earlier one: X="$(X)more".
    const value = textAt(variable, 'value');
    const reference = `$(${name})`;
    const buildsOn = value !== reference && value.includes(reference);
    if (buildsOn && optionalObjectAt(variable, 'valueFrom') === undefined) return [];
    const place = at(`${field}.env`, index);
    return [
      `${place}: hides previous definition of "${name}", which may be dropped when using apply`,
    ];
  });
}

function graceWarnings(spec: JsonObject, specField: string): readonly string[] {
  if ((numberAt(spec, 'terminationGracePeriodSeconds') ?? 0) >= 0) return [];
  return [
    `${specField}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
  ];
}
