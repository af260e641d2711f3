/**
 * The watch of pods against a real kube-apiserver, as the watcher's service account under the RBAC that is shipped: what is
 * kept of a pod is the same whether an event or a page of a list tells of it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { parseEndpoint } from '../../../src/adapters/kubernetes/egress/endpoint.ts';
import type { WatchConnectionOptions } from '../../../src/adapters/kubernetes/watch/watch-connection.ts';
import { ApiWatchSource } from '../../../src/adapters/kubernetes/watch/watch-source.ts';
import { resourceVersion } from '../../../src/core/model/identifiers.ts';
import type { WatchFrame } from '../../../src/ports/cluster/watch-source.ts';
import { strictProjector } from '../../support/strict-projector.ts';
import { createApiClient, type ApiClient } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { openTestCluster, type TestCluster } from '../control-plane/test-cluster.ts';
import { applyFiles } from '../scenarios/manifests.ts';

const NAMESPACE = 'rollcall-watch-test';
const DEADLINE_MS = 60_000;

/** Nobody schedules it. The garbage collector takes those whose owner is not there: finalizers keep them. */
function podBody(name: string, metadata: JsonObject, spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, ...metadata },
    spec: {
      schedulerName: 'nobody',
      containers: [{ name: 'main', image: 'registry.example/none:1' }],
      ...spec,
    },
  };
}

