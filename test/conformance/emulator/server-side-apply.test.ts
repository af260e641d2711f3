/**
 * Server-side apply of DaemonSets on the local API server beside the real one: seeded writes of several managers to both, by
 * apply, create, PUT and merge patch; status, conflicts, owners and objects are equal after each.
 *
 * Compared is everything but what a server chooses for itself (UIDs, versions, times) and texts for people.
 * Replay: SSA_SEED=… SSA_STEPS=… npm test -- test/conformance/emulator/server-side-apply.test.ts
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Random } from '@rollcall/base/ports/random.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { createApiClient, type ApiClient, type ApiRequest } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { createActivityLog } from '../scenarios/activity-log.ts';

const SEED = Number(process.env['SSA_SEED'] ?? '20261125');
const STEPS = Number(process.env['SSA_STEPS'] ?? '150');
const COLLECTION = '/apis/apps/v1/namespaces/default/daemonsets';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

type Members = Readonly<Record<string, unknown>>;

class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  isLucky(chance: number): boolean {
    return this.#random.next() < chance;
  }

  one<T>(of: readonly [T, ...T[]]): T {
    return of[Math.floor(this.#random.next() * of.length)] ?? of[0];
  }

  some<T>(of: readonly T[]): readonly T[] {
    return of
      .filter(() => this.isLucky(0.5))
      .map((item) => ({ item, rank: this.#random.next() }))
      .sort((left, right) => left.rank - right.rank)
      .map(({ item }) => item);
  }

  /** Some of these members. */
  members(of: Readonly<Record<string, () => unknown>>): Members {
    return Object.fromEntries(this.some(Object.keys(of)).map((name) => [name, of[name]?.()]));
  }
}

function container(draw: Draw, name: string): Members {
  return {
    name,
    image: draw.one(['i:1', 'i:2']),
    ...draw.members({
      args: () => [draw.one(['a', 'b'])],
      env: () =>
        draw.some(['A', 'B']).map((key) => ({
          name: key,
          ...draw.one<Members>([
            { value: '1' },
            { value: '2' },
            { valueFrom: { secretKeyRef: { name: 's', key: draw.one(['k', 'l']) } } },
          ]),
        })),
      ports: () =>
        draw.some([80, 81]).map((containerPort) => ({
          containerPort,
          ...draw.members({ protocol: () => 'TCP', name: () => `p${String(containerPort)}` }),
        })),
      resources: () => draw.members({ limits: () => ({ memory: draw.one(['1Gi', '2Gi']) }) }),
      livenessProbe: () => ({
        tcpSocket: { port: draw.one([80, 81]) },
        ...draw.members({ periodSeconds: () => draw.one([5, 6]) }),
      }),
      securityContext: () => draw.members({ privileged: () => draw.one([true, false]) }),
    }),
  };
}

function manifest(draw: Draw, name: string): Members {
  const names = draw.some(['x', 'y', 'z']);
  const containers = (names.length === 0 ? ['x'] : names).map((each) => container(draw, each));
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name,
      namespace: 'default',
      ...draw.members({
        labels: () => draw.members({ l: () => draw.one(['1', '2']), m: () => '1' }),
        annotations: () => draw.members({ a: () => draw.one(['1', '2']) }),
      }),
    },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name, ...draw.members({ t: () => draw.one(['1', '2']) }) } },
        spec: {
          containers,
          ...draw.members({
            nodeSelector: () => ({ n: draw.one(['1', '2']) }),
            tolerations: () => [{ key: draw.one(['a', 'b']), operator: 'Exists' }],
            volumes: () =>
              draw.some(['v', 'w']).map((volume) => ({
                name: volume,
                ...draw.one<Members>([
                  { emptyDir: {} },
                  { hostPath: { path: draw.one(['/a', '/b']) } },
                  { configMap: { name: draw.one(['c', 'd']) } },
                ]),
              })),
            hostAliases: () => [{ ip: draw.one(['10.0.0.1', '10.0.0.2']), hostnames: ['h'] }],
            imagePullSecrets: () => draw.some(['p', 'q']).map((secret) => ({ name: secret })),
            terminationGracePeriodSeconds: () => draw.one([10, 20]),
            securityContext: () => draw.members({ runAsUser: () => draw.one([1, 2]) }),
          }),
        },
      },
      ...draw.members({
        minReadySeconds: () => draw.one([1, 2]),
        updateStrategy: () =>
          draw.one<Members>([
            { type: 'OnDelete' },
            {
              type: 'RollingUpdate',
              rollingUpdate: { maxUnavailable: draw.one<string | number>(['10%', 2]) },
            },
          ]),
      }),
    },
  };
}

