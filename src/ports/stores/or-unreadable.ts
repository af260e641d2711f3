/** An unreadable item of a table, as a value: it must not hide all others from a person who looks. */

/** What was read, or why it is none. */
export type Readable<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Rejects when the table fails: that is about all of them. */
export async function orUnreadable<T>(read: () => Promise<T>): Promise<Readable<T>> {
  try {
    return { kind: 'read', value: await read() };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ItemUnreadableError') throw error;
    return { kind: 'unreadable', problem: error.message };
  }
}
