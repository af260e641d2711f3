/** Effects, live reads and lists over a scripted server: order, bounds, back-pressure, wholeness. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { nodeName, resourceVersion, uid } from '../../../../../src/core/model/identifiers.ts';
import type { CreatePodEffect, Effect } from '../../../../../src/core/model/effects.ts';
import { HttpsClusterAccess } from '../../../../../src/adapters/kubernetes/api/cluster-access.ts';
import type { ClusterAccessOptions } from '../../../../../src/adapters/kubernetes/api/cluster-access.ts';
import { staticBearer } from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type { ClusterAccess } from '../../../../../src/ports/cluster/cluster-access.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedApiServer, Script } from '../../../../support/scripted-api-server.ts';

const clock = createHeldTimers();
const AGES = { deadlineMs: Number.POSITIVE_INFINITY };
const KEY = { namespace: 'agents', name: 'pod-1' };

function createPod(name: string): CreatePodEffect {
  return {
    kind: 'create-pod',
    namespace: 'agents',
    name,
    node: nodeName('node-1'),
    body: { metadata: { name } },
  };
}

function object(name: string, namespace: string | undefined = 'agents'): Record<string, unknown> {
  const metadata = { name, namespace, uid: `uid-of-${name}`, resourceVersion: '12' };
  return { kind: 'Pod', metadata, spec: { template: {} } };
}

describe('cluster access', () => {
  let server: ScriptedApiServer;
  before(async () => {
    server = await startScriptedApiServer();
  });
  afterEach(() => {
    server.requests.length = 0;
  });
  after(() => server.close());

  function open(
    script: Script,
    options: Partial<
      Pick<ClusterAccessOptions, 'concurrencyMax' | 'refreshCredential' | 'clock'>
    > = {},
  ): ClusterAccess {
    server.answerWith(script);
    const transport = new HttpsTransport({
      endpoint: { host: '127.0.0.1', port: server.port, pathPrefix: '' },
      caPem: server.caPem,
      credential: staticBearer('token'),
      clock,
    });
    return new HttpsClusterAccess({
      transport,
      clock: options.clock ?? clock,
      concurrencyMax: options.concurrencyMax ?? 64,
      refreshCredential: options.refreshCredential ?? (() => false),
    });
  }

  const echoCreate: Script = (request, response) => {
    answerJson(response, { status: 201, body: JSON.parse(request.body) });
  };
  const throttle: Script = (_request, response) => {
    const body = statusBody(429, 'TooManyRequests');
    answerJson(response, { status: 429, body, headers: { 'retry-after': '9' } });
  };

  describe('execute', () => {
    it('gives one outcome each, in the order of the effects', async () => {
      const access = open((request, response) => {
        const { name } = (JSON.parse(request.body) as { metadata: { name: string } }).metadata;
        const isTaken = name === 'pod-3';
        // The later the request, the earlier its answer.
        setTimeout(
          () => {
            if (isTaken)
              answerJson(response, {
                status: 409,
                body: statusBody(409, 'AlreadyExists', { name }),
              });
            else answerJson(response, { status: 201, body: { metadata: { name } } });
          },
          20 - Number(name.slice(4)),
        );
      });
      const effects = Array.from({ length: 10 }, (_, index) => createPod(`pod-${index}`));
      const outcomes = await access.execute(effects, AGES);
      assert.deepEqual(
        outcomes.map((outcome) =>
          outcome.kind === 'done'
            ? (outcome.object['metadata'] as { name: string }).name
            : outcome.kind,
        ),
        effects.map((effect) => (effect.name === 'pod-3' ? 'exists' : effect.name)),
      );
    });

    it('runs 250 creates over a bounded number of connections', async () => {
      const access = open(echoCreate, { concurrencyMax: 16 });
      const before = server.connectionCount();
      const effects = Array.from({ length: 250 }, (_, index) => createPod(`pod-${index}`));
      const outcomes = await access.execute(effects, AGES);
      assert.ok(outcomes.every((outcome) => outcome.kind === 'done'));
      assert.ok(server.connectionCount() - before <= 16);
    });

    it('starts no request after the deadline of the wall, though its own clock stood still (faults 21)', async () => {
      const access = open(echoCreate, { concurrencyMax: 1 });
      const limits = { deadlineMs: clock.monotonicMs() + 60_000, wallDeadlineMs: clock.nowMs() };
      const outcomes = await access.execute([createPod('pod-1')], limits);
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind),
        ['unsent'],
      );
      assert.equal(server.requests.length, 0);
    });

    it('starts no request after the deadline (faults 29)', async () => {
      let isLate = false;
      const access = open(
        (request, response) => {
          isLate = true;
          echoCreate(request, response);
        },
        { concurrencyMax: 1 },
      );
      const deadlined = { deadlineMs: clock.monotonicMs() + 60_000 };
      const original = clock.monotonicMs.bind(clock);
      clock.monotonicMs = () => (isLate ? deadlined.deadlineMs : original());
      try {
        const outcomes = await access.execute([createPod('pod-1'), createPod('pod-2')], deadlined);
        assert.deepEqual(
          outcomes.map((outcome) => outcome.kind),
          ['done', 'unsent'],
        );
        assert.equal(server.requests.length, 1);
      } finally {
        clock.monotonicMs = original;
      }
    });

    it('leaves an API server alone that asks for it: writes and reads', async () => {
      const access = open(throttle, { concurrencyMax: 1 });
      const outcomes = await access.execute([createPod('pod-1'), createPod('pod-2')], AGES);
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind),
        ['unsent', 'unsent'],
      );
      assert.ok(
        outcomes.every(
          (outcome) => outcome.kind === 'unsent' && Number(outcome.retryAfterMs) > 8000,
        ),
      );
      const read = await access.getPod(KEY);
      assert.ok(read.kind === 'unavailable' && Number(read.retryAfterMs) > 8000);
      assert.equal(server.requests.length, 1, 'nothing else was sent');
    });

    it('leaves it alone whichever read was asked to wait', async () => {
      const reads: readonly ((access: ClusterAccess) => Promise<{ readonly kind: string }>)[] = [
        (access) => access.getPod(KEY),
        (access) => access.getDaemonSet(KEY),
        (access) => access.listPods(KEY.namespace, 'a=b'),
        (access) => access.listPodEvents(KEY.namespace, 'uid-1'),
      ];
      for (const read of reads) {
        const access = open(throttle);
        assert.equal((await read(access)).kind, 'unavailable');
        const next = await access.getNode('n1');
        assert.ok(next.kind === 'unavailable' && Number(next.retryAfterMs) > 8000);
        assert.equal(server.requests.splice(0).length, 1, 'nothing else was sent');
      }
    });

    it('lets throttled Events hold nothing back', async () => {
      const access = open(
        (request, response) => {
          if (request.path.endsWith('/events')) throttle(request, response);
          else echoCreate(request, response);
        },
        { concurrencyMax: 1 },
      );
      const event: Effect = { ...createPod('event-1'), kind: 'create-event' };
      const outcomes = await access.execute([event, createPod('pod-1')], AGES);
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind),
        ['unsent', 'done'],
      );
    });

    it('does not send an effect without its precondition, and sends the others', async () => {
      const access = open(echoCreate);
      const unfenced: Effect = {
        kind: 'delete-pod',
        namespace: 'agents',
        name: 'pod-1',
        uid: uid(''),
        resourceVersion: resourceVersion('1'),
      };
      const [first, second] = await access.execute([unfenced, createPod('pod-2')], AGES);
      assert.deepEqual(first?.kind === 'refused' && [first.code, first.status], ['other', 0]);
      assert.equal(second?.kind, 'done');
      assert.equal(server.requests.length, 1);
    });

    it('repeats once with a fresh credential after a 401, and not without one', async () => {
      const unauthorized: Script = (_request, response) => {
        answerJson(response, { status: 401, body: statusBody(401, 'Unauthorized') });
      };
      let refreshes = 0;
      const refreshing = open(unauthorized, {
        refreshCredential: () => {
          refreshes += 1;
          server.answerWith(echoCreate);
          return true;
        },
      });
      const [outcome] = await refreshing.execute([createPod('pod-1')], AGES);
      assert.equal(outcome?.kind, 'done');
      assert.equal(refreshes, 1);
      const fixed = open(unauthorized);
      const [refused] = await fixed.execute([createPod('pod-1')], AGES);
      assert.equal(refused?.kind === 'refused' && refused.code, 'unauthorized');
      assert.equal(server.requests.length, 3);
    });

    it('starts no repetition after the deadline: its intent would be judged dead before it (protocol 5)', async () => {
      let nowMs = 0;
      const late = open(
        (_request, response) => {
          nowMs = 2000;
          answerJson(response, { status: 401, body: statusBody(401, 'Unauthorized') });
        },
        { refreshCredential: () => true, clock: { ...clock, monotonicMs: () => nowMs } },
      );
      const [outcome] = await late.execute([createPod('pod-1')], { deadlineMs: 1000 });
      assert.equal(outcome?.kind === 'refused' && outcome.code, 'unauthorized');
      assert.equal(server.requests.length, 1);
    });
  });

  describe('live reads', () => {
    it('get objects by name and check that they are those', async () => {
      const access = open((request, response) => {
        const name = request.path.split('/').at(-1) ?? '';
        const namespace = request.path.includes('/nodes/') ? undefined : 'agents';
        answerJson(response, { status: 200, body: object(name, namespace) });
      });
      const key = { namespace: 'agents', name: 'x-1' };
      const reads = await Promise.all([
        access.getPod(key),
        access.getNode('x-1'),
        access.getRevision(key),
      ]);
      assert.ok(reads.every((read) => read.kind === 'found'));
      assert.deepEqual(server.requests.map((request) => request.path).sort(), [
        '/api/v1/namespaces/agents/pods/x-1',
        '/api/v1/nodes/x-1',
        '/apis/apps/v1/namespaces/agents/controllerrevisions/x-1',
      ]);
    });

    describe('of a DaemonSet (row 71)', () => {
      const key = { namespace: 'agents', name: 'x-1' };
      const listPath =
        '/apis/apps/v1/namespaces/agents/daemonsets?fieldSelector=metadata.name%3Dx-1';
      const listOf = (...items: readonly unknown[]): object => ({
        kind: 'DaemonSetList',
        metadata: { resourceVersion: '77' },
        items,
      });
      const answering = (body: object): Script => {
        return (_request, response) => {
          answerJson(response, { status: 200, body });
        };
      };
      const paths = (): readonly string[] => server.requests.map(({ path }) => path);

      it('list it by name, consistently, and tell the version of the store', async () => {
        const access = open(answering(listOf(object('x-1'))));
        const read = await access.getDaemonSet(key);
        assert.deepEqual(read, { kind: 'found', object: object('x-1'), storeVersion: '77' });
        // No resourceVersion: a watch cache might answer one that another replica has passed.
        assert.deepEqual(paths(), [listPath]);
      });

      it('know no version of the store where the list tells none', async () => {
        const access = open(answering({ ...listOf(object('x-1')), metadata: {} }));
        assert.deepEqual(await access.getDaemonSet(key), { kind: 'found', object: object('x-1') });
      });

      it('believe an empty list, and neither another object nor what is no list', async () => {
        const kinds: string[] = [];
        for (const body of [
          listOf(),
          listOf(object('x-2')),
          listOf(object('x-1'), object('x-2')),
          listOf(object('x-1', 'other')),
          object('x-1'),
          {},
        ]) {
          kinds.push((await open(answering(body)).getDaemonSet(key)).kind);
        }
        assert.deepEqual(kinds, ['missing', ...new Array<string>(5).fill('unavailable')]);
      });

      it('fall back to a GET where a role allows no list, and ask again after five minutes (row 69)', async () => {
        let nowMs = 0;
        const access = open(
          (request, response) => {
            const isList = request.path === listPath;
            const body = isList ? statusBody(403, 'Forbidden') : object('x-1');
            answerJson(response, { status: isList ? 403 : 200, body });
          },
          { clock: { ...clock, monotonicMs: () => nowMs } },
        );
        for (nowMs of [0, 1000, 300_000, 301_000]) {
          assert.deepEqual(await access.getDaemonSet(key), {
            kind: 'found',
            object: object('x-1'),
          });
        }
        const [list = '', get = ''] = [listPath, listPath.split('?')[0] + '/x-1'];
        assert.deepEqual(paths(), [list, get, get, list, get, get]);
      });

      it('do not fall back where the list only failed', async () => {
        const access = open((_request, response) => {
          answerJson(response, { status: 500, body: statusBody(500, 'InternalError') });
        });
        const read = await access.getDaemonSet(key);
        assert.ok(read.kind === 'unavailable' && !read.isRefused);
        assert.deepEqual(paths(), [listPath]);
      });
    });

    it('do not believe an answer with another name, namespace, or without identity', async () => {
      for (const body of [
        object('pod-2'),
        object('pod-1', 'other'),
        { metadata: { name: 'pod-1' } },
        [],
      ]) {
        const access = open((_request, response) => {
          answerJson(response, { status: 200, body });
        });
        assert.equal((await access.getPod(KEY)).kind, 'unavailable');
      }
    });

    it('send nothing for a name that is none', async () => {
      const access = open(echoCreate);
      const read = await access.getPod({ namespace: 'agents', name: '../secrets/x' });
      assert.ok(read.kind === 'unavailable' && read.isRefused);
      assert.equal(server.requests.length, 0);
    });

    it('read the Lease of the watcher and ask it for a snapshot by annotation', async () => {
      const access = open((_request, response) => {
        answerJson(response, { status: 200, body: object('rollcall-watcher', 'rollcall-system') });
      });
      assert.equal((await access.getWatcherLease()).kind, 'found');
      assert.equal((await access.requestSnapshot('request-7')).kind, 'found');
      const path =
        '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';
      assert.deepEqual(
        server.requests.map((request) => request.path),
        [path, path, path],
      );
      const patch = server.requests[2];
      assert.equal(patch?.method, 'PATCH');
      assert.equal(patch.headers['content-type'], 'application/merge-patch+json');
      assert.deepEqual(JSON.parse(patch.body), {
        metadata: {
          resourceVersion: '12',
          annotations: { 'rollcall.dev/snapshot-requested': 'request-7' },
        },
      });
    });
  });

  describe('lists', () => {
    const pages: Script = (request, response) => {
      const query = new URL(request.path, 'https://h').searchParams;
      const page = Number(query.get('continue') ?? '0');
      const metadata = page === 2 ? {} : { continue: String(page + 1) };
      const items = [
        {
          metadata: {
            ...(object(`pod-${page}`)['metadata'] as object),
            ownerReferences: [{ controller: true, uid: 'owner' }],
          },
        },
      ];
      answerJson(response, {
        status: 200,
        body: { kind: 'PartialObjectMetadataList', metadata, items },
      });
    };

    it('are paged, metadata only, by selector', async () => {
      const access = open(pages);
      const listed = await access.listPodMetadata('agents', 'app=collector,tier in (a,b)');
      assert.ok(listed.kind === 'found');
      assert.deepEqual(
        listed.object.map((pod) => pod.name),
        ['pod-0', 'pod-1', 'pod-2'],
      );
      assert.deepEqual(listed.object[0], {
        name: 'pod-0',
        uid: 'uid-of-pod-0',
        resourceVersion: '12',
        ownerUid: 'owner',
        isTerminating: false,
        labels: {},
        createdAtMs: 0,
      });
      const [first] = server.requests;
      const query = new URL(first?.path ?? '', 'https://h').searchParams;
      assert.equal(query.get('limit'), '500');
      assert.equal(query.get('labelSelector'), 'app=collector,tier in (a,b)');
      assert.match(
        String(first?.headers.accept),
        /as=PartialObjectMetadataList;g=meta\.k8s\.io;v=v1/,
      );
    });

    it('of whole pods keep what a projection is made of, and let the rest go (S3)', async () => {
      const access = open((_request, response) => {
        const pod = object('pod-1', 'agents') as { readonly metadata: object };
        const spec = { nodeName: 'n1', containers: [{ name: 'x', image: 'y' }] };
        const status = { phase: 'Running', conditions: [], podIP: '192.0.2.1' };
        const metadata = { ...pod.metadata, managedFields: [{ manager: 'kubelet' }] };
        const items = [{ metadata, spec, status }, { metadata: pod.metadata }];
        answerJson(response, { status: 200, body: { metadata: {}, items } });
      });
      const listed = await access.listPods('agents', 'app=collector');
      assert.ok(listed.kind === 'found');
      const [first, second] = listed.object as readonly { [name: string]: unknown }[];
      assert.deepEqual(first?.['spec'], { nodeName: 'n1' });
      assert.deepEqual(first?.['status'], { phase: 'Running', conditions: [] });
      assert.equal((first?.['metadata'] as { managedFields?: unknown }).managedFields, undefined);
      assert.deepEqual([second?.['spec'], second?.['status']], [{}, {}]);
    });

    for (const status of [410, 500]) {
      it(`are unavailable as a whole when page 2 answers ${status} (faults 35)`, async () => {
        const access = open((request, response) => {
          if (request.path.includes('continue=1')) {
            answerJson(response, { status, body: statusBody(status, 'Expired') });
          } else pages(request, response);
        });
        const listed = await access.listPodMetadata('agents', 'app=collector');
        assert.ok(listed.kind === 'unavailable' && !listed.isRefused);
      });
    }

    it('are unavailable when an item has no identity, or the answer is no list', async () => {
      for (const body of [
        { metadata: {}, items: [{ metadata: { name: 'x' } }] },
        { metadata: {}, items: null },
        { kind: 'PartialObjectMetadataList', metadata: {} },
        object('pod-1'),
        null,
      ]) {
        const access = open((_request, response) => {
          answerJson(response, { status: 200, body });
        });
        assert.equal((await access.listPodMetadata('agents', '')).kind, 'unavailable');
      }
    });

    it('are empty when the API server writes no items as null, as it does for metadata', async () => {
      const body = { kind: 'PartialObjectMetadataList', metadata: {}, items: null };
      const access = open((_request, response) => {
        answerJson(response, { status: 200, body });
      });
      const listed = await access.listPodMetadata('agents', 'app=collector');
      assert.deepEqual(listed, { kind: 'found', object: [] });
    });

    it('of revisions give whole objects with unknown fields', async () => {
      const revision = { ...object('rev-1'), data: { future: [1, { deep: true }] } };
      const access = open((_request, response) => {
        answerJson(response, { status: 200, body: { metadata: {}, items: [revision] } });
      });
      const listed = await access.listRevisions('agents', 'app=collector');
      assert.deepEqual(listed, { kind: 'found', object: [JSON.parse(JSON.stringify(revision))] });
    });
  });
});
