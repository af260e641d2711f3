/**
 * ClusterConnector over HTTPS: warm connections and credentials per cluster and configuration (faults 31).
 *
 * Before an access is handed out, the endpoint's kube-system UID was the registered one, under this credential and at
 * most ten minutes ago (protocol 24, S6; faults 90). Registry data chooses the endpoint and nothing else; where it may
 * lead: egress.ts (S12).
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type {
  ClusterAccess,
  ClusterConnector,
  ConnectRefusal,
  EgressRefusal,
  LiveRead,
} from '../../../ports/cluster/cluster-access.ts';
import type { TokenPurpose } from '../../../ports/stores/credential-store.ts';
import { CLUSTER_UID_PATH, type ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { REQUEST_TIMEOUT_MS } from '../../../core/pod/request-life.ts';
import { HttpsClusterAccess, OBJECT_READ_TIMEOUT_MS } from './cluster-access.ts';
import { openRegistered, type EgressPolicy } from '../egress/egress.ts';
import { defined } from '@rollcall/base/defined.ts';
import {
  isRegion,
  type AwsCredentials,
  createEksTokenSource,
  staticBearer,
  type Credential,
  type TokenSource,
} from '../credentials/token-source.ts';
import type { FleetRequests } from './manifest-apply.ts';
import { readObject } from './object-reader.ts';
import { SealedTokenSource, type SealedTokens } from '../credentials/sealed-token-source.ts';
import { classifyRead } from './status-classifier.ts';
import { HttpsTransport, type Transport, type TransportAnswer } from '../transport/transport.ts';

export interface ClusterConnectorOptions {
  readonly clock: Clock;
  /** Where EKS tokens get their AWS credentials; without it, EKS clusters are `no-credential`. */
  readonly awsCredentials?: () => Promise<AwsCredentials>;
  /** Where bound tokens are, and which are opened; without it, clusters that have one are `no-credential`. */
  readonly sealedTokens?: SealedTokens & { readonly purpose: TokenPurpose };
  /** Per request; default: the one that safety counts on (core/request-life.ts), and never longer. */
  readonly requestTimeoutMs?: number;
  /** Connections, and requests of one batch at a time, per cluster; default 64. */
  readonly socketsMax?: number;
  /** Endpoints that the composition allows beyond registrations; default: none. */
  readonly egress?: EgressPolicy;
  /** The installation whose watcher is asked for snapshots (ADR 0024); absent: any holder of the Lease. */
  readonly installation?: string;
  /** Of the function that steps fleets; without it manifests and mirrors are refused. */
  readonly fleetRequests?: FleetRequests;
}

type Connection = Awaited<ReturnType<ClusterConnector['connect']>>;

interface WarmCluster {
  readonly registration: ClusterRegistration;
  readonly transport: Transport;
  readonly access: ClusterAccess;
  readonly tokens: TokenSource | undefined;
  /** The same source, where the credential is a bound token. */
  readonly sealed: SealedTokenSource | undefined;
  /** Set when the name led somewhere else at a later connection. */
  readonly egress: { refusal?: EgressRefusal };
  verified?: { readonly atMs: number; readonly generation: number };
  verifying?: Promise<ConnectRefusal | undefined>;
}

const DEFAULT_SOCKETS_MAX = 64;

const WARM_CLUSTERS_MAX = 200;

const VERIFIED_FOR_MS = 600_000;

const UID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Opens registered clusters over HTTPS. */
export class HttpsClusterConnector implements ClusterConnector {
  readonly #options: ClusterConnectorOptions;
  /** In order of last use, the oldest first. */
  readonly #warm = new Map<ClusterId, WarmCluster>();
  /** Beside the warm clusters: a source that found nothing remembers when it may look again (L3). */
  readonly #sealed = new Map<
    ClusterId,
    { readonly registration: ClusterRegistration; readonly source: SealedTokenSource }
  >();

  constructor(options: ClusterConnectorOptions) {
    this.#options = options;
  }

  async connect(registration: ClusterRegistration): Promise<Connection> {
    const opened = await this.#opened(registration);
    if ('kind' in opened) return { kind: 'refused', refusal: opened };
    return { kind: 'connected', access: opened.access };
  }

  /**
   * The connection itself: for what few functions ask of a cluster (mirror-access.ts), so that the bundles of the others do not
   * hold it.
   */
  async connectTransport(
    registration: ClusterRegistration,
  ): Promise<
    | { readonly kind: 'connected'; readonly transport: Transport }
    | { readonly kind: 'refused'; readonly refusal: ConnectRefusal }
  > {
    const opened = await this.#opened(registration);
    if ('kind' in opened) return { kind: 'refused', refusal: opened };
    return { kind: 'connected', transport: opened.transport };
  }

