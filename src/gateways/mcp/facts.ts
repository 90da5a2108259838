import { isJsonObject, type JsonObject } from '../../core/index.ts';
import type { Params } from './message.ts';

/** A request as rules see it. */
export interface McpFacts {
  readonly caller: string;
  readonly server: string;
  readonly method: string;
  /** Tool, prompt or URI; empty when the method has none. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly bytes: number;
}

export function factsOf(
  caller: string,
  server: string,
  method: string,
  name: string,
  params: Params,
): McpFacts {
  const given = params ?? {};
  return {
    caller,
    server,
    method,
    name,
    arguments: isJsonObject(given.arguments) ? given.arguments : given,
    bytes: JSON.stringify(given).length,
  };
}

/** The `_meta` of parameters or of a result. */
export function metaOf(params: Params): JsonObject {
  return isJsonObject(params?._meta) ? params._meta : {};
}
