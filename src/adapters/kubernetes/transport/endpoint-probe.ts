/**
 * EndpointProbe over sockets: resolve, connect, shake hands, ask for /version; each on its own, so that
 * the first that fails can be named.
 *
 * The address is judged as it is for the functions (egress.ts), by the policy of the caller;
 * the lookup of the connection judges every address again. No credential and no client certificate is
 * sent. Failures are codes, never texts of the other side (S11).
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { EgressRefusal } from '../../../ports/cluster/cluster-access.ts';
import type { EndpointFacts, EndpointProbe } from '../../../ports/cluster/cluster-inspection.ts';
import { classifyAddress } from '../egress/address-class.ts';
import { openRegistered, type EgressPolicy, type ResolvedAddress } from '../egress/egress.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { Endpoint } from '../egress/endpoint.ts';
import { readBody } from './response-body.ts';
import { tlsFaultOf } from './tls-fault.ts';

/** Of each step. */
const STEP_TIMEOUT_MS = 5_000;
const BODY_BYTES_MAX = 64 * 1024;

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'UNKNOWN';
}

/** Probes over sockets. */
export class SocketEndpointProbe implements EndpointProbe {
  readonly #options;

  constructor(options: { readonly clock: Clock; readonly egress: EgressPolicy }) {
    this.#options = options;
  }

  async probe(registration: ClusterRegistration): Promise<EndpointFacts> {
    let late: EgressRefusal | undefined;
    const opened = openRegistered(registration, {
      policy: this.#options.egress,
      onRefused: (refusal) => (late = refusal),
    });
    if (opened.kind === 'egress-refused') return { address: opened };
    const { endpoint, lookup } = opened;
    let addresses: readonly ResolvedAddress[];
    try {
      addresses = await this.#resolve(endpoint.host, lookup);
    } catch (error) {
      if (late !== undefined) return { address: late };
      const address = judged(endpoint, []);
      return { address, name: { kind: 'failed', code: codeOf(error) } };
    }
    const name = { kind: 'resolved', count: addresses.length } as const;
    const address = judged(endpoint, addresses);
    const reached = await this.#connect({ endpoint, lookup, registration });
    return { address, ...(isIP(endpoint.host) === 0 ? { name } : {}), ...reached };
  }

  async #resolve(host: string, lookup: LookupFunction): Promise<readonly ResolvedAddress[]> {
    if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
    return this.#within(
      new Promise((resolve, reject) => {
        lookup(host, { all: true }, (error, found) => {
          if (error !== null) reject(error);
          else resolve(Array.isArray(found) ? found : []);
        });
      }),
    );
  }

  async #connect(target: {
    readonly endpoint: Endpoint;
    readonly lookup: LookupFunction;
    readonly registration: ClusterRegistration;
  }): Promise<Omit<EndpointFacts, 'address'>> {
    const { clock } = this.#options;
    const { endpoint, lookup, registration } = target;
    const { host, port } = endpoint;
    const startedMs = clock.monotonicMs();
    const socket = connectTcp({ host, port, lookup, autoSelectFamily: true });
    socket.on('error', ignore);
    try {
      await this.#within(once(socket, 'connect'));
    } catch (error) {
      socket.destroy();
      return { connection: { kind: 'failed', code: codeOf(error) } };
    }
    const afterMs = Math.round(clock.monotonicMs() - startedMs);
    const connection = { kind: 'connected', afterMs } as const;
    try {
      return { connection, ...(await this.#shakeHands({ socket, endpoint, registration })) };
    } finally {
      socket.destroy();
    }
  }

  async #shakeHands(target: {
    readonly socket: Socket;
    readonly endpoint: Endpoint;
    readonly registration: ClusterRegistration;
  }): Promise<Omit<EndpointFacts, 'address'>> {
    const { socket, endpoint, registration } = target;
    const { host } = endpoint;
    let secure: TLSSocket;
    try {
      secure = connectTls({
        socket,
        host,
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        ...defined({ servername: isIP(host) === 0 ? host : undefined, ca: registration.caPem }),
      });
    } catch {
      // OpenSSL cannot read the certificate authority; its error may quote it.
      return { tls: { kind: 'failed', fault: 'unreadable-ca', code: 'CA' } };
    }
    secure.on('error', ignore);
    try {
      await this.#within(once(secure, 'secureConnect'));
    } catch (error) {
      const code = codeOf(error);
      return { tls: { kind: 'failed', fault: tlsFaultOf(code) ?? 'other', code } };
    }
    const validUntilMs = Date.parse(secure.getPeerCertificate().valid_to);
    const tls = {
      kind: 'trusted',
      validUntilMs: Number.isNaN(validUntilMs) ? Infinity : validUntilMs,
    } as const;
    return { tls, answer: await this.#ask(secure, endpoint) };
  }

  async #ask(secure: TLSSocket, endpoint: Endpoint): Promise<NonNullable<EndpointFacts['answer']>> {
    // Written into the TLS session that stands already: node:https would begin another one.
    const outgoing = httpRequest({
      host: endpoint.host,
      port: endpoint.port,
      path: `${endpoint.pathPrefix}/version`,
      headers: { accept: 'application/json', 'user-agent': 'rollcall' },
      createConnection: () => secure,
    });
    outgoing.on('error', ignore);
    try {
      const responded = once(outgoing, 'response') as Promise<[IncomingMessage]>;
      outgoing.end();
      const [response] = await this.#within(responded);
      const nowMs = this.#options.clock.nowMs();
      const text = await this.#within(readBody(response, BODY_BYTES_MAX));
      const serverMs = Date.parse(response.headers.date ?? '');
      // The header cuts the second off: half of one is put back.
      const ahead = Number.isNaN(serverMs) ? {} : { clockAheadMs: serverMs + 500 - nowMs };
      const status = response.statusCode ?? 0;
      return { kind: 'answered', status, isKubernetes: isKubernetesAnswer(text), ...ahead };
    } catch (error) {
      return { kind: 'failed', code: codeOf(error) };
    } finally {
      outgoing.destroy();
    }
  }

  /** Rejects with ETIMEDOUT when a step takes too long. */
  #within<T>(step: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.after(STEP_TIMEOUT_MS, () => {
        reject(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
      });
      step.then(resolve, reject).finally(cancel);
    });
  }
}

/** Each failure is taken where it is awaited; one that comes later says nothing more. */
function ignore(): void {
  // nothing
}

function judged(
  { host, port }: Endpoint,
  addresses: readonly ResolvedAddress[],
): EndpointFacts['address'] {
  const isPrivate = addresses.some(({ address }) => classifyAddress(address).class === 'private');
  return { kind: 'judged', host, port, isPrivate };
}

/** The version, or the refusal to tell it to an anonymous client. */
function isKubernetesAnswer(text: string): boolean {
  try {
    const body: unknown = JSON.parse(text);
    if (!isJsonObject(body)) return false;
    return typeof body['gitVersion'] === 'string' || body['kind'] === 'Status';
  } catch {
    // A page of something else.
    return false;
  }
}
