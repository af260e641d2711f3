/** What a template asks of a node, as the scheduler counts, and whether another one asks for more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { compareDemand, demandOf } from '../../../../src/core/daemon-set/template-demand.ts';

const requests = (values: JsonObject): Json => ({ resources: { requests: values } });
const ports = (...all: readonly JsonObject[]): JsonObject => ({ ports: all });

function requestsOf(spec: JsonObject): Readonly<Record<string, number>> | undefined {
  return demandOf({ spec })?.requests;
}

describe('a template asks for', () => {
  const quantities: readonly (readonly [Json, number])[] = [
    ['500m', 0.5],
    ['2', 2],
    [3, 3],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['64Mi', 67_108_864],
    ['1Gi', 2 ** 30],
    ['1k', 1000],
    ['5M', 5e6],
    ['1E', 1e18],
    ['1e3', 1000],
    ['2E+2', 200],
    ['100n', 1e-7],
  ];
  for (const [text, value] of quantities) {
    it(`${JSON.stringify(text)} as ${String(value)}`, () => {
      const found = requestsOf({ containers: [requests({ x: text })] })?.['x'] ?? Number.NaN;
      assert.ok(Math.abs(found - value) <= value * 1e-9, String(found));
    });
  }

  it('what all containers and sidecars ask for, or the largest init container, and the overhead', () => {
    const asked = requestsOf({
      containers: [requests({ cpu: '1' }), requests({ cpu: '2', memory: '1Gi' })],
      initContainers: [
        requests({ cpu: '8', memory: '1Mi' }),
        requests({ cpu: '9' }),
        { ...(requests({ cpu: '4' }) as JsonObject), restartPolicy: 'Always' },
      ],
      overhead: { cpu: '250m' },
    });
    assert.deepEqual(asked, { cpu: 9.25, memory: 2 ** 30 });
  });

  it('its limits where it names no requests', () => {
    const container = { resources: { limits: { cpu: '2', memory: '3' }, requests: { cpu: '1' } } };
    assert.deepEqual(requestsOf({ containers: [container] }), { cpu: 1, memory: 3 });
  });

  it('host ports, each once', () => {
    const containers = [
      ports({ hostPort: 9100 }, { containerPort: 80 }, { hostPort: 0 }),
      ports({ hostPort: 53, protocol: 'UDP', hostIP: '10.0.0.1' }, { hostPort: 9100, hostIP: '' }),
    ];
    assert.deepEqual(demandOf({ spec: { containers } })?.hostPorts, [
      'TCP/9100',
      'UDP/53/10.0.0.1',
    ]);
  });

  it('nothing that can be told, where a quantity is none or there are too many', () => {
    for (const text of ['', 'a lot', '1x', '-1', '1e', null, {}]) {
      assert.equal(demandOf({ spec: { containers: [requests({ cpu: text })] } }), undefined);
    }
    const many = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`r${String(index)}`, '1']));
    assert.notEqual(demandOf({ spec: { containers: [requests(many(16))] } }), undefined);
    assert.equal(demandOf({ spec: { containers: [requests(many(17))] } }), undefined);
    const crowd = Array.from({ length: 33 }, (_, index) => ({ hostPort: index + 1 }));
    assert.equal(demandOf({ spec: { containers: [ports(...crowd)] } }), undefined);
  });
});

describe('a demand', () => {
  const of = (cpu: number, ...hostPorts: readonly string[]) => ({ requests: { cpu }, hostPorts });

  it('grew where one request or port is more', () => {
    assert.equal(compareDemand(of(1), of(2)), 'grew');
    assert.equal(compareDemand(of(1), of(1, 'TCP/80')), 'grew');
    assert.equal(compareDemand({ requests: {}, hostPorts: [] }, of(1)), 'grew');
  });

  it('is the same where nothing is more', () => {
    assert.equal(compareDemand(of(1, 'TCP/80'), of(1)), 'same');
    assert.equal(compareDemand(of(2), of(1)), 'same');
  });

  it('is not known where one of them is not', () => {
    assert.equal(compareDemand(undefined, of(1)), 'unknown');
    assert.equal(compareDemand(of(1), undefined), 'unknown');
  });
});
