/**
 * The process that restart.test.ts kills: sends, deletes and stores as fast as it can, and says what was acknowledged.
 *
 * Arguments: data directory. Each line on stdout is `sent N`, `deleted N` or `stored N`, written only when the
 * answer has arrived; it runs until it is killed.
 */
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { fileURLToPath } from 'node:url';
import { startLocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';

const [dataDirectory] = process.argv.slice(2);
const aws = await startLocalAws({
  serverlessFile: fileURLToPath(new URL('../../../serverless.yml', import.meta.url)),
  stage: 'test',
  dataDirectory,
});
Object.assign(process.env, aws.environment);
const sqs = new SQSClient({});
const dynamoDb = new DynamoDBClient({});
const QueueUrl = aws.queueUrls['EventsQueue'];

/** Waits until the line is out: a parent that stands still holds this process up, and loses nothing. */
function say(line: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(`${line}\n`, () => {
      resolve();
    });
  });
}

async function deleteOne(): Promise<void> {
  const { Messages: [message] = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  if (message === undefined) return;
  const { ReceiptHandle } = message;
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  await say(`deleted ${message.Body ?? ''}`);
}

await say('ready');
for (let index = 0; ; index += 1) {
  const text = String(index);
  await sqs.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: text,
      MessageGroupId: `g${String(index % 7)}`,
      MessageDeduplicationId: text,
    }),
  );
  await say(`sent ${text}`);
  const Item = { pk: { S: `item-${text}` }, sk: { S: 'x' } };
  await dynamoDb.send(new PutItemCommand({ TableName: aws.tableNames['ViewTable'], Item }));
  await say(`stored ${text}`);
  if (index % 3 === 0) await deleteOne();
}
