/** Applying objects: on the server where it can, each reported, none in the way of another. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  TransportAnswer,
  TransportRequest,
} from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { applyManifests } from '../../../../../src/cli/cluster/manifests/apply-manifests.ts';
import { composeManifests } from '../../../../../src/cli/cluster/manifests/manifests.ts';
import type { ManifestValues } from '../../../../../src/cli/cluster/manifests/manifests.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

const CONFIG: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'one', namespace: 'ops' },
};
const POLICY: JsonObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'two' },
};

function answered(status: number, body: Json = {}): TransportAnswer {
  return { kind: 'answered', status, body };
}

function scripted(script: (request: TransportRequest) => TransportAnswer) {
  const asked: string[] = [];
  return {
    asked,
    send: (request: TransportRequest): Promise<TransportAnswer> => {
      asked.push(`${request.method} ${request.path}`);
      return Promise.resolve(script(request));
    },
  };
}

describe('applying objects', () => {
  it('applies on the server, by force, under a manager of its own', async () => {
    const server = scripted(({ path }) => answered(path.includes('two') ? 201 : 200));
    const applied = await applyManifests(server, [CONFIG, POLICY]);
    assert.deepEqual(server.asked, [
      'PATCH /api/v1/namespaces/ops/configmaps/one?fieldManager=rollcall-cli&force=true',
      'PATCH /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/two?fieldManager=rollcall-cli&force=true',
    ]);
    assert.deepEqual(applied, [
      { object: 'ConfigMap ops/one', result: 'applied' },
      { object: 'ValidatingAdmissionPolicy two', result: 'created' },
    ]);
  });

  it('goes on after a refusal and after a lost connection, and says what was said, tamed', async () => {
    const refusal = answered(403, { message: 'no \u001b[31mright' });
    const answers: TransportAnswer[] = [refusal, { kind: 'unsent', message: 'ECONNREFUSED' }];
    const server = scripted(() => answers.shift() ?? answered(200));
    const applied = await applyManifests(server, [CONFIG, POLICY, CONFIG]);
    assert.deepEqual(
      applied.map(({ result, detail }) => [result, detail]),
      [
        ['failed', 'no  [31mright'],
        ['failed', 'ECONNREFUSED'],
        ['applied', undefined],
      ],
    );
  });

  it('knows every kind that is shipped, and refuses others', async () => {
    const values: ManifestValues = {
      id: 'a',
      outputs: {
        EventsQueueArn: 'arn:aws:sqs:eu-west-1:1:events.fifo',
        EventsQueueUrl: 'https://q.example',
        CredentialsQueueUrl: 'https://c.example',
        CredentialsKeyArn: 'k',
      },
      credentials: 'web-identity',
      watcherRoleArn: 'arn:w',
      authentication: 'bound-token',
      renewerRoleArn: 'arn:r',
    };
    for (const authentication of ['bound-token', 'eks'] as const) {
      const objects = composeManifests({ ...values, authentication });
      const applied = await applyManifests(
        scripted(() => answered(200)),
        objects,
      );
      assert.ok(applied.every(({ result }) => result === 'applied'));
    }
    const secret = { ...CONFIG, kind: 'Secret' };
    await assert.rejects(
      applyManifests(
        scripted(() => answered(200)),
        [secret],
      ),
      /has Secret/,
    );
  });
});
