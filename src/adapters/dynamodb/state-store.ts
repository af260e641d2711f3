/**
 * State and verdicts of a DaemonSet over DynamoDB.
 *
 * The state is one item, compare-and-set on its version: the loser of that write has done nothing
 * yet (design 3, step 6). Verdicts are for people: unconditional, in pages, because 15,000 of them
 * need not fit one item; pages of different runs are never mixed.
 */
import { STATE_SCHEMA } from '../../core/model/state.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import type { Verdict } from '../../core/model/verdict.ts';
import type { DaemonSetRef, StateStore } from '../../ports/stores/view-store.ts';
import { ItemUnreadableError, decodeBody, encodeBody } from './item-codec.ts';
import { daemonSetKey, daemonSetPartition } from './item-keys.ts';
import { ifVersion } from './table.ts';
import type { StoredItem } from './batched-reader.ts';
import type { Table } from './table.ts';

/** Verdicts of one page: about 150 KB at their largest. */
const VERDICTS_PER_PAGE = 2500;

/** The state items of one view table. */
export function createStateStore(table: Table): StateStore {
  return {
    readState: (ref) => {
      const key = daemonSetKey(ref, 'STATE');
      return table.getAs(key, (item) => {
        const state = decodeBody(key, item['body']) as DaemonSetState;
        if (state.schema > STATE_SCHEMA) {
          throw new ItemUnreadableError(key, `state schema ${state.schema} is of a newer release`);
        }
        return { ...state, version: item['version'] as number };
      });
    },
    writeState: async (ref, { version, ...rest }) => {
      const key = daemonSetKey(ref, 'STATE');
      const attributes = { version: version + 1, body: encodeBody(key, rest) };
      return table.putIf(key, attributes, ifVersion(version));
    },
    writeVerdicts: (ref, verdicts) => writeVerdicts(table, ref, verdicts),
    readVerdicts: (ref) => readVerdicts(table, ref),
  };
}

/** The first page goes last and names the others: a reader that sees it can find them. */
async function writeVerdicts(
  table: Table,
  ref: DaemonSetRef,
  verdicts: readonly Verdict[],
): Promise<void> {
  const first = daemonSetKey(ref, 'VERDICTS');
  const pages = pagesOf(verdicts);
  const writtenBy = table.token();
  const put = (index: number): Promise<void> => {
    const key = index === 0 ? first : { ...first, sk: pageSortKey(index) };
    const body = encodeBody(key, pages[index] ?? []);
    return table.put(key, { body, writtenBy, pages: pages.length });
  };
  await Promise.all(pages.slice(1).map((_, index) => put(index + 1)));
  await put(0);
}

async function readVerdicts(
  table: Table,
  ref: DaemonSetRef,
): Promise<readonly Verdict[] | undefined> {
  const key = daemonSetKey(ref, 'VERDICTS');
  const first = await table.get(key);
  if (first === undefined) return undefined;
  const others = await Promise.all(
    Array.from({ length: (first['pages'] as number) - 1 }, (_, index) =>
      table.get({ pk: daemonSetPartition(ref), sk: pageSortKey(index + 1) }),
    ),
  );
  const ofSameRun = (item: StoredItem | undefined): item is StoredItem =>
    item !== undefined && item['writtenBy'] === first['writtenBy'];
  return [first, ...others.filter(ofSameRun)].flatMap(
    (item) => decodeBody(key, item['body']) as Verdict[],
  );
}

function pagesOf(verdicts: readonly Verdict[]): readonly (readonly Verdict[])[] {
  const count = Math.max(1, Math.ceil(verdicts.length / VERDICTS_PER_PAGE));
  return Array.from({ length: count }, (_, index) =>
    verdicts.slice(index * VERDICTS_PER_PAGE, (index + 1) * VERDICTS_PER_PAGE),
  );
}

function pageSortKey(index: number): string {
  return `VERDICTS#${String(index).padStart(2, '0')}`;
}
