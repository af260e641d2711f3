/**
 * Keeps a cluster's credential fresh while the engine runs.
 *
 * A kubeconfig may get its token from a plugin, and such a token ends after minutes. It is asked for
 * again a minute before that: the watcher uses the new one from its next request on, the functions
 * from the registration, which is written anew. A failure is logged and tried again; a cluster whose
 * token ended is silent, never wrongly acted upon.
 */
import type { ClusterAuthentication } from '../core/model/registration.ts';
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { RegistryStore } from '../ports/stores/registry-store.ts';
import type { Credential } from '../adapters/kubernetes/credentials/token-source.ts';
import type { EngineCluster, FreshCredential } from './engine-options.ts';
import { credentialOf } from './reach-cluster.ts';

const RENEW_BEFORE_MS = 60_000;
const RETRY_MS = 10_000;
const REGISTRY_TRIES_MAX = 5;

export interface RenewedCredential {
  readonly credential: Credential;
  readonly stop: () => void;
}

export interface RenewalOptions {
  readonly cluster: EngineCluster;
  readonly registry: RegistryStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** The watcher's credential; renewed if the cluster says how, else fixed. */
export function keepFresh(options: RenewalOptions): RenewedCredential {
  const { cluster, clock, log } = options;
  const { renewal } = cluster;
  if (renewal === undefined || cluster.watcher.kind !== 'bearer') {
    return { credential: credentialOf(cluster.watcher), stop: () => undefined };
  }
  let { token } = cluster.watcher;
  let cancel: Cancel = () => undefined;
  const schedule = (dueMs: number): void => {
    cancel = clock.after(Math.max(RETRY_MS, dueMs - clock.nowMs()), () => {
      void renew();
    });
  };
  const renew = async (): Promise<void> => {
    try {
      const fresh = await renewal.renew();
      if (fresh.authentication.kind === 'bearer') ({ token } = fresh.authentication);
      await writeAuthentication(options, fresh);
      log.info('the credential was renewed');
      if (fresh.expiresAtMs !== undefined) schedule(fresh.expiresAtMs - RENEW_BEFORE_MS);
    } catch (error) {
      log.error('the credential could not be renewed and will be tried again', {}, error);
      schedule(clock.nowMs() + RETRY_MS);
    }
  };
  schedule(renewal.expiresAtMs - RENEW_BEFORE_MS);
  return {
    credential: { kind: 'bearer', token: () => Promise.resolve(token) },
    stop: () => {
      cancel();
    },
  };
}

async function writeAuthentication(
  { cluster, registry }: RenewalOptions,
  fresh: FreshCredential,
): Promise<void> {
  // In mode observe the functions hold no credential, and get none.
  if (cluster.functions.kind === 'none') return;
  for (let attempt = 0; attempt < REGISTRY_TRIES_MAX; attempt += 1) {
    const stored = await registry.readCluster(cluster.id);
    if (stored === undefined) return;
    const renewed: ClusterAuthentication = fresh.authentication;
    const wanted = { ...stored, authentication: renewed };
    if ((await registry.writeCluster(wanted, stored.configVersion)) === 'written') return;
  }
  throw new Error('the registration was changed again and again meanwhile');
}