  /** A cluster whose identity was checked. */
  async #opened(registration: ClusterRegistration): Promise<WarmCluster | ConnectRefusal> {
    const known = this.#warm.get(registration.id);
    const isCurrent = known !== undefined && isSameOpening(known.registration, registration);
    const opened = isCurrent ? known : this.#open(registration);
    if ('kind' in opened) return opened;
    this.#keep(opened);
    const refusal = (await tokenRefusal(opened.sealed)) ?? (await this.#verify(opened));
    if (refusal === undefined) return opened;
    if (refusal.kind !== 'unavailable') this.#drop(opened);
    return refusal;
  }

  forget(id: ClusterId): void {
    const warm = this.#warm.get(id);
    if (warm !== undefined) this.#drop(warm);
  }

  #keep(warm: WarmCluster): void {
    const { id } = warm.registration;
    const replaced = this.#warm.get(id);
    if (replaced !== undefined && replaced !== warm) this.#drop(replaced);
    this.#warm.delete(id);
    this.#warm.set(id, warm);
    if (this.#warm.size <= WARM_CLUSTERS_MAX) return;
    const [oldest] = this.#warm.values();
    if (oldest !== undefined) this.#drop(oldest);
  }

  #drop(warm: WarmCluster): void {
    const { id } = warm.registration;
    if (this.#warm.get(id) === warm) this.#warm.delete(id);
    warm.transport.retire();
  }

  #tokensFor(registration: ClusterRegistration): TokenSource | undefined {
    const { authentication } = registration;
    const { awsCredentials, clock } = this.#options;
    if (authentication.kind !== 'eks' || awsCredentials === undefined) return undefined;
    if (!isRegion(authentication.region)) return undefined;
    const { clusterName, region } = authentication;
    return createEksTokenSource({ clusterName, region, awsCredentials, clock });
  }

  #sealedFor(registration: ClusterRegistration): SealedTokenSource | undefined {
    const { id: cluster, clusterUid, authentication } = registration;
    const { sealedTokens, clock } = this.#options;
    if (authentication.kind !== 'bound-token' || sealedTokens === undefined) return undefined;
    const known = this.#sealed.get(cluster);
    const isCurrent = known !== undefined && isSameOpening(known.registration, registration);
    const { purpose, ...tokens } = sealedTokens;
    const context = { cluster, clusterUid, purpose };
    const source = isCurrent ? known.source : new SealedTokenSource({ ...tokens, context, clock });
    this.#sealed.delete(cluster);
    this.#sealed.set(cluster, { registration, source });
    const [oldest] = this.#sealed.keys();
    if (this.#sealed.size > WARM_CLUSTERS_MAX && oldest !== undefined) this.#sealed.delete(oldest);
    return source;
  }

  #open(registration: ClusterRegistration): WarmCluster | ConnectRefusal {
    // Before its address is judged: in observe there is no way in, and none is missing.
    if (registration.authentication.kind === 'none') return { kind: 'no-credential' };
    const egress: WarmCluster['egress'] = {};
    const opened = openRegistered(registration, {
      policy: this.#options.egress ?? {},
      onRefused: (refusal) => (egress.refusal = refusal),
    });
    if (opened.kind !== 'opened') return opened;
    const sealed = this.#sealedFor(registration);
    const tokens = sealed ?? this.#tokensFor(registration);
    const credential = credentialOf(registration, tokens);
    if (credential === undefined) return { kind: 'no-credential' };
    const { clock, requestTimeoutMs, socketsMax = DEFAULT_SOCKETS_MAX } = this.#options;
    const { endpoint, lookup } = opened;
    let transport: Transport;
    try {
      transport = new HttpsTransport({
        endpoint,
        lookup,
        credential,
        clock,
        socketsMax,
        requestTimeoutMs: Math.min(requestTimeoutMs ?? Infinity, REQUEST_TIMEOUT_MS),
        ...defined({ caPem: registration.caPem }),
      });
    } catch {
      // A certificate or key that OpenSSL cannot read; its error may quote it (S11).
      return { kind: 'unavailable', message: 'the CA or the client certificate cannot be read' };
    }
    const access = new HttpsClusterAccess({
      transport,
      clock,
      concurrencyMax: socketsMax,
      refreshCredential: () => this.#refresh(registration, tokens),
      ...defined({
        fleetRequests: this.#options.fleetRequests,
        installation: this.#options.installation,
      }),
    });
    return { registration, transport, access, tokens, sealed, egress };
  }

  /** After a 401: a new token if there may be one; otherwise the next connect starts afresh. */
  #refresh(registration: ClusterRegistration, tokens: TokenSource | undefined): boolean {
    if (tokens !== undefined) return tokens.invalidate();
    const warm = this.#warm.get(registration.id);
    if (warm?.registration === registration) this.#drop(warm);
    return false;
  }

  #verify(warm: WarmCluster): Promise<ConnectRefusal | undefined> {
    const { verified } = warm;
    const isFresh =
      verified !== undefined &&
      warm.egress.refusal === undefined &&
      verified.generation === (warm.tokens?.generation() ?? 0) &&
      this.#options.clock.monotonicMs() - verified.atMs < VERIFIED_FOR_MS;
    if (isFresh) return Promise.resolve(undefined);
    warm.verifying ??= this.#checkIdentity(warm).finally(() => {
      delete warm.verifying;
    });
    return warm.verifying;
  }

  async #checkIdentity(warm: WarmCluster): Promise<ConnectRefusal | undefined> {
    const name = 'kube-system';
    delete warm.egress.refusal;
    const answer = await askIdentity(warm);
    // An API server that rejects a credential answers: it is no outage, whatever the credential is.
    if (isUnauthorized(answer)) return { kind: 'no-token', fault: 'rejected' };
    if (answer.kind === 'unsent' && warm.egress.refusal !== undefined) return warm.egress.refusal;
    const read = classifyRead(answer, name, (body) => readObject(body, { name }));
    if (read.kind !== 'found') return unavailableAs(read);
    const foundUid = read.object.metadata.uid;
    if (foundUid !== warm.registration.clusterUid) {
      // It is told to people; the other side could write anything here, our token too (S11).
      const shown = UID_PATTERN.test(foundUid) ? foundUid : 'of another form';
      return { kind: 'wrong-cluster', foundUid: shown };
    }
    const atMs = this.#options.clock.monotonicMs();
    warm.verified = { atMs, generation: warm.tokens?.generation() ?? 0 };
    return undefined;
  }
}

