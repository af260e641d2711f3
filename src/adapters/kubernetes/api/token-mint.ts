/**
 * TokenRequest: an API server makes a token of one of the functions' service accounts, good for some hours.
 *
 * The token is bound to the service account (it ends when that is deleted) and to the audiences asked for;
 * without any, to the API server's own. The server may make it shorter than asked. What it answers to a refused
 * request is quoted without our own token (transport.ts); a minted one is in no message (S11).
 */
import { jsonMember } from '@rollcall/base/json.ts';
import { CLUSTER_UID_PATH, clusterUidIn } from '../../../core/model/identifiers.ts';
import { FUNCTIONS_ACCOUNTS } from '../../../ports/stores/credential-store.ts';
import type { TokenMint } from '../../../ports/cluster/token-mint.ts';
import { classifyRead, unavailableRead } from './status-classifier.ts';
import type { Transport } from '../transport/transport.ts';

const SERVICE_ACCOUNTS = '/api/v1/namespaces/rollcall-system/serviceaccounts';
const CREATED = 201;

/** Tokens of one API server. */
export function createTokenMint(options: {
  readonly transport: Transport;
  /** 600 at least, by Kubernetes' own rule. */
  readonly lifetimeSeconds: number;
  /** Empty: the API server's own. */
  readonly audiences: readonly string[];
}): TokenMint {
  const { transport, lifetimeSeconds, audiences } = options;
  return {
    readClusterUid: async () => {
      const answer = await transport.send({ method: 'GET', path: CLUSTER_UID_PATH });
      return classifyRead(answer, 'kube-system', clusterUidIn);
    },
    mint: async (purpose) => {
      const body = JSON.stringify({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences, expirationSeconds: lifetimeSeconds },
      });
      const path = `${SERVICE_ACCOUNTS}/${FUNCTIONS_ACCOUNTS[purpose]}/token`;
      const answer = await transport.send({ method: 'POST', path, body });
      const isCreated = answer.kind === 'answered' && answer.status === CREATED;
      const token = isCreated ? jsonMember(jsonMember(answer.body, 'status'), 'token') : undefined;
      if (typeof token === 'string' && token !== '') return { kind: 'minted', token };
      return {
        kind: 'refused',
        message: unavailableRead(answer, 'no token in the answer').message,
      };
    },
  };
}
