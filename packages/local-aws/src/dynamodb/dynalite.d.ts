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

/** Its stores, of which nothing but the opening of iterators is used. */
declare module 'dynalite/db/index.js' {
  interface Iterator {
    close(): Promise<void>;
    return?: () => Promise<void>;
  }

  const stores: {
    create: (options: unknown) => {
      readonly db: Record<'keys' | 'values', (options: unknown) => Iterator>;
    };
  };
  export = stores;
}
