/**
 * What a pod template asks of a node: requests and host ports, so that room that is missing can be told from room that a release asks for
 * (rollouts facts 1: `OutOf*` after a bigger request is the release's).
 *
 * As the scheduler counts: containers and sidecars together, or the largest init container, and the overhead. Quantities are numbers, near
 * enough to be compared. A template with more kinds of requests or ports than the bounds is not described: its demand is not known.
 */
import { isJsonObject, jsonItems, jsonMember, type Json } from '@rollcall/base/json.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import type { TemplateDemand } from '../model/rollout-record.ts';
import { amountOf } from './resource-quantity.ts';

const REQUESTS_MAX = 16;
const PORTS_MAX = 32;

type Requests = ReadonlyMap<string, number>;

/** What a template asks for; undefined: it cannot be told. */
export function demandOf(template: Json | undefined): TemplateDemand | undefined {
  const spec = jsonMember(template, 'spec');
  const containers = jsonItems(jsonMember(spec, 'containers'));
  const inits = jsonItems(jsonMember(spec, 'initContainers'));
  const isSidecar = (each: Json): boolean => jsonMember(each, 'restartPolicy') === 'Always';
  const running = [...containers, ...inits.filter(isSidecar)];
  const once = inits.filter((each) => !isSidecar(each));
  const together = running.map(requestsOf).reduce(added, new Map<string, number>());
  const largest = once.map(requestsOf).reduce(larger, together);
  const requests = added(largest, quantitiesOf(jsonMember(spec, 'overhead')));
  const hostPorts = [...new Set([...running, ...once].flatMap(portsOf))].sort(compareText);
  const isKnown = [...requests.values()].every((value) => !Number.isNaN(value));
  if (!isKnown || requests.size > REQUESTS_MAX || hostPorts.length > PORTS_MAX) return undefined;
  const sorted = [...requests].sort(([left], [right]) => compareText(left, right));
  return { requests: Object.fromEntries(sorted), hostPorts };
}

/** Whether one template asks for more than another one, of anything. */
export function compareDemand(
  before: TemplateDemand | undefined,
  after: TemplateDemand | undefined,
): 'grew' | 'same' | 'unknown' {
  if (before === undefined || after === undefined) return 'unknown';
  const asked = new Map(Object.entries(before.requests));
  const grew =
    Object.entries(after.requests).some(([name, value]) => value > (asked.get(name) ?? 0)) ||
    after.hostPorts.some((port) => !before.hostPorts.includes(port));
  return grew ? 'grew' : 'same';
}

/** Requests of a container; a limit without a request is one (as the API server defaults it). */
function requestsOf(container: Json): Requests {
  const resources = jsonMember(container, 'resources');
  const limits = quantitiesOf(jsonMember(resources, 'limits'));
  return new Map([...limits, ...quantitiesOf(jsonMember(resources, 'requests'))]);
}

function quantitiesOf(values: Json | undefined): Requests {
  if (!isJsonObject(values)) return new Map();
  return new Map(Object.entries(values).map(([name, value]) => [name, askedFor(value)]));
}

/** NaN: it is none, or none that a container can ask for. */
function askedFor(value: Json | undefined): number {
  const amount = amountOf(value) ?? Number.NaN;
  return amount < 0 ? Number.NaN : amount;
}

function added(left: Requests, right: Requests): Requests {
  return joined(left, right, (one, other) => one + other);
}

function larger(left: Requests, right: Requests): Requests {
  return joined(left, right, Math.max);
}

function joined(
  left: Requests,
  right: Requests,
  join: (one: number, other: number) => number,
): Requests {
  const all = new Map(left);
  for (const [name, value] of right) all.set(name, join(all.get(name) ?? 0, value));
  return all;
}

/** `TCP/9100`, with the address where only one is asked for. */
function portsOf(container: Json): readonly string[] {
  return jsonItems(jsonMember(container, 'ports')).flatMap((port) => {
    const number = jsonMember(port, 'hostPort');
    if (typeof number !== 'number' || number === 0) return [];
    const named = jsonMember(port, 'protocol');
    const protocol = typeof named === 'string' ? named : 'TCP';
    const address = jsonMember(port, 'hostIP');
    const at = typeof address === 'string' && address !== '' ? `/${address}` : '';
    return [`${protocol}/${String(number)}${at}`];
  });
}
