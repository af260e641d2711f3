/**
 * A window of a policy that is closed whenever a test asks.
 *
 * It opens on the weekday after tomorrow, all day: no test runs into it.
 */
const DAY_MS = 86_400_000;

/** As a policy, or the strategy of a fleet, has it. */
export function closedWindow(): { readonly days: readonly string[]; readonly timeZone: 'UTC' } {
  const at = new Date(Date.now() + 2 * DAY_MS);
  const day = at.toLocaleDateString('en-US', { weekday: 'short', timeZone: 'UTC' }).toLowerCase();
  return { days: [day], timeZone: 'UTC' };
}
