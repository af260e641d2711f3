/**
 * The manifests that let the functions give a cluster the DaemonSets of fleets, for `rollcall fleet rights` (ADR 0066).
 *
 * RBAC limits `patch` by name, and `create` by namespace alone: which DaemonSets may be created says the policy
 * rollcall-fleets. The shipped policies let through a template change (copilot) or a status (takeover) alone; they are written again with
 * these excepted. A name is a namespace and a name of the API server's alphabet: no character of it means anything in CEL.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { parseAllDocuments } from 'yaml';
import { jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import { packageFile } from '../../engine/package-files.ts';
import { FUNCTIONS_ACCOUNTS, subjectOf } from '../../ports/stores/credential-store.ts';

/** A manifest. */
export type Manifest = Readonly<Record<string, unknown>>;

/** CEL: the request is of Rollcall's functions, by their service account or by an access entry of EKS. */
export const FROM_FUNCTIONS = `request.userInfo.username in ['${subjectOf('act')}', '${FUNCTIONS_ACCOUNTS.act}']`;

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io/v1';
/** What is made for fleets bears this name. */
const POLICY = 'rollcall-fleets';
/** The condition by which a policy of a mode excepts them. */
const EXCEPTION = 'no-fleet';
/** Which policy of which file lets nothing else of DaemonSets through, by mode. */
const SHIPPED = {
  copilot: ['infra/copilot/admission.yaml', 'rollcall-copilot-daemon-sets'],
  takeover: ['infra/admission/policy.yaml', 'rollcall-status'],
} as const;

const part = '[a-z0-9]([-a-z0-9.]*[a-z0-9])?';
const keySchema = v.pipe(v.string(), v.regex(new RegExp(`^${part}/${part}$`)));

/** A DaemonSet by its names. */
export interface FleetName {
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

function listOf(fleets: readonly FleetName[]): string {
  return `[${fleets.map(({ namespace, name }) => `'${namespace}/${name}'`).join(', ')}]`;
}

/** For each namespace a Role and its binding: create, and patch of these names. */
export function fleetRights(fleets: readonly FleetName[]): readonly Manifest[] {
  return [...new Set(fleets.map(({ namespace }) => namespace))].flatMap((namespace) => {
    const metadata = { namespace, name: POLICY };
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
          { ...rule, resourceNames, verbs: ['patch'] },
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

/** Everything that a cluster of this mode grants and allows for these; where it has no admission policies, RBAC alone. */
export function fleetManifests(
  fleets: readonly FleetName[],
  { mode, hasAdmission }: { readonly mode: ClusterMode; readonly hasAdmission: boolean },
): readonly Manifest[] {
  if (!hasAdmission) return fleetRights(fleets);
  return [
    ...fleetRights(fleets),
    ...fleetPolicy(fleets),
    ...(mode === 'observe' ? [] : fleetException(fleets, mode)),
  ];
}

/** The policy that lets Rollcall create these DaemonSets, and no other. */
export function fleetPolicy(fleets: readonly FleetName[]): readonly Manifest[] {
  const metadata = { name: POLICY };
  return [
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['apps'],
              apiVersions: ['*'],
              resources: ['daemonsets'],
              operations: ['CREATE'],
            },
          ],
        },
        matchConditions: [{ name: 'rollcall', expression: FROM_FUNCTIONS }],
        validations: [
          {
            message: 'Rollcall creates only DaemonSets that rollcall fleet rights listed',
            expression: `(request.namespace + '/' + object.metadata.?name.orValue('')) in ${listOf(fleets)}`,
          },
        ],
      },
    },
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    },
  ];
}

/** The shipped policy about DaemonSets of a mode, which looks at these no more when they are created or updated. */
export function fleetException(
  fleets: readonly FleetName[],
  mode: keyof typeof SHIPPED,
): readonly Manifest[] {
  const [path, name] = SHIPPED[mode];
  const documents = parseAllDocuments(readFileSync(packageFile(path), 'utf8'));
  const shipped = documents
    .map((document) => document.toJS() as ShippedPolicy)
    .find(({ metadata, spec }) => metadata.name === name && 'matchConditions' in spec);
  if (shipped === undefined) throw new Error(`${path} has no ${name}`);
  const expression =
    `!(request.operation in ['CREATE', 'UPDATE'] && request.?subResource.orValue('') == '' && ` +
    `(request.namespace + '/' + object.metadata.?name.orValue('')) in ${listOf(fleets)})`;
  const matchConditions = [
    ...(shipped.spec.matchConditions ?? []),
    { name: EXCEPTION, expression },
  ];
  return [{ ...shipped, spec: { ...shipped.spec, matchConditions } }];
}

interface ShippedPolicy {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly matchConditions?: readonly object[] };
}

/** The policies that name fleets: the one that lets them be created, and of each mode the one that they are excepted from. */
export const FLEET_POLICIES = {
  create: POLICY,
  copilot: SHIPPED.copilot[1],
  takeover: SHIPPED.takeover[1],
} as const;

/** The names, `namespace/name`, that a policy as it stands in a cluster lists for fleets; empty where it lists none. */
export function fleetsNamedBy(policy: JsonObject): readonly string[] {
  const spec = jsonMember(policy, 'spec');
  const conditions = jsonItems(jsonMember(spec, 'matchConditions'));
  const exception = conditions.find((one) => jsonMember(one, 'name') === EXCEPTION);
  const [validation] = jsonItems(jsonMember(spec, 'validations'));
  const isOwn = jsonMember(jsonMember(policy, 'metadata'), 'name') === POLICY;
  const expression = jsonMember(isOwn ? validation : exception, 'expression');
  const list = typeof expression === 'string' ? expression.slice(expression.lastIndexOf('[')) : '';
  return [...list.matchAll(/'([^']+\/[^']+)'/g)].map(([, name = '']) => name);
}
