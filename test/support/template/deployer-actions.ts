/**
 * What who deploys must be allowed to do for each type of resource: to make it, read it, change it, tag it and remove it.
 *
 * From the published schemas of CloudFormation's handlers, as far as properties that we use ask for it; nothing here was
 * tried on AWS. `withProperty` is needed only where a resource has that property.
 */

/** Actions for one type of resource. */
export interface DeployerActions {
  readonly always: readonly string[];
  readonly withProperty?: Readonly<Record<string, readonly string[]>>;
}

const named = (service: string, ...actions: readonly string[]): readonly string[] =>
  actions.map((action) => `${service}:${action}`);

const TAGS = ['TagResource', 'UntagResource', 'ListTagsForResource'];

/** By type of resource. */
export const DEPLOYER_ACTIONS: Readonly<Record<string, DeployerActions>> = {
  'AWS::CloudWatch::Alarm': {
    always: named('cloudwatch', 'PutMetricAlarm', 'DescribeAlarms', 'DeleteAlarms', ...TAGS),
  },
  'AWS::CloudWatch::Dashboard': {
    always: named('cloudwatch', 'PutDashboard', 'GetDashboard', 'DeleteDashboards'),
  },
  'AWS::DynamoDB::Table': {
    always: named(
      'dynamodb',
      ...['CreateTable', 'DescribeTable', 'UpdateTable', 'DeleteTable'],
      ...['TagResource', 'UntagResource', 'ListTagsOfResource'],
    ),
    withProperty: {
      PointInTimeRecoverySpecification: named(
        'dynamodb',
        'UpdateContinuousBackups',
        'DescribeContinuousBackups',
      ),
    },
  },
  'AWS::Events::Rule': {
    always: named('events', 'PutRule', 'DescribeRule', 'DeleteRule', ...TAGS),
    withProperty: { Targets: named('events', 'PutTargets', 'RemoveTargets', 'ListTargetsByRule') },
  },
  'AWS::IAM::Role': {
    always: named(
      'iam',
      ...['CreateRole', 'GetRole', 'UpdateRole', 'UpdateAssumeRolePolicy', 'DeleteRole'],
      ...['ListRolePolicies', 'ListAttachedRolePolicies', 'TagRole', 'UntagRole'],
    ),
    withProperty: {
      Policies: named('iam', 'PutRolePolicy', 'GetRolePolicy', 'DeleteRolePolicy'),
      PermissionsBoundary: named(
        'iam',
        'PutRolePermissionsBoundary',
        'DeleteRolePermissionsBoundary',
      ),
    },
  },
  // PutKeyPolicy also when it is made: CreateKey refuses a policy that its caller could not change afterwards.
  'AWS::KMS::Key': {
    always: named(
      'kms',
      ...['CreateKey', 'DescribeKey', 'EnableKey', 'DisableKey', 'ScheduleKeyDeletion'],
      ...['GetKeyPolicy', 'PutKeyPolicy', 'UpdateKeyDescription'],
      ...['TagResource', 'UntagResource', 'ListResourceTags'],
    ),
    withProperty: {
      EnableKeyRotation: named(
        'kms',
        'EnableKeyRotation',
        'DisableKeyRotation',
        'GetKeyRotationStatus',
      ),
    },
  },
  'AWS::Lambda::EventInvokeConfig': {
    always: named(
      'lambda',
      ...['PutFunctionEventInvokeConfig', 'GetFunctionEventInvokeConfig'],
      ...['UpdateFunctionEventInvokeConfig', 'DeleteFunctionEventInvokeConfig'],
    ),
  },
  'AWS::Lambda::EventSourceMapping': {
    always: named(
      'lambda',
      ...['CreateEventSourceMapping', 'GetEventSourceMapping'],
      ...['UpdateEventSourceMapping', 'DeleteEventSourceMapping'],
    ),
  },
  'AWS::Lambda::Function': {
    always: [
      ...named(
        'lambda',
        ...['CreateFunction', 'GetFunction', 'UpdateFunctionCode', 'UpdateFunctionConfiguration'],
        ...['DeleteFunction', 'TagResource', 'UntagResource', 'ListTags'],
        ...['GetFunctionCodeSigningConfig', 'GetRuntimeManagementConfig'],
      ),
      'iam:PassRole',
    ],
    withProperty: {
      RecursiveLoop: named('lambda', 'PutFunctionRecursionConfig', 'GetFunctionRecursionConfig'),
      VpcConfig: named('ec2', 'DescribeSubnets', 'DescribeSecurityGroups', 'DescribeVpcs'),
    },
  },
  'AWS::Lambda::Permission': {
    always: named('lambda', 'AddPermission', 'RemovePermission', 'GetPolicy'),
  },
  'AWS::Logs::LogGroup': {
    always: named('logs', 'CreateLogGroup', 'DescribeLogGroups', 'DeleteLogGroup', ...TAGS),
    withProperty: {
      RetentionInDays: named('logs', 'PutRetentionPolicy', 'DeleteRetentionPolicy'),
    },
  },
  'AWS::S3::Bucket': {
    always: named(
      's3',
      ...['CreateBucket', 'ListBucket', 'DeleteBucket', 'PutBucketTagging', 'GetBucketTagging'],
      // The packages that osls uploads, and Lambda reads with the rights of who deploys.
      ...['PutObject', 'GetObject', 'DeleteObject'],
    ),
    withProperty: {
      BucketEncryption: named('s3', 'PutEncryptionConfiguration', 'GetEncryptionConfiguration'),
      PublicAccessBlockConfiguration: named(
        's3',
        'PutBucketPublicAccessBlock',
        'GetBucketPublicAccessBlock',
      ),
    },
  },
  'AWS::S3::BucketPolicy': {
    always: named('s3', 'PutBucketPolicy', 'GetBucketPolicy', 'DeleteBucketPolicy'),
  },
  'AWS::SQS::Queue': {
    always: named(
      'sqs',
      ...['CreateQueue', 'GetQueueUrl', 'GetQueueAttributes', 'SetQueueAttributes', 'DeleteQueue'],
      ...['TagQueue', 'UntagQueue', 'ListQueueTags'],
    ),
  },
  'AWS::SQS::QueuePolicy': { always: named('sqs', 'SetQueueAttributes', 'GetQueueAttributes') },
};
