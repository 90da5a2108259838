import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { CODES, messageOf, WritError } from '../core/index.ts';

/**
 * Where a gateway listens.
 *
 * L1 Loopback unless told otherwise; another address only with TLS, because tokens would cross the network.
 * L2 Whoever sends a request slowly, or never finishes it, is cut off.
 */
export const listenSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.number().int().min(0).max(65535).default(0),
  allowed_hosts: z.array(z.string().toLowerCase()).default([]),
  allowed_origins: z.array(z.string()).default([]),
  /** Certificate (with its chain) and key, PEM files; relative to the configuration. */
  tls: z.strictObject({ cert: z.string().min(1), key: z.string().min(1) }).optional(),
});
export type Listen = z.output<typeof listenSchema>;

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

export function listenMistake({ host, tls }: Listen): string | undefined {
  return LOOPBACK.has(host) || tls !== undefined
    ? undefined
    : `listening on ${host} needs tls: tokens would cross the network in the clear`;
}

export interface HttpServer {
  /** `http(s)://host:port` */
  readonly url: string;
  /** Ends open connections, then the server. */
  close(): Promise<void>;
}

export async function openHttpServer(
  { host, port, tls }: Listen,
  baseDir: string,
  listener: RequestListener,
): Promise<HttpServer> {
  const server: Server = tls
    ? createTlsServer(
        {
          cert: pem(resolve(baseDir, tls.cert)),
          key: pem(resolve(baseDir, tls.key)),
          minVersion: 'TLSv1.2',
        },
        listener,
      )
    : createServer(listener);
  server.requestTimeout = 120_000;
  server.headersTimeout = 20_000;
  await new Promise<void>((done, reject) => {
    server.once('error', (error) =>
      reject(
        new WritError(CODES.invalid_config, `cannot listen on ${host}:${port}: ${messageOf(error)}`, {
          suggestion: 'choose another port, or an address of this machine',
        }),
      ),
    );
    server.listen(port, host, 1024, done);
  });
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls ? 'https' : 'http'}://${shownHost}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function pem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new WritError(CODES.invalid_config, `${path}: ${messageOf(error)}`, {
      suggestion: 'name the PEM files under listen.tls',
    });
  }
}
