/**
 * Where Amazon EventBridge answers, for requests that are made without its client: by region, or as the environment says, as the SDK reads it.
 */
import { partitionOf } from '../src/adapters/kubernetes/egress/aws-partitions.ts';

/** The endpoint. Throws for a region that is in no partition that is known. */
export function eventsEndpoint(region: string, environment: Readonly<NodeJS.ProcessEnv>): string {
  const suffix = partitionOf(region)?.suffix;
  if (suffix === undefined)
    throw new Error('AWS_REGION, or --region, names no region that is known');
  return (
    environment['AWS_ENDPOINT_URL_EVENTBRIDGE'] ??
    environment['AWS_ENDPOINT_URL'] ??
    `https://events.${region}.${suffix}`
  );
}
