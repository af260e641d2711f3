// Who signs a request, over loopback HTTP: GetCallerIdentity of STS in its query protocol, from the table of access keys.
//
// It needs no right, as in AWS: whoever has a key may ask whose it is. Any other action is refused. Binds 127.0.0.1 alone.
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Authorizer } from '../iam/authorizer.ts';
import { refuseStranger } from '../iam/refuse-stranger.ts';

/** A running server. */
export interface StsServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const BODY_BYTES_MAX = 64 * 1024;
const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

/** Starts it. */
export async function startStsServer(options: {
  readonly authorizer: Pick<Authorizer, 'arnOf' | 'signerOf'>;
  readonly newId: () => string;
}): Promise<StsServer> {
  const server = createServer((request, response) => {
    if (refuseStranger(request, response)) return;
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const { status, xml } = answerTo(request, Buffer.concat(chunks), options);
      response.writeHead(status, { 'Content-Type': 'text/xml' }).end(xml);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  let stopped: Promise<void> | undefined;
  return {
    endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    stop: () =>
      (stopped ??= new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      })),
  };
}

function answerTo(
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  { authorizer, newId }: Parameters<typeof startStsServer>[0],
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
