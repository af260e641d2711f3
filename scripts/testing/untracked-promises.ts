/**
 * Preloaded into the processes of tests: lets node:test watch what is asynchronous, but not every single promise.
 *
 * node:test creates an async hook to tell which test an uncaught error belongs to; a promise costs some fifteen times as much under
 * it, and the simulation makes millions. Without it such an error still fails its file, told as activity of no test. Assumes that this runs before
 * node:test is loaded. It changes nothing for hooks that a test creates itself with `trackPromises`.
 */
import asyncHooks from 'node:async_hooks';
import type { HookCallbacks } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

const { createHook } = asyncHooks;

asyncHooks.createHook = (callbacks: HookCallbacks) =>
  createHook({ trackPromises: false, ...callbacks });
syncBuiltinESMExports();
