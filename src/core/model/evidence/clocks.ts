/**
 * How far clocks of different machines may be apart before anything is decided wrongly (issue 17).
 *
 * Kubelets write the times of conditions and exits, the API server writes creationTimestamp, functions have a third clock. How long
 * something lasts is measured on ours alone, from the first look at it; where times of two machines have to be compared, they may differ
 * by this.
 */

/** Clocks of nodes without NTP drift apart by minutes; what is further off breaks certificates and tokens first. */
export const CLOCKS_DIFFER_MS = 300_000;
