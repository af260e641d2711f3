/**
 * What a deployment chose, checked when it is packaged: what AWS would refuse in the middle of a deployment, or take
 * without effect. Pure; each fault names its parameter, what is wrong, and what to do.
 *
 * Only the form: whether a subnet or a topic is there is for AWS to say.
 */

/**
 * @typedef {object} ParameterFault
 * @property {string} field name of the parameter
 * @property {string} problem
 * @property {string} remedy
 */
/**
 * What was chosen; absent is empty.
 * @typedef {Readonly<Record<string, string | undefined>>} Chosen
 */

/** Roles are called rollcall-STAGE-FUNCTION-REGION, and IAM takes 64 characters. */
const STAGE_CHARACTERS_MAX = 28;
/** Of 4 KB of environment (Lambda), after the addresses of queues and the rest: a rule over the template counts those. */
export const SUFFIXES_CHARACTERS_MAX = 1500;
const STAGE = /^[a-z][a-z0-9-]*$/;
const TOPIC = /^arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:[A-Za-z0-9_-]{1,256}$/;
const BOUNDARY = /^arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/;
const ORGANISATION = /^o-[a-z0-9]{10,32}$/;
const SUBNET = /^subnet-[0-9a-f]+$/;
const GROUP = /^sg-[0-9a-f]+$/;
const BUS = /^[\w./-]{1,256}$/;
const SUFFIX = /^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$/i;

/**
 * All that is wrong.
 * @param {Chosen} chosen
 * @returns {readonly ParameterFault[]}
 */
export function checkParameters(chosen) {
  return [
    ...checkStage(chosen),
    ...checkOrganisation(chosen),
    ...checkNetwork(chosen),
    ...checkTopic(chosen),
    ...checkBoundary(chosen),
    ...checkSuffixes(chosen),
    ...checkBus(chosen),
  ];
}

/** @param {Chosen} chosen */
function checkStage({ stage = '' }) {
  if (STAGE.test(stage) && stage.length <= STAGE_CHARACTERS_MAX) return [];
  return [
    fault(
      'stage',
      `"${stage}" cannot be part of every name`,
      'Pass a small letter, then small letters, digits and dashes: 28 characters at most, e.g. --stage prod.',
    ),
  ];
}

/** @param {Chosen} chosen */
function checkOrganisation({ organisationId = '' }) {
  if (organisationId === '' || ORGANISATION.test(organisationId)) return [];
  return [
    fault(
      'organisationId',
      `"${organisationId}" is no id of an organisation`,
      'Pass e.g. o-abc1234567: aws organizations describe-organization.',
    ),
  ];
}

/** @param {Chosen} chosen */
function checkNetwork({ subnetIds = '', securityGroupIds = '' }) {
  const remedy =
    'Pass both, with commas between ids, e.g. subnetIds=subnet-1a,subnet-2b and securityGroupIds=sg-3c; or neither.';
  if (subnetIds !== '' && securityGroupIds === '') {
    return [fault('securityGroupIds', 'there are subnets and no security groups', remedy)];
  }
  if (subnetIds === '' && securityGroupIds !== '') {
    return [fault('subnetIds', 'there are security groups and no subnets, so no VPC', remedy)];
  }
  return [
    ...wrongIn(subnetIds, SUBNET).map((id) => fault('subnetIds', `"${id}" is no subnet`, remedy)),
    ...wrongIn(securityGroupIds, GROUP).map((id) =>
      fault('securityGroupIds', `"${id}" is no security group`, remedy),
    ),
  ];
}

/** @param {Chosen} chosen */
function checkTopic({ alarmTopicArn = '', region = '' }) {
  if (alarmTopicArn === '') return [];
  const [, topicRegion] = TOPIC.exec(alarmTopicArn) ?? [];
  if (topicRegion === undefined) {
    return [
      fault(
        'alarmTopicArn',
        `"${alarmTopicArn}" is no SNS topic that alarms can call`,
        `Pass e.g. arn:aws:sns:${region}:111122223333:on-call; FIFO topics are none.`,
      ),
    ];
  }
  if (topicRegion === region) return [];
  return [
    fault(
      'alarmTopicArn',
      `the topic is in ${topicRegion}, the stack in ${region}: CloudWatch refuses that`,
      `Make a topic in ${region}, and let it call the other one.`,
    ),
  ];
}

/** @param {Chosen} chosen */
function checkBoundary({ permissionsBoundaryArn = '' }) {
  if (permissionsBoundaryArn === '' || BOUNDARY.test(permissionsBoundaryArn)) return [];
  return [
    fault(
      'permissionsBoundaryArn',
      `"${permissionsBoundaryArn}" is no managed policy`,
      'Pass e.g. arn:aws:iam::111122223333:policy/boundary.',
    ),
  ];
}

/** @param {Chosen} chosen */
function checkBus({ eventBusName = '' }) {
  if (eventBusName === '' || BUS.test(eventBusName)) return [];
  return [
    fault(
      'eventBusName',
      `"${eventBusName}" is no name of an event bus`,
      'Pass the name of a bus of the stack’s own account and region, e.g. default; not its ARN.',
    ),
  ];
}

/** @param {Chosen} chosen */
function checkSuffixes({ endpointSuffixes = '' }) {
  const remedy =
    'Pass fewer and shorter domains, with commas between, e.g. eks.amazonaws.com,clusters.example.com.';
  if (endpointSuffixes.length > SUFFIXES_CHARACTERS_MAX) {
    return [
      fault(
        'endpointSuffixes',
        `${endpointSuffixes.length} characters do not fit into the 4 KB of environment that a function has; ${SUFFIXES_CHARACTERS_MAX} do`,
        remedy,
      ),
    ];
  }
  return wrongIn(endpointSuffixes, SUFFIX).map((one) =>
    fault('endpointSuffixes', `"${one}" is no domain`, remedy),
  );
}

/**
 * Members of a list that are not of a form.
 * @param {string} list
 * @param {RegExp} form
 */
function wrongIn(list, form) {
  if (list === '') return [];
  return list.split(',').filter((one) => !form.test(one));
}

/**
 * @param {string} field
 * @param {string} problem
 * @param {string} remedy
 * @returns {ParameterFault}
 */
function fault(field, problem, remedy) {
  return { field, problem, remedy };
}
