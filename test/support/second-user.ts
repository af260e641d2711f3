/**
 * A process of another user of this machine, who tries what such a one can try: which ports listen, what they answer to whoever
 * knows the names of access keys, and what files say.
 *
 * Reads an `Attempt` from stdin, gives up its rights for those of `nobody`, and only then tries; says a `Found` on stdout. It starts as root: who
 * is not uses `sudo -n`.
 */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Sha256 } from '@rollcall/base/system/sha256.ts';
import { SignatureV4 } from '@smithy/signature-v4';

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What is tried. */
export interface Attempt {
  readonly files: readonly string[];
  /** Where requests go, by the target that each names. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly tableName: string;
  readonly partition: string;
  /** Guessed, or handed over by their owner. */
  readonly credentials: Credentials;
}

export interface Found {
  readonly userId: number;
  /** Of each file `read`, or the error's code. */
  readonly files: Readonly<Record<string, string>>;
  /** Which of the endpoints' ports were seen to listen; on Linux alone. */
  readonly listening: readonly string[];
  /** By target: the status, and how many items were read, or why none. */
  readonly answers: Record<string, string>;
}

const SERVICES: Readonly<Record<string, string>> = {
  DynamoDB: 'dynamodb',
  AmazonSQS: 'sqs',
  AWSEvents: 'events',
};
const ENTRY = { Source: 'somebody', DetailType: 'something', Detail: '{}' };
const NOBODY = 65_534;
const HEX = 16;
/** Of a TCP socket that listens, in /proc/net/tcp. */
const LISTEN = '0A';

/** Why no second user can be had here; undefined: one can. */
export function whyNoSecondUser(): string | undefined {
  if (process.getuid === undefined) return 'this system has no users by id';
  if (process.getuid() === 0) return undefined;
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'neither root nor sudo without a password';
  }
}

/** Lets another user try. */
export async function tryAsSecondUser(attempt: Attempt): Promise<Found> {
  const own = [process.execPath, new URL(import.meta.url).pathname];
  const [command = '', ...argv] = process.getuid?.() === 0 ? own : ['sudo', '-n', ...own];
  return new Promise((resolve, reject) => {
    const child = execFile(command, argv, { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as Found);
      else reject(new Error(`the second user failed: ${stderr}`, { cause: error }));
    });
    child.stdin?.end(JSON.stringify(attempt));
  });
}

function readingOf(file: string): string {
  try {
    readFileSync(file);
    return 'read';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'failed';
  }
}

function listeningPorts(): readonly number[] {
  try {
    const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n');
    const sockets = lines.map((line) => line.trim().split(/\s+/));
    return sockets
      .filter(([, , , state]) => state === LISTEN)
      .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', HEX));
  } catch {
    return []; // not Linux
  }
}

/** Status of a signed request, and what it says of items. */
async function send(
  [target, url]: readonly [string, string],
  { body, credentials }: { readonly body: object; readonly credentials: Credentials },
): Promise<string> {
  const { hostname, host, port } = new URL(url);
  const service = SERVICES[target.split(/[_.]/, 1)[0] ?? ''] ?? '';
  const signer = new SignatureV4({ service, region: 'us-east-1', credentials, sha256: Sha256 });
  const { headers, ...signed } = await signer.sign({
    ...{ method: 'POST', protocol: 'http:', hostname, port: Number(port), path: '/' },
    headers: { host, 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target },
    body: JSON.stringify(body),
  });
  const answer = await fetch(url, { method: 'POST', headers, body: String(signed.body) });
  const said = (await answer.json()) as { readonly Count?: number; readonly __type?: string };
  const what = said.Count ?? said.__type?.split('#').at(-1) ?? '';
  return `${String(answer.status)} ${String(what)}`.trim();
}

async function main(): Promise<void> {
  const attempt = JSON.parse(await text(process.stdin)) as Attempt;
  const { files, endpoints, tableName, partition, credentials } = attempt;
  process.setgroups?.([NOBODY]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
  const query = {
    TableName: tableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: partition } },
  };
  const ports = listeningPorts();
  const found: Found = {
    userId: process.getuid?.() ?? 0,
    files: Object.fromEntries(files.map((file) => [file, readingOf(file)])),
    listening: Object.values(endpoints).filter((url) => ports.includes(Number(new URL(url).port))),
    answers: {},
  };
  for (const [target, url] of Object.entries(endpoints)) {
    const body = target.endsWith('Query') ? query : { Entries: [ENTRY] };
    found.answers[target] = await send([target, url], { body, credentials });
  }
  process.stdout.write(JSON.stringify(found));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
