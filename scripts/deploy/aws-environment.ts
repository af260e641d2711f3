/**
 * The environment with which programs and clients of this machine use an emulator of AWS.
 *
 * Credentials are made up, so that nothing here can ever reach a real account, whatever profile is set. Variables of
 * the caller that name AWS settings are left out for the same reason.
 */

/** Stage of what is deployed to an emulator: the only one at which loopback may be connected to. */
export const STAGE = 'local';
/** Region of it. */
export const REGION = 'us-east-1';

/** The caller's environment with its AWS settings replaced. */
export function awsEnvironment(
  endpoint: string,
  environment: Readonly<NodeJS.ProcessEnv>,
): NodeJS.ProcessEnv {
  const others = Object.entries(environment).filter(
    ([name]) => !name.startsWith('AWS_') && !name.startsWith('SLS_'),
  );
  return {
    ...Object.fromEntries(others),
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
