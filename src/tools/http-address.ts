import { lookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { canonicalAddress, type Finding, type JudgeUrl, parseAddress } from '../policy/index.ts';

/**
 * From a name to one judged address, and a connection that can go to no other.
 *
 * H1 Every address a name gives is judged; one that is denied denies the call.
 * H2 The name is asked once. The connection takes the judged address from us, never from a second answer.
 * H3 The socket's far end is compared with the judged address before a byte is sent.
 */
export type Judged =
  | { readonly address: string }
  | { readonly finding: Finding }
  | { readonly error: string };

export async function judgedAddress(
  host: string,
  judge: JudgeUrl,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Judged> {
  const literal = canonicalAddress(host);
  let addresses: readonly string[];
  try {
    addresses = literal !== undefined ? [literal] : await interruptible(resolveName(host, servers), signal);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return { error: `${host} cannot be resolved${code === undefined ? '' : ` (${code})`}` };
  }
  for (const address of addresses) {
    const finding = judge.address(address, host);
    if (finding) return { finding };
  }
  const [address] = addresses;
  return address === undefined ? { error: `${host} has no address` } : { address };
}

async function resolveName(host: string, servers: readonly string[] | undefined): Promise<readonly string[]> {
  if (servers === undefined) return (await lookup(host, { all: true })).map(({ address }) => address);
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers([...servers]);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failure = answers.find((answer) => answer.status === 'rejected');
  if (addresses.length === 0 && failure) throw failure.reason;
  return addresses;
}

function interruptible<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** A connector for one address. The name still goes into the Host header and the TLS handshake. */
export function connectTo(address: string): buildConnector.connector {
  const family = parseAddress(address)?.kind() === 'ipv6' ? 6 : 4;
  const pinned: LookupFunction = (_name, options, done) => {
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };
  const connect = buildConnector({ lookup: pinned });
  return (options, done) =>
    connect(options, (error, socket) => {
      if (error !== null || socket === null) {
        done(error ?? new Error('no connection'), null);
        return;
      }
      const far = canonicalAddress(socket.remoteAddress ?? '');
      if (far === canonicalAddress(address)) done(null, socket);
      else {
        socket.destroy();
        done(new Error(`connected to ${far ?? 'nowhere'}, not to ${address}`), null);
      }
    });
}
