/**
 * The two counters of a DaemonSet (spec 2.13): metadata.generation grows with each change of the spec, the annotation
 * `deprecated.daemonset.template.generation` with each change of the template, whatever a client writes there.
 *
 * Changes are changes of meaning: the order of members does not matter, and fields of features that are off have been
 * dropped before. Labels, annotations and status move neither. A new DaemonSet may bring a higher template generation;
 * it is kept.
 */
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import { dropDisabledFields } from '../pod-spec/defaults/disabled-fields.ts';
import { keepStatus, withGeneration, withStatus } from '../shared/define-resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import { editObjectAt, objectAt, textAt, withMember } from '../shared/json-edit.ts';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const EMPTY_STATUS = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

/** A new DaemonSet: no status, generation 1. */
export function prepareDaemonSet(asked: ApiObject): ApiObject {
  const object = dropDisabled(asked);
  const generation = Math.max(1, templateGenerationOf(object));
  return withTemplateGeneration(withGeneration(withStatus(object, EMPTY_STATUS), 1), generation);
}

/** A changed DaemonSet: its status kept, its generations counted. */
export function prepareDaemonSetUpdate(asked: ApiObject, current: ApiObject): ApiObject {
  const next = dropDisabled(asked);
  const kept = keepStatus(next, current);
  const [after, before] = [objectAt(next, 'spec'), objectAt(current, 'spec')];
  const generation = current.metadata.generation ?? 0;
  const templateGeneration = templateGenerationOf(current);
  if (!equalJson(after['template'], before['template'])) {
    return withTemplateGeneration(withGeneration(kept, generation + 1), templateGeneration + 1);
  }
  const isSame = equalJson(after, before);
  return withTemplateGeneration(
    withGeneration(kept, isSame ? generation : generation + 1),
    templateGeneration,
  );
}

/** A changed status: the template's generation belongs to the spec, which stays. */
export function prepareDaemonSetStatusUpdate(next: ApiObject, current: ApiObject): ApiObject {
  return withTemplateGeneration(next, templateGenerationOf(current));
}

/** The template's generation; 0 when it is not said. */
export function templateGenerationOf(object: ApiObject): number {
  const text = textAt(objectAt(object.metadata, 'annotations'), TEMPLATE_GENERATION);
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0;
}

function dropDisabled(object: ApiObject): ApiObject {
  return editObjectAt(object, 'spec', (spec) =>
    editObjectAt(spec, 'template', (template) =>
      editObjectAt(template, 'spec', dropDisabledFields),
    ),
  );
}

function withTemplateGeneration(object: ApiObject, generation: number): ApiObject {
  const annotations = objectAt(object.metadata, 'annotations');
  const text = String(generation);
  if (annotations[TEMPLATE_GENERATION] === text) return object;
  const metadata: Metadata = withMember(object.metadata, 'annotations', {
    ...annotations,
    [TEMPLATE_GENERATION]: text,
  });
  return { ...object, metadata };
}
