/**
 * Roles that let the functions give a cluster the DaemonSets of fleets (ADR 0066). RBAC limits
 * `patch` by name, and `create` by namespace alone: the shipped policies refuse whom no Role grants
 * `roll-out`. No shipped file that is applied again takes these Roles away.
 */
import * as v from 'valibot';
import { FUNCTIONS_ACCOUNTS, subjectOf } from '../../ports/stores/credential-store.ts';

export type Manifest = Readonly<Record<string, unknown>>;

/** CEL: the request is of Rollcall's functions, by their service account or by an access entry of EKS. */
export const FROM_FUNCTIONS = `request.userInfo.username in ['${subjectOf('act')}', '${FUNCTIONS_ACCOUNTS.act}']`;

const RBAC = 'rbac.authorization.k8s.io';
/** No verb of the API: the shipped admission policies let a DaemonSet be created, and changed as a whole, to whom it is granted. */
export const ROLL_OUT = 'roll-out';
/** CEL: the requesting user has the right for the DaemonSet of the request. */
export const MAY_ROLL_OUT = `authorizer.group('apps').resource('daemonsets').namespace(request.namespace).name(request.name).check('${ROLL_OUT}').allowed()`;

const part = '[a-z0-9]([-a-z0-9.]*[a-z0-9])?';
const keySchema = v.pipe(v.string(), v.regex(new RegExp(`^${part}/${part}$`)));

interface FleetName {
  readonly namespace: string;
  readonly name: string;
}

/** Reads `namespace/name`. Throws for anything else, and where there is none. */
export function fleetNames(keys: readonly string[]): readonly FleetName[] {
  return v.parse(v.pipe(v.array(keySchema), v.minLength(1)), keys).map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return { namespace, name };
  });
}

/** For each namespace a Role and its binding: create, and of these names patch and `roll-out`. */
export function fleetRights(fleets: readonly FleetName[]): readonly Manifest[] {
  return [...new Set(fleets.map(({ namespace }) => namespace))].flatMap((namespace) => {
    const metadata = { namespace, name: 'rollcall-fleets' };
    const resourceNames = fleets
      .filter((each) => each.namespace === namespace)
      .map(({ name }) => name);
    const rule = { apiGroups: ['apps'], resources: ['daemonsets'] };
    const who = { name: FUNCTIONS_ACCOUNTS.act };
    return [
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'Role',
        metadata,
        rules: [
          { ...rule, verbs: ['create'] },
          { ...rule, resourceNames, verbs: ['patch', ROLL_OUT] },
        ],
      },
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
        subjects: [
          { kind: 'ServiceAccount', namespace: 'rollcall-system', ...who },
          { apiGroup: RBAC, kind: 'User', ...who },
        ],
      },
    ];
  });
}
