/**
 * The partitions of AWS: how their regions are named, and the domains of their hosts.
 *
 * Copied from what AWS's SDKs carry (partitions.json), of which the unit test holds every line against the SDK: a
 * region that is of none of them would choose another host for a signed request (S12).
 */
/** One partition. */
export interface AwsPartition {
    readonly regions: RegExp;
    /** Domain of hosts with IPv4. */
    readonly suffix: string;
    /** Domain of hosts with both. */
    readonly dualStackSuffix: string;
}
/** Every partition that is known. */
export declare const AWS_PARTITIONS: readonly AwsPartition[];
/** The partition of a region; undefined for text that names none. */
export declare function partitionOf(region: string): AwsPartition | undefined;
