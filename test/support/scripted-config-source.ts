/**
 * ConfigMaps and Secrets in memory: the ConfigSource port, with what was asked for, and failures by name.
 *
 * Like an API server it answers `identity` without content, and moves the version with each write.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { createPolicyReader } from '../../src/adapters/policy/policy-reader.ts';
import type { ContentPorts } from '../../src/watcher/content/content-keeper.ts';
import type { ConfigSource, NamespacedConfig } from '../../src/ports/cluster/config-source.ts';
import type { SourceAnswer, SourceFailure } from '../../src/ports/cluster/watch-source.ts';

/** The object that hunts and audits have in mind, and the key of hashes. */
export const SETTINGS = 'ConfigMap/ns/settings';
export const CONTENT_KEY = 'Secret/rollcall-system/rollcall-config-key';

type Data = Readonly<Record<string, string>>;

/** The port in memory. */
export class ScriptedConfigSource implements ConfigSource {
  /** `form kind/namespace/name`, in their order. */
  readonly asked: string[] = [];
  readonly #objects = new Map<string, KubernetesObject>();
  readonly failures = new Map<string, SourceFailure['kind']>();
  /** After each change of an object, or of who may read one. */
  onChange: () => void = () => undefined;
  #version = 0;

  /** Sets the key of hashes: 32 bytes of this value. */
  putKey(byte: number): void {
    const key = Buffer.alloc(32, byte).toString('base64');
    this.put(CONTENT_KEY, { key });
  }

  /** Writes an object by `kind/namespace/name`; labels change without content. */
  put(id: string, data: Data, labels: Data = {}): void {
    this.#version += 1;
    const [, namespace = '', name = ''] = id.split('/');
    const uid = this.#objects.get(id)?.metadata.uid ?? `uid-${String(this.#version)}`;
    const resourceVersion = String(this.#version);
    this.#objects.set(id, { metadata: { namespace, name, uid, resourceVersion, labels }, data });
    this.onChange();
  }

  remove(id: string): void {
    this.#objects.delete(id);
    this.onChange();
  }

  /** What it holds; undefined: it is not there. */
  dataOf(id: string): Data | undefined {
    return this.#objects.get(id)?.['data'] as Data | undefined;
  }

  /** Reads of it fail. */
  fail(id: string, kind: SourceFailure['kind']): void {
    this.failures.set(id, kind);
    this.onChange();
  }

  heal(id: string): void {
    this.failures.delete(id);
    this.onChange();
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

/** What a watcher reads content through. */
export function contentPorts(source: ConfigSource): ContentPorts {
  const policies = createPolicyReader();
  return { source, loadPolicies: () => Promise.resolve(policies) };
}

function withoutData({ metadata }: KubernetesObject): KubernetesObject {
  return { metadata };
}
