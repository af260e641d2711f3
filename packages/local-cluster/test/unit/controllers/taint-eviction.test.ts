/** Pods that must leave a tainted node, and pods that may stay after all. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { conditionOf, viewPod } from '../../../src/controllers/shared/object-views.ts';
import { startTaintEviction } from '../../../src/controllers/taint-eviction.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { podObject } from '../../support/objects.ts';
import { startOnNode, startOne } from '../../support/start-one.ts';
import type { StartedController } from '../../support/start-one.ts';
import { demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const GONE = { key: 'example.com/gone', effect: 'NoExecute' };

describe('the taint eviction controller', () => {
  let world: LocalWorld;
  let controller: StartedController;

  beforeEach(async () => {
    ({ world, controller } = await startOnNode(startTaintEviction));
  });

  afterEach(async () => {
    await controller.stop();
    assert.deepEqual(world.log.at('error'), []);
  });

  async function createPod(name: string, tolerations: readonly JsonObject[] = []): Promise<void> {
    await world.create('pods', podObject(name, { spec: { nodeName: 'n', tolerations } }));
    await world.settle();
  }

  async function taint(...taints: readonly JsonObject[]): Promise<void> {
    demand(
      await world.admin.patch(
        { resource: 'nodes', name: 'n' },
        { type: 'merge', body: { spec: { taints } } },
      ),
    );
    await world.settle();
  }

  function read(name: string): ApiObject | undefined {
    return world.read({ resource: 'pods', namespace: 'default', name });
  }

  function isLeaving(name: string): boolean {
    const pod = read(name);
    return pod === undefined || pod.metadata.deletionTimestamp !== undefined;
  }

  function tolerating(seconds?: number): JsonObject {
    return {
      key: GONE.key,
      operator: 'Exists',
      effect: 'NoExecute',
      ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
    };
  }

  it('deletes at once what does not tolerate the taint, with a condition and an event', async () => {
    await createPod('meek');
    await createPod('bold', [tolerating()]);
    await taint(GONE);
    assert(isLeaving('meek'));
    assert(!isLeaving('bold'));
    const pod = read('meek');
    assert(pod !== undefined);
    const condition = conditionOf(viewPod(pod).status.conditions, 'DisruptionTarget');
    assert.equal(condition?.status, 'True');
    assert.equal(condition.reason, 'DeletionByTaintManager');
    assert.equal(condition.message, 'Taint manager: deleting due to NoExecute taint');
    assert.deepEqual(world.eventsAbout('meek'), [
      'Normal TaintManagerEviction: Marking for deletion Pod default/meek',
    ]);
    assert.deepEqual(world.eventsAbout('bold'), []);
  });

  it('waits for the tolerated time, not a moment less', async () => {
    await createPod('patient', [tolerating(60)]);
    await taint(GONE);
    await world.clock.advance(59_999);
    assert(!isLeaving('patient'));
    await world.clock.advance(1);
    assert(isLeaving('patient'));
  });

  it('waits for the shortest time of the tolerations that are used, the first that fits each taint', async () => {
    const odd = { key: 'odd', effect: 'NoExecute' };
    const tolerates = (key: string, tolerationSeconds?: number): JsonObject => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    });
    await createPod('p', [tolerating(300), tolerates('odd', 20), tolerates('idle', 1)]);
    await createPod('first', [tolerating(), tolerating(5), tolerates('odd')]);
    await createPod('none', [tolerates('odd', 0), tolerating(300)]);
    await taint(GONE, odd);
    assert(isLeaving('none'));
    await world.clock.advance(19_999);
    assert(!isLeaving('p'));
    await world.clock.advance(600_000);
    assert(isLeaving('p') && !isLeaving('first'));
  });

  it('calls it off when the taint goes in time', async () => {
    await createPod('patient', [tolerating(60)]);
    await taint(GONE);
    await world.clock.advance(30_000);
    await taint();
    await world.clock.advance(60_000);
    assert(!isLeaving('patient'));
    assert.deepEqual(world.eventsAbout('patient'), [
      'Normal TaintManagerEviction: Cancelling deletion of Pod default/patient',
    ]);
  });

  it('keeps a deadline that is set when another tolerated taint is added', async () => {
    await createPod('patient', [
      { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
    ]);
    await taint(GONE);
    await world.clock.advance(30_000);
    await taint(GONE, { key: 'other', effect: 'NoExecute' });
    await world.clock.advance(30_000);
    assert(isLeaving('patient'));
  });

  it('judges pods that come to a tainted node', async () => {
    await taint(GONE);
    await createPod('late');
    assert(isLeaving('late'));
  });

  it('does not touch a namesake that was made meanwhile', async () => {
    await createPod('patient', [tolerating(60)]);
    await taint(GONE);
    demand(
      await world.admin.delete(
        { resource: 'pods', namespace: 'default', name: 'patient' },
        { gracePeriodSeconds: 0 },
      ),
    );
    await createPod('patient', [tolerating()]);
    await world.clock.advance(120_000);
    assert(!isLeaving('patient'));
  });

  it('forgets its deadlines when it stops, and sets them again when it starts', async () => {
    await createPod('patient', [tolerating(60)]);
    await taint(GONE);
    await controller.stop();
    await world.clock.advance(120_000);
    assert(!isLeaving('patient'));
    controller = startOne(world, startTaintEviction);
    await world.clock.advance(60_000);
    assert(isLeaving('patient'));
  });

  it('tries again when the API server fails', async () => {
    await controller.stop();
    let failures = 2;
    const isRefused = ({ method, target }: ApiRequest): boolean => {
      if (method === 'GET' || target.includes('/events') || failures === 0) return false;
      failures -= 1;
      return true;
    };
    const clients = world.clientsWithout(isRefused);
    controller = startOne(world, startTaintEviction, { clients });
    await createPod('meek');
    await taint(GONE);
    assert(!isLeaving('meek'));
    await world.clock.advance(5 + 10);
    assert(isLeaving('meek'));
  });
});
