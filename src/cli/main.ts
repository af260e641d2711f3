/**
 * `npm start`: the entry. The work is in start/.
 *
 * The installed package has the same program as `rollcall start` (packaged.ts).
 */
import { COMMANDS } from './commands.ts';
import { runStartProgram } from './start/start-program.ts';

process.exitCode = await runStartProgram(process.argv.slice(2), 'npm start', COMMANDS);
