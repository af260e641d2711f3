/**
 * The manifests that let the functions give a cluster the DaemonSets of fleets, for scripts/install/fleet-rights.ts (ADR 0066).
 *
 * RBAC limits `patch` by name, and `create` by namespace alone: which DaemonSets may be created says the policy
 * rollcall-fleets. The shipped policies let through a template change (copilot) or a status (takeover) alone; they are written again with
 * these excepted. A name is
 * a namespace and a name of the API server's alphabet: no character of it means anything in CEL.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { parseAllDocuments } from 'yaml';
import { ROLLCALL } from './listed-policy.ts';
import type { Manifest } from './listed-policy.ts';

const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io/v1';
/** Which policy of which file lets nothing else of DaemonSets through, by mode. */
const SHIPPED = {
  copilot: ['../../infra/copilot/admission.yaml', 'rollcall-copilot-daemon-sets'],
  takeover: ['../../infra/admission/policy.yaml', 'rollcall-status'],
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
    const metadata = { namespace, name: 'rollcall-fleets' };
    const resourceNames = fleets
      .filter((each) => each.namespace === namespace)
      .map(({ name }) => name);
    const rule = { apiGroups: ['apps'], resources: ['daemonsets'] };
    const who = { name: 'rollcall-functions' };
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

/** The policy that lets Rollcall create these DaemonSets, and no other. */
export function fleetPolicy(fleets: readonly FleetName[]): readonly Manifest[] {
  const metadata = { name: 'rollcall-fleets' };
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
        matchConditions: [{ name: 'rollcall', expression: ROLLCALL }],
        validations: [
          {
            message: 'Rollcall creates only DaemonSets that scripts/install/fleet-rights.ts listed',
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
  const documents = parseAllDocuments(readFileSync(new URL(path, import.meta.url), 'utf8'));
  const shipped = documents
    .map((document) => document.toJS() as ShippedPolicy)
    .find(({ metadata, spec }) => metadata.name === name && 'matchConditions' in spec);
  if (shipped === undefined) throw new Error(`${path} has no ${name}`);
  const expression =
    `!(request.operation in ['CREATE', 'UPDATE'] && request.?subResource.orValue('') == '' && ` +
    `(request.namespace + '/' + object.metadata.?name.orValue('')) in ${listOf(fleets)})`;
  const matchConditions = [
    ...(shipped.spec.matchConditions ?? []),
    { name: 'no-fleet', expression },
  ];
  return [{ ...shipped, spec: { ...shipped.spec, matchConditions } }];
}

interface ShippedPolicy {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly matchConditions?: readonly object[] };
}
