/**
 * Findings about the way to the API server: address, name, connection, TLS, answer, identity, clock. Pure.
 *
 * Looked at from where the CLI runs: what only the functions can reach is `unknown`, not `failed`.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { EndpointFacts, TlsFault } from '../../ports/cluster/cluster-inspection.ts';
import type { Facts } from './needs.ts';
import { failed, notChecked, ok, warning, type Finding } from './finding.ts';
import type { Link } from './finding-codes.ts';
import { isConnectedTo } from './judge-registration.ts';

const STEPS: readonly Link[] = ['address', 'name', 'connection', 'tls', 'api-server'];
/** The Date header counts whole seconds, and the answer takes its time. */
const CLOCK_TOLERANCE_MS = 5_000;
const CERTIFICATE_ENDS_SOON_MS = 14 * 86_400_000;

/** One finding for each step that was reached, and one for what could not be reached after a failure. */
export function judgeEndpoint(
  registration: ClusterRegistration,
  { endpoint, nowMs }: Facts<'endpoint'>,
): readonly Finding[] {
  if (!isConnectedTo(registration)) {
    const seen = 'no function connects to this cluster: mode observe without authentication';
    return [ok('address', 'address-unused', seen)];
  }
  if (endpoint.kind === 'unchecked') return [notChecked('address', endpoint.why)];
  const facts = endpoint.value;
  const found = [
    judgeAddress(registration, facts),
    judgeName(facts),
    judgeConnection(facts),
    judgeTls(registration, facts, nowMs),
    judgeAnswer(facts),
  ].filter((one) => one !== undefined);
  const stopped = found.find(({ level }) => level === 'failed' || level === 'unknown');
  if (stopped === undefined) return found;
  const rest = STEPS.slice(STEPS.indexOf(stopped.link) + 1);
  const missing = rest.filter((link) => !found.some((one) => one.link === link));
  return [...found, ...missing.map((link) => notChecked(link, `not reached: see ${stopped.link}`))];
}

function judgeAddress({ id }: ClusterRegistration, { address }: EndpointFacts): Finding {
  if (address.kind === 'judged') {
    const kind = address.isPrivate ? 'private' : 'permitted';
    return ok('address', 'address-ok', `${address.host}:${address.port}, ${kind}`);
  }
  return failed('address', 'address-refused', {
    seen: `no function may connect to it: ${address.field} (${address.reason})`,
    next:
      address.reason === 'private'
        ? `If that network is meant: rollcall cluster set ${id} --private-range CIDR`
        : 'docs/reference/codes.md says what each reason means, and what to register instead.',
  });
}

function judgeName({ name }: EndpointFacts): Finding | undefined {
  if (name === undefined) return undefined;
  if (name.kind === 'resolved') {
    const seen = `the name has ${counted(name.count, 'address', 'addresses')}`;
    return ok('name', 'name-ok', seen);
  }
  return failed('name', 'name-unresolved', {
    seen: `the name of the server has no address here: ${name.code}`,
    next: 'Is the cluster still there, and is its name visible from here and from the functions’ network?',
  });
}

function judgeConnection({ connection, address }: EndpointFacts): Finding | undefined {
  if (connection === undefined) return undefined;
  if (connection.kind === 'connected') {
    return ok('connection', 'connection-ok', `connected within ${connection.afterMs} ms`);
  }
  if (address.kind === 'judged' && address.isPrivate) {
    return notChecked(
      'connection',
      `a private address that cannot be reached from here: ${connection.code}`,
      'Run this where the functions’ network is reachable; breaker and freshness below say how the functions fare.',
    );
  }
  return failed('connection', 'connection-failed', {
    seen: `no connection: ${connection.code}`,
    next: 'Does a firewall or the API server’s list of allowed networks let the functions’ addresses in?',
  });
}

const TLS_ADVICE: Readonly<Record<TlsFault, string>> = {
  untrusted: 'its certificate is not signed by the registered certificate authority',
  'other-name': 'its certificate is made out for another name',
  expired: 'its certificate has expired',
  'not-yet-valid': 'its certificate is not valid yet',
  'unreadable-ca': 'the registered certificate authority cannot be read',
  other: 'no TLS session came about',
};

