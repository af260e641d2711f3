/**
 * A connection to a cluster as the person at the terminal: by a kubeconfig, or to EKS by their AWS identity.
 *
 * It serves for looking at the cluster and, when asked, for applying manifests. Its credential is never
 * stored anywhere (S11). Addresses are not judged here: a person may reach what functions may not.
 */
import type { Agent } from 'node:http';
import { defined } from '@rollcall/base/defined.ts';
import {
  type Credential,
  type AwsCredentials,
  createEksTokenSource,
} from '../../adapters/kubernetes/credentials/token-source.ts';
import { parseEndpoint } from '../../adapters/kubernetes/egress/endpoint.ts';
import { HttpsTransport, type Transport } from '../../adapters/kubernetes/transport/transport.ts';
import { credentialOf } from '../../engine/reach-cluster.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { usageError } from '../process/exit-codes.ts';
import { openKubeconfig, type KubeconfigPlace } from './open-kubeconfig.ts';

/** An open connection. */
export interface ClusterConnection {
  readonly server: string;
  readonly caPem?: string;
  readonly transport: Transport;
}

const REQUEST_TIMEOUT_MS = 15_000;

/** Connects by a context of a kubeconfig. Throws CommandError when the file cannot be used. */
export async function connectByKubeconfig(
  options: KubeconfigPlace & { readonly clock: Clock },
): Promise<ClusterConnection> {
  const { clock, ...where } = options;
  const { server, caPem, authentication, agent } = await openKubeconfig(where, 'allowed');
  return connect({
    server,
    credential: credentialOf(authentication),
    clock,
    ...defined({ caPem, agent }),
  });
}

/** Connects to an EKS cluster with a token of the person's own AWS identity. */
export function connectToEks(options: {
  readonly server: string;
  readonly caPem: string;
  readonly clusterName: string;
  readonly region: string;
  readonly awsCredentials: () => Promise<AwsCredentials>;
  readonly clock: Clock;
}): ClusterConnection {
  const source = createEksTokenSource(options);
  return connect({ ...options, credential: { kind: 'bearer', token: () => source.token() } });
}

function connect(options: {
  readonly server: string;
  readonly caPem?: string;
  readonly credential: Credential;
  readonly clock: Clock;
  readonly agent?: Agent;
}): ClusterConnection {
  const { server, caPem, credential, clock, agent } = options;
  const parsed = parseEndpoint(server);
  if (parsed.kind === 'refused') {
    throw usageError(
      `The API server's address cannot be registered: ${parsed.message}.`,
      'Use an address of the form https://host[:port][/prefix].',
    );
  }
  const transport = new HttpsTransport({
    endpoint: parsed.endpoint,
    credential,
    clock,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    ...defined({ caPem, agent }),
  });
  return { server, transport, ...defined({ caPem }) };
}
