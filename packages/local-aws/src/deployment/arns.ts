// The ARNs of what a service declares, for the references in its roles.
//
// Queues have theirs already; tables, keys and log groups get one as AWS would give them in this account. Log groups
// are declared nowhere: osls adds one for each function, under a logical id that roles refer to.
import { busArnOf } from '../events/server.ts';
import type { CreatedQueue } from '../event-source-mapping/declarations.ts';
import { localAccountId } from '../sqs/server/broker.ts';
import type { ServiceDeclaration } from '../template/service.ts';

const BUS_PREFIX = 'event-bus/';

/** The ARN of a table of this account. */
export function tableArnOf({ region }: Pick<ServiceDeclaration, 'region'>, name: string): string {
  return `arn:aws:dynamodb:${region}:${localAccountId}:table/${name}`;
}

/** Answers the ARN of a declared resource by its logical id. */
export function arnsOf(
  service: ServiceDeclaration,
  queues: ReadonlyMap<string, CreatedQueue>,
): (id: string) => string | undefined {
  const arns = new Map([...queues.values()].map(({ id, arn }) => [id, arn]));
  for (const { id, name } of service.tables) arns.set(id, tableArnOf(service, name));
  for (const id of service.keyIds) {
    arns.set(id, `arn:aws:kms:${service.region}:${localAccountId}:key/${id}`);
  }
  for (const { name } of service.functions) {
    const group = `/aws/lambda/${service.service}-${service.stage}-${name}`;
    const arn = `arn:aws:logs:${service.region}:${localAccountId}:log-group:${group}:*`;
    arns.set(logGroupIdOf(name), arn);
  }
  // A bus stands in no template: it is the account's, and there by its name.
  return (id) =>
    id.startsWith(BUS_PREFIX)
      ? busArnOf(service.region, id.slice(BUS_PREFIX.length))
      : arns.get(id);
}

/** As osls names the log group of a function. */
function logGroupIdOf(functionName: string): string {
  const name = functionName.replaceAll('-', 'Dash').replaceAll('_', 'Underscore');
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}LogGroup`;
}
