/**
 * From the options of `cluster set` to an edit of a registration: checked, nothing done yet.
 *
 * What the schema or a connection would refuse later is refused here, with the option's name.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isPrivateRange } from '../../../adapters/kubernetes/egress/address-class.ts';
import { parseEndpoint } from '../../../adapters/kubernetes/egress/endpoint.ts';
import type { RegistrationEdit } from '../../../app/clusters/edit-registration.ts';
import type { ClusterAuthentication } from '../../../core/model/registration.ts';
import {
  excludeEachOther,
  LABEL_KEY,
  LABEL_VALUE,
  parseRoleId,
  readCaFile,
} from '../../command-line/cluster-arguments.ts';
import { usageError } from '../../process/exit-codes.ts';

/** Options that edit, as commander parses them. */
export interface EditOptions {
  readonly label?: readonly string[];
  readonly server?: string;
  readonly caFile?: string;
  readonly systemCa?: true;
  readonly privateRange?: readonly string[];
  readonly publicOnly?: true;
  readonly roleId?: string;
  readonly eksCluster?: string;
  readonly eksRegion?: string;
  readonly renewerRoleId?: string;
  readonly withoutCredential?: true;
}

/** Parses the options. Throws CommandError. */
export function parseEdit(options: EditOptions): RegistrationEdit {
  const caPem = parseCa(options);
  const privateRanges = parseRanges(options);
  const authentication = parseAuthentication(options);
  return {
    ...(options.label === undefined ? {} : { labels: parseLabels(options.label) }),
    ...(options.server === undefined ? {} : { server: parseServer(options.server) }),
    ...defined({ caPem, privateRanges }),
    ...(options.roleId === undefined ? {} : { senderRoleId: parseRoleId(options.roleId) }),
    ...defined({ authentication }),
  };
}

/** Kept for labels that Rollcall may set itself one day. */
const RESERVED_PREFIX = 'rollcall.dev/';

/** `key=value` sets, `key-` removes, as with kubectl. */
function parseLabels(texts: readonly string[]): NonNullable<RegistrationEdit['labels']> {
  const set: [string, string][] = [];
  const removed: string[] = [];
  for (const text of texts) {
    const [key = '', value] = text.split(/=(.*)/s, 2);
    if (key.startsWith(RESERVED_PREFIX)) {
      throw usageError(
        `--label ${text}: labels that begin with ${RESERVED_PREFIX} are Rollcall’s own.`,
        'Choose another key.',
      );
    }
    if (value === undefined && key.endsWith('-') && LABEL_KEY.test(key.slice(0, -1))) {
      removed.push(key.slice(0, -1));
    } else if (value !== undefined && LABEL_KEY.test(key) && LABEL_VALUE.test(value)) {
      set.push([key, value]);
    } else {
      throw usageError(
        `--label ${text} is no label.`,
        'Pass key=value to set one, key- to remove one; letters, digits, ".", "_", "-", and "/" in keys.',
      );
    }
  }
  return { set: Object.fromEntries(set), removed };
}

function parseServer(text: string): string {
  const parsed = parseEndpoint(text);
  if (parsed.kind === 'endpoint') return text;
  throw usageError(`--server cannot be used: ${parsed.message}.`, 'Pass https://HOST[:PORT].');
}

function parseCa({ caFile, systemCa }: EditOptions): string | null | undefined {
  excludeEachOther({ '--ca-file': caFile, '--system-ca': systemCa });
  if (systemCa === true) return null;
  if (caFile === undefined) return undefined;
  return readCaFile(caFile, 'It begins with -----BEGIN CERTIFICATE----- and holds no private key.');
}

function parseRanges({ privateRange, publicOnly }: EditOptions): readonly string[] | undefined {
  excludeEachOther({ '--private-range': privateRange, '--public-only': publicOnly });
  if (publicOnly === true) return [];
  for (const text of privateRange ?? []) {
    if (isPrivateRange(text)) continue;
    throw usageError(
      `--private-range ${text} is no private range.`,
      'Pass CIDR notation inside RFC 1918, 100.64.0.0/10 or fc00::/7, e.g. 10.20.0.0/16.',
    );
  }
  return privateRange;
}

function parseAuthentication(options: EditOptions): ClusterAuthentication | undefined {
  const { eksCluster, eksRegion, renewerRoleId, withoutCredential } = options;
  excludeEachOther({
    '--eks-cluster': eksCluster,
    '--renewer-role-id': renewerRoleId,
    '--without-credential': withoutCredential,
  });
  if ((eksCluster === undefined) !== (eksRegion === undefined)) {
    throw usageError('--eks-cluster and --eks-region belong together.', 'Pass both.');
  }
  if (withoutCredential === true) return { kind: 'none' };
  if (renewerRoleId !== undefined) {
    return { kind: 'bound-token', renewerRoleId: parseRoleId(renewerRoleId) };
  }
  if (eksCluster === undefined || eksRegion === undefined) return undefined;
  return { kind: 'eks', clusterName: eksCluster, region: eksRegion };
}
