// Reads IAM policy documents: the small part of the language that our own roles use.
//
// Known: Effect, exact actions, exact resources (references to declared ones, and event buses by name), and one condition,
// ForAllValues:StringLike on dynamodb:LeadingKeys. Anything else (a wildcard, NotAction, another condition) is an
// error, never a statement that is skipped: what is enforced here must be what AWS would enforce. Rights on keys may be
// bounded by their encryption context; there is no key service here, so no request asks for them. Rights on network interfaces are
// Lambda's own, which has no network here: they are read, and left out.
import * as v from 'valibot';

/** One statement, with its references resolved to ARNs. */
export interface PolicyStatement {
  readonly sid: string | undefined;
  readonly effect: 'Allow' | 'Deny';
  /** As written, `service:Name`; compared without regard to case, as AWS does. */
  readonly actions: readonly string[];
  readonly resourceArns: readonly string[];
  /** Patterns of partition keys; undefined when the statement bounds none. */
  readonly leadingKeys: readonly string[] | undefined;
}

/** What a role is declared with in a template. */
export interface RoleDeclaration {
  /** Logical id. */
  readonly id: string;
  /** References stay as they are written until their resources exist. */
  readonly statements: readonly DeclaredStatement[];
}

const oneOrMore = <Item extends v.GenericSchema<unknown, unknown>>(item: Item) =>
  v.pipe(
    v.union([item, v.pipe(v.array(item), v.minLength(1))]),
    v.transform((value): v.InferOutput<Item>[] => (Array.isArray(value) ? value : [value])),
  );

/** A bus of the account, by its name; no template declares it here. */
const BUS_ARN =
  /^arn:\$\{AWS::Partition\}:events:\$\{AWS::Region\}:\$\{AWS::AccountId\}:(event-bus\/[\w./-]+)$/;

/** A reference to a resource of the template, or to a parameter of it. */
const referenceSchema = v.union([
  v.pipe(
    v.strictObject({ 'Fn::Sub': v.pipe(v.string(), v.regex(BUS_ARN, 'the ARN of a bus')) }),
    v.transform((value) => ({ ref: BUS_ARN.exec(value['Fn::Sub'])?.[1] ?? '' })),
  ),
  v.pipe(
    v.strictObject({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) }),
    v.transform((value) => ({ ref: value['Fn::GetAtt'][0] })),
  ),
  v.pipe(
    v.strictObject({ Ref: v.string() }),
    v.transform((value) => ({ ref: value.Ref })),
  ),
]);

const leadingKeysSchema = v.pipe(
  v.strictObject({
    'ForAllValues:StringLike': v.strictObject({
      'dynamodb:LeadingKeys': oneOrMore(
        v.pipe(v.string(), v.regex(/^[^*?]+\*?$/, 'a text or a prefix')),
      ),
    }),
  }),
  v.transform((value) => value['ForAllValues:StringLike']['dynamodb:LeadingKeys']),
);

/** The keys that a context must have, and no others: it bounds no partition. */
const encryptionContextSchema = v.pipe(
  v.strictObject({
    'ForAllValues:StringEquals': v.strictObject({
      'kms:EncryptionContextKeys': v.array(v.string()),
    }),
    StringEquals: v.exactOptional(v.strictObject({ 'kms:EncryptionContext:purpose': v.string() })),
    Null: v.record(v.pipe(v.string(), v.startsWith('kms:EncryptionContext:')), v.literal('false')),
  }),
  v.transform(() => undefined),
);

const statementSchema = v.strictObject({
  Sid: v.optional(v.string()),
  Effect: v.picklist(['Allow', 'Deny']),
  Action: oneOrMore(v.pipe(v.string(), v.regex(/^[a-z0-9-]+:[A-Za-z]+$/, 'an exact action'))),
  Resource: oneOrMore(referenceSchema),
  Condition: v.optional(v.union([leadingKeysSchema, encryptionContextSchema])),
});

