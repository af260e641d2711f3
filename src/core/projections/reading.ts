/** How projections are read: who shares equal texts, and who is told of a field that is not as documented. */
import type { OnFault } from './raw-fields.ts';

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** Shares equal texts and label maps, where ten thousand projections are kept. */
export interface Sharing {
  text(value: string): string;
  labels(value: Labels): Labels;
}

/** How fields are read. */
export interface Reading {
  readonly onFault: OnFault;
  readonly sharing: Sharing;
}
