/**
 * DaemonSets: defaults, two counters, and what is refused. No pod is made of one here: that is Rollcall's part.
 *
 * metadata.generation grows with each change of the spec, the annotation `deprecated.daemonset.template.generation` with each
 * change of the template, whatever a client writes there. Changes are changes of meaning: the order of members is none.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { compileSelector, isEmptySelector } from '@rollcall/base/label-selector.ts';
import type { Labels } from '@rollcall/base/label-selector.ts';
import type { LabelSelector } from '@rollcall/base/objects.ts';
import type { ApiObject, Metadata } from '../objects/api-object.ts';
import { applyPodSpecDefaults } from './pod-spec/defaults.ts';
import { validatePodTemplate } from './pod-spec/validation.ts';
import {
  defineResource,
  keepSpec,
  keepStatus,
  statusView,
  withGeneration,
  withStatus,
} from './shared/define-resource.ts';
import { equalJson } from './shared/equal-json.ts';
import { forbidden, invalid, notSupported, required } from './shared/field-errors.ts';
import {
  editObjectAt,
  isPresent,
  numberAt,
  objectAt,
  optionalObjectAt,
  textAt,
  withDefaults,
  withMember,
} from './shared/json-edit.ts';
import type { FieldError, Resource } from './shared/resource.ts';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
/** Counters that are written even when they are zero. */
const EMPTY_STATUS = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};
const STRATEGIES = ['RollingUpdate', 'OnDelete'];

/** daemonsets.apps. */
export const DAEMON_SETS: Resource = defineResource({
  group: 'apps',
  plural: 'daemonsets',
  singular: 'daemonset',
  kind: 'DaemonSet',
  shortNames: ['ds'],
  categories: ['all'],
  isNamespaced: true,
  rules: {
    applyDefaults: applyDaemonSetDefaults,
    prepareForCreate: (object) =>
      withTemplateGeneration(
        withGeneration(withStatus(object, EMPTY_STATUS), 1),
        Math.max(1, templateGenerationOf(object)),
      ),
    validateCreate: validateSpec,
    prepareForUpdate,
    validateUpdate,
  },
  subresources: [
    statusView({
      // The template's generation belongs to the spec, which stays.
      prepareForUpdate: (next, current) =>
        withTemplateGeneration(keepSpec(next, current), templateGenerationOf(current)),
      validateUpdate: validateStatusUpdate,
    }),
  ],
});

/** A DaemonSet with its defaults; the same object when it has them. */
export function applyDaemonSetDefaults(object: ApiObject): ApiObject {
  const withSpec = withMember(object, 'spec', withSpecDefaults(objectAt(object, 'spec')));
  const status = withDefaults(objectAt(withSpec, 'status'), EMPTY_STATUS);
  return withMember(withSpec, 'status', status);
}

function withSpecDefaults(spec: JsonObject): JsonObject {
  const result = withDefaults(spec, { revisionHistoryLimit: 10 });
  const strategy = withStrategyDefaults(objectAt(result, 'updateStrategy'));
  return editObjectAt(withMember(result, 'updateStrategy', strategy), 'template', (template) =>
    withMember(template, 'spec', applyPodSpecDefaults(objectAt(template, 'spec'))),
  );
}

function withStrategyDefaults(strategy: JsonObject): JsonObject {
  const typed = textAt(strategy, 'type') === '' ? { ...strategy, type: 'RollingUpdate' } : strategy;
  if (typed['type'] !== 'RollingUpdate') {
    // The original keeps both numbers wherever there is a rollingUpdate, for any type.
    return editObjectAt(typed, 'rollingUpdate', (rolling) =>
      withDefaults(rolling, { maxUnavailable: 0, maxSurge: 0 }),
    );
  }
  const rolling = withDefaults(objectAt(typed, 'rollingUpdate'), {
    maxUnavailable: 1,
    maxSurge: 0,
  });
  return withMember(typed, 'rollingUpdate', rolling);
}

function prepareForUpdate(next: ApiObject, current: ApiObject): ApiObject {
  const [after, before] = [objectAt(next, 'spec'), objectAt(current, 'spec')];
  const isSame = equalJson(after, before);
  const hasSameTemplate = isSame || equalJson(after['template'], before['template']);
  const { generation = 0 } = current.metadata;
  return withTemplateGeneration(
    withGeneration(keepStatus(next, current), isSame ? generation : generation + 1),
    templateGenerationOf(current) + (hasSameTemplate ? 0 : 1),
  );
}

