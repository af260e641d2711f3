/**
 * The manifests of one cluster: the shipped kustomizations of infra/ with the cluster's values set.
 *
 * Documents are edited as data, never by replacing text; a value that nobody set is an error. For observe
 * there is the watcher only; with a way in also the functions' rights and the admission policy
 * (docs/security.md), with a bound token its renewer. Keys of static credentials are no part of it (S11).
 */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { StackOutputs } from '../../reach/stack.ts';
import type { ClusterAuthentication, ClusterMode } from '../../../core/model/registration.ts';
import { packageFile } from '../../../engine/package-files.ts';
import { isObject, objectIdentity, renderKustomization } from './kustomize.ts';

/** Where the AWS credentials of watcher and renewer come from. */
export const CREDENTIAL_KINDS = ['irsa', 'pod-identity', 'web-identity', 'static'] as const;

/** One of CREDENTIAL_KINDS. */
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** What is set in the manifests. */
export interface ManifestValues {
  readonly id: string;
  /** Absent: the placeholder of the shipped files stays, which no registry has. */
  readonly image?: string;
  readonly outputs: Pick<
    StackOutputs,
    'EventsQueueArn' | 'EventsQueueUrl' | 'CredentialsQueueUrl' | 'CredentialsKeyArn'
  >;
  readonly credentials: CredentialKind;
  /** For `irsa` and `web-identity`. */
  readonly watcherRoleArn?: string;
  readonly renewerRoleArn?: string;
  /** Where watcher and renewer reach the API server; absent: by the service address. */
  readonly apiServer?: string;
  readonly authentication: ClusterAuthentication['kind'];
  /** What the functions shall be able to do there; absent: takeover. */
  readonly mode?: Exclude<ClusterMode, 'observe'>;
}

const OVERLAYS: Readonly<Record<CredentialKind, string | undefined>> = {
  irsa: 'eks-irsa',
  // The association is all that it needs: the base as it is.
  'pod-identity': undefined,
  'web-identity': 'web-identity',
  static: 'static-credentials',
};
const ROLE_ANNOTATION = 'eks.amazonaws.com/role-arn';
const PLACEHOLDER = /^<.*>$/s;

/** All objects, in the order in which they are to be applied; each only once. */
export function composeManifests(values: ManifestValues): readonly JsonObject[] {
  const { authentication } = values;
  const objects = [
    ...watcherObjects(values),
    ...(authentication === 'none' ? [] : functionsObjects(values)),
    ...(authentication === 'bound-token' ? renewerObjects(values) : []),
  ];
  const kept = new Map<string, JsonObject>();
  for (const object of objects) {
    const name = describeObject(object);
    if (!kept.has(name)) kept.set(name, object);
  }
  const composed = [...kept.values()];
  for (const object of composed) requireFilled(object, describeObject(object));
  return composed;
}

