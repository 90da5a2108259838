/** Seeded randomness and the small words that the families of lines are made of. */
export function generator(seed: number) {
  // xorshift32: small, the same everywhere.
  let x = seed >>> 0 || 1;
  const next = () => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x / 2 ** 32;
  };
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const chars = (set: string, n: number) =>
    Array.from({ length: n }, () => set[Math.floor(next() * set.length)]).join('');
  return { next, pick, chars };
}
export type Random = ReturnType<typeof generator>;
export type Families = Readonly<Record<string, (r: Random) => string>>;

export const B64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
export const ALNUM = B64.slice(0, 62);
export const HEX = '0123456789abcdef';
export const WORDS =
  'route table update subnet gateway backend frontend replicas timeout healthy public private region west north service port name version enabled owner team billing deploy release build cache queue worker orders invoice shipping portal search audit metrics mailer crew ledger'.split(
    ' ',
  );

export const word = (r: Random) => r.pick(WORDS);
export const caps = (r: Random) => word(r).toUpperCase();
export const some = (r: Random, n: number) => Array.from({ length: n }, () => word(r)).join(' ');
export const name = (r: Random) => `${word(r)}-${word(r)}-${Math.floor(r.next() * 90 + 10)}`;
export const number = (r: Random, below: number) => Math.floor(r.next() * below);
export const uuid = (r: Random) => [8, 4, 4, 4, 12].map((n) => r.chars(HEX, n)).join('-');
/** What people choose themselves, and what machines draw. */
export const password = (r: Random) =>
  r.pick([
    () => `${word(r)}${r.pick(['!', '#', '$', '&'])}${number(r, 9000) + 1000}`,
    () => `${word(r)[0]?.toUpperCase()}${word(r).slice(1)}${number(r, 99)}${r.pick(['!', '?', '#', ''])}`,
    () => r.chars(`${ALNUM}#%&!`, 12 + number(r, 12)),
    () => r.chars(ALNUM, 16 + number(r, 16)),
  ])();
export const root = (r: Random) =>
  r.pick([
    '/',
    '/etc',
    '/usr',
    '/var',
    '/home',
    '~',
    '/*',
    '/boot',
    '/opt',
    '/srv',
    '/root',
    '/lib',
    '/var/lib',
  ]);
export const disk = (r: Random) =>
  `/dev/${r.pick(['sda', 'sdb', 'sdc', 'nvme0n1', 'nvme1n1', 'vda', 'xvda', 'mmcblk0'])}`;