/** A write; `edit`: of what the server has, by PUT. */
type Write = ApiRequest | { readonly edit: string; readonly image: string; readonly query: string };

function write(draw: Draw): Write {
  const name = draw.one(['one', 'two', 'three']);
  const path = `${COLLECTION}/${name}`;
  const by = `fieldManager=${draw.one(['rollcall', 'argocd', 'kubectl'])}&fieldValidation=Strict`;
  const dice = draw.one([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  if (dice === 1) return { method: 'DELETE', path };
  if (dice === 2)
    return { method: 'POST', path: `${COLLECTION}?${by}`, body: manifest(draw, name) };
  if (dice === 3) return { edit: path, image: draw.one(['i:1', 'i:3']), query: by };
  if (dice === 4) {
    const labels = draw.members({ l: () => draw.one(['3', null]), n: () => '1' });
    const spec = draw.members({ minReadySeconds: () => draw.one([3, null]) });
    return {
      method: 'PATCH',
      path: `${path}?${by}`,
      contentType: MERGE,
      body: { metadata: { labels }, spec },
    };
  }
  const options = [
    by,
    ...(draw.isLucky(0.5) ? ['force=true'] : []),
    ...(draw.isLucky(0.1) ? ['dryRun=All'] : []),
  ];
  return {
    method: 'PATCH',
    path: `${path}?${options.join('&')}`,
    contentType: APPLY,
    body: manifest(draw, name),
  };
}

async function perform(client: ApiClient, asked: Write): Promise<unknown> {
  if (!('edit' in asked)) return compared(await client.request(asked));
  const found = await client.request({ method: 'GET', path: asked.edit });
  if (found.status !== 200) return { status: found.status };
  const text = JSON.stringify(found.body).replace(/"image":"[^"]*"/, `"image":"${asked.image}"`);
  const path = `${asked.edit}?${asked.query}`;
  return compared(await client.request({ method: 'PUT', path, body: JSON.parse(text) as unknown }));
}

/** Without what a server chooses for itself. */
function compared({ status, body }: { readonly status: number; readonly body: unknown }): unknown {
  const { kind, metadata, spec, details, reason } = body as {
    readonly kind: string;
    readonly metadata: Members & {
      readonly managedFields?: readonly (Members & { readonly time?: string })[];
    };
    readonly spec?: unknown;
    readonly reason?: string;
    readonly details?: { readonly causes?: readonly Members[] };
  };
  if (kind === 'Status') return { status, reason, causes: sorted(details?.causes ?? []) };
  const { labels, annotations, generation, managedFields = [] } = metadata;
  const owners = sorted(managedFields.map(({ time: _time, ...owner }) => owner));
  return { status, labels, annotations, generation, spec, owners };
}

/** Conflicts come in no order, and owners of one second in none. */
function sorted(items: readonly Members[]): readonly Members[] {
  const textOf = (item: Members): string => JSON.stringify(item, Object.keys(item).sort());
  return items.toSorted((left, right) => textOf(left).localeCompare(textOf(right)));
}

const skip = skipWithoutTools([TOOLS.go]);

describe(`server-side apply beside the real server (seed ${String(SEED)})`, { skip }, () => {
  const closing: (() => unknown)[] = [];
  let real: ApiClient;
  let local: ApiClient;

  before(async () => {
    const controlPlane = await startControlPlane({ name: 'ssa', loops: 'off', auditLog: false });
    closing.push(controlPlane.stop);
    const cluster = await startLocalCluster({
      name: 'local',
      port: 0,
      machines: [],
      runsComponents: false,
      clock: createSystemClock(),
      random: createSystemRandom(),
      log: createActivityLog().log,
    });
    closing.push(() => cluster.stop());
    real = createApiClient(controlPlane.connectionOf('admin'));
    const { server, caPem, tokens } = cluster;
    local = createApiClient({ server, caPem, token: tokens.admin });
  });
  after(async () => {
    for (const close of closing.reverse()) await close();
  });

  it(`answers ${String(STEPS)} writes of three managers alike`, async (context) => {
    const draw = new Draw(seededRandom(SEED));
    const statuses = new Map<number, number>();
    for (let step = 0; step < STEPS; step += 1) {
      const asked = write(draw);
      const [expected, actual] = await Promise.all([perform(real, asked), perform(local, asked)]);
      const { status } = expected as { readonly status: number };
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      assert.deepEqual(actual, expected, `step ${String(step)}: ${JSON.stringify(asked)}`);
    }
    context.diagnostic(JSON.stringify(Object.fromEntries(statuses)));
    for (const status of [200, 201, 409]) assert.ok((statuses.get(status) ?? 0) > STEPS / 50);
  });
});
