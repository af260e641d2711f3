/**
 * POST pods/NAME/eviction, which `kubectl drain` uses: a deletion that disruption budgets may forbid. No such budgets
 * exist here, so it is allowed; the pod says why it goes in a condition.
 *
 * Asking for another pod than the one in the path, or for two different dry runs, is refused. A dry run leaves no
 * condition. Grace and preconditions of the options are the deletion's matter; so are finalizers.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ActionInput, ActionOutcome, Subresource } from '../shared/resource.ts';
import { objectAt, textAt, textsAt } from '../shared/json-edit.ts';
import { withPodCondition } from './conditions.ts';

/** The subresource. */
export const EVICTION: Subresource = {
  kind: 'action',
  name: 'eviction',
  bodyKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
  run: evict,
};

function evict({ object: pod, body, context, query }: ActionInput): ActionOutcome {
  const refused = (message: string): ActionOutcome => ({
    kind: 'refused',
    refusal: { code: 400, reason: 'BadRequest', message },
  });
  if (textAt(objectAt(body, 'metadata'), 'name') !== pod.metadata.name) {
    return refused('name in URL does not match name in Eviction object');
  }
  const options = objectAt(body, 'deleteOptions');
  const asked = query.getAll('dryRun');
  const own = textsAt(options, 'dryRun');
  if (asked.length > 0 && own.length > 0 && asked.join() !== own.join()) {
    return refused('Non-matching dry-run options in request and content');
  }
  const dryRun = own.length > 0 ? own : asked;
  if (dryRun.length > 0) return { kind: 'delete', options: { ...options, dryRun } };
  return { kind: 'delete', options: dropKind(options), object: condemned(pod, context.nowText) };
}

function condemned(pod: ActionInput['object'], nowText: string): ActionInput['object'] {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True' as const,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return withPodCondition(pod, condition, nowText);
}

function dropKind(options: JsonObject): JsonObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = options;
  return rest;
}
