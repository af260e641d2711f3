/**
 * Every settable field of a pod, by the schema of a real API server, on the admission policy (row 69; S5, S6): whatever
 * an administrator could create with one field changed, Rollcall's credential cannot, but for the list below. Each
 * entry says why it gives no rights, and is used, so that the list can only be as long as the policy makes it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type JsonObject, isJsonObject, type Json } from '@rollcall/base/json.ts';
import { dryRun, messageOf, openAdmissionStage, podOf } from './admission-stage.ts';
import type { AdmissionStage } from './admission-stage.ts';

/** A schema of OpenAPI v3, as far as it is read here. */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
}

/** The schemas of a group, by name. */
type Schemas = Readonly<Record<string, Schema>>;

/** A changed value, and where the change is: `containers[].livenessProbe.exec.command`. */
interface Variant {
  readonly path: string;
  readonly how: 'set' | 'more' | 'removed';
  readonly value: Json;
}

const CORE = 'io.k8s.api.core.v1.';
const EXEC: JsonObject = { exec: { command: ['/evil'] } };

/** Values where the schema says too little to make one that is valid. */
const SAMPLES: Readonly<Record<string, Json>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': '7',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 7,
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector': { matchLabels: { a: 'b' } },
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement': { key: 'k', operator: 'Exists' },
  [`${CORE}Probe`]: EXEC,
  [`${CORE}Lifecycle`]: { postStart: EXEC },
  [`${CORE}LifecycleHandler`]: EXEC,
  [`${CORE}EnvVar`]: { name: 'EVIL', value: 'x' },
  [`${CORE}EnvVarSource`]: { secretKeyRef: { name: 'admin', key: 'x' } },
  [`${CORE}EnvFromSource`]: { secretRef: { name: 'admin' } },
  [`${CORE}VolumeMount`]: { name: 'scratch', mountPath: '/usr/bin' },
  [`${CORE}VolumeDevice`]: { name: 'claim', devicePath: '/dev/x' },
  [`${CORE}Volume`]: { name: 'more', emptyDir: {} },
  [`${CORE}VolumeProjection`]: { secret: { name: 'admin' } },
  [`${CORE}ProjectedVolumeSource`]: { sources: [{ secret: { name: 'admin' } }] },
  [`${CORE}ContainerRestartRule`]: {
    action: 'Restart',
    exitCodes: { operator: 'In', values: [1] },
  },
  [`${CORE}Toleration`]: { operator: 'Exists' },
  [`${CORE}NodeSelectorRequirement`]: { key: 'k', operator: 'Exists' },
  [`${CORE}HostAlias`]: { ip: '192.0.2.7', hostnames: ['x'] },
  [`${CORE}PodResourceClaim`]: { name: 'gpu', resourceClaimName: 'gpu' },
  [`${CORE}PodReadinessGate`]: { conditionType: 'example.com/x' },
  [`${CORE}PodSchedulingGate`]: { name: 'example.com/x' },
  [`${CORE}SeccompProfile`]: { type: 'Unconfined' },
  [`${CORE}AppArmorProfile`]: { type: 'Unconfined' },
  [`${CORE}Sysctl`]: { name: 'kernel.shm_rmid_forced', value: '1' },
  [`${CORE}TopologySpreadConstraint`]: {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { a: 'b' } },
  },
  [`${CORE}PodAffinityTerm`]: {
    topologyKey: 'zone',
    labelSelector: { matchLabels: { a: 'b' } },
  },
  [`${CORE}ContainerPort`]: { containerPort: 7 },
  [`${CORE}ContainerResizePolicy`]: { resourceName: 'cpu', restartPolicy: 'NotRequired' },
  [`${CORE}Container`]: { name: 'evil', image: 'registry.example/evil:1' },
  [`${CORE}PersistentVolumeClaimSpec`]: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1' } },
  },
};

