/**
 * ConfigMaps and Secrets in memory: the ConfigSource port, with what was asked for, and failures by name.
 *
 * Like an API server it answers `identity` without content, and moves the version with each write.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ConfigSource, NamespacedConfig } from '../../src/ports/cluster/config-source.ts';
import type { SourceAnswer, SourceFailure } from '../../src/ports/cluster/watch-source.ts';

type Data = Readonly<Record<string, string>>;

/** The port in memory. */
export class ScriptedConfigSource implements ConfigSource {
  /** `form kind/namespace/name`, in their order. */
  readonly asked: string[] = [];
  readonly #objects = new Map<string, KubernetesObject>();
  readonly failures = new Map<string, SourceFailure['kind']>();
  #version = 0;

  /** Sets the key of hashes: 32 bytes of this value. */
  putKey(byte: number): void {
    const key = Buffer.alloc(32, byte).toString('base64');
    this.put('Secret/rollcall-system/rollcall-config-key', { key });
  }

  /** Writes an object by `kind/namespace/name`; labels change without content. */
  put(id: string, data: Data, labels: Data = {}): void {
    this.#version += 1;
    const [, namespace = '', name = ''] = id.split('/');
    const uid = this.#objects.get(id)?.metadata.uid ?? `uid-${String(this.#version)}`;
    const resourceVersion = String(this.#version);
    this.#objects.set(id, { metadata: { namespace, name, uid, resourceVersion, labels }, data });
  }

  remove(id: string): void {
    this.#objects.delete(id);
  }

  readConfig(
    { kind, namespace, name }: NamespacedConfig,
    form: 'identity' | 'whole',
  ): Promise<SourceAnswer<KubernetesObject | undefined>> {
    const id = `${kind}/${namespace}/${name}`;
    this.asked.push(`${form} ${id}`);
    const failed = this.failures.get(id);
    if (failed !== undefined) {
      return Promise.resolve({ kind: 'failed', failure: { kind: failed, message: 'told to' } });
    }
    const object = this.#objects.get(id);
    const value = form === 'identity' && object !== undefined ? withoutData(object) : object;
    return Promise.resolve({ kind: 'ok', value });
  }
}

function withoutData({ metadata }: KubernetesObject): KubernetesObject {
  return { metadata };
}
