/**
 * The name of this release, as memos carry it: a new release looks at every key once (protocol 11).
 */
import packageJson from '../package.json' with { type: 'json' };

/** Version of this release. */
export const RELEASE: string = packageJson.version;