/** Strings that must have a form. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^runtimeClassName$/, 'other'],
  [/^serviceAccountName$/, 'admin'],
  [/\[\]\.restartPolicy$/, 'Never'],
  [/nfs\.path$/, '/evil'],
  [/\.iqn$/, 'iqn.2001-04.com.example:evil'],
  [/\.registry$/, '192.0.2.7:7'],
  [/\.diskURI$/, 'https://192.0.2.7/evil'],
  [/(limits|requests)$/, 'devices.example/evil'],
  [/(mountPath|devicePath|^path|terminationMessagePath|workingDir|[a-z]Path)$/, '/evil'],
  [/(ip|hostIP)$/i, '192.0.2.7'],
  [/nameservers$/, '192.0.2.7'],
  [/fieldPath$/, 'metadata.name'],
  [/resource$/, 'limits.cpu'],
];

/** Members of which an object has one: whichever is set, the others go. */
const ALTERNATIVES: Readonly<Record<string, RegExp>> = {
  [`${CORE}Volume`]: /^(?!name$)/,
  [`${CORE}VolumeProjection`]: /^/,
  [`${CORE}EnvVar`]: /^value/,
  [`${CORE}EnvVarSource`]: /^/,
  [`${CORE}EnvFromSource`]: /Ref$/,
  [`${CORE}LifecycleHandler`]: /^/,
  [`${CORE}Probe`]: /^(exec|grpc|httpGet|tcpSocket)$/,
};

/** All of a schema's fields, changed one by one in a value of it. */
function* variantsOf(
  schemas: Schemas,
  name: string,
  base: JsonObject,
): Generator<Variant, void, undefined> {
  yield* new Walk(schemas).object(`${CORE}${name}`, base, '');
}

class Walk {
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  *object(schema: string, base: JsonObject, path: string): Generator<Variant, void, undefined> {
    const alternatives = ALTERNATIVES[schema];
    for (const [name, member] of Object.entries(this.#schemas[schema]?.properties ?? {})) {
      const at = path === '' ? name : `${path}.${name}`;
      const isAlternative = alternatives?.test(name) === true;
      const kept = Object.entries(base).filter(
        ([other]) => !isAlternative || other === name || !alternatives.test(other),
      );
      const around: JsonObject = Object.fromEntries(kept);
      for (const variant of this.#member(member, base[name], at)) {
        yield { ...variant, value: { ...around, [name]: variant.value } };
      }
      if (base[name] === undefined) continue;
      const { [name]: _taken, ...rest } = base;
      yield { path: at, how: 'removed', value: rest };
    }
  }

  *#member(
    schema: Schema,
    present: Json | undefined,
    path: string,
  ): Generator<Variant, void, undefined> {
    const target = this.#resolve(schema);
    const sample = this.#sample(schema, path);
    if (target.items !== undefined) {
      yield* this.#list(target.items, Array.isArray(present) ? (present as Json[]) : [], path);
    } else if (target.properties === undefined) {
      for (const value of others(target, sample, present)) yield { path, how: 'set', value };
    } else {
      const inner = isJsonObject(present) ? present : undefined;
      if (inner === undefined) yield { path, how: 'set', value: sample };
      if (path.startsWith('initContainers[].')) return;
      const base = inner ?? (isJsonObject(sample) ? sample : {});
      yield* this.object(referenceOf(schema) ?? '', base, path);
    }
  }

