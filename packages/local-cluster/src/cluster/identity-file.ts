/**
 * The certificates and tokens of a local cluster on disk, so that a kubeconfig stays good across restarts.
 *
 * Readable by its owner alone. A file that cannot be read as what it should be is an error that names it: silently new
 * certificates would lock out every client.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import type { Authority } from '../access/certificates.ts';
import type { LocalTokens } from './identities.ts';

/** What identifies a local cluster to its clients. */
export interface ClusterIdentity {
  readonly authority: Authority;
  readonly tokens: LocalTokens;
}

const FILE_NAME = 'identity.json';
const OWNER_ONLY = 0o600;

const schema = v.object({
  authority: v.object({
    caPem: v.string(),
    serving: v.object({ certificatePem: v.string(), keyPem: v.string() }),
  }),
  tokens: v.object({
    admin: v.string(),
    observer: v.string(),
    watcher: v.string(),
    functions: v.string(),
  }),
});

/** Reads the identity kept in the directory, or makes one with `create` and keeps it there. */
export async function keepIdentity(
  directory: string,
  create: () => Promise<ClusterIdentity>,
): Promise<ClusterIdentity> {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, FILE_NAME);
  const text = readIfThere(file);
  if (text === undefined) {
    const identity = await create();
    writeFileSync(file, JSON.stringify(identity), { mode: OWNER_ONLY });
    return identity;
  }
  const parsed = v.safeParse(schema, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new Error(`${file} is damaged; remove the data directory to start anew.`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
