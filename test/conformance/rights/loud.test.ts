/**
 * A verb that is missing in a running cluster: the engine says so at once, with the code and the API server's own
 * words, harms nothing, goes on trying, and settles when the verb is back (row 69).
 *
 * The shipped ClusterRole is edited under a running engine. Each verb has the work that needs it: a new DaemonSet, an
 * edit of one, a pod made by somebody else.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../control-plane/poll.ts';
import { createApiClient } from '../control-plane/api.ts';
import { daemonSetPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { readRules, rightsOf, withoutRight, type Rules } from './rbac-rules.ts';

const RULES = readRules('infra/functions/rbac.yaml');
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/rollcall-functions';
const NODES = 3;
const DEADLINE_MS = 120_000;
/** `At once`: not a resync, which comes hours later. The line itself comes within a second on a quiet machine. */
const SAID_DEADLINE_MS = 60_000;

/** The work that needs each verb. */
const WORK: Readonly<Record<string, 'new' | 'edit'>> = {
  'get daemonsets': 'new',
  'update daemonsets/status': 'new',
  'list controllerrevisions': 'new',
  'create controllerrevisions': 'new',
  'list pods': 'new',
  'create pods': 'new',
  'get pods': 'edit',
  'delete pods': 'edit',
};

function withoutList(rules: Rules): Rules {
  const list = rightsOf(rules).find(
    ({ verb, resource }) => verb === 'list' && resource === 'daemonsets',
  );
  assert.ok(list !== undefined);
  return withoutRight(rules, list);
}

describe('a verb that is missing under a running engine (row 69)', { timeout: 1_200_000 }, () => {
  let stage: Stage;
  let count = 0;

  before(async () => {
    const nodes = plainNodes(NODES);
    stage = await openStage({ backend: 'real', name: 'rights-loud', nodes });
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  const setRules = async ({ cluster }: Rules): Promise<void> => {
    const { metadata } = await stage.admin.get(ROLE);
    await stage.admin.put(ROLE, { metadata, rules: cluster });
  };
  const settled = async (name: string, image: string): Promise<void> => {
    const description = `${name} settles at ${image}`;
    await pollUntil({ deadlineMs: DEADLINE_MS, description }, async () => {
      const { items } = await stage.admin.list(
        `/api/v1/namespaces/default/pods?labelSelector=app%3D${name}`,
      );
      const images = items.map(
        ({ spec }) => (spec as { containers: { image: string }[] }).containers[0]?.image,
      );
      const { metadata, status } = await stage.admin.get(daemonSetPath({ name }));
      const { numberReady = 0, observedGeneration = 0 } = status as Record<string, number>;
      const isObserved = observedGeneration === metadata.generation;
      const isDone = images.length === NODES && images.every((one) => one === image);
      return isDone && numberReady === NODES && isObserved ? true : undefined;
    });
  };

  for (const right of rightsOf(RULES)) {
    const missing = `${right.verb} ${right.resource}`;
    const work = WORK[missing];
    if (right.scope !== 'cluster' || work === undefined) continue;
    // A list of DaemonSets that is refused is followed by a GET: both are taken away.
    const shipped = missing === 'get daemonsets' ? withoutList(RULES) : RULES;
    it(`without ${missing}: said at once, settled when it is back`, async () => {
      count += 1;
      const name = `agent-${String(count)}`;
      const first = testDaemonSet({ name });
      const image = 'registry.example/agent:2';
      if (work === 'edit') {
        await stage.admin.post(daemonSetPath({}), first);
        await settled(name, 'registry.example/agent:1');
      }
      await setRules(withoutRight(shipped, right));
      await denied(missing);
      const from = stage.activity.lines.length;
      if (work === 'new') {
        await stage.admin.post(daemonSetPath({}), testDaemonSet({ name, image }));
      } else {
        const template = { spec: { containers: [{ name: 'agent', image }] } };
        await stage.admin.patch(daemonSetPath({ name }), { spec: { template } });
      }
      try {
        const description = `a loud line about ${missing}`;
        await pollUntil({ deadlineMs: SAID_DEADLINE_MS, description }, () => {
          const lines = stage.activity.lines.slice(from);
          const isLoud = lines.some(
            ({ level, fields }) =>
              (level === 'warn' || level === 'error') &&
              JSON.stringify(fields).includes(`cannot ${right.verb} resource`),
          );
          return isLoud ? true : undefined;
        });
      } catch (error) {
        const seen = stage.activity.lines.slice(from).map((line) => JSON.stringify(line));
        throw new Error(`nobody said so:\n${seen.slice(-12).join('\n')}`, { cause: error });
      } finally {
        await setRules(RULES);
      }
      await settled(name, image);
      await stage.admin.delete(daemonSetPath({ name }));
    });
  }

  /** Until the authorizer has read the role. */
  async function denied(missing: string): Promise<void> {
    const client = createApiClient(stage.cluster.access.connectionOf('functions'));
    const [verb = '', path = ''] = missing.split(' ');
    const [resource = '', subresource = ''] = path.split('/');
    const group = resource === 'pods' || resource === 'events' ? '' : 'apps';
    const resourceAttributes = { namespace: 'default', verb, group, resource, subresource };
    await pollUntil({ deadlineMs: DEADLINE_MS, description: `${missing} is denied` }, async () => {
      const review = await client.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: { resourceAttributes },
      });
      return (review['status'] as { allowed: boolean }).allowed ? undefined : true;
    });
    client.close();
  }

  it('names every verb whose absence can be met while a DaemonSet is made or edited', () => {
    const known = rightsOf(RULES).map(({ verb, resource }) => `${verb} ${resource}`);
    assert.deepEqual(
      Object.keys(WORK).filter((right) => !known.includes(right)),
      [],
    );
  });
});