  *#list(
    schema: Schema,
    items: readonly Json[],
    path: string,
  ): Generator<Variant, void, undefined> {
    const sample = this.#sample(schema, path);
    yield { path, how: 'more', value: [...items, sample] };
    const [first = sample, ...rest] = items;
    // The members of containers are walked once, to the bottom.
    if (!isJsonObject(first) || path.startsWith('initContainers[].')) return;
    for (const variant of this.object(referenceOf(schema) ?? '', first, `${path}[]`)) {
      yield { ...variant, value: [variant.value, ...rest] };
    }
  }

  #resolve(schema: Schema): Schema {
    const reference = referenceOf(schema);
    return reference === undefined ? schema : (this.#schemas[reference] ?? {});
  }

  #sample(schema: Schema, path: string): Json {
    const known = SAMPLES[referenceOf(schema) ?? ''];
    if (known !== undefined) return known;
    const { properties, items, additionalProperties, required = [] } = this.#resolve(schema);
    if (properties !== undefined) {
      const sampleOf = (name: string): Json =>
        this.#sample(properties[name] ?? {}, `${path}.${name}`);
      return Object.fromEntries(required.map((name) => [name, sampleOf(name)]));
    }
    if (items !== undefined) return [this.#sample(items, path)];
    if (additionalProperties !== undefined) {
      return { [textFor(path)]: this.#sample(additionalProperties, path) };
    }
    return simple(this.#resolve(schema), path);
  }
}

/** A reference alone, or with a default beside it. */
function referenceOf({ $ref, allOf }: Schema): string | undefined {
  return ($ref ?? allOf?.[0]?.$ref)?.replace('#/components/schemas/', '');
}

function simple({ type, enum: values }: Schema, path: string): Json {
  if (type === 'integer') return 7;
  if (type === 'number') return 7.5;
  return type === 'boolean' ? true : (values?.[0] ?? textFor(path));
}

function textFor(path: string): string {
  return TEXTS.find(([form]) => form.test(path))?.[1] ?? 'evil';
}

/** Other values than the one that is there: all, where there are few. */
function others(schema: Schema, sample: Json, present: Json | undefined): readonly Json[] {
  if (schema.type === 'boolean') return [true, false].filter((value) => value !== present);
  if (schema.enum !== undefined) return schema.enum.filter((value) => value !== present);
  if (isJsonObject(present) && isJsonObject(sample)) return [{ ...present, ...sample }];
  if (typeof present === 'number') return [present + 1];
  return typeof present === 'string' && sample === present ? [`${present}x`] : [sample];
}

/** Differences that are let through, by path, and why. */
const HARMLESS: readonly (readonly [RegExp, string])[] = [
  [/^imagePullSecrets/, 'credentials for the image that the template names, by the kubelet alone'],
  [/^(initC|c)ontainers\[\]\.imagePullPolicy$/, 'the same image, always asked for anew'],
  [/^(initC|c)ontainers\[\]\.resizePolicy/, 'how the pod’s own share of the node could be changed'],
  [/^(initC|c)ontainers\[\]\.securityContext$/, 'an empty one says nothing'],
  [/^resources/, 'the pod’s own share of the node'],
  [/^nodeSelector$/, 'one label more to be demanded of the one node that it is pinned to'],
];

/** Members of the spec that no API server takes when a pod of this template is created, and why. */
const NEVER_TAKEN: Readonly<Record<string, string>> = {
  ephemeralContainers: 'only by a subresource, which RBAC does not give',
  os: 'not another than that of these fields, and without effect',
  overhead: 'set from a runtime class',
  preemptionPolicy: 'set from the class of priority',
  priority: 'set from the class of priority',
  schedulingGroup: 'not without a feature that is off',
  serviceAccount: 'serviceAccountName wins',
};

/** The same of an item. */
const NEVER_TAKEN_WITHIN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'containers[]': { restartPolicyRules: 'not without a policy of its own' },
  'initContainers[]': { resources: 'judged to the bottom with the containers’' },
  'volumes[]': { name: 'mounts name it' },
};

interface Judged {
  readonly variant: Variant;
  readonly kind: 'refused' | 'passed' | 'invalid' | 'no-difference';
  readonly message: string;
}

const AT_ONCE = 16;

