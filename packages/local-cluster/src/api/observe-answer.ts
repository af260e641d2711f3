/** Tells the observer of a request what came of it. */
import type { ApiObject } from '../objects/api-object.ts';
import type { ApiAnswer, ApiRequest, RequestObserver } from './request/api-request.ts';
import type { ParsedTarget } from './request/parse-target.ts';

/** Calls the observer once; watches count as 200 when they are accepted. */
export function observeAnswer({
  onRequest,
  request,
  target,
  answer,
}: {
  readonly onRequest: RequestObserver;
  readonly request: ApiRequest;
  readonly target: ParsedTarget;
  readonly answer: ApiAnswer;
}): void {
  const { userAgent } = request;
  const object = answer.kind === 'object' ? objectOf(answer.body) : undefined;
  onRequest({
    attributes: target.attributes,
    status: answer.kind === 'watch' ? 200 : answer.status,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(object === undefined ? {} : { object }),
  });
}

/** Lists and Statuses are no objects: they have no UID. */
function objectOf(body: Readonly<Record<string, unknown>>): ApiObject | undefined {
  const metadata = body.metadata as { readonly uid?: unknown } | undefined;
  return typeof metadata?.uid === 'string' ? (body as unknown as ApiObject) : undefined; // only objects have a UID
}
