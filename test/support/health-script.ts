/** Health scripts of Argo CD in a real Lua, as Argo CD runs them: the object as `obj`, and no library but the base. */
import assert from 'node:assert/strict';
import { LuaFactory, LuaLibraries } from 'wasmoon';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

/** What a script answers. */
export interface Health {
  readonly status: string;
  readonly message: string;
}

/** A script; the caller owes `close()`. */
export interface HealthScript {
  readonly healthOf: (object: JsonObject) => Promise<Health>;
  readonly close: () => void;
}

/** Starts a Lua for one script. */
export async function openHealthScript(script: string): Promise<HealthScript> {
  const lua = await new LuaFactory().createEngine({ openStandardLibs: false });
  lua.global.loadLibrary(LuaLibraries.Base);
  return {
    healthOf: async (object) => (await lua.doString(`obj = ${luaOf(object)}\n${script}`)) as Health,
    close: () => {
      lua.global.close();
    },
  };
}

/** Fails where a script uses what Lua 5.1 without libraries has not. */
export function expectPlainLua(script: string): void {
  const unknown = /\/\/|\bgoto\b|[&|~](?!=)|\b(string|table|math|os|io|require)\b[.(]/;
  assert.doesNotMatch(script, unknown);
}

/** JSON as a Lua literal, as Argo CD hands an object to the script: plain tables, lists from 1. */
function luaOf(value: Json): string {
  if (value === null) return 'nil';
  if (typeof value === 'string')
    return `"${[...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `{${value.map((item: Json) => luaOf(item)).join(',')}}`;
  const members = Object.entries(value as JsonObject);
  return `{${members.map(([name, item]) => `[${luaOf(name)}]=${luaOf(item ?? null)}`).join(',')}}`;
}
