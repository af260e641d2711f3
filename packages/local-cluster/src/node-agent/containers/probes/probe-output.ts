/**
 * What a failed probe says, by its kind of handler, as the kubelet's probers do: the tail of an Unhealthy event.
 *
 * The simulated runtime answers yes, no or nothing in time; the words are made up here from the probe's spec.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { ProbeSpec } from '../shared/container-spec.ts';

/** The text; empty for a command that printed nothing. */
export function probeOutput(
  probe: ProbeSpec,
  failure: { readonly isTimeout: boolean; readonly podIp: string },
): string {
  const { isTimeout, podIp } = failure;
  const { httpGet, tcpSocket, grpc } = probe;
  if (isJsonObject(httpGet)) {
    const url = `http://${podIp}:${textOf(httpGet['port'])}${textOf(httpGet['path'])}`;
    return isTimeout
      ? `Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`
      : 'HTTP probe failed with statuscode: 503';
  }
  if (isJsonObject(tcpSocket)) {
    const because = isTimeout ? 'i/o timeout' : 'connect: connection refused';
    return `dial tcp ${podIp}:${textOf(tcpSocket['port'])}: ${because}`;
  }
  if (isJsonObject(grpc)) {
    return isTimeout
      ? `timeout: failed to connect service "${podIp}:${textOf(grpc['port'])}" within ${probe.timeoutSeconds ?? 1}s: context deadline exceeded`
      : 'service unhealthy (responded with "NOT_SERVING")';
  }
  return isTimeout ? `command timed out after ${probe.timeoutSeconds ?? 1}s` : '';
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
