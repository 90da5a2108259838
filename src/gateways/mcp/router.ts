import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import type { McpCaller } from './context.ts';
import { mergeInitialize } from './initialize.ts';
import {
  CAPABILITY,
  entryName,
  gather,
  isList,
  LISTS,
  type ListMethod,
  shown,
  unprefixed,
} from './listing.ts';
import { failure, type Params, type Reply, RPC } from './message.ts';
import type { ServerLine } from './server-line.ts';

/**
 * Which server a request goes to, and how several of them look like one.
 *
 * R1 One server: everything is passed on as it came, only lists are cut to what the caller may see.
 * R2 Several: a name says its server; a URI or a task belongs to the server that told of it. The order of
 *    the configuration decides, never the order of arrival.
 */
export interface Router {
  initialize(): Promise<Reply>;
  route(method: string, params: Params, forward: Forward): Promise<Reply>;
}

/** Judges, records, sends to one server. */
export type Forward = (line: ServerLine, method: string, name: string, params: Params) => Promise<Reply>;

export interface RouterDeps {
  readonly lines: readonly ServerLine[];
  readonly caller: McpCaller;
  readonly prefixed: boolean;
  readonly timeoutMs: number;
}

const MAX_OWNERS = 10_000;

export function createRouter(deps: RouterDeps): Router {
  const { lines, caller, prefixed } = deps;
  const owners = new Map<string, ServerLine>();
  const single = prefixed ? undefined : lines[0];

  /** The first server that tells of something owns it. The oldest is forgotten when there are too many. */
  const learn = (what: string, line: ServerLine): void => {
    if (owners.has(what)) return;
    if (owners.size >= MAX_OWNERS) owners.delete(owners.keys().next().value ?? '');
    owners.set(what, line);
  };

  const ownerOf = (uri: string): ServerLine | undefined =>
    owners.get(`uri ${uri}`) ??
    [...owners].find(([what]) => {
      const template = what.startsWith('uri ') ? what.slice(4) : '';
      return template.includes('{') && uri.startsWith(template.slice(0, template.indexOf('{')));
    })?.[1];

  const findOwner = async (uri: string): Promise<ServerLine | undefined> => {
    const known = ownerOf(uri);
    if (known !== undefined) return known;
    for (const line of lines) {
      if (line.capabilities.resources === undefined || line.now === undefined) continue;
      for (const method of ['resources/list', 'resources/templates/list'] as const)
        for (const entry of (await gather(line.now, method, deps)) ?? [])
          learn(`uri ${entryName(method, entry)}`, line);
    }
    return ownerOf(uri);
  };

  const listOne = async (
    line: ServerLine,
    method: ListMethod,
    params: Params,
    forward: Forward,
  ): Promise<Reply> => {
    // Listed by us first: what the client sees is held against what was pinned.
    if (method === 'tools/list' && line.pinning) await line.tool('');
    const reply = await forward(line, method, '', params);
    const entries = reply.ok ? reply.result[LISTS[method]] : undefined;
    if (!reply.ok || !Array.isArray(entries)) return reply;
    if (method === 'tools/list' && line.pinning) line.learn(entries);
    const visible = shown(method, line.name, entries as Json[], caller, false);
    return visible.length === entries.length
      ? reply
      : { ok: true, result: { ...reply.result, [LISTS[method]]: visible } };
  };

  const listAll = async (method: ListMethod, forward: Forward): Promise<Reply> => {
    const merged: Json[] = [];
    for (const line of lines) {
      if (line.capabilities[CAPABILITY[method]] === undefined) continue;
      // Judged and recorded once a server; its further pages belong to the same request.
      const first = await forward(line, method, '', undefined);
      if (!first.ok) continue;
      const more = typeof first.result.nextCursor === 'string' && line.now !== undefined;
      const entries = more && line.now ? await gather(line.now, method, deps) : first.result[LISTS[method]];
      if (!Array.isArray(entries)) continue;
      if (method === 'tools/list' && line.pinning) line.learn(entries);
      if (method.startsWith('resources/'))
        for (const entry of entries as Json[]) learn(`uri ${entryName(method, entry)}`, line);
      for (const entry of shown(method, line.name, entries as Json[], caller, true)) merged.push(entry);
    }
    return { ok: true, result: { [LISTS[method]]: merged } };
  };

  const routeAmong = async (
    method: string,
    params: JsonObject,
    name: string,
    forward: Forward,
  ): Promise<Reply> => {
    switch (method) {
      case 'ping':
        return { ok: true, result: {} };
      case 'logging/setLevel':
        for (const line of lines)
          if (line.capabilities.logging !== undefined) await forward(line, method, '', params);
        return { ok: true, result: {} };
      case 'tools/call':
      case 'prompts/get': {
        const plain = unprefixed(name);
        const line = lines.find((l) => l.name === plain?.server);
        if (!plain || !line) return failure(RPC.invalidParams, 'there is no tool or prompt of this name');
        const reply = await forward(line, method, plain.name, { ...params, name: plain.name });
        const task = reply.ok && isJsonObject(reply.result.task) ? reply.result.task.taskId : undefined;
        if (typeof task === 'string') learn(`task ${task}`, line);
        return reply;
      }
      case 'completion/complete': {
        const ref = isJsonObject(params.ref) ? params.ref : {};
        const plain = typeof ref.name === 'string' ? unprefixed(ref.name) : undefined;
        const line = plain ? lines.find((l) => l.name === plain.server) : await findOwner(name);
        if (!line) return failure(RPC.invalidParams, 'there is nothing of this name to complete');
        const asked = plain ? { ...params, ref: { ...ref, name: plain.name } } : params;
        return forward(line, method, plain?.name ?? name, asked);
      }
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        const line = await findOwner(name);
        return line
          ? forward(line, method, name, params)
          : failure(RPC.resourceNotFound, 'no server has this resource');
      }
      case 'tasks/list': {
        const tasks: Json[] = [];
        for (const line of lines) {
          if (line.capabilities.tasks === undefined) continue;
          const reply = await forward(line, method, '', params);
          const found = reply.ok && Array.isArray(reply.result.tasks) ? (reply.result.tasks as Json[]) : [];
          for (const task of found) {
            if (isJsonObject(task)) learn(`task ${task.taskId}`, line);
            tasks.push(task);
          }
        }
        return { ok: true, result: { tasks } };
      }
      case 'tasks/get':
      case 'tasks/result':
      case 'tasks/cancel': {
        const line = owners.get(`task ${params.taskId}`);
        return line
          ? forward(line, method, '', params)
          : failure(RPC.invalidParams, 'no server has this task');
      }
      default:
        return failure(RPC.methodNotFound, 'no such method');
    }
  };

  return {
    initialize: async () => {
      const replies = await Promise.all(lines.map((line) => line.start()));
      if (single !== undefined) return replies[0] ?? nobody;
      const results = lines.flatMap((line, i) => {
        const reply = replies[i];
        return reply?.ok ? [{ server: line.name, result: reply.result }] : [];
      });
      if (results.length === 0) return replies[0] ?? nobody;
      for (const [i, line] of lines.entries()) {
        const reply = replies[i];
        // What policy refused stays refused; what merely failed may come later.
        if (reply && !reply.ok && reply.error.code !== RPC.denied) line.revive();
      }
      return { ok: true, result: mergeInitialize(results) };
    },
    route: (method, params, forward) => {
      if (isList(method)) return single ? listOne(single, method, params, forward) : listAll(method, forward);
      const name = nameOf(method, params ?? {});
      return single ? forward(single, method, name, params) : routeAmong(method, params ?? {}, name, forward);
    },
  };
}

const nobody = failure(RPC.serverGone, 'there is no server this caller may use');

/** Tool, prompt or URI that a request is about; empty when it is about none. */
export function nameOf(method: string, params: JsonObject): string {
  const ref = isJsonObject(params.ref) ? params.ref : {};
  const named = method === 'completion/complete' ? (ref.name ?? ref.uri) : (params.name ?? params.uri);
  return typeof named === 'string' ? named : '';
}
