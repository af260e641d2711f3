/** What every part of the page may use: the server, the live state, the time, the address. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { formatAddress } from '../model/address.ts';
import type { Address, Query } from '../model/address.ts';
import { ageOf } from '../model/freshness.ts';
import type { Age } from '../model/freshness.ts';
import type { LiveState } from '../model/live-state.ts';
import type { Client } from './client.ts';
import { useStore } from './store.ts';
import type { Store } from './store.ts';

/** All of it. */
export interface Page {
  readonly client: Client;
  readonly live: Store<LiveState>;
  /** By the browser's clock, each second. */
  readonly now: Store<number>;
  readonly address: Store<Address>;
  /** Goes to an address of the page. `replaced`: the present one is not kept for going back. */
  readonly go: (address: string, how?: 'kept' | 'replaced') => void;
}

/** Holds it. */
export const PageContext = createContext<Page | undefined>(undefined);

/** The page that a part belongs to. */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === undefined) throw new Error('a part of the page is drawn outside of it');
  return page;
}

/** The live state, and again when it changes. */
export function useLive(): LiveState {
  return useStore(usePage().live);
}

/** How old what is shown is, each second. */
export function useAge(): Age {
  const { live, now } = usePage();
  return ageOf(useStore(live), useStore(now));
}

/** The filters in the address, and how to change some of them. */
export function useQuery(): readonly [Query, (change: Query) => void] {
  const { address, go } = usePage();
  const { route, query } = useStore(address);
  const change = (values: Query): void => {
    go(formatAddress({ route, query: { ...query, ...values } }), 'replaced');
  };
  return [query, change];
}
