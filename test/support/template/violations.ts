/**
 * Templates that break a rule, each in one way: what somebody might write, and must not get past the test.
 */
import type { Template } from './template.ts';

export interface Violation {
  /** Name of the rule that must catch it. */
  readonly rule: string;
  readonly violation: string;
  /** Breaks the template that it is given. */
  readonly plant: (template: Template) => void;
}

/** A template may be written here. */
interface Writable {
  [key: string]: Writable;
}

function set(path: string, value: unknown): (template: Template) => void {
  return (template) => {
    const steps = path.split(' ');
    const last = steps.pop() ?? '';
    let place = template as unknown as Writable; // a copy, which is JSON
    for (const step of steps) place = place[step] ??= {};
    if (value === undefined) Reflect.deleteProperty(place, last);
    else place[last] = value as Writable;
  };
}

/** Changes a statement of a role, found by its Sid. */
function setInRole(
  role: string,
  sid: string,
  change: Readonly<Record<string, unknown>>,
): (template: Template) => void {
  return (template) => {
    const document = 'Policies 0 PolicyDocument Statement'.split(' ');
    let place = template.Resources[role]?.Properties as unknown as Writable; // a copy
    for (const step of document) place = place[step] ?? {};
    const statements = Object.values(place).map((one) => one['Fn::If']?.['1'] ?? one);
    const found = statements.find((one) => (one['Sid'] as unknown) === sid);
    if (found === undefined) throw new Error(`${role} has no ${sid}`);
    Object.assign(found, change);
  };
}

/** A resource of a type that nobody has judged, or of a known one. */
function add(id: string, resource: object): (template: Template) => void {
  return set(`Resources ${id}`, resource);
}

const MAPPING = 'Resources IngestEventSourceMappingSQSEventsQueue Properties';
const RECONCILE_MAPPING = 'Resources ReconcileEventSourceMappingSQSReconcileQueue Properties';
const INGEST = 'Resources IngestLambdaFunction Properties';
const VARIABLES = `${INGEST} Environment Variables`;
const EVENTS = 'Resources EventsQueue Properties';
const POLICY = 'Resources EventsQueuePolicy';
const SENDING = `${POLICY} Properties PolicyDocument Statement 0`;
const KEY = 'Resources CredentialsKey Properties';
const OPENING = `${KEY} KeyPolicy Statement 1`;
const OPENING_TO_ASK = `${KEY} KeyPolicy Statement 2`;
const SEALING = `${KEY} KeyPolicy Statement 3`;
const FOREIGN_SEALING = `${KEY} KeyPolicy Statement 4 Fn::If 1`;
const REGISTRY = 'Resources RegistryTable';
const ROLE = 'Resources IngestRole Properties';
const SCHEDULE = 'Resources ResyncEventsRuleSchedule1 Properties';
const AGE_ALARM = 'Resources EventsAgeAlarm';

