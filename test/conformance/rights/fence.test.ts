/**
 * What `rollcall fleet rights --fence` prints, on a real API server: the functions may give a DaemonSet of a fleet another image, and
 * no power that its manifest does not have, whether it is created or changed (ADR 0066).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fleetFence, powersOf } from '../../../src/cli/fleet/rights-command.ts';
import { fleetNames, fleetRights } from '../../../src/cli/fleet/fleet-manifests.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import type { ApiResponse } from '../control-plane/api.ts';
import { messageOf } from './admission-stage.ts';
import { daemonSet, openFleetRightsStage, SETS, untilAnswered } from './fleet-rights-stage.ts';
import type { FleetRightsStage } from './fleet-rights-stage.ts';

describe('the fence of fleets', { skip: skipWithoutTools([TOOLS.go]) }, () => {
  let stage: FleetRightsStage;
  const host = { name: 'host', hostPath: { path: '/var/log' } };
  const mount = { name: 'host', mountPath: '/host' };
  const podSpec = {
    serviceAccountName: 'agent',
    hostPID: true,
    volumes: [host, { name: 'key', secret: { secretName: 'agent-key' } }],
    initContainers: [{ name: 'first', image: 'i:1', securityContext: { privileged: true } }],
    containers: [
      {
        ...{ name: 'x', image: 'i:1', volumeMounts: [{ ...mount, readOnly: true }] },
        securityContext: { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } },
      },
    ],
  };
  const tame = {
    serviceAccountName: 'agent',
    hostUsers: false,
    securityContext: { runAsNonRoot: true },
    containers: [{ name: 'x', image: 'i:1', securityContext: { allowPrivilegeEscalation: false } }],
  };
  const container = podSpec.containers[0];
  const patch = (name: string, spec: object): Promise<ApiResponse> =>
    stage.apply(name, spec, '&dryRun=All&force=true');
  const accepted = async (name: string, spec: object): Promise<void> => {
    const answer = await patch(name, spec);
    assert.ok(answer.status < 300, messageOf(answer));
  };
  const refused = async (name: string, spec: object, what: string): Promise<void> => {
    const answer = await patch(name, spec);
    assert.equal(answer.status, 422, `${name}: ${what}: ${messageOf(answer)}`);
    assert.match(messageOf(answer), /'rollcall-fleet-fence'.*rollcall fleet rights --fence/);
    assert.ok(messageOf(answer).includes(`: ${what} is not among`), messageOf(answer));
  };
  /** `agent` is changed; `second` is not there, so it is created. */
  const BOTH = ['agent', 'second'];

  before(async () => {
    stage = await openFleetRightsStage('fence');
    await stage.admin.post(SETS, daemonSet('agent', 'i:1'));
    const printed = new Map(BOTH.map((name) => [`default/${name}`, powersOf(podSpec)]));
    const fence = fleetFence(printed);
    await stage.install([
      ...fleetRights(fleetNames(['default/agent', 'default/second', 'default/unknown'])),
      ...fence,
    ]);
    await stage.inForce();
    await untilAnswered(201, () => patch('second', podSpec));
  });

  after(() => stage.stop());

  it('another image, environment, argument and resource pass', async () => {
    const more = { args: ['-v'], env: [{ name: 'A', value: 'b' }] };
    const changed = { ...container, ...more, image: 'i:2', resources: { limits: { cpu: '1' } } };
    for (const name of BOTH) {
      await accepted(name, podSpec);
      await accepted(name, { ...podSpec, containers: [changed] });
    }
  });

  it('less than was printed passes', async () => {
    const { containers, ...less } = tame;
    for (const name of BOTH) await accepted(name, { ...less, containers });
  });

  const also = (changes: object): object => ({
    ...podSpec,
    containers: [{ ...container, ...changes }],
  });
  const env = { name: 'A', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } };
  const source = { secret: { name: 'other' } };
  const MORE: Readonly<Record<string, readonly [spec: object, what: string]>> = {
    serviceAccountName: [{ ...podSpec, serviceAccountName: 'admin' }, 'serviceAccountName'],
    'the default account': [{ ...podSpec, serviceAccountName: null }, 'serviceAccountName'],
    hostNetwork: [{ ...podSpec, hostNetwork: true }, 'a host namespace'],
    hostIPC: [{ ...podSpec, hostIPC: true }, 'a host namespace'],
    'one more hostPath': [
      { ...podSpec, volumes: [host, { name: 'root', hostPath: { path: '/' } }] },
      'a hostPath',
    ],
    'another hostPath': [
      { ...podSpec, volumes: [{ name: 'host', hostPath: { path: '/var/logs' } }] },
      'a hostPath',
    ],
    'a hostPath that is written to': [
      also({ volumeMounts: [mount] }),
      'a hostPath that is mounted to write',
    ],
    'a network file system': [
      { ...podSpec, volumes: [host, { name: 'n', nfs: { server: 'a', path: '/' } }] },
      'a volume of this kind',
    ],
    'one more capability': [
      also({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
      'a capability',
    ],
    'a Secret as a volume': [
      { ...podSpec, volumes: [host, { name: 's', secret: { secretName: 'other' } }] },
      'a Secret',
    ],
    'a Secret among others': [
      { ...podSpec, volumes: [host, { name: 's', projected: { sources: [source] } }] },
      'a Secret',
    ],
    'a Secret in a variable': [also({ env: [env] }), 'a Secret'],
    'a Secret in all variables': [
      also({ envFrom: [{ secretRef: { name: 'other' } }] }),
      'a Secret',
    ],
  };
  for (const [title, [spec, what]] of Object.entries(MORE)) {
    it(`${title} is refused, created and changed`, async () => {
      for (const name of BOTH) await refused(name, spec, what);
    });
  }

  it('one that has the right, and was not printed with the fence, is refused', async () => {
    await untilAnswered(422, () => patch('unknown', tame));
    await refused('unknown', tame, 'the DaemonSet');
  });

  it('of containers that are held, none may be privileged, escalate or be root', async () => {
    await stage.install(
      fleetFence(new Map(BOTH.map((name) => [`default/${name}`, powersOf(tame)]))),
    );
    await stage.inForce();
    const [only] = tame.containers;
    const securityContexts = [
      [{ allowPrivilegeEscalation: true }, 'allowPrivilegeEscalation'],
      [{ allowPrivilegeEscalation: false, runAsNonRoot: false }, 'a user that may be root'],
      [{ privileged: true }, 'privileged'],
    ] as const;
    for (const name of BOTH) {
      await accepted(name, tame);
      for (const [securityContext, what] of securityContexts) {
        const changed = { ...only, securityContext };
        await refused(name, { ...tame, containers: [changed] }, what);
        const first = { ...changed, name: 'first' };
        await refused(name, { ...tame, initContainers: [first] }, what);
      }
      await refused(name, { ...tame, hostUsers: null }, 'a host namespace');
    }
  });
});
