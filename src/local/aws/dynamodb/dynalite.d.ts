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
