/**
 * Freezing and lifting a freeze beside others who change the same registration.
 *
 * A freeze is repeated until it is written, whatever else changes meanwhile: who freezes wants exactly
 * that. Each is one write that raises configVersion, so a running function stops at its next batch
 * (protocol 7).
 */
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';

/** What came of it: the registration as it stands then, and whether it was so before. */
export type FreezeResult =
  | {
      readonly kind: 'written';
      readonly registration: ClusterRegistration;
      readonly wasFrozen: boolean;
    }
  | { readonly kind: 'missing' }
  /** Others changed it faster than it could be read and written. */
  | { readonly kind: 'lost' };

const ATTEMPTS_MAX = 8;

/** Writes the freeze, or lifts it; nothing is written where it stands so already. */
export async function writeFreeze(
  registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>,
  id: ClusterId,
  isFrozen: boolean,
): Promise<FreezeResult> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const stored = await registry.readCluster(id);
    if (stored === undefined) return { kind: 'missing' };
    const wasFrozen = stored.isFrozen;
    if (wasFrozen === isFrozen) return { kind: 'written', registration: stored, wasFrozen };
    const next = { ...stored, isFrozen };
    if ((await registry.writeCluster(next, stored.configVersion)) !== 'written') continue;
    const registration = { ...next, configVersion: stored.configVersion + 1 };
    return { kind: 'written', registration, wasFrozen };
  }
  return { kind: 'lost' };
}
