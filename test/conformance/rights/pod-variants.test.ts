/**
 * Every settable field of a pod, by the schema of a real API server, on the admission policy (row 69; S5, S6): whatever
 * an administrator could create with one field changed, Rollcall's credential cannot, but for the list below. Each
 * entry says why it gives no rights, and is used, so that the list can only be as long as the policy makes it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { dryRun, messageOf, openAdmissionStage, podOf } from './admission-stage.ts';
import type { AdmissionStage } from './admission-stage.ts';
import { variantsOf, type Schemas, type Variant } from './pod-variants.ts';

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
