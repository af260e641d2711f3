// Who signs a request, over loopback HTTP: GetCallerIdentity of STS in its query protocol, from the table of access keys.
//
// It needs no right, as in AWS: the holder of a key may ask whose it is. Any other action is refused. Binds 127.0.0.1 alone.
import type { IncomingMessage } from 'node:http';
import type { Authorizer } from '../iam/authorizer.ts';
import { startLoopbackServer } from '../server/loopback-server.ts';
import type { LoopbackServer } from '../server/loopback-server.ts';

const BODY_BYTES_MAX = 64 * 1024;
const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

interface StsOptions {
  readonly authorizer: Pick<Authorizer, 'arnOf' | 'signerOf'>;
  readonly newId: () => string;
}

/** Starts it. */
export function startStsServer(options: StsOptions): Promise<LoopbackServer> {
  return startLoopbackServer({
    bodyBytesMax: BODY_BYTES_MAX,
    answer: ({ request, response, body }) => {
      const { status, xml } = answerTo(request, body, options);
      response.writeHead(status, { 'Content-Type': 'text/xml' }).end(xml);
    },
  });
}

function answerTo(
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  { authorizer, newId }: StsOptions,
): { readonly status: number; readonly xml: string } {
  const metadata = `<ResponseMetadata><RequestId>${newId()}</RequestId></ResponseMetadata>`;
  const refuse = (status: number, code: string, message: string) => ({
    status,
    xml: `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  });
  if (new URLSearchParams(body.toString('utf8')).get('Action') !== 'GetCallerIdentity') {
    return refuse(400, 'InvalidAction', 'Only GetCallerIdentity is understood here.');
  }
  const accessKey = authorizer.signerOf({ method, url, headers, body });
  const arn = accessKey === undefined ? undefined : authorizer.arnOf(accessKey);
  if (accessKey === undefined || arn === undefined) {
    return refuse(403, 'InvalidClientTokenId', 'The security token in the request is invalid.');
  }
  const account = arn.split(':')[4] ?? '';
  const result = `<Arn>${arn}</Arn><UserId>${accessKey}</UserId><Account>${account}</Account>`;
  return {
    status: 200,
    xml: `<GetCallerIdentityResponse xmlns="${NAMESPACE}"><GetCallerIdentityResult>${result}</GetCallerIdentityResult>${metadata}</GetCallerIdentityResponse>`,
  };
}
