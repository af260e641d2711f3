/**
 * What the functions may do with DaemonSets of fleets on a real API server, as `rollcall fleet rights` prints it: those that
 * are named, created and changed by apply, in either mode, whatever shipped file is applied again (ADR 0066).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { fleetNames, fleetRights } from '../../../src/cli/fleet/fleet-manifests.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import type { ApiResponse } from '../control-plane/api.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { messageOf } from './admission-stage.ts';
import {
  daemonSet,
  openFleetRightsStage,
  SETS,
  TAKEOVER,
  untilAnswered,
} from './fleet-rights-stage.ts';
import type { FleetRightsStage } from './fleet-rights-stage.ts';

const PODS = '/api/v1/namespaces/default/pods';
const FLEETS = fleetNames(['default/agent', 'default/second']);
const COPILOT = ['-k', repositoryPath('infra/overlays/functions/copilot')];

describe('rights over DaemonSets of fleets', { skip: skipWithoutTools([TOOLS.go]) }, () => {
  let stage: FleetRightsStage;

  before(async () => {
    stage = await openFleetRightsStage('fleets');
    await stage.install(fleetRights(FLEETS));
    await stage.inForce();
  });
  after(() => stage.stop());

  const merge = async (name: string, body: object): Promise<number> => {
    const path = `${SETS}/${name}?fieldManager=rollcall&dryRun=All`;
    return (await stage.functions.request({ method: 'PATCH', path, body })).status;
  };
  const post = (metadata: object): Promise<ApiResponse> =>
    stage.functions.request({
      method: 'POST',
      path: `${SETS}?dryRun=All`,
      body: { ...daemonSet('other', 'i:1'), metadata },
    });

  /** As an access entry of EKS names its user, who is no service account. */
  async function applyOnEks(name: string): Promise<string> {
    const { stdout, stderr } = await stage.kubectl.run(
      'apply --server-side --dry-run=server --validate=false --field-manager=rollcall ' +
        '--as=rollcall-functions --as-group=system:authenticated -f -',
      { input: stringify(daemonSet(name, 'i:eks')) },
    );
    return stdout + stderr;
  }

  it('creates and changes those that are named, and no other', async () => {
    await untilAnswered(201, () => stage.apply('agent', 'i:1'));
    assert.equal((await stage.apply('agent', 'i:2')).status, 200);
    assert.equal((await stage.apply('other', 'i:1')).status, 403);
    const path = `${SETS}/agent`;
    assert.equal((await stage.functions.request({ method: 'DELETE', path })).status, 403);
  });

  it('creates no other by POST, which RBAC would allow, under no name either', async () => {
    for (const metadata of [{ name: 'other' }, { generateName: 'agent' }]) {
      const answer = await post(metadata);
      assert.equal(answer.status, 422, messageOf(answer));
      assert.match(messageOf(answer), /'rollcall-status'/);
    }
    assert.equal((await post({ name: 'second' })).status, 201);
  });

  it('is the same for the user of an EKS access entry', async () => {
    assert.match(await applyOnEks('agent'), /serverside-applied/);
    assert.match(await applyOnEks('other'), /Forbidden|forbidden/);
  });

  for (const [missing, name, status] of [
    ['create', 'second', 403],
    ['patch', 'agent', 403],
    ['roll-out', 'agent', 422],
  ] as const) {
    it(`cannot without ${missing}`, async () => {
      const [role, ...rest] = fleetRights(FLEETS);
      const { rules } = role as { readonly rules: readonly { readonly verbs: string[] }[] };
      const less = rules.map((rule) => ({
        ...rule,
        verbs: rule.verbs.filter((verb) => verb !== missing),
      }));
      await stage.install([
        { ...role, rules: less.filter(({ verbs }) => verbs.length > 0) },
        ...rest,
      ]);
      await untilAnswered(status, () => stage.apply(name, 'i:3'));
      await stage.install(fleetRights(FLEETS));
      await untilAnswered(200, () => stage.apply('agent', 'i:2'));
    });
  }

  it('keeps them when the policies of takeover are applied again', async () => {
    await stage.kubectl.succeed(['apply', '-f', repositoryPath('infra/admission/policy.yaml')]);
    await stage.kubectl.succeed(['apply', ...TAKEOVER]);
    await stage.inForce();
    const answer = await stage.apply('agent', 'i:4');
    assert.equal(answer.status, 200, messageOf(answer));
  });

  it('keeps them in copilot, when its policies are applied again, and for nothing besides', async () => {
    await stage.kubectl.succeed(['delete', '-f', repositoryPath('infra/admission/policy.yaml')]);
    for (const _time of ['once', 'again']) {
      await stage.kubectl.succeed(['apply', ...COPILOT]);
      await stage.inForce();
      const answer = await stage.apply('agent', 'i:5');
      assert.equal(answer.status, 200, messageOf(answer));
      assert.equal(await merge('agent', { spec: { minReadySeconds: 7 } }), 200);
      assert.equal((await post({ name: 'other' })).status, 422);
    }
  });

  it('lets pods of those go in copilot, and of no other', async () => {
    const own = await deletePod('agent');
    assert.equal(own.status, 200, messageOf(own));
    const other = await deletePod('other');
    assert.equal(other.status, 422, messageOf(other));
    assert.match(messageOf(other), /rollcall-copilot-listed/);
  });

  it('keeps them when the cluster goes from copilot to takeover', async () => {
    const files = ['admission', 'listed'].map((file) =>
      repositoryPath(`infra/copilot/${file}.yaml`),
    );
    await stage.kubectl.succeed(['delete', ...files.flatMap((file) => ['-f', file])]);
    await stage.kubectl.succeed(['apply', ...TAKEOVER]);
    await stage.inForce();
    const answer = await stage.apply('agent', 'i:6');
    assert.equal(answer.status, 200, messageOf(answer));
    assert.equal((await post({ name: 'other' })).status, 422);
  });

  it('loses them with the Role', async () => {
    await stage.kubectl.succeed('delete role,rolebinding rollcall-fleets');
    await untilAnswered(403, () => stage.apply('agent', 'i:7'));
  });

  /** A dry run, with what copilot asks of a delete. */
  async function deletePod(owner: string): Promise<ApiResponse> {
    if ((await stage.admin.request({ method: 'GET', path: `${SETS}/${owner}` })).status === 404) {
      await stage.admin.post(SETS, daemonSet(owner, 'i:1'));
    }
    const { uid } = (await stage.admin.get(`${SETS}/${owner}`)).metadata;
    const reference = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid };
    const pod = await stage.admin.post(PODS, {
      metadata: {
        generateName: `${owner}-`,
        ownerReferences: [{ ...reference, controller: true }],
      },
      spec: { containers: [{ name: 'x', image: 'i:1' }] },
    });
    const { name, uid: podUid, resourceVersion } = pod.metadata;
    const body = { dryRun: ['All'], preconditions: { uid: podUid, resourceVersion } };
    const path = `${PODS}/${name}`;
    return stage.functions.request({ method: 'DELETE', path, body });
  }
});
