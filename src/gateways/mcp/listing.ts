import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import type { McpCaller } from './context.ts';
import type { Peer, PeerOptions } from './peer.ts';

/** Lists of servers: gathered over their pages, merged under the servers' names, cut to what a caller may see. */
export const LISTS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const;
export type ListMethod = keyof typeof LISTS;

export const isList = (method: string): method is ListMethod => Object.hasOwn(LISTS, method);

/** What a server must announce before it is asked for a list. */
export const CAPABILITY: Readonly<Record<ListMethod, string>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
};

const MAX_PAGES = 1000;
const MAX_ENTRIES = 10_000;
const SEPARATOR = '__';

/**
 * Every page of a list, or undefined when one of them cannot be had. A server whose pages never end, or go
 * in a circle, is cut off.
 */
export async function gather(
  peer: Peer,
  method: ListMethod,
  options: PeerOptions,
): Promise<readonly Json[] | undefined> {
  const entries: Json[] = [];
  const cursors = new Set<Json>();
  let cursor: Json | undefined;
  for (let page = 0; page < MAX_PAGES && entries.length < MAX_ENTRIES; page++) {
    const reply = await peer.request(method, cursor === undefined ? undefined : { cursor }, options);
    if (!reply.ok) return undefined;
    const found = reply.result[LISTS[method]];
    if (Array.isArray(found)) for (const entry of found as readonly Json[]) entries.push(entry);
    cursor = reply.result.nextCursor;
    if (typeof cursor !== 'string' || cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  return entries.slice(0, MAX_ENTRIES);
}

/** A name as the client sees it, and back. Server names have no underscore, so the first `__` is ours. */
export const prefixed = (server: string, name: string) => `${server}${SEPARATOR}${name}`;

export function unprefixed(name: string): { readonly server: string; readonly name: string } | undefined {
  const at = name.indexOf(SEPARATOR);
  return at <= 0 ? undefined : { server: name.slice(0, at), name: name.slice(at + SEPARATOR.length) };
}

export function entryName(method: ListMethod, entry: Json): string {
  if (!isJsonObject(entry)) return '';
  const name =
    method === 'resources/list'
      ? entry.uri
      : method === 'resources/templates/list'
        ? entry.uriTemplate
        : entry.name;
  return typeof name === 'string' ? name : '';
}

/** Entries this caller may use; tools and prompts renamed when servers are merged. */
export function shown(
  method: ListMethod,
  server: string,
  entries: readonly Json[],
  caller: McpCaller,
  rename: boolean,
): readonly Json[] {
  const renames = rename && (method === 'tools/list' || method === 'prompts/list');
  return entries
    .filter((entry) => anyMatches(caller.names, entryName(method, entry)))
    .map(
      (entry): Json =>
        renames ? { ...(entry as JsonObject), name: prefixed(server, entryName(method, entry)) } : entry,
    );
}