/** Ways to break each rule, by its name. */
const BY_RULE: Readonly<Record<string, Readonly<Record<string, (template: Template) => void>>>> = {
  'actions are exact': {
    'a service as a whole': setInRole('IngestRole', 'View', { Action: 'dynamodb:*' }),
    'a family of actions': setInRole('ResyncRole', 'Hint', { Action: ['sqs:Send*'] }),
    'all but some': setInRole('RequeueRole', 'ReadBreakers', { NotAction: 'dynamodb:Scan' }),
    'everything with the key': set(`${KEY} KeyPolicy Statement 0 Action`, 'kms:*'),
    'anything with a queue': set(`${SENDING} Action`, 'sqs:*'),
  },
  'resources are exact': {
    everything: setInRole('ReconcileRole', 'ReadView', { Resource: '*' }),
    'a pattern of names': setInRole('IngestRole', 'Hint', {
      Resource: { 'Fn::Sub': 'arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:rollcall-*' },
    }),
    'interfaces for code': setInRole('IngestRole', 'KeepInterfacesFromCode', { Effect: 'Allow' }),
    'more than interfaces': setInRole('IngestRole', 'MakeInterfaces', {
      Action: 'sqs:SendMessage',
    }),
  },
  'every function has a role of its own, and there are no others': {
    'a shared role': set(`${INGEST} Role`, { 'Fn::GetAtt': ['ReconcileRole', 'Arn'] }),
    'a role from elsewhere': set(`${INGEST} Role`, 'arn:aws:iam::000000000000:role/admin'),
    'a managed policy': set(`${ROLE} ManagedPolicyArns`, [
      'arn:aws:iam::aws:policy/PowerUserAccess',
    ]),
    'a role for others': set(`${ROLE} AssumeRolePolicyDocument Statement 0 Principal`, {
      AWS: '*',
    }),
    'a role too many': add('SpareRole', { Type: 'AWS::IAM::Role', Properties: {} }),
  },
  'every role takes the permissions boundary, when there is one (F16)': {
    'a role without bounds': set(`${ROLE} PermissionsBoundary`, undefined),
  },
  'a role whose function may be in a VPC may always delete its interfaces, and its code never (F12)':
    {
      'a right that goes with the parameters': (template) => {
        setInRole('IngestRole', 'MakeInterfaces', { Sid: 'Other' })(template);
      },
      'no word against the code': setInRole('ResyncRole', 'KeepInterfacesFromCode', {
        Sid: 'Other',
      }),
    },
  'nobody from outside may do anything but send, from roles of the organisation under the path': {
    'any organisation': set(`${SENDING} Condition StringEquals`, undefined),
    'any role of the organisation': set(`${SENDING} Condition ArnLike`, undefined),
    'roles of another stage': set(
      `${SENDING} Condition ArnLike aws:PrincipalArn`,
      'arn:*:iam::*:role/rollcall/*',
    ),
    'no condition at all': set(`${SENDING} Condition`, undefined),
    'a policy without organisation': set(`${POLICY} Condition`, undefined),
    'receiving as well': set(`${SENDING} Action`, ['sqs:SendMessage', 'sqs:ReceiveMessage']),
    'one account by its number': set(`${SENDING} Principal`, { AWS: '000000000000' }),
    'opening from outside': set(`${FOREIGN_SEALING} Action`, 'kms:Decrypt'),
    'sealing by anybody': set(`${FOREIGN_SEALING} Condition StringEquals`, undefined),
  },
  'the key seals and opens within a context only, for whom it names': {
    'opening without context': set(`${OPENING} Condition ForAllValues:StringEquals`, undefined),
    'a context without a cluster': set(
      `${SEALING} Condition Null kms:EncryptionContext:cluster`,
      undefined,
    ),
    'any role of the account': set(`${SEALING} Condition ArnLike`, undefined),
    'opening by a pattern': set(`${OPENING} Condition ArnEquals aws:PrincipalArn`, [
      'arn:aws:iam::*',
    ]),
    'a function without context': setInRole('ResyncRole', 'OpenRequestToken', { Condition: {} }),
    'a token that asks, or acts': set(
      `${OPENING_TO_ASK} Condition Null kms:EncryptionContext:purpose`,
      undefined,
    ),
  },
  'who only asks opens and reads no token that acts (B.3)': {
    'a role with any token': setInRole('IngestRole', 'OpenRequestToken', { Condition: {} }),
    'a key that lets it': set(
      `${OPENING_TO_ASK} Condition StringEquals kms:EncryptionContext:purpose`,
      'act',
    ),
    'the other partition': setInRole('ResyncRole', 'ReadToken', {
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['CREDENTIAL#*'] } },
    }),
  },
  'the key names exactly the roles that may open with it': {
    'a role that does not open': setInRole('IngestRole', 'OpenRequestToken', {
      Action: 'kms:DescribeKey',
    }),
    'a role under another name': set(`${ROLE} RoleName`, 'something'),
  },
  'every queue is encrypted': {
    'a plain queue': set(`${EVENTS} SqsManagedSseEnabled`, false),
    'a plain dead-letter queue': set(
      'Resources CredentialsDeadLetterQueue Properties SqsManagedSseEnabled',
      undefined,
    ),
  },
  'every work queue has a dead-letter queue of its kind, which keeps longest and is polled': {
    'no dead-letter queue': set(`${EVENTS} RedrivePolicy`, undefined),
    'one of another kind': set(`${EVENTS} RedrivePolicy deadLetterTargetArn`, {
      'Fn::GetAtt': ['DelayDeadLetterQueue', 'Arn'],
    }),
    'two receives': set(`${EVENTS} RedrivePolicy maxReceiveCount`, 2),
    'a short memory': set('Resources EventsDeadLetterQueue Properties MessageRetentionPeriod', 60),
    'nobody who reads it': set(
      'Resources DeadDashletterEventSourceMappingSQSCredentialsDeadLetterQueue',
      undefined,
    ),
  },
  'an account without places loses nothing within the hour: receives x visibility (F4)': {
    'five receives': set('Resources ReconcileQueue Properties RedrivePolicy maxReceiveCount', 5),
    'ten receives of a token': set(
      'Resources CredentialsQueue Properties RedrivePolicy maxReceiveCount',
      10,
    ),
    'a short lease': set('Resources DelayQueue Properties VisibilityTimeout', 30),
  },
  'no function has a reservation: one of zero empties its queue (F3), any other takes from all others':
    {
      'a brake that loses messages': set(
        'Resources ReconcileLambdaFunction Properties ReservedConcurrentExecutions',
        0,
      ),
      'places for one alone': set(`${INGEST} ReservedConcurrentExecutions`, 100),
    },
  'FIFO queues count per group: no cluster takes throughput from another (L3)': {
    'throughput of the queue': set(`${EVENTS} FifoThroughputLimit`, 'perQueue'),
    'deduplication of the queue': set(`${EVENTS} DeduplicationScope`, undefined),
  },
  'a lease is twice the function’s time where it blocks a group, six times where it blocks nobody':
    {
      'a lease that ends first': set(`${EVENTS} VisibilityTimeout`, 9),
      'a cluster that waits for minutes after a crash': set(`${EVENTS} VisibilityTimeout`, 200),
      'a timer that waits for minutes after a crash': set(
        'Resources DelayQueue Properties VisibilityTimeout',
        600,
      ),
      'a function that takes longer': set('Resources RequeueLambdaFunction Properties Timeout', 30),
      'a mapping of something else': set(`${MAPPING} EventSourceArn`, 'arn:aws:sqs:::other'),
    },
  'every mapping reports failures one by one and has a cap, all within what stack check asks for; reconcile takes ten hints at a time':
    {
      'one failure fails all': set(`${MAPPING} FunctionResponseTypes`, undefined),
      'no cap': set(`${MAPPING} ScalingConfig`, undefined),
      'one place more than is asked for': set(`${MAPPING} ScalingConfig MaximumConcurrency`, 101),
      'too much for an account': set(`${MAPPING} ScalingConfig MaximumConcurrency`, 900),
      'a batch that FIFO refuses': set(`${MAPPING} BatchSize`, 100),
      'an invocation for each hint': set(`${RECONCILE_MAPPING} BatchSize`, 1),
      'a room that lanes do not know': set(
        `${RECONCILE_MAPPING} ScalingConfig MaximumConcurrency`,
        20,
      ),
      'a window': set(`${MAPPING} MaximumBatchingWindowInSeconds`, 5),
      'a mapping that is off': set(`${MAPPING} Enabled`, false),
      'a queue that nobody polls': set(MAPPING.replace(' Properties', ''), undefined),
    },
  'functions that call themselves through queues say so, and no others: Lambda would stop them after sixteen':
    {
      'a loop that Lambda would stop': set(
        'Resources ReconcileLambdaFunction Properties RecursiveLoop',
        undefined,
      ),
      'a loop that nobody meant': set(`${INGEST} RecursiveLoop`, 'Allow'),
    },
  'every table is encrypted and on demand': {
    'a plain table': set('Resources ViewTable Properties SSESpecification', undefined),
    'a table with a capacity': set(`${REGISTRY} Properties BillingMode`, 'PROVISIONED'),
  },
  'no decision rests on an index': {
    'an index': set('Resources ViewTable Properties GlobalSecondaryIndexes', [{}]),
  },
  'nothing of the registry expires': {
    'items that expire': set(`${REGISTRY} Properties TimeToLiveSpecification`, { Enabled: true }),
  },
  'the registry is never lost: recovery, and it outlives the stack; protection follows (F2)': {
    'no recovery': set(`${REGISTRY} Properties PointInTimeRecoverySpecification`, undefined),
    'gone with the stack': set(`${REGISTRY} DeletionPolicy`, 'Delete'),
    'gone when it is replaced': set(`${REGISTRY} UpdateReplacePolicy`, undefined),
    'a name that nobody protects': set(`${REGISTRY} Properties TableName`, 'registry'),
  },
  'a first deployment that fails at any resource leaves nothing that stops the next one (F2)': {
    'a table that stays after a rollback': set(`${REGISTRY} DeletionPolicy`, 'Retain'),
    'a table that no rollback may delete': set(
      `${REGISTRY} Properties DeletionProtectionEnabled`,
      true,
    ),
    'protection by a parameter': set(`${REGISTRY} Properties DeletionProtectionEnabled`, {
      'Fn::If': ['HasAlarms', true, false],
    }),
    'a role that stays': set('Resources IngestRole DeletionPolicy', 'Retain'),
  },
  'a resource that outlives the stack is made after what is likeliest to fail (F2)': {
    'a registry at once': set(`${REGISTRY} DependsOn`, undefined),
    'a registry after another table alone': set(`${REGISTRY} DependsOn`, 'ViewTable'),
  },
  'the key’s policy delegates every action that roles, code, run-book and CloudFormation use on it (F1)':
    {
      'an alias without its rights': add('CredentialsKeyAlias', {
        Type: 'AWS::KMS::Alias',
        Properties: { AliasName: 'alias/x', TargetKeyId: { Ref: 'CredentialsKey' } },
      }),
      'a policy that nobody can change': set(`${KEY} KeyPolicy Statement 0 Action`, [
        'kms:DescribeKey',
        'kms:ScheduleKeyDeletion',
      ]),
      'renewers that may not seal': set(`${KEY} KeyPolicy Statement`, [
        { Effect: 'Allow', Action: 'kms:Decrypt' },
      ]),
      'a right of a role that the key refuses': setInRole('CredentialRole', 'OpenToken', {
        Action: 'kms:ReEncryptFrom',
      }),
    },
  'docs/operations.md lists every right of who deploys (F16)': {
    'a resource of another type': add('Topic', { Type: 'AWS::SNS::Topic' }),
    'a type that nobody uses any more': set('Resources CredentialsKey', undefined),
  },
  'the key is rotated': {
    'never rotated': set(`${KEY} EnableKeyRotation`, false),
  },
  'functions run on Node 24 and arm64, from one bundle each, within their time': {
    'an older runtime': set(`${INGEST} Runtime`, 'nodejs22.x'),
    'another architecture': set(`${INGEST} Architectures`, ['x86_64']),
    'something unbundled': set(`${INGEST} Handler`, 'functions/ingest/handler.handler'),
    'more than ten seconds (protocol 23)': set(`${INGEST} Timeout`, 11),
    'a quarter of an hour': set('Resources ResyncLambdaFunction Properties Timeout', 900),
    'too little memory': set(`${INGEST} MemorySize`, 128),
  },
  'every function has a log group of its own that forgets, and writes JSON': {
    'logs for ever': set('Resources IngestLogGroup Properties RetentionInDays', undefined),
    'no log group': set('Resources IngestLogGroup', undefined),
    'lines of text': set(`${INGEST} LoggingConfig LogFormat`, 'Text'),
    'a level at which metrics are lost': set(`${INGEST} LoggingConfig ApplicationLogLevel`, 'WARN'),
  },
  'there is no public endpoint, nor anything of a kind that nobody has judged': {
    'a function URL': add('Url', { Type: 'AWS::Lambda::Url', Properties: { AuthType: 'NONE' } }),
    'an API': add('Api', { Type: 'AWS::ApiGatewayV2::Api', Properties: {} }),
    'a topic': add('Topic', { Type: 'AWS::SNS::Topic', Properties: {} }),
    'a function that anybody may call': set(
      'Resources ResyncLambdaPermissionEventsRuleSchedule1 Properties Principal',
      '*',
    ),
    'a function that any rule may call': set(
      'Resources ResyncLambdaPermissionEventsRuleSchedule1 Properties SourceArn',
      undefined,
    ),
  },
  'checks of endpoints and senders are relaxed at stage local alone: ROLLCALL_STAGE is the stage': {
    'a stage that it is not': set(`${VARIABLES} ROLLCALL_STAGE`, 'local'),
    'another endpoint for AWS': set(`${VARIABLES} AWS_ENDPOINT_URL`, 'http://127.0.0.1:4566'),
    'certificates that nobody checks': set(`${VARIABLES} NODE_TLS_REJECT_UNAUTHORIZED`, '0'),
  },
  'the environment of a function fits into 4 KB with the longest parameters (F16)': {
    'a long value': set(`${VARIABLES} ROLLCALL_STAGE`, 'x'.repeat(2000)),
    'many values': (template) => {
      for (let count = 0; count < 20; count += 1) {
        set(`${VARIABLES} ROLLCALL_${String(count)}`, { Ref: 'EventsQueue' })(template);
      }
    },
  },
  'functions that connect to clusters, and no others, can be put into a VPC': {
    'a network for who needs none': set('Resources RequeueLambdaFunction Properties VpcConfig', {}),
    'a function that cannot reach its clusters': set(`${INGEST} VpcConfig`, undefined),
    'a network that everybody needs': set(`${INGEST} VpcConfig`, { SubnetIds: [] }),
  },
  'the functions’ roles keep ids, names and path: access entries of EKS die with them (F5)': {
    'another name': set('Resources ReconcileRole Properties RoleName', 'rollcall-ring1-run'),
    'a path': set('Resources ReconcileRole Properties Path', '/rollcall/'),
    'a role that is gone': set('Resources IngestRole', undefined),
    'a role that nobody has frozen': add('RunRole', { Type: 'AWS::IAM::Role', Properties: {} }),
  },
  'the bucket of deployments is private and encrypted': {
    'a public bucket': set(
      'Resources ServerlessDeploymentBucket Properties PublicAccessBlockConfiguration',
      undefined,
    ),
    'a plain bucket': set(
      'Resources ServerlessDeploymentBucket Properties BucketEncryption',
      undefined,
    ),
    'a policy that lets others read': set(
      'Resources ServerlessDeploymentBucketPolicy Properties PolicyDocument Statement 0 Effect',
      'Allow',
    ),
  },
  'outputs are those that the CLI knows, and nothing is exported': {
    'a missing one': set('Outputs CredentialsKeyArn', undefined),
    'one that nobody knows': set('Outputs Secret', { Value: 'x' }),
    'an export': set('Outputs Release Export', { Name: 'release' }),
    'one without a value': set('Outputs Release Value', undefined),
  },
  'alarms watch what matters, and call the topic when there is one': {
    'no alarm for silent clusters': set('Resources SilentClustersAlarm', undefined),
    'no alarm for a queue': set('Resources CredentialsAgeAlarm', undefined),
    'an alarm that calls nobody': set(`${AGE_ALARM} Properties AlarmActions`, undefined),
    'an alarm that never ends': set(`${AGE_ALARM} Properties OKActions`, undefined),
    'an alarm that cannot be left out': set(`${AGE_ALARM} Condition`, undefined),
    'an alarm without an opinion on silence': set(
      `${AGE_ALARM} Properties TreatMissingData`,
      undefined,
    ),
    'an alarm of another stage': set(`${AGE_ALARM} Properties AlarmName`, 'rollcall-dev-x'),
    'an alarm on nothing': set('Resources SetHashAlarm Properties MetricName', 'SetHashAlarms'),
    'an alarm on the metrics of all stages': set(
      'Resources SilentClustersAlarm Properties Namespace',
      'Rollcall',
    ),
    'an alarm that explains nothing': set(`${AGE_ALARM} Properties AlarmDescription`, undefined),
  },
  'each alarm rings at what is published, in time, and at no less': {
    'a threshold that nothing reaches': set(`${AGE_ALARM} Properties Threshold`, 12_000),
    'a threshold that anything reaches': set(`${AGE_ALARM} Properties Threshold`, 0),
    'hours until it rings': set(`${AGE_ALARM} Properties DatapointsToAlarm`, 300),
    'a share that any five clusters are': set(
      'Resources TroubledClustersAlarm Properties Threshold',
      0,
    ),
    'the quietest of all': set('Resources SilentClustersAlarm Properties Statistic', 'Minimum'),
    'the other side': set(`${AGE_ALARM} Properties ComparisonOperator`, 'LessThanThreshold'),
    'an alarm of which nobody said when': set(
      `${AGE_ALARM} Properties AlarmName`,
      'rollcall-ring1-age',
    ),
  },
  'alarms and the dashboard look where the functions write: one namespace, and services that exist':
    {
      'metrics of all stages in one place': set(
        `${VARIABLES} POWERTOOLS_METRICS_NAMESPACE`,
        'Rollcall',
      ),
      'an alarm on another place': set(
        'Resources SilentClustersAlarm Properties Namespace',
        'Rollcall/other',
      ),
      'a query of another place': set(
        'Resources DeadLettersAlarm Properties Metrics 0 Expression',
        'SELECT SUM(DeadLetters) FROM SCHEMA("Rollcall/other", outcome, service)',
      ),
      'a function that is none': set(
        'Resources SilentClustersAlarm Properties Dimensions 0 Value',
        'resyncs',
      ),
    },
  'resync and fleet are called as often as the alarms about their stop count, and end before their next turn':
    {
      'once in sixty hours': set(`${SCHEDULE} ScheduleExpression`, 'rate(60 hours)'),
      'once an hour': set(`${SCHEDULE} ScheduleExpression`, 'rate(60 minutes)'),
      'a schedule that is off': set(`${SCHEDULE} State`, 'DISABLED'),
      'an alarm that takes a stop for silence': set(
        'Resources ResyncStoppedAlarm Properties TreatMissingData',
        'notBreaching',
      ),
      'two turns at a time': set('Resources ResyncLambdaFunction Properties Timeout', 60),
      'two turns of fleets at a time': set('Resources FleetLambdaFunction Properties Timeout', 60),
      'a schedule without an alarm about its stop': set('Resources FleetStoppedAlarm', undefined),
    },
  'the dashboard is valid, shows every alarm, and draws metrics that exist': {
    'no dashboard': set('Resources Dashboard', undefined),
    'one without alarms': set(
      'Resources Dashboard Properties DashboardBody Fn::Sub',
      '{"widgets":[]}',
    ),
    'a metric that is no more': (template) => {
      const path = 'Resources Dashboard Properties DashboardBody Fn::Sub';
      const properties = template.Resources['Dashboard']?.Properties;
      const body = JSON.stringify(properties?.['DashboardBody']);
      const renamed = JSON.parse(body.replaceAll('ReconcileRuns', 'Runs')) as { 'Fn::Sub': string };
      set(path, renamed['Fn::Sub'])(template);
    },
  },
};

/** All of them. */
export const VIOLATIONS: readonly Violation[] = Object.entries(BY_RULE).flatMap(([rule, ways]) =>
  Object.entries(ways).map(([violation, plant]) => ({ rule, violation, plant })),
);
