// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- an ambient declaration cannot be imported
/// <reference path="./dynalite.d.ts" />
// Lets dynalite close the iterators that it opens, one for each Query.
//
// It ends a stream by `iterator.return()`, which the iterators of its database do not have (they have `close`), so that
// none was ever closed: each keeps every version of every item of its moment, in memory or in files that LevelDB may
// not delete, and the process grows with each look at the view for as long as it lives. Seen with dynalite 4.0.0; a
// version that closes them itself finds them closed. Nothing else of dynalite is changed.
import stores from 'dynalite/db/index.js';

type Store = ReturnType<typeof stores.create>;

const open = stores.create;

/** From now on every new store closes its iterators; once, whoever asks first. */
export function closeIterators(): void {
  stores.create = (options) => {
    const store = open(options);
    letReturn(store, 'keys');
    letReturn(store, 'values');
    return store;
  };
}

function letReturn({ db }: Store, name: 'keys' | 'values'): void {
  const iterate = db[name].bind(db);
  db[name] = (options) => {
    const iterator = iterate(options);
    iterator.return ??= () => iterator.close();
    return iterator;
  };
}