/** Kind and name of an object, with its namespace: `Role rollcall-system/rollcall-watcher`. */
export function describeObject(object: JsonObject): string {
  const { kind, namespace, name } = objectIdentity(object);
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

/** YAML of the objects, for kubectl. */
export function writeManifests(objects: readonly JsonObject[]): string {
  return objects.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
}

function kustomization(part: 'watcher' | 'renewer', credentials: CredentialKind): string {
  const overlay = OVERLAYS[credentials];
  return packageFile(overlay === undefined ? `infra/${part}` : `infra/overlays/${part}/${overlay}`);
}

function watcherObjects(values: ManifestValues): readonly JsonObject[] {
  const data = { ROLLCALL_EVENTS_QUEUE_URL: values.outputs.EventsQueueUrl };
  return render({ part: 'watcher', values, data, roleArn: values.watcherRoleArn });
}

function renewerObjects(values: ManifestValues): readonly JsonObject[] {
  const data = {
    ROLLCALL_CREDENTIALS_QUEUE_URL: values.outputs.CredentialsQueueUrl,
    ROLLCALL_CREDENTIALS_KEY_ARN: values.outputs.CredentialsKeyArn,
  };
  const objects = render({ part: 'renewer', values, data, roleArn: values.renewerRoleArn });
  const cronJob = { kind: 'CronJob', name: 'rollcall-renewer' };
  const schedule = `${String(minuteOf(values.id))} * * * *`;
  return objects.map((object) =>
    isObject(object, cronJob) ? setMember(object, ['spec', 'schedule'], schedule) : object,
  );
}

/** A minute of its own, so that a fleet does not send all at once; never the full hour. */
function minuteOf(id: string): number {
  return 1 + (createHash('sha256').update(id).digest().readUInt32BE(0) % 59);
}

interface Part {
  readonly part: 'watcher' | 'renewer';
  readonly values: ManifestValues;
  /** Of its ConfigMap, beside what both have there. */
  readonly data: Readonly<Record<string, string>>;
  readonly roleArn: string | undefined;
}

function render(options: Part): readonly JsonObject[] {
  const { part, values } = options;
  const name = `rollcall-${part}`;
  const objects = renderKustomization(kustomization(part, values.credentials));
  for (const kind of ['ConfigMap', 'ServiceAccount']) {
    const isThere = objects.some((object) => isObject(object, { kind, name }));
    if (!isThere) throw new Error(`infra/${part} has no ${kind} ${name}`);
  }
  return objects
    .filter(({ kind }) => kind !== 'Secret')
    .map((object) => {
      if (isObject(object, { kind: 'ConfigMap', name })) return fillConfiguration(object, options);
      if (isObject(object, { kind: 'ServiceAccount', name })) return fillAccount(object, options);
      return values.image === undefined ? object : setImage(object, values.image);
    });
}

function fillConfiguration(object: JsonObject, { values, data, roleArn }: Part): JsonObject {
  const shipped = isJsonObject(object['data']) ? object['data'] : {};
  const common = {
    ROLLCALL_CLUSTER: values.id,
    // The fourth part of an ARN.
    AWS_REGION: values.outputs.EventsQueueArn.split(':')[3] ?? '',
    ROLLCALL_API_SERVER: values.apiServer ?? '',
  };
  const role =
    shipped['AWS_ROLE_ARN'] === undefined || roleArn === undefined ? {} : { AWS_ROLE_ARN: roleArn };
  return { ...object, data: { ...shipped, ...common, ...data, ...role } };
}

function fillAccount(object: JsonObject, { roleArn }: Part): JsonObject {
  const annotations = jsonMember(object['metadata'], 'annotations');
  const hasRole = jsonMember(annotations, ROLE_ANNOTATION) !== undefined;
  if (!hasRole || roleArn === undefined) return object;
  return setMember(object, ['metadata', 'annotations', ROLE_ANNOTATION], roleArn);
}

/** The image of every container, wherever its pod template stands; the shipped ones are all the watcher's. */
function setImage(object: JsonObject, image: string): JsonObject {
  const walk = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(walk);
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).map(([key, member]) => [
      key,
      key === 'containers' && member !== undefined
        ? jsonItems(member).map((container) =>
            isJsonObject(container) ? { ...container, image } : container,
          )
        : walk(member ?? null),
    ]);
    return Object.fromEntries(entries) as JsonObject;
  };
  return walk(object) as JsonObject;
}

/**
 * What the functions may do there, and which pods the admission policy lets them touch. With an access
 * entry they come as a user, otherwise as a service account.
 */
function functionsObjects({
  authentication,
  mode = 'takeover',
}: Pick<ManifestValues, 'authentication' | 'mode'>): readonly JsonObject[] {
  const overlay = authentication === 'eks' ? `${mode}-eks` : mode;
  return renderKustomization(packageFile(`infra/overlays/functions/${overlay}`));
}

function setMember(object: JsonObject, names: readonly string[], value: Json): JsonObject {
  const [name = '', ...deeper] = names;
  if (deeper.length === 0) return { ...object, [name]: value };
  const inner = object[name];
  return { ...object, [name]: setMember(isJsonObject(inner) ? inner : {}, deeper, value) };
}

function requireFilled(value: Json | undefined, where: string): void {
  if (typeof value === 'string' && PLACEHOLDER.test(value)) {
    throw new Error(`nothing was set for ${where}: ${value}`);
  }
  if (Array.isArray(value)) {
    for (const item of jsonItems(value)) requireFilled(item, where);
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) requireFilled(member, `${where} ${name}`);
  }
}