describe('every field of a pod that a stolen credential asks for (row 69)', () => {
  let stage: AdmissionStage;
  let judged: readonly Judged[];

  before(async () => {
    stage = await openAdmissionStage();
    const openApi = await stage.admin.get('/openapi/v3/api/v1');
    const { schemas } = (openApi as unknown as { components: { schemas: Schemas } }).components;
    const pod = podOf(stage.wide);
    const spec = pod['spec'] as JsonObject;
    const asItIs = specOf((await dryRun(stage.admin, pod)).body);
    const variants = [...variantsOf(schemas, 'PodSpec', spec)];
    const results: Judged[] = [];
    for (let index = 0; index < variants.length; index += AT_ONCE) {
      const some = variants.slice(index, index + AT_ONCE);
      results.push(...(await Promise.all(some.map((variant) => judge(variant, pod, asItIs)))));
    }
    judged = results;
  });

  after(() => stage.stop());

  async function judge(variant: Variant, pod: JsonObject, asItIs: string): Promise<Judged> {
    const changed = { ...pod, spec: variant.value };
    const anybodys = await dryRun(stage.admin, changed);
    if (anybodys.status !== 201) {
      return { variant, kind: 'invalid', message: messageOf(anybodys) };
    }
    if (specOf(anybodys.body) === asItIs) return { variant, kind: 'no-difference', message: '' };
    const { status, body } = await dryRun(stage.rollcall, changed);
    const message = `${String(status)} ${messageOf({ status, body })}`;
    const isRefused = status === 422 && /ValidatingAdmissionPolicy 'rollcall-/.test(message);
    return { variant, kind: isRefused ? 'refused' : 'passed', message };
  }

  const pathsOf = (kind: Judged['kind']): readonly string[] =>
    judged.filter((one) => one.kind === kind).map(({ variant }) => variant.path);

  it('refuses with 422 whatever else an administrator could create', (context) => {
    const passed = judged.filter(
      ({ kind, variant }) =>
        kind === 'passed' && !HARMLESS.some(([path]) => path.test(variant.path)),
    );
    assert.deepEqual(
      passed.map(({ variant, message }) => `${variant.path} (${variant.how}): ${message}`),
      [],
    );
    context.diagnostic(
      `${String(judged.length)} variants, ${String(pathsOf('refused').length)} refused, ` +
        `${String(pathsOf('passed').length)} harmless, ${String(pathsOf('invalid').length)} taken from nobody`,
    );
    assert.ok(pathsOf('refused').length >= 400, 'fewer variants were judged than there are');
  });

  it('needs each entry of the list of harmless differences', () => {
    const passed = pathsOf('passed');
    const unused = HARMLESS.filter(([path]) => !passed.some((one) => path.test(one)));
    assert.deepEqual(unused, []);
  });

  it('judged every member of a spec, but those that no API server takes', () => {
    const tried = new Set([...pathsOf('refused'), ...pathsOf('passed')].map(topOf));
    const known = new Set(judged.map(({ variant }) => topOf(variant.path)));
    const never = [...known].filter((name) => !tried.has(name));
    assert.deepEqual(never.sort(), Object.keys(NEVER_TAKEN).sort());
  });

  for (const part of ['containers[]', 'initContainers[]', 'volumes[]']) {
    it(`judged every member of ${part}, but those that no API server takes`, () => {
      const within = (paths: readonly string[]): readonly string[] =>
        paths
          .filter((path) => path.startsWith(`${part}.`))
          .map((path) => topOf(path.slice(part.length + 1)));
      const tried = new Set([...within(pathsOf('refused')), ...within(pathsOf('passed'))]);
      const known = new Set(within(judged.map(({ variant }) => variant.path)));
      const never = [...known].filter((name) => !tried.has(name));
      assert.deepEqual(never.sort(), Object.keys(NEVER_TAKEN_WITHIN[part] ?? {}).sort());
    });
  }
});

function topOf(path: string): string {
  return path.split(/[.[]/)[0] ?? '';
}

/** The spec as text, without the name that the API server makes up for the token's volume. */
function specOf(body: unknown): string {
  const spec = (body as JsonObject)['spec'];
  return JSON.stringify(spec).replace(/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access');
}