const OWNER = { apiVersion: 'apps/v1', name: 'agent', uid: 'owner-1', controller: true };
const TO_NODE: JsonObject = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] },
      ],
    },
  },
};
const PODS: readonly JsonObject[] = [
  podBody('orphan', { labels: { app: 'x', empty: '' }, annotations: { 'a/b': 'ä😀 "q" \\' } }),
  podBody(
    'owned',
    {
      labels: { app: 'x', 'controller-revision-hash': 'abc' },
      ownerReferences: [{ ...OWNER, kind: 'DaemonSet' }],
      finalizers: ['example.com/wait'],
    },
    { affinity: TO_NODE, initContainers: [{ name: 'init', image: 'registry.example/none:1' }] },
  ),
  podBody('foreign', {
    ownerReferences: [{ ...OWNER, kind: 'ReplicaSet' }],
    finalizers: ['example.com/wait'],
  }),
];
const STATUS: JsonObject = {
  phase: 'Running',
  reason: 'Odd',
  startTime: '2026-01-01T00:00:00Z',
  conditions: [
    { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:01Z', reason: 'No' },
    { type: 'ContainersReady', status: 'True', lastTransitionTime: null },
  ],
  initContainerStatuses: [
    {
      name: 'init',
      state: { terminated: { exitCode: -7, reason: 'Error', finishedAt: '2026-01-01T00:00:02Z' } },
      lastState: {},
      ready: true,
      restartCount: 2,
      image: '',
      imageID: '',
    },
  ],
  containerStatuses: [
    {
      name: 'main',
      state: { waiting: { reason: 'ImagePullBackOff', message: 'back-off' } },
      lastState: {},
      ready: false,
      restartCount: 0,
      image: 'registry.example/none:1',
      imageID: '',
    },
  ],
};

const projector = strictProjector();

/** What a watcher keeps of the pods of the test, by name, each with its version. */
type Kept = Map<string, unknown>;

function keep(kept: Kept, raw: KubernetesObject): void {
  if (raw.metadata.namespace !== NAMESPACE) return;
  kept.set(raw.metadata.name, projector.project('Pod', raw));
}

describe('the watch of pods on a real API server', () => {
  let cluster: TestCluster;
  let admin: ApiClient;
  let optionsOf: (token: string) => WatchConnectionOptions;
  let source: ApiWatchSource;

  const pods = `/api/v1/namespaces/${NAMESPACE}/pods`;
  const signalOf = (): AbortSignal => AbortSignal.timeout(DEADLINE_MS);

  function watched(version: string | undefined, of = source): AsyncIterable<WatchFrame> {
    return of.watch('Pod', {
      ...(version === undefined ? {} : { resourceVersion: resourceVersion(version) }),
      timeoutSeconds: 60,
      sendInitialEvents: version === undefined,
      signal: signalOf(),
      onBytes: () => undefined,
    });
  }

  async function listed(): Promise<{ readonly kept: Kept; readonly version: string }> {
    const kept: Kept = new Map();
    const page = await source.listPage('Pod', {
      limit: 500,
      signal: signalOf(),
      onItem: (raw) => {
        keep(kept, raw);
      },
    });
    assert.ok(page.kind === 'ok', JSON.stringify(page));
    return { kept, version: page.value.resourceVersion };
  }

  async function release(name: string): Promise<void> {
    const body = { metadata: { finalizers: null } };
    await admin.request({ method: 'PATCH', path: `${pods}/${name}`, body });
  }

  before(async () => {
    cluster = await openTestCluster({ limits: 'lifted' });
    const { server, caPem, tokens } = cluster.access;
    admin = createApiClient(cluster.access.connectionOf('admin'));
    await applyFiles(admin, ['infra/watcher/rbac.yaml']);
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await admin.request({ method: 'POST', path: '/api/v1/namespaces', body });
    const parsed = parseEndpoint(server);
    assert.ok(parsed.kind === 'endpoint');
    const { endpoint } = parsed;
    optionsOf = (token) => ({
      endpoint,
      caPem,
      credential: { kind: 'bearer', token: () => Promise.resolve(token) },
      clock: createSystemClock({ timers: 'unreferenced' }),
    });
    source = new ApiWatchSource(optionsOf(tokens.watcher));
    // The default service account, without which no pod is admitted, and the watcher's role are known a moment later.
    const ready = { deadlineMs: DEADLINE_MS, description: 'role and service account are known' };
    await pollUntil(ready, async () => {
      const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`;
      const account = await admin.request({ method: 'GET', path });
      const page = await source.listPage('Pod', {
        limit: 1,
        signal: signalOf(),
        onItem: () => undefined,
      });
      return account.status === 200 && page.kind === 'ok' ? true : undefined;
    });
    for (const pod of PODS) {
      const { name } = pod['metadata'] as { readonly name: string };
      const made = await admin.request({ method: 'POST', path: pods, body: pod });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const path = `${pods}/${name}/status`;
      const told = await admin.request({ method: 'PATCH', path, body: { status: STATUS } });
      assert.equal(told.status, 200, JSON.stringify(told.body));
    }
    // As it would a moment later.
    for (const name of ['owned', 'foreign']) {
      await admin.request({ method: 'DELETE', path: `${pods}/${name}` });
    }
  });

  after(async () => {
    source.close();
    await release('foreign');
    await admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${NAMESPACE}` });
    admin.close();
    await cluster.close();
  });

  it('tells as initial events what a page holds', async () => {
    const { kept: inPage } = await listed();
    assert.deepEqual([...inPage.keys()].sort(), ['foreign', 'orphan', 'owned']);
    const inEvents: Kept = new Map();
    for await (const frame of watched(undefined)) {
      if (frame.kind === 'bookmark' && frame.isInitialEventsEnd) break;
      assert.ok(frame.kind === 'added', JSON.stringify(frame));
      keep(inEvents, frame.object);
    }
    assert.deepEqual(inEvents, inPage);
    const owned = inPage.get('owned') as {
      slim: { projection: Readonly<Record<string, unknown>> };
    };
    const { trouble, targetNode, isTerminating, readyChangedAtMs } = owned.slim.projection;
    // On its way out: nothing of its trouble is told.
    assert.deepEqual(
      { trouble, targetNode, isTerminating, readyChangedAtMs },
      {
        trouble: undefined,
        targetNode: 'node-1',
        isTerminating: true,
        readyChangedAtMs: Date.parse('2026-01-01T00:00:01Z'),
      },
    );
  });

  it('tells of a change as a page would, and of an end', async () => {
    const { version } = await listed();
    const note = { metadata: { labels: { app: 'y' } } };
    await admin.request({ method: 'PATCH', path: `${pods}/orphan`, body: note });
    const { kept: inPage } = await listed();
    await release('owned');
    const seen: string[] = [];
    for await (const frame of watched(version)) {
      if (!('object' in frame)) continue;
      const { name, namespace } = frame.object.metadata;
      if (namespace !== NAMESPACE) continue;
      seen.push(`${frame.kind} ${name}`);
      if (name === 'orphan') {
        assert.deepEqual(projector.project('Pod', frame.object), inPage.get('orphan'));
      }
      if (frame.kind === 'deleted') break;
    }
    assert.deepEqual([seen[0], seen.at(-1)], ['modified orphan', 'deleted owned']);
  });

  it('is refused in words that are understood', async () => {
    const stranger = new ApiWatchSource(optionsOf('no-token'));
    const [frame] = await firstOf(watched('1', stranger));
    stranger.close();
    assert.deepEqual(frame, {
      kind: 'failed',
      failure: { kind: 'unauthorized', message: 'HTTP 401 Unauthorized: Unauthorized' },
    });
  });
});

async function firstOf(frames: AsyncIterable<WatchFrame>): Promise<readonly WatchFrame[]> {
  const iterator = frames[Symbol.asyncIterator]();
  const { value } = (await iterator.next()) as IteratorResult<WatchFrame, undefined>;
  await iterator.return?.();
  return value === undefined ? [] : [value];
}
