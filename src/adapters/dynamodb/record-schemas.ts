/**
 * The schemas of small records (records.ts). An unreadable breaker or walk counts
 * as none, since losing them costs little. Of all others it is an error, which names the item and
 * quotes nothing of it (S11).
 */
import * as v from 'valibot';
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';
import type { ClusterBreaker } from '../../core/model/breaker.ts';
import { clusterId, clusterUid, type ClusterUid } from '../../core/model/identifiers.ts';
import type { LogItem } from '../../core/model/log-entry.ts';
import type { SealedToken } from '../../ports/stores/credential-store.ts';
import type { RefusalNote } from '../../ports/stores/registry-store.ts';
import { decodeBody, storedAs, type ItemKey, type StoredItem } from './item-codec.ts';

const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const momentSchema = v.pipe(v.number(), v.finite());

const noteSchema = v.object({ sinceMs: momentSchema, atMs: momentSchema });
const BreakerSchema = v.objectWithRest(
  {
    failures: countSchema,
    openings: countSchema,
    open: v.exactOptional(v.object({ untilMs: momentSchema, delayMs: momentSchema })),
    noted: v.exactOptional(
      v.object({
        forbidden: v.exactOptional(noteSchema),
        'no-token': v.exactOptional(noteSchema),
        'egress-refused': v.exactOptional(noteSchema),
      }),
    ),
  },
  momentSchema,
);

/** The breaker beside a META, or undefined when there is none that can be read. */
export function breakerIn({
  breaker: text,
  breakerVersion: version,
}: StoredItem): ClusterBreaker | undefined {
  if (typeof text !== 'string' || typeof version !== 'number') return undefined;
  const body = v.safeParse(
    BreakerSchema,
    readable(() => JSON.parse(text)),
  );
  return { ...(body.success ? body.output : { failures: 0, openings: 0 }), version };
}

const LogItemSchema = v.looseObject({
  subject: v.looseObject({ kind: v.picklist(['daemon-set', 'name', 'cluster', 'stack']) }),
  atMs: momentSchema,
  token: v.string(),
  entries: v.array(v.looseObject({ kind: v.string(), atMs: momentSchema })),
});
const openLogItem = storedAs(LogItemSchema, 'holds no entries of the log');

/** An item of the log. Entries are told to people and decide nothing: kinds that a newer release knows are kept. */
export function logItemIn(body: unknown, key: ItemKey): LogItem {
  return openLogItem(body, key) as unknown as LogItem; // the rest of an entry is as our own writer made it
}

const CoverageDaysSchema = v.object({
  namespace: v.string(),
  name: v.string(),
  uid: v.string(),
  day: countSchema,
  rows: v.array(v.array(countSchema)),
});

export const coverageDaysIn = storedAs(CoverageDaysSchema, 'holds no days of coverage');

const owedSchema = v.array(
  v.looseObject({ cluster: v.pipe(v.string(), v.transform(clusterId)), sinceMs: momentSchema }),
);
const troublesSchema = v.record(
  v.string(),
  v.record(
    v.string(),
    v.object({
      sinceMs: v.exactOptional(momentSchema),
      countedMs: v.exactOptional(momentSchema),
    }),
  ),
);
const WalkSchema = v.looseObject({
  fromMs: momentSchema,
  untilMs: momentSchema,
  isOver: v.boolean(),
  cursor: v.exactOptional(v.string()),
  heldUntilMs: v.exactOptional(momentSchema),
  owed: owedSchema,
  failed: owedSchema,
  troubles: v.exactOptional(
    v.object({
      former: troublesSchema,
      found: troublesSchema,
      clusters: countSchema,
      troubled: countSchema,
    }),
  ),
});

/** Unreadable: one that is never over, and so is replaced by a first walk (core/resync-walk.ts). */
export function walkIn({ version: stored, body: encoded }: StoredItem, key: ItemKey): ResyncWalk {
  const version = Number(stored);
  const body = v.safeParse(
    WalkSchema,
    readable(() => decodeBody(key, encoded)),
  );
  if (body.success) return { ...body.output, version };
  return { version, fromMs: 0, untilMs: Infinity, isOver: false, owed: [], failed: [] };
}

function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    // Only caches for efficiency: what is damaged is forgotten.
    return undefined;
  }
}

export const sealedTokenIn = storedAs<SealedToken>(
  v.object({
    clusterUid: v.pipe(v.string(), v.regex(/^[A-Za-z0-9._:-]{1,128}$/), v.transform(clusterUid)),
    ciphertext: v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{1,12000}={0,2}$/)),
    issuedAtMs: countSchema,
    expiresAtMs: countSchema,
  }),
  'is no sealed token',
);

/** Where fleets are mirrored. A damaged item is an error; it does not mean that there is no mirror. */
export const mirrorIn = storedAs(
  v.object({
    version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
    cluster: v.exactOptional(v.pipe(v.string(), v.minLength(1), v.transform(clusterId))),
    setBy: v.string(),
    setAtMs: momentSchema,
    trouble: v.exactOptional(
      v.object({
        code: v.picklist(['not-registered', 'frozen', 'not-connected', 'unavailable', 'refused']),
        message: v.string(),
        sinceMs: momentSchema,
        fleet: v.exactOptional(v.string()),
      }),
    ),
  }),
  'does not say where fleets are mirrored',
);

export const revisionIn = storedAs(
  v.pipe(v.number(), v.safeInteger()),
  'is no revision of the registry',
);

const refusedIn = storedAs(
  v.object({
    cluster: v.string(),
    sender: v.picklist(['verified', 'unverified']),
    senderRoleId: v.string(),
    queue: v.picklist(['ingest', 'credentials']),
    code: v.string(),
    detail: v.string(),
    atMs: v.number(),
  }),
  'is no note of a refusal',
);

export function refusalIn(item: StoredItem, key: ItemKey): RefusalNote {
  const { senderRoleId, ...rest } = refusedIn(item, key);
  return { ...rest, senderRoleId: senderRoleId === '' ? undefined : senderRoleId };
}

/** The rest of an unfinished removal of a registration. */
export interface BegunRemoval {
  readonly token: string;
  readonly clusterUid: ClusterUid;
  readonly claimWriter?: string;
  readonly entryToken?: string;
}

const begunRemovalIn = storedAs<BegunRemoval>(
  v.strictObject({
    token: v.string(),
    clusterUid: v.pipe(v.string(), v.transform(clusterUid)),
    claimWriter: v.exactOptional(v.string()),
    entryToken: v.exactOptional(v.string()),
  }),
  'is no mark of a removal that this release knows',
);

/** The rest of a removal; undefined for a registration. Throws on a note that is none. */
export function removalIn({ removal }: StoredItem, key: ItemKey): BegunRemoval | undefined {
  return removal === undefined ? undefined : begunRemovalIn(removal, key);
}
