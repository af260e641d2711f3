#!/usr/bin/env node
// The command: says which Node it needs before that Node is needed, in words that Node 14 parses, then runs program.mjs.
// build-cli.ts and build-npm.ts pack both side by side.
const OLDEST = { major: 22, minor: 15 };
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) {
  void import(new URL('program.mjs', import.meta.url).href);
} else {
  const needed = `${OLDEST.major}.${OLDEST.minor}`;
  console.error(`error: rollcall needs Node ${needed} or later; this is ${process.versions.node}.`);
  console.error('Run it with a newer Node: https://nodejs.org/en/download');
  process.exitCode = 1;
}
