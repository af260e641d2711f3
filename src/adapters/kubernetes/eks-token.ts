/**
 * EKS tokens (being written).
 */

/** AWS credentials as the SDK's providers give them. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}
