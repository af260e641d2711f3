/** Dead letters (being written). */
import type { RegistryStore } from '../ports/registry-store.ts';
import type { IngestDependencies } from './ingest/dependencies.ts';
import type { IngestContext, ParsedBody } from './ingest/result.ts';

/** A message that a queue gave up. */
export type DeadLetter =
  | { readonly queue: 'events'; readonly context: IngestContext; readonly parsed: ParsedBody }
  | {
      readonly queue: 'reconcile' | 'delay';
      readonly messageId: string;
      readonly sentAtMs: number;
      readonly body: string;
      /** Cluster of the hint, when its body could be read. */
      readonly cluster?: string;
    };

/** What came of it. */
export type DeadLetterResult =
  | { readonly kind: 'recorded'; readonly code: 'lost-hint' | 'lost-event' | 'unverified-event' }
  | { readonly kind: 'view-incomplete'; readonly code: 'lost-event' }
  | { readonly kind: 'outdated'; readonly code: 'older-than-announcement' };

/** What `handleDeadLetter` needs: ingest's dependencies, and a registry to list records in. */
export type DeadLetterDependencies = IngestDependencies & {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'recordDeadLetter'>;
};

/** Classifies, records and counts one dead letter; a lost event marks its view incomplete. */
export async function handleDeadLetter(
  _letter: DeadLetter,
  _dependencies: DeadLetterDependencies,
): Promise<DeadLetterResult> {
  throw new Error('handleDeadLetter is being written');
}
