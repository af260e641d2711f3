/**
 * ConfigMaps and Secrets of a cluster as the watcher reads them, one by one and by name (ADR 0061).
 *
 * No list and no watch: the rights are `get` on single names. Content passes through memory and is dropped; nothing here
 * keeps it, logs it, or tells it in a failure.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ConfigName } from '../../core/model/projections.ts';
import type { SourceAnswer } from './watch-source.ts';

/** An object of a namespace. */
export interface NamespacedConfig extends ConfigName {
  readonly namespace: string;
}

/** Reads single objects. */
export interface ConfigSource {
  /**
   * The object; undefined: there is none. `identity`: its metadata alone, to see whether it is the version that is known.
   * `unauthorized` is a definite answer: there is no right.
   */
  readConfig(
    of: NamespacedConfig,
    form: 'identity' | 'whole',
  ): Promise<SourceAnswer<KubernetesObject | undefined>>;
}
