/**
 * Validation of a pod's spec, in a pod or in a template: what people get wrong first, and what the parts of the cluster rely on.
 *
 * Differs from Kubernetes: containers need names and images, ports numbers, mounts a volume, variables and volumes one
 * source, policies a known name, requests no more than limits; everything else is taken as it is. No ephemeral containers.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { compareQuantities } from '../../objects/quantity.ts';
import type { FieldError } from '../shared/resource.ts';
import {
  at,
  duplicate,
  forbidden,
  invalid,
  invalidText,
  notFound,
  notSupported,
  required,
} from '../shared/field-errors.ts';
import {
  isPresent,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textEntriesAt,
} from '../shared/json-edit.ts';
import { validateLabels } from '../shared/metadata-validation.ts';
import { checkLabel } from '../shared/names.ts';
import { quantityAt } from '../shared/resource-lists.ts';

const POLICIES: Readonly<Record<string, readonly string[]>> = {
  restartPolicy: ['Always', 'OnFailure', 'Never'],
  dnsPolicy: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
};
const PORT_MAX = 65_535;
/** The commonest, in the order in which the API server looks at them: the first one counts. */
const SOURCES = ['emptyDir', 'hostPath', 'secret', 'persistentVolumeClaim', 'configMap'];

/** A template at `field`. */
export function validatePodTemplate(template: JsonObject, field: string): readonly FieldError[] {
  return [
    ...validateLabels(objectAt(template, 'metadata'), `${field}.labels`),
    ...validatePodSpec(objectAt(template, 'spec'), `${field}.spec`),
  ];
}

/** A spec with its defaults at `field`. */
export function validatePodSpec(spec: JsonObject, field: string): readonly FieldError[] {
  const volumes = new Set<string>();
  const errors: FieldError[] = listAt(spec, 'volumes').flatMap((volume, index) => [
    ...validateName(volume, at(`${field}.volumes`, index), volumes),
    ...validateSource(volume, at(`${field}.volumes`, index)),
  ]);
  if (listAt(spec, 'containers').length === 0) errors.push(required(`${field}.containers`));
  const names = new Set<string>();
  for (const list of ['containers', 'initContainers']) {
    for (const [index, container] of listAt(spec, list).entries()) {
      const place = at(`${field}.${list}`, index);
      errors.push(...validateName(container, place, names));
      errors.push(...validateContainer(container, place, volumes));
    }
  }
  for (const [key, supported] of Object.entries(POLICIES)) {
    const policy = textAt(spec, key);
    if (!supported.includes(policy)) {
      errors.push(notSupported(`${field}.${key}`, policy, supported));
    }
  }
  return errors;
}

/** A name that is a DNS label, and not among those before it. */
function validateName(named: JsonObject, field: string, taken: Set<string>): readonly FieldError[] {
  const name = textAt(named, 'name');
  if (name === '') return [required(`${field}.name`)];
  if (taken.has(name)) return [duplicate(`${field}.name`, name)];
  taken.add(name);
  return invalidText(`${field}.name`, name, checkLabel(name));
}

/** Two owners of a volume may each have given it a source. */
function validateSource(volume: JsonObject, field: string): readonly FieldError[] {
  const [, ...more] = [
    ...SOURCES.filter((source) => isPresent(volume, source)),
    ...Object.keys(volume).filter((key) => key !== 'name' && !SOURCES.includes(key)),
  ];
  return more.map((source) =>
    forbidden(`${field}.${source}`, 'may not specify more than 1 volume type'),
  );
}

function validateContainer(
  container: JsonObject,
  field: string,
  volumes: ReadonlySet<string>,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(container, 'image') === '') errors.push(required(`${field}.image`));
  for (const [index, port] of listAt(container, 'ports').entries()) {
    const number = numberAt(port, 'containerPort') ?? 0;
    const place = `${at(`${field}.ports`, index)}.containerPort`;
    if (number === 0) errors.push(required(place));
    else if (number < 0 || number > PORT_MAX) {
      errors.push(invalid(place, number, 'must be between 1 and 65535, inclusive'));
    }
  }
  for (const [index, variable] of listAt(container, 'env').entries()) {
    const place = at(`${field}.env`, index);
    if (textAt(variable, 'name') === '') errors.push(required(`${place}.name`));
    if (textAt(variable, 'value') !== '' && isPresent(variable, 'valueFrom')) {
      const detail = 'may not be specified when `value` is not empty';
      errors.push(invalid(`${place}.valueFrom`, '', detail));
    }
  }
  errors.push(...validateMounts(container, `${field}.volumeMounts`, volumes));
  return [...errors, ...validateResources(objectAt(container, 'resources'), `${field}.resources`)];
}

function validateMounts(
  container: JsonObject,
  field: string,
  volumes: ReadonlySet<string>,
): readonly FieldError[] {
  return listAt(container, 'volumeMounts').flatMap((mount, index) => {
    const name = textAt(mount, 'name');
    const nameField = `${at(field, index)}.name`;
    const known = volumes.has(name) ? [] : [notFound(nameField, name)];
    return [
      ...(name === '' ? [required(nameField)] : known),
      ...(textAt(mount, 'mountPath') === '' ? [required(`${at(field, index)}.mountPath`)] : []),
    ];
  });
}

function validateResources(resources: JsonObject, field: string): readonly FieldError[] {
  const limits = objectAt(resources, 'limits');
  return textEntriesAt(resources, 'requests').flatMap(([name, text]) => {
    if (limits[name] === undefined) return [];
    const requests = objectAt(resources, 'requests');
    const isMore = compareQuantities(quantityAt(requests, name), quantityAt(limits, name)) > 0;
    const detail = `must be less than or equal to ${name} limit of ${textAt(limits, name)}`;
    return isMore ? [invalid(`${field}.requests`, text, detail)] : [];
  });
}
