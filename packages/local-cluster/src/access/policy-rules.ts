/**
 * Policy rules of RBAC: what one rule allows. Pure.
 *
 * `*` stands for all verbs, groups, resources or paths; `*` + `/status` for that subresource of all resources; a path may
 * end in `*`. resourceNames restrict a rule to requests that name one of them.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { RequestAttributes } from '../api/request/api-request.ts';

/** A rule of a Role or ClusterRole. */
export interface PolicyRule extends JsonObject {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** Whether the rule allows the request. */
export function ruleAllows(rule: PolicyRule, request: RequestAttributes): boolean {
  if (!holds(rule.verbs, request.verb)) return false;
  if (request.resource === '') return allowsPath(rule.nonResourceURLs, request.path);
  return (
    holds(rule.apiGroups, request.group) &&
    allowsResource(rule.resources, request) &&
    allowsName(rule.resourceNames, request.name)
  );
}

function holds(allowed: readonly string[] | undefined, wanted: string): boolean {
  return allowed !== undefined && (allowed.includes(wanted) || allowed.includes('*'));
}

function allowsResource(
  allowed: readonly string[] | undefined,
  { resource, subresource }: RequestAttributes,
): boolean {
  if (allowed === undefined) return false;
  if (subresource === undefined || subresource === '') return holds(allowed, resource);
  return holds(allowed, `${resource}/${subresource}`) || allowed.includes(`*/${subresource}`);
}

function allowsName(allowed: readonly string[] | undefined, name: string | undefined): boolean {
  if (allowed === undefined || allowed.length === 0) return true;
  return allowed.includes(name ?? '');
}

function allowsPath(allowed: readonly string[] | undefined, path: string): boolean {
  if (allowed === undefined) return false;
  return allowed.some(
    (pattern) =>
      pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1))),
  );
}
