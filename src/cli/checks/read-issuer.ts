/**
 * Reads a cluster's issuer twice: as the cluster names it, and as it is published.
 *
 * A cluster chooses the address that is read here: it has to be public, is given no credential, and its answer is bounded.
 */
import { jsonMember, type Json } from '@rollcall/base/json.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { openEgress, type EgressPolicy } from '../../adapters/kubernetes/egress/egress.ts';
import { parseEndpoint } from '../../adapters/kubernetes/egress/endpoint.ts';
import { createClusterInspection } from '../../adapters/kubernetes/operator/cluster-inspection.ts';
import { HttpsTransport } from '../../adapters/kubernetes/transport/transport.ts';
import { checked, unchecked, type Checked, type IssuerFact } from '../../app/checks/needs.ts';
import {
  CLUSTER_KEYS_PATH,
  DISCOVERY_PATH,
  KEYS_MEDIA_TYPES,
  findUnpublished,
  isPublicIssuer,
  readKeys,
} from '../../core/issuer/issuer-documents.ts';
import type { SigningKey } from '../../core/issuer/issuer-documents.ts';
import { askEach, whyNot, type WaysIn } from './ways-in.ts';

const REQUEST_TIMEOUT_MS = 8_000;
const DOCUMENT_BYTES_MAX = 64 * 1024;

export interface IssuerReach {
  readonly clock: Clock;
  readonly egress: EgressPolicy;
}

export async function readIssuer(ways: WaysIn, reach: IssuerReach): Promise<Checked<IssuerFact>> {
  const [discovery, keys] = await Promise.all([
    askEach(ways, (inspection) => inspection.read(DISCOVERY_PATH)),
    askEach(ways, (inspection) => inspection.read(CLUSTER_KEYS_PATH, KEYS_MEDIA_TYPES)),
  ]);
  if (discovery.kind !== 'answered') return unchecked(whyOf(discovery));
  const issuer = jsonMember(discovery.value, 'issuer');
  if (typeof issuer !== 'string') return unchecked('the API server names no issuer');
  if (!isPublicIssuer(issuer)) return checked({ kind: 'internal', issuer });
  if (keys.kind !== 'answered') return unchecked(whyOf(keys));
  const ofCluster = readKeys(keys.value);
  if (ofCluster.kind === 'refused') {
    return unchecked(`the API server’s keys: ${ofCluster.field}: ${ofCluster.why}`);
  }
  return checked(await comparePublished(issuer, ofCluster.keys, reach));
}

function whyOf(answer: Awaited<ReturnType<typeof askEach>>): string {
  return answer.kind === 'unchecked' ? answer.why : 'the API server does not show its issuer (404)';
}

/** Reads the documents at an address, and says what is wrong with them for tokens of these keys. */
export async function comparePublished(
  issuer: string,
  ofCluster: readonly SigningKey[],
  reach: IssuerReach & { readonly caPem?: string },
): Promise<IssuerFact> {
  // AKS names its issuers with a slash at the end.
  const discovery = await readPublished(`${issuer.replace(/\/$/, '')}${DISCOVERY_PATH}`, reach);
  if ('why' in discovery) return { kind: 'unreadable', issuer, why: discovery.why };
  const published = jsonMember(discovery.document, 'issuer');
  if (published !== issuer) {
    return { kind: 'other', issuer, published: typeof published === 'string' ? published : 'none' };
  }
  const place = jsonMember(discovery.document, 'jwks_uri');
  const found =
    typeof place === 'string'
      ? await readPublished(place, reach)
      : { why: 'the discovery document has no jwks_uri' };
  if ('why' in found) return { kind: 'unreadable', issuer, why: found.why };
  const keys = readKeys(found.document);
  if (keys.kind === 'refused') {
    return { kind: 'unreadable', issuer, why: `${keys.field}: ${keys.why}` };
  }
  const missing = findUnpublished(ofCluster, keys.keys);
  return { kind: 'published', issuer, keyCount: ofCluster.length, missing };
}

type Published = { readonly document: Json } | { readonly why: string };

async function readPublished(
  address: string,
  { clock, egress, caPem }: IssuerReach & { readonly caPem?: string },
): Promise<Published> {
  const parsed = parseEndpoint(address);
  if (parsed.kind === 'refused') return { why: 'its address is no plain https address' };
  const { endpoint } = parsed;
  const opened = openEgress({
    endpoint,
    tokenIsFor: 'endpoint',
    policy: { loopback: egress.loopback ?? 'refused' },
    onRefused: () => undefined,
  });
  if (opened.kind === 'egress-refused') return { why: 'its address is not a public one' };
  const transport = new HttpsTransport({
    endpoint: { ...endpoint, pathPrefix: '' },
    lookup: opened.lookup,
    credential: { kind: 'none' },
    clock,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    responseBytesMax: DOCUMENT_BYTES_MAX,
    ...(caPem === undefined ? {} : { caPem }),
  });
  const inspection = createClusterInspection(transport);
  try {
    const answer = await inspection.read(endpoint.pathPrefix, KEYS_MEDIA_TYPES);
    return answer.kind === 'answered' ? { document: answer.value } : { why: whyNot(answer) };
  } finally {
    inspection.close();
  }
}