/** The template's generation; 0 when it is not said. */
function templateGenerationOf(object: ApiObject): number {
  const text = textAt(objectAt(object.metadata, 'annotations'), TEMPLATE_GENERATION);
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

function withTemplateGeneration(object: ApiObject, generation: number): ApiObject {
  const annotations = objectAt(object.metadata, 'annotations');
  const text = String(generation);
  if (annotations[TEMPLATE_GENERATION] === text) return object;
  const all = { ...annotations, [TEMPLATE_GENERATION]: text };
  const metadata: Metadata = withMember(object.metadata, 'annotations', all);
  return { ...object, metadata };
}

/** As a new one, and with the selector that it had. A spec that is the stored one has been looked at before. */
function validateUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const [after, before] = [objectAt(next, 'spec'), objectAt(current, 'spec')];
  if (after === before) return [];
  const hasSameSelector = equalJson(after['selector'], before['selector']);
  return [
    ...(hasSameSelector ? [] : [invalid('spec.selector', after['selector'], 'field is immutable')]),
    ...validateSpec(next),
  ];
}

function validateSpec(object: ApiObject): readonly FieldError[] {
  const spec = objectAt(object, 'spec');
  const template = objectAt(spec, 'template');
  const errors: FieldError[] = [
    ...validateSelector(spec),
    ...validatePodTemplate(template, 'spec.template'),
    ...validateStrategy(objectAt(spec, 'updateStrategy')),
  ];
  const policy = textAt(objectAt(template, 'spec'), 'restartPolicy');
  if (policy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  }
  if (isPresent(objectAt(template, 'spec'), 'activeDeadlineSeconds')) {
    const field = 'spec.template.spec.activeDeadlineSeconds';
    errors.push(forbidden(field, 'activeDeadlineSeconds in DaemonSet is not Supported'));
  }
  for (const key of ['minReadySeconds', 'revisionHistoryLimit']) {
    errors.push(...nonNegative(`spec.${key}`, numberAt(spec, key)));
  }
  return errors;
}

function nonNegative(field: string, value: number | undefined): readonly FieldError[] {
  if (value === undefined || value >= 0) return [];
  return [invalid(field, value, 'must be greater than or equal to 0')];
}

function validateSelector(spec: JsonObject): readonly FieldError[] {
  const selector = optionalObjectAt(spec, 'selector');
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  // Bodies are decoded by the API's types before anything is validated.
  const typed = selector as LabelSelector | undefined;
  if (selector !== undefined && isEmptySelector(typed)) {
    return [invalid('spec.selector', selector, 'empty selector is invalid for daemonset')];
  }
  if (compileSelector(typed).matches(labels as Labels)) return [];
  const detail = '`selector` does not match template `labels`';
  return [invalid('spec.template.metadata.labels', labels, detail)];
}

/** Exactly one of maxUnavailable and maxSurge is not zero, and a percentage is at most 100. */
function validateStrategy(strategy: JsonObject): readonly FieldError[] {
  const field = 'spec.updateStrategy';
  const type = textAt(strategy, 'type');
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [notSupported(field, type, STRATEGIES)];
  const rolling = objectAt(strategy, 'rollingUpdate');
  const [unavailable, surge] = [rolling['maxUnavailable'], rolling['maxSurge']];
  const errors: FieldError[] = [
    ...validateAmount(unavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...validateAmount(surge, `${field}.rollingUpdate.maxSurge`),
  ];
  const [hasUnavailable, hasSurge] = [!isZero(unavailable), !isZero(surge)];
  if (hasUnavailable && hasSurge) {
    const detail = 'may not be set when maxUnavailable is non-zero';
    errors.push(invalid(`${field}.rollingUpdate.maxSurge`, surge, detail));
  }
  if (!hasUnavailable && !hasSurge) {
    const detail = 'cannot be 0 when maxSurge is 0';
    errors.push(required(`${field}.rollingUpdate.maxUnavailable`, detail));
  }
  return errors;
}

function validateAmount(value: Json | undefined, field: string): readonly FieldError[] {
  if (typeof value === 'number') return nonNegative(field, value);
  const share = /^(\d+)%$/.exec(typeof value === 'string' ? value : '')?.[1];
  if (share === undefined) {
    const detail = "a valid percent string must be a numeric string followed by '%'";
    return [invalid(field, value, detail)];
  }
  return Number(share) > 100 ? [invalid(field, value, 'must not be greater than 100%')] : [];
}

function isZero(value: Json | undefined): boolean {
  // What is no amount counts as none.
  return typeof value === 'string' ? !/[1-9]/.test(value) : (value ?? 0) === 0;
}

/** No counter below zero, collisionCount never less than it was. */
function validateStatusUpdate(next: ApiObject, current: ApiObject): readonly FieldError[] {
  const [after, before] = [objectAt(next, 'status'), objectAt(current, 'status')];
  const errors = Object.entries(after).flatMap(([key, value]) =>
    typeof value === 'number' ? nonNegative(`status.${key}`, value) : [],
  );
  const [count, previous] = [numberAt(after, 'collisionCount'), numberAt(before, 'collisionCount')];
  return previous !== undefined && (count ?? -1) < previous
    ? [...errors, invalid('status.collisionCount', count ?? 0, 'cannot be decremented')]
    : errors;
}
