/**
 * What `cluster add` asks a cluster: who it is, which version it runs, who issues its tokens.
 *
 * Three reads, none of which changes anything. The identity is the UID of kube-system, as everywhere
 * (S6). Failures say which read, and what the API server answered.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import { clusterUid } from '../../../core/model/identifiers.ts';
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import { plainText } from '../../command-line/text-table.ts';
import { failure } from '../../process/exit-codes.ts';
import type { ClusterConnection } from '../../reach/cluster-connection.ts';

/** Answers of a cluster. */
export interface ClusterFacts {
  readonly server: string;
  readonly caPem?: string;
  readonly clusterUid: ClusterUid;
  /** e.g. `v1.36.3`. */
  readonly version: string;
  /** https address; absent if the API server does not say it to this user. */
  readonly issuer?: string;
}

const UID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Asks the cluster. Throws CommandError when it does not answer, or not as a cluster does. */
export async function readClusterFacts(connection: ClusterConnection): Promise<ClusterFacts> {
  const { server, caPem } = connection;
  const namespace = await read(connection, '/api/v1/namespaces/kube-system');
  const found = jsonMember(jsonMember(namespace, 'metadata'), 'uid');
  if (typeof found !== 'string' || !UID.test(found)) {
    throw failure(
      `${server} answered, but not as a Kubernetes API server does.`,
      'Check the server address in the kubeconfig.',
    );
  }
  const version = jsonMember(await read(connection, '/version'), 'gitVersion');
  const issuer = await readIssuer(connection);
  return {
    server,
    ...defined({ caPem }),
    clusterUid: clusterUid(found),
    version: typeof version === 'string' ? plainText(version) : 'unknown',
    ...defined({ issuer }),
  };
}

/** Not every user may read it, and only some ways of getting credentials need it. */
async function readIssuer({ transport }: ClusterConnection): Promise<string | undefined> {
  const path = '/.well-known/openid-configuration';
  const answer = await transport.send({ method: 'GET', path });
  if (answer.kind !== 'answered' || answer.status !== 200) return undefined;
  const issuer = jsonMember(answer.body, 'issuer');
  return typeof issuer === 'string' && URL.canParse(issuer) ? issuer : undefined;
}

async function read({ transport, server }: ClusterConnection, path: string): Promise<Json> {
  const answer = await transport.send({ method: 'GET', path });
  if (answer.kind !== 'answered') {
    throw failure(
      `${server} cannot be reached: ${answer.message}.`,
      'Check that the cluster runs and that this machine can reach it.',
    );
  }
  if (answer.status === 200 && isJsonObject(answer.body)) return answer.body;
  const said = jsonMember(answer.body, 'message');
  const detail = typeof said === 'string' ? plainText(said) : `HTTP ${String(answer.status)}`;
  throw failure(
    `${server} refuses to show ${path}: ${detail}.`,
    'Use a user who may read the namespace kube-system, e.g. a cluster administrator.',
  );
}
