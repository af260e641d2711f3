/**
 * What is frozen for the whole stack: one item of the registry's table (core/takeover/freeze.ts). The truth; who cannot read it acts on nothing.
 */
import type { Freeze } from '../../core/takeover/freeze.ts';

/** Store of the freeze. */
export interface FreezeStore {
  /** Strongly consistent; NO_FREEZE where nothing ever was. Rejects when it cannot be read: that counts as frozen. */
  readFreeze(): Promise<Freeze>;
  /** If the stored version still is this one's; the written one is one more. */
  writeFreeze(freeze: Freeze): Promise<'written' | 'lost'>;
}