/** Interfaces of a VPC, which know no resource: given to Lambda, and denied to the function's code. */
const interfaceStatementSchema = v.pipe(
  v.strictObject({
    Sid: v.optional(v.string()),
    Effect: v.picklist(['Allow', 'Deny']),
    Action: v.array(v.pipe(v.string(), v.startsWith('ec2:'))),
    Resource: v.literal('*'),
    Condition: v.optional(
      v.strictObject({ Null: v.strictObject({ 'lambda:SourceFunctionArn': v.literal('false') }) }),
    ),
  }),
  v.transform(() => undefined),
);

/** A statement as a template holds it. */
export type DeclaredStatement = v.InferOutput<typeof statementSchema>;

const roleSchema = v.looseObject({
  Type: v.literal('AWS::IAM::Role'),
  Properties: v.strictObject({
    RoleName: v.optional(v.unknown()),
    Path: v.optional(v.unknown()),
    Description: v.optional(v.unknown()),
    PermissionsBoundary: v.optional(v.unknown()),
    AssumeRolePolicyDocument: v.looseObject({}),
    Policies: v.array(
      v.strictObject({
        PolicyName: v.string(),
        PolicyDocument: v.strictObject({
          Version: v.literal('2012-10-17'),
          Statement: v.array(v.union([statementSchema, interfaceStatementSchema])),
        }),
      }),
    ),
  }),
});

/** A resource of the account by its name, which may hold parameters of the template. */
const NAMED_ARN =
  /^arn:\$\{AWS::Partition\}:([a-z]+):\$\{AWS::Region\}:\$\{AWS::AccountId\}:([\w./${}-]+)$/;

const personStatementSchema = v.strictObject({
  ...statementSchema.entries,
  Resource: oneOrMore(
    v.pipe(
      v.strictObject({ 'Fn::Sub': v.pipe(v.string(), v.regex(NAMED_ARN, 'the ARN of a name')) }),
      v.transform((value) => {
        const [, service = '', name = ''] = NAMED_ARN.exec(value['Fn::Sub']) ?? [];
        return { ref: `${service}:${name}` };
      }),
    ),
  ),
});

/** Of services that are not here: read, and left out. */
const awayStatementSchema = v.pipe(
  v.strictObject({
    Sid: v.string(),
    Effect: v.literal('Allow'),
    Action: v.array(v.pipe(v.string(), v.regex(/^(cloudformation|events|lambda):[A-Za-z]+$/))),
    Resource: v.unknown(),
    Condition: v.optional(v.unknown()),
  }),
  v.transform(() => undefined),
);

const managedPolicySchema = v.looseObject({
  Type: v.literal('AWS::IAM::ManagedPolicy'),
  Properties: v.looseObject({
    PolicyDocument: v.strictObject({
      Version: v.literal('2012-10-17'),
      Statement: v.array(v.union([personStatementSchema, awayStatementSchema])),
    }),
  }),
});

/**
 * Reads a managed policy of a template; its resources are `service:name`, with the parameters of the template in them. Throws
 * for whatever the evaluator does not know.
 */
export function readManagedPolicy(id: string, resource: unknown): RoleDeclaration {
  const { PolicyDocument: document } = v.parse(managedPolicySchema, resource).Properties;
  return { id, statements: document.Statement.filter((statement) => statement !== undefined) };
}

/** Reads a role of a template. Throws for whatever the evaluator does not know. */
export function readRole(id: string, resource: unknown): RoleDeclaration {
  const { Policies: policies } = v.parse(roleSchema, resource).Properties;
  const statements = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  return { id, statements: statements.filter((statement) => statement !== undefined) };
}

/** The statements of a role; `arnOf` answers for a logical id or a parameter. */
export function resolveStatements(
  role: RoleDeclaration,
  arnOf: (reference: string) => string | undefined,
): readonly PolicyStatement[] {
  return role.statements.map((statement) => ({
    sid: statement.Sid,
    effect: statement.Effect,
    actions: statement.Action,
    resourceArns: statement.Resource.map(({ ref }) => {
      const arn = arnOf(ref);
      if (arn === undefined) throw new Error(`${role.id} refers to ${ref}, which does not exist`);
      return arn;
    }),
    leadingKeys: statement.Condition,
  }));
}
