/**
 * Defaults of DaemonSets (spec 2.13): RollingUpdate one at a time, ten revisions, the counters of a status; and those
 * of the pod spec in the template.
 *
 * Applied to what clients send and to what a view shows, so the result must be stable: an object that has its defaults
 * comes back as the very same one. The selector has none; it must be said. Annotations and generations are
 * generation.ts's.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { applyPodSpecDefaults } from '../pod-spec/defaults/defaults.ts';
import { editObjectAt, objectAt, textAt, withDefaults, withMember } from '../shared/json-edit.ts';

const SPEC_DEFAULTS = { revisionHistoryLimit: 10 };
const STRATEGY_DEFAULTS = { type: 'RollingUpdate' };
const ROLLING_DEFAULTS = { maxUnavailable: 1, maxSurge: 0 };
const NO_ROLLING = { maxUnavailable: 0, maxSurge: 0 };
/** Counters that are written even when they are zero. */
const STATUS_DEFAULTS = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

/** A DaemonSet with its defaults; the same object when it has them. */
export function applyDaemonSetDefaults(object: ApiObject): ApiObject {
  const withSpec = withMember(object, 'spec', applySpecDefaults(objectAt(object, 'spec')));
  return withMember(
    withSpec,
    'status',
    withDefaults(objectAt(withSpec, 'status'), STATUS_DEFAULTS),
  );
}

function applySpecDefaults(spec: JsonObject): JsonObject {
  let result = withDefaults(spec, SPEC_DEFAULTS);
  result = withMember(
    result,
    'updateStrategy',
    applyStrategyDefaults(objectAt(result, 'updateStrategy')),
  );
  return editObjectAt(result, 'template', (template) =>
    withMember(template, 'spec', applyPodSpecDefaults(objectAt(template, 'spec'))),
  );
}

function applyStrategyDefaults(strategy: JsonObject): JsonObject {
  const typed = textAt(strategy, 'type') === '' ? { ...strategy, ...STRATEGY_DEFAULTS } : strategy;
  if (typed['type'] !== 'RollingUpdate') {
    // The original keeps both numbers wherever there is a rollingUpdate, for any type.
    return editObjectAt(typed, 'rollingUpdate', (rolling) => withDefaults(rolling, NO_ROLLING));
  }
  const rolling = withDefaults(objectAt(typed, 'rollingUpdate'), ROLLING_DEFAULTS);
  return withMember(typed, 'rollingUpdate', rolling);
}
