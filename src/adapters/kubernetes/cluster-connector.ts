/**
 * ClusterConnector over HTTPS (being written).
 */
import type { Clock } from '../../ports/clock.ts';
import type { ClusterConnector } from '../../ports/cluster-access.ts';
import type { AwsCredentials } from './eks-token.ts';

/** Options of a connector. */
export interface ClusterConnectorOptions {
  readonly clock: Clock;
  /** Where EKS tokens get their AWS credentials; without it, EKS clusters are `no-credential`. */
  readonly awsCredentials?: () => Promise<AwsCredentials>;
  /** Per request; default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Connections per cluster; default 64. */
  readonly socketsMax?: number;
}

/** Opens clusters. */
export function createClusterConnector(_options: ClusterConnectorOptions): ClusterConnector {
  throw new Error('not written yet');
}
