/**
 * The emulated table as a child process of a benchmark, so that its CPU is nobody else's; the child's side.
 *
 * Tells its endpoint when it listens; ends with its parent.
 */
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';

const server = await startDynamoDbServer();
process.on('disconnect', () => {
  void server.stop();
});
process.send?.(server.endpoint);