/**
 * True if what a connection depends on is equal. The version alone does not say so: a registration
 * that was removed and written anew begins at 1 again (faults 31).
 */
function isSameOpening(left: ClusterRegistration, right: ClusterRegistration): boolean {
  const partsOf = (registration: ClusterRegistration): unknown => {
    const { configVersion, clusterUid, server, caPem, egress, authentication } = registration;
    return { configVersion, clusterUid, server, caPem, egress, authentication };
  };
  return isDeepStrictEqual(partsOf(left), partsOf(right));
}

/** Why there is no bound token that could be sent; undefined where there is one, or none is needed. */
async function tokenRefusal(
  sealed: SealedTokenSource | undefined,
): Promise<ConnectRefusal | undefined> {
  const state = await sealed?.prepare();
  switch (state?.kind) {
    case 'faulty':
      return { kind: 'no-token', fault: state.fault };
    case 'unavailable':
      // Not the cluster's fault: asking to wait keeps its circuit breaker out of this.
      return { ...state, token: 'unread' };
    case 'usable':
    case undefined:
      return undefined;
  }
}

/** The credential of requests; undefined where the registration has none, or there is no source of its tokens. */
function credentialOf(
  registration: ClusterRegistration,
  tokens: TokenSource | undefined,
): Credential | undefined {
  const { authentication } = registration;
  switch (authentication.kind) {
    case 'none':
      return undefined;
    case 'bearer':
      return authentication.token === '' ? undefined : staticBearer(authentication.token);
    case 'client-certificate':
      return authentication;
    case 'eks':
    case 'bound-token':
      return tokens === undefined ? undefined : { kind: 'bearer', token: () => tokens.token() };
  }
}

/** True for a 401: the credential was not accepted, and nothing was done. */
function isUnauthorized(answer: TransportAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 401;
}

/** Asks once, and once more with a new token if the first one is not accepted. */
async function askIdentity({
  transport,
  tokens,
}: Pick<WarmCluster, 'transport' | 'tokens'>): Promise<TransportAnswer> {
  const timeoutMs = OBJECT_READ_TIMEOUT_MS;
  const request = { method: 'GET', path: CLUSTER_UID_PATH, timeoutMs } as const;
  const first = await transport.send(request);
  if (!isUnauthorized(first) || tokens?.invalidate() !== true) return first;
  const second = await transport.send(request);
  if (isUnauthorized(second)) tokens.invalidate();
  return second;
}

function unavailableAs(read: Exclude<LiveRead<never>, { kind: 'found' }>): ConnectRefusal {
  if (read.kind === 'missing') return { kind: 'unavailable', message: 'no kube-system namespace' };
  const { kind, message, retryAfterMs } = read;
  return { kind, message, ...defined({ retryAfterMs }) };
}
