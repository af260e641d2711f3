/**
 * FleetDaemonSets in memory, with the compare-and-set semantics of the port.
 *
 * One suite (fleet-store-suite.ts) holds it and the DynamoDB adapter to the same answers.
 */
import { formatFleetKey, type FleetKey } from '../../src/core/fleet/fleet-daemon-set.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type {
  FleetHead,
  FleetPage,
  FleetStore,
  FleetToWrite,
  FleetWrite,
  StoredFleet,
} from '../../src/ports/stores/fleet-rollout-store.ts';

/** Bytes of a document that the table takes. */
const DOCUMENT_BYTES_MAX = 300_000;

/** A store in memory. */
export class MemoryFleetStore implements FleetStore {
  readonly #fleets = new Map<string, StoredFleet>();
  readonly #documents = new Map<string, JsonObject>();

  readFleet(key: FleetKey): Promise<StoredFleet | undefined> {
    return Promise.resolve(structuredClone(this.#fleets.get(formatFleetKey(key))));
  }

  readDocument(key: FleetKey, documentId: string): Promise<JsonObject | undefined> {
    const document = this.#documents.get(`${formatFleetKey(key)} ${documentId}`);
    return Promise.resolve(structuredClone(document));
  }

  listFleets({
    cursor = '',
    limit,
  }: {
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<FleetPage> {
    const keys = [...this.#fleets.keys()].filter((key) => key > cursor).sort();
    const page = keys.slice(0, limit);
    const fleets = page.flatMap((key) => this.#fleets.get(key)?.head ?? []);
    const last = page.at(-1);
    const hasMore = keys.length > page.length && last !== undefined;
    return Promise.resolve(hasMore ? { fleets, cursor: last } : { fleets });
  }

  writeFleet(
    { document, ...rest }: FleetToWrite,
    former: FleetHead | undefined,
  ): Promise<FleetWrite> {
    const key = formatFleetKey(rest);
    if (JSON.stringify(document).length > DOCUMENT_BYTES_MAX) return Promise.resolve('too-large');
    if (!this.#isStill(key, former)) return Promise.resolve('lost');
    const version = (former?.version ?? 0) + 1;
    const head = { ...rest, version, documentId: `${rest.uid}#${String(version)}` };
    this.#fleets.set(key, structuredClone({ head, document }));
    this.#documents.set(`${key} ${head.documentId}`, structuredClone(document));
    const named = new Set([head, ...head.history].map(({ documentId }) => documentId));
    for (const { documentId } of former === undefined ? [] : [former, ...former.history]) {
      if (!named.has(documentId)) this.#documents.delete(`${key} ${documentId}`);
    }
    return Promise.resolve('written');
  }

  removeFleet(head: FleetHead): Promise<'written' | 'lost'> {
    const key = formatFleetKey(head);
    if (!this.#fleets.has(key)) return Promise.resolve('written');
    if (!this.#isStill(key, head)) return Promise.resolve('lost');
    this.#fleets.delete(key);
    for (const name of [...this.#documents.keys()]) {
      if (name.startsWith(`${key} ${head.uid}#`)) this.#documents.delete(name);
    }
    return Promise.resolve('written');
  }

  #isStill(key: string, former: FleetHead | undefined): boolean {
    const stored = this.#fleets.get(key)?.head;
    return stored?.version === former?.version && stored?.uid === former?.uid;
  }
}
