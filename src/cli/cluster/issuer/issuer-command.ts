/**
 * `rollcall cluster issuer`: the two documents by which AWS checks a cluster's tokens, to publish where AWS reads them.
 *
 * For clusters whose API server AWS does not reach. It reads the cluster, writes files where it is told to, and publishes nothing.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { jsonMember, type Json } from '@rollcall/base/json.ts';
import {
  CLUSTER_KEYS_PATH,
  DISCOVERY_PATH,
  KEYS_MEDIA_TYPES,
  isPublicIssuer,
  issuerDocuments,
  readKeys,
} from '../../../core/issuer/issuer-documents.ts';
import type { IssuerDocument, SigningKey } from '../../../core/issuer/issuer-documents.ts';
import { OPERATOR_OPTIONS } from '../../command-line/cluster-arguments.ts';
import { defineCommand, textOption } from '../../command-line/command-module.ts';
import type { CommandModule } from '../../command-line/command-module.ts';
import { plainText } from '../../command-line/text-table.ts';
import { failure, usageError } from '../../process/exit-codes.ts';
import { withOperator, type OperatorCluster } from '../../reach/operator-access.ts';

const OPTIONS = {
  ...OPERATOR_OPTIONS,
  issuer: textOption(
    '--issuer <url>',
    'public https address where the documents will stand (default: the issuer that the API server names)',
  ),
  out: textOption('--out <dir>', 'write the documents below this directory'),
};

/** The command. */
export const issuerCommand: CommandModule = defineCommand({
  path: ['cluster', 'issuer'],
  documents: ['ClusterIssuer'],
  summary:
    'print the documents by which AWS checks tokens of a cluster whose API server it does not reach',
  about: [
    'They name the issuer and its public keys; the API server itself stays private.',
    'With --out it writes them as files to publish. It only reads from the cluster.',
    'rollcall cluster doctor compares what is published with the cluster.',
  ],
  exits: { failed: 'the keys are private, or no token could name them' },
  options: OPTIONS,
  examples: [
    'cluster issuer --context edge-7 --issuer https://oidc.example.com/edge-7 --out edge-7-issuer',
  ],
  run: async ({ options }, context) => {
    const open = () => context.openCluster(options);
    const { named, keys } = await withOperator(open, readIssuer);
    const issuer = requirePublic(options.issuer ?? named);
    const documents = issuerDocuments(issuer, keys);
    if (options.out !== undefined) await writeDocuments(options.out, documents);
    return {
      document: {
        kind: 'ClusterIssuer',
        issuer,
        namedByApiServer: named,
        keyIds: keys.map(({ id }) => id),
        documents,
      },
      lines: [
        ...(options.out === undefined
          ? documents.flatMap(({ path: at, content }) => [
              `${issuer}${at}`,
              ...JSON.stringify(content, undefined, 2).split('\n'),
              '',
            ])
          : documents.map((one) => `wrote ${fileOf(options.out ?? '', one)}`)),
        ...stepsFor({ issuer, named, directory: options.out }),
      ],
    };
  },
});

interface ClusterIssuer {
  /** As the API server names it in its tokens. */
  readonly named: string;
  readonly keys: readonly SigningKey[];
}

/** Reads what a cluster names and signs with. Throws CommandError (1) where it does not show them. */
export async function readIssuer({
  transport,
  server,
}: Pick<OperatorCluster, 'transport' | 'server'>): Promise<ClusterIssuer> {
  const read = async (at: string): Promise<Json> => {
    const accept = KEYS_MEDIA_TYPES;
    const answer = await transport.send({ method: 'GET', path: at, accept });
    if (answer.kind === 'answered' && answer.status === 200 && answer.body !== undefined) {
      return answer.body;
    }
    throw failure(
      `${server} does not show ${at}: ${answer.kind === 'answered' ? `HTTP ${answer.status}` : answer.message}.`,
      'Use a user that the ClusterRole system:service-account-issuer-discovery is bound to, e.g. a cluster administrator.',
    );
  };
  const [discovery, document] = await Promise.all([read(DISCOVERY_PATH), read(CLUSTER_KEYS_PATH)]);
  const named = jsonMember(discovery, 'issuer');
  if (typeof named !== 'string') {
    throw failure(
      `${server} names no issuer in ${DISCOVERY_PATH}.`,
      'Start it with --service-account-issuer.',
    );
  }
  const found = readKeys(document);
  if (found.kind === 'keys') return { named, keys: found.keys };
  throw failure(
    `${server} shows keys that must not be published: ${found.field}: ${found.why}.`,
    'Look at kubectl get --raw /openid/v1/jwks, and at --service-account-key-file of the API server.',
  );
}

/** Throws CommandError (2) for an address from which AWS reads nothing. */
function requirePublic(text: string): string {
  const issuer = text.replace(/\/$/, '');
  if (isPublicIssuer(issuer)) return issuer;
  throw usageError(
    `AWS cannot read documents at ${plainText(text)}: it has to be a public https address without a port.`,
    'Pass --issuer, e.g. https://BUCKET.s3.REGION.amazonaws.com/CLUSTER.',
  );
}

const fileOf = (directory: string, { path: at }: IssuerDocument): string =>
  path.join(directory, at);

async function writeDocuments(
  directory: string,
  documents: readonly IssuerDocument[],
): Promise<void> {
  for (const one of documents) {
    const file = fileOf(directory, one);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(one.content, undefined, 2)}\n`);
  }
}

/** The remaining steps, in an order that refuses no token in between. */
function stepsFor({
  issuer,
  named,
  directory,
}: {
  readonly issuer: string;
  readonly named: string;
  readonly directory: string | undefined;
}): readonly string[] {
  const from = directory ?? 'DIRECTORY';
  const isNew = issuer !== named;
  return [
    'next:',
    `  publish them, readable by everyone:  aws s3 sync ${from} s3://BUCKET/PREFIX --content-type application/json`,
    ...(isNew
      ? [
          `  start each API server with:          --service-account-issuer=${issuer} --service-account-issuer=${plainText(named)}`,
          '                                       (the first one signs; tokens of the second stay valid)',
        ]
      : []),
    `  make the watcher's role trust it:    rollcall cluster add ID --oidc-issuer ${issuer}`,
    '  after each rotation of keys:         publish again before the API server signs with a new key; rollcall cluster doctor compares',
  ];
}
