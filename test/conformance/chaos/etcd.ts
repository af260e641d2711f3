/**
 * What a person does to etcd: compacts it, copies it, and puts an old copy in its place.
 *
 * Compaction goes through etcd's own JSON gateway. The copy is that of a stopped process: the same as
 * after a crash at that moment, which etcd is made to survive. Afterwards every program that remembers a
 * resourceVersion is started again, as the Kubernetes documentation tells whoever restores; Rollcall is not.
 */
import { cp, rename, rm } from 'node:fs/promises';
import { request } from 'node:http';
import type { ControlPlane } from '../control-plane/control-plane.ts';

interface RevisionAnswer {
  readonly header?: { readonly revision?: string };
}

/** etcd's revision now: the resourceVersion of the newest write. */
export async function currentRevision(controlPlane: ControlPlane): Promise<number> {
  const key = Buffer.from('/').toString('base64');
  const answer = (await post(controlPlane, '/v3/kv/range', { key, limit: '1' })) as RevisionAnswer;
  const revision = Number(answer.header?.revision);
  if (!Number.isSafeInteger(revision)) throw new Error(`etcd says ${JSON.stringify(answer)}`);
  return revision;
}

/** Forgets all history before now: a watch from an earlier revision gets 410 (row 35, 36). */
export async function compact(controlPlane: ControlPlane): Promise<number> {
  const revision = await currentRevision(controlPlane);
  await post(controlPlane, '/v3/kv/compaction', { revision: String(revision), physical: true });
  return revision;
}

/** Copies etcd's data as of this moment; etcd stands still meanwhile. */
export async function backUp(controlPlane: ControlPlane, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  controlPlane.pause('etcd');
  try {
    await cp(controlPlane.etcdDataDirectory, directory, { recursive: true });
  } finally {
    controlPlane.resume('etcd');
  }
}

/** Puts the copy in place of etcd's data (row 71); resolves when the API server is ready again. */
export async function restore(controlPlane: ControlPlane, directory: string): Promise<void> {
  await controlPlane.kill('apiServer');
  await controlPlane.kill('etcd');
  const lost = `${controlPlane.etcdDataDirectory}-lost`;
  await rename(controlPlane.etcdDataDirectory, lost);
  await rename(directory, controlPlane.etcdDataDirectory);
  await rm(lost, { recursive: true, force: true });
  await controlPlane.restart('etcd');
  await controlPlane.restart('apiServer');
  for (const name of ['controllerManager', 'scheduler', 'kwok'] as const) {
    await controlPlane.kill(name);
    await controlPlane.restart(name);
  }
}

function post(controlPlane: ControlPlane, path: string, body: unknown): Promise<unknown> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: controlPlane.etcdClientPort,
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString('utf8');
          if (response.statusCode === 200) resolve(JSON.parse(answer));
          else reject(new Error(`etcd: ${String(response.statusCode)} ${answer}`));
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}
