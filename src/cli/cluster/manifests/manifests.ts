/**
 * The manifests of one cluster: the files of infra/ with the cluster's values set, as data and never as text.
 *
 * What infra/overlays says for kubectl about credentials and access entries is said here in code; a
 * conformance test compares the two. Keys of static credentials are no part of it (S11).
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { StackOutputs } from '../../reach/stack.ts';
import type { ClusterAuthentication, ClusterMode } from '../../../core/model/registration.ts';
import { packageFile } from '../../../engine/package-files.ts';

/** Where the AWS credentials of watcher and renewer come from. */
export const CREDENTIAL_KINDS = ['irsa', 'pod-identity', 'web-identity', 'static'] as const;

export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

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
  /** The mode whose rights the functions get there; absent: takeover. */
  readonly mode?: Exclude<ClusterMode, 'observe'>;
}

/** Folders of infra/ that give the functions their rights in a mode, and narrow them. */
const FUNCTIONS = { takeover: ['functions', 'admission'], copilot: ['copilot'] } as const;
/** Where the AWS SDK finds the token of `web-identity` in the pod. */
const TOKEN_FOLDER = '/var/run/secrets/rollcall.dev/aws';
/** A volume with that token, which the kubelet renews. */
const TOKEN_VOLUME = {
  name: 'aws-token',
  projected: {
    sources: [
      {
        serviceAccountToken: {
          audience: 'sts.amazonaws.com',
          expirationSeconds: 3600,
          path: 'token',
        },
      },
    ],
  },
};
const KUSTOMIZATION = 'kustomization.yaml';
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

/** The image that the watcher's Deployment names; undefined where no release has named one. */
export function releasedImage(
  deployment = readFileSync(packageFile('infra/watcher/deployment.yaml'), 'utf8'),
): string | undefined {
  const [, image] = /^ *image: (\S+)$/m.exec(deployment) ?? [];
  return image?.startsWith('registry.invalid/') === true ? undefined : image;
}

/** The identity of an object; a field is empty where it is absent, as the namespace of a cluster-scoped object. */
export function objectIdentity(
  object: JsonObject,
): Readonly<Record<'kind' | 'namespace' | 'name', string>> {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const { kind, metadata } = object;
  return {
    kind: text(kind),
    namespace: text(jsonMember(metadata, 'namespace')),
    name: text(jsonMember(metadata, 'name')),
  };
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

/** The objects of a folder of infra/: of the files and folders that its kustomization lists, in their order. */
function readFolder(folder: string): readonly JsonObject[] {
  const { resources } = parse(readFileSync(path.join(folder, KUSTOMIZATION), 'utf8')) as {
    readonly resources: readonly string[];
  };
  return resources.flatMap((name) => {
    const file = path.join(folder, name);
    if (existsSync(path.join(file, KUSTOMIZATION))) return readFolder(file);
    return parseAllDocuments(readFileSync(file, 'utf8'))
      .map((document) => document.toJS() as unknown)
      .filter(isJsonObject);
  });
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
  const schedule = `${String(minuteOf(values.id))} * * * *`;
  return render({ part: 'renewer', values, data, roleArn: values.renewerRoleArn }).map((object) =>
    object['kind'] === 'CronJob' ? setMember(object, ['spec', 'schedule'], schedule) : object,
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

function render(part: Part): readonly JsonObject[] {
  const name = `rollcall-${part.part}`;
  const objects = readFolder(packageFile(`infra/${part.part}`));
  for (const kind of ['ConfigMap', 'ServiceAccount']) {
    const isThere = objects.some((object) => isObject(object, kind, name));
    if (!isThere) throw new Error(`infra/${part.part} has no ${kind} ${name}`);
  }
  return objects.map((object) => {
    if (isObject(object, 'ConfigMap', name)) return fillConfiguration(object, part);
    if (isObject(object, 'ServiceAccount', name)) return fillAccount(object, part);
    return changePodSpec(object, (spec) => fillPodSpec(spec, part)) as JsonObject;
  });
}

function isObject(object: JsonObject, kind: string, name: string): boolean {
  const identity = objectIdentity(object);
  return identity.kind === kind && identity.name === name;
}

/** One that is missing is refused below, like every unset value in angle brackets. */
function roleOf({ part, roleArn }: Part): string {
  return roleArn ?? `<arn of the ${part}'s role>`;
}

function fillConfiguration(object: JsonObject, part: Part): JsonObject {
  const { values, data } = part;
  const shipped = isJsonObject(object['data']) ? object['data'] : {};
  const common = {
    ROLLCALL_CLUSTER: values.id,
    // The fourth part of an ARN.
    AWS_REGION: values.outputs.EventsQueueArn.split(':')[3] ?? '',
    ROLLCALL_API_SERVER: values.apiServer ?? '',
  };
  const role = {
    AWS_ROLE_ARN: roleOf(part),
    AWS_WEB_IDENTITY_TOKEN_FILE: `${TOKEN_FOLDER}/token`,
  };
  const webIdentity = values.credentials === 'web-identity' ? role : {};
  return { ...object, data: { ...shipped, ...common, ...data, ...webIdentity } };
}

function fillAccount(object: JsonObject, part: Part): JsonObject {
  if (part.values.credentials !== 'irsa') return object;
  return setMember(object, ['metadata', 'annotations'], {
    'eks.amazonaws.com/role-arn': roleOf(part),
    'eks.amazonaws.com/sts-regional-endpoints': 'true',
  });
}

/** Changes the pod spec in an object that runs pods, wherever it stands there. */
function changePodSpec(value: Json, change: (spec: JsonObject) => JsonObject): Json {
  if (!isJsonObject(value)) return value;
  if (value['containers'] !== undefined) return change(value);
  const members = Object.entries(value).map(([name, member]) => [
    name,
    member === undefined ? undefined : changePodSpec(member, change),
  ]);
  return Object.fromEntries(members) as JsonObject;
}

/** The image, which is the watcher's in every container, and where the credentials come from. */
function fillPodSpec(spec: JsonObject, { part, values }: Part): JsonObject {
  const { credentials, image } = values;
  const token = { name: 'aws-token', mountPath: TOKEN_FOLDER, readOnly: true };
  const containers = jsonItems(spec['containers'])
    .filter(isJsonObject)
    .map((container) => ({
      ...container,
      ...(image === undefined ? {} : { image }),
      ...(credentials === 'web-identity' ? { volumeMounts: [token] } : {}),
      ...(credentials === 'static'
        ? {
            envFrom: [
              ...jsonItems(container['envFrom']),
              { secretRef: { name: `rollcall-${part}-aws` } },
            ],
          }
        : {}),
    }));
  return {
    ...spec,
    containers,
    ...(credentials === 'web-identity' ? { volumes: [TOKEN_VOLUME] } : {}),
  };
}

/**
 * What the functions may do there, and which pods the admission policy lets them touch. With an access
 * entry they come as users, otherwise as service accounts of the same names.
 */
function functionsObjects({
  authentication,
  mode = 'takeover',
}: Pick<ManifestValues, 'authentication' | 'mode'>): readonly JsonObject[] {
  const objects = FUNCTIONS[mode].flatMap((folder) => readFolder(packageFile(`infra/${folder}`)));
  if (authentication !== 'eks') return objects;
  return objects
    .filter(({ kind }) => kind !== 'ServiceAccount')
    .map((object) => {
      if (object['subjects'] === undefined) return object;
      const subjects = jsonItems(object['subjects']).map((subject) => ({
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'User',
        name: jsonMember(subject, 'name'),
      }));
      return { ...object, subjects };
    });
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
