/** The part of dynalite, which ships no types, that the local engine uses. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface DynaliteOptions {
    /** A LevelDB directory; in memory if absent. */
    readonly path?: string;
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }

  /** An HTTP server that does not listen yet; closing it closes the database. */
  function dynalite(options?: DynaliteOptions): Server;
  export = dynalite;
}

/** Its stores: iterators, and items by their key. */
declare module 'dynalite/db/index.js' {
  interface Iterator {
    close(): Promise<void>;
    return?: () => Promise<void>;
  }

  type Done = (error?: Error | null) => void;

  interface Items {
    readonly lock: (key: string, run: (release: (done: Done) => Done) => void) => void;
    put(key: string, item: unknown, done: Done): void;
  }

  interface Store {
    readonly db: Record<'keys' | 'values', (options: unknown) => Iterator> & {
      getSync(key: string, options: { readonly valueEncoding: 'utf8' }): string | undefined;
    };
    getItemDb(tableName: string): Items;
  }

  const stores: {
    create: (options: unknown) => Store;
    createKey: (item: object, table: object) => string;
  };
  export = stores;
}
