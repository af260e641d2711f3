/**
 * Asking as somebody else: the headers behind `kubectl --as` and `--as-group`, for trying out what roles allow.
 *
 * Differs from Kubernetes: only administrators may; the verb `impersonate` of a role is not looked at. Impersonate-Uid
 * and Impersonate-Extra-* are not known, as users have neither here.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Status, User } from '../api/request/api-request.ts';
import { failure, forbiddenRequest } from '../api/request/statuses.ts';
import { ADMINISTRATORS_GROUP } from './built-in-roles.ts';

/** Who a request is to be judged as, or why it cannot be. */
export type Impersonation =
  | { readonly kind: 'user'; readonly user: User }
  | { readonly kind: 'refused'; readonly status: Status };

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;
const AUTHENTICATED = 'system:authenticated';
const ANONYMOUS = 'system:anonymous';

/** Reads the headers of a request by `user`; without any, the request is the user's own. */
export function impersonate(user: User, headers: IncomingHttpHeaders): Impersonation {
  const name = headers['impersonate-user'];
  const groups = headerValues(headers['impersonate-group']);
  if (name === undefined && groups.length === 0) return { kind: 'user', user };
  if (typeof name !== 'string' || name === '') {
    const message = 'requested impersonation of groups without impersonating a user';
    return { kind: 'refused', status: failure({ code: 500, reason: 'InternalError', message }) };
  }
  if (!user.groups.includes(ADMINISTRATORS_GROUP)) {
    const attributes = { user, verb: 'impersonate', group: '', resource: 'users', name, path: '' };
    return { kind: 'refused', status: forbiddenRequest(attributes, '') };
  }
  return { kind: 'user', user: { name, groups: groupsOf(name, groups) } };
}

/** Node joins repeated headers by `, `; no group here has a comma in its name. */
function headerValues(header: string | readonly string[] | undefined): readonly string[] {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function groupsOf(name: string, asked: readonly string[]): readonly string[] {
  if (name === ANONYMOUS) return asked.length === 0 ? ['system:unauthenticated'] : asked;
  const namespace = SERVICE_ACCOUNT.exec(name)?.[1];
  const own =
    asked.length === 0 && namespace !== undefined
      ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
      : asked;
  return own.includes(AUTHENTICATED) ? own : [...own, AUTHENTICATED];
}