function judgeTls(
  { id }: ClusterRegistration,
  { tls }: EndpointFacts,
  nowMs: number,
): Finding | undefined {
  if (tls === undefined) return undefined;
  if (tls.kind === 'failed') {
    const isCa = tls.fault === 'untrusted' || tls.fault === 'unreadable-ca';
    return failed('tls', `tls-${tls.fault}`, {
      seen: `${TLS_ADVICE[tls.fault]} (${tls.code})`,
      next: isCa
        ? `If the cluster’s certificate authority was changed: rollcall cluster set ${id} --ca-file FILE. If not, another server answers there.`
        : 'Repair the server’s certificate, or register the name that it is made out for.',
    });
  }
  const leftMs = tls.validUntilMs - nowMs;
  if (leftMs < CERTIFICATE_ENDS_SOON_MS) {
    const days = Math.max(0, Math.floor(leftMs / 86_400_000));
    return warning('tls', 'tls-ends-soon', {
      seen: `the server’s certificate ends in ${counted(days, 'day')}`,
      next: 'Renew it; where the cloud does that, look again tomorrow.',
    });
  }
  return ok('tls', 'tls-ok', 'its certificate is signed by the registered certificate authority');
}

function judgeAnswer({ answer }: EndpointFacts): Finding | undefined {
  if (answer === undefined) return undefined;
  if (answer.kind === 'failed') {
    return failed('api-server', 'api-server-silent', {
      seen: `a TLS session, but no answer: ${answer.code}`,
      next: 'Is the API server overloaded? Look at its own health and metrics.',
    });
  }
  if (!answer.isKubernetes) {
    return failed('api-server', 'api-server-other', {
      seen: `what answers there (HTTP ${answer.status}) is no Kubernetes API server`,
      next: 'Compare the registered server with: kubectl config view --minify',
    });
  }
  const seen = `a Kubernetes API server answers (HTTP ${answer.status})`;
  return ok('api-server', 'api-server-ok', seen);
}

/** Whether the cluster is the one that was registered (protocol 24, row 90). */
export function judgeIdentity(
  registration: ClusterRegistration,
  { identity }: Facts<'identity'>,
): Finding {
  if (identity.kind === 'unchecked') {
    return notChecked('identity', identity.why, 'Pass --kubeconfig FILE --context NAME.');
  }
  const { uid, by } = identity.value;
  if (uid === registration.clusterUid) {
    return ok('identity', 'identity-ok', `kube-system has the registered UID, read by the ${by}`);
  }
  return failed('identity', 'cluster-rebuilt', {
    seen: `kube-system has the UID ${uid}, registered is ${registration.clusterUid} (read by the ${by}): nothing is written to this cluster`,
    next: `If it was rebuilt: rollcall cluster reset ${registration.id}. If not, the ${by === 'kubeconfig' ? 'kubeconfig' : 'registered server'} leads to another cluster.`,
  });
}

/** The API server's clock against this one's: tokens are signed by the clock. */
export function judgeClock({ endpoint }: Facts<'endpoint'>): Finding | undefined {
  if (endpoint.kind === 'unchecked') return undefined;
  const { answer } = endpoint.value;
  if (answer?.kind !== 'answered' || answer.clockAheadMs === undefined) return undefined;
  const seconds = Math.round(Math.abs(answer.clockAheadMs) / 1000);
  if (Math.abs(answer.clockAheadMs) <= CLOCK_TOLERANCE_MS) {
    return ok('clock', 'clock-ok', 'the clocks agree');
  }
  return warning('clock', 'clock-skewed', {
    seen: `the API server’s clock is ${seconds} s ${answer.clockAheadMs > 0 ? 'ahead of' : 'behind'} the clock here`,
    next: 'Repair time synchronisation on whichever is wrong: tokens are refused beyond a few minutes.',
  });
}
