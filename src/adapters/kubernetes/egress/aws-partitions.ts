/**
 * The partitions of AWS: how their regions are named, and the domains of their hosts.
 *
 * Copied from what AWS's SDKs carry (partitions.json), of which the unit test holds every line against the SDK: a
 * region that is of none of them would choose another host for a signed request (S12).
 */

export interface AwsPartition {
  readonly regions: RegExp;
  /** Domain of hosts with IPv4. */
  readonly suffix: string;
  /** Domain of hosts with both. */
  readonly dualStackSuffix: string;
}

const API_AWS = 'api.aws';
const CLASSIC = { suffix: 'amazonaws.com', dualStackSuffix: API_AWS };

export const AWS_PARTITIONS: readonly AwsPartition[] = [
  { regions: /^(us|eu|ap|sa|ca|me|af|il|mx)-[a-z]+-\d{1,2}$/, ...CLASSIC },
  { regions: /^us-gov-[a-z]+-\d{1,2}$/, ...CLASSIC },
  {
    regions: /^cn-[a-z]+-\d{1,2}$/,
    suffix: 'amazonaws.com.cn',
    dualStackSuffix: 'api.amazonwebservices.com.cn',
  },
  {
    regions: /^eusc-de-[a-z]+-\d{1,2}$/,
    suffix: 'amazonaws.eu',
    dualStackSuffix: 'api.amazonwebservices.eu',
  },
  {
    regions: /^us-iso-[a-z]+-\d{1,2}$/,
    suffix: 'c2s.ic.gov',
    dualStackSuffix: 'api.aws.ic.gov',
  },
  {
    regions: /^us-isob-[a-z]+-\d{1,2}$/,
    suffix: 'sc2s.sgov.gov',
    dualStackSuffix: 'api.aws.scloud',
  },
  {
    regions: /^eu-isoe-[a-z]+-\d{1,2}$/,
    suffix: 'cloud.adc-e.uk',
    dualStackSuffix: 'api.cloud-aws.adc-e.uk',
  },
  {
    regions: /^us-isof-[a-z]+-\d{1,2}$/,
    suffix: 'csp.hci.ic.gov',
    dualStackSuffix: 'api.aws.hci.ic.gov',
  },
];

/** The partition of a region; undefined for text that names none. */
export function partitionOf(region: string): AwsPartition | undefined {
  return AWS_PARTITIONS.find(({ regions }) => regions.test(region));
}
