import { describe, expect, it } from 'vitest';
import { assemble } from '../../src/sandbox/bpf.ts';
import { seccompFilter } from '../../src/sandbox/seccomp.ts';

const ALLOW = 0x7fff0000;
const EPERM = 0x50001;
const ENOSYS = 0x50026;
const EAFNOSUPPORT = 0x50061;

/** What the kernel would answer: the filter, run by the book. */
function judge(filter: Uint8Array, arch: number, nr: number, args: readonly number[] = []): number {
  const code = Buffer.from(filter);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr >>> 0, 0);
  data.writeUInt32LE(arch, 4);
  for (const [i, arg] of args.entries()) data.writeBigUInt64LE(BigInt(arg), 16 + 8 * i);
  let a = 0;
  for (let pc = 0; pc < code.length / 8; pc++) {
    const [op, yes, no, k] = [
      code.readUInt16LE(pc * 8),
      code[pc * 8 + 2]!,
      code[pc * 8 + 3]!,
      code.readUInt32LE(pc * 8 + 4),
    ];
    if (op === 0x20) a = data.readUInt32LE(k);
    else if (op === 0x06) return k;
    else if (op === 0x15) pc += a === k ? yes : no;
    else if (op === 0x35) pc += a >= k ? yes : no;
    else if (op === 0x45) pc += (a & k) !== 0 ? yes : no;
    else throw new Error(`unknown instruction ${op}`);
  }
  throw new Error('ran off the end');
}

describe('the seccomp filter', () => {
  const machines = [
    {
      name: 'x64',
      arch: 0xc000003e,

      socket: 41,
      openat: 257,
      fchmodat: 268,
      mount: 165,
      keyctl: 250,
      read: 0,
    },
    {
      name: 'arm64',
      arch: 0xc00000b7,

      socket: 198,
      openat: 56,
      fchmodat: 53,
      mount: 40,
      keyctl: 219,
      read: 63,
    },
  ] as const;

  it.each(machines)('[SBX-30] on $name lets ordinary calls through and refuses the others', (m) => {
    const filter = seccompFilter(m.name)!;
    const ask = (nr: number, ...args: number[]) => judge(filter, m.arch, nr, args);
    expect(ask(m.read)).toBe(ALLOW);
    for (const nr of [m.mount, m.keyctl, 425, 426, 427, 428, 429, 442]) expect(ask(nr)).toBe(EPERM);
    expect(ask(437)).toBe(ENOSYS);
    for (const family of [1, 2, 10, 16]) expect(ask(m.socket, family)).toBe(ALLOW);
    for (const family of [0, 3, 17, 31, 38, 40, 44]) expect(ask(m.socket, family)).toBe(EAFNOSUPPORT);
    expect(ask(m.fchmodat, 3, 0, 0o755)).toBe(ALLOW);
    for (const mode of [0o4755, 0o2755, 0o6000]) expect(ask(m.fchmodat, 3, 0, mode)).toBe(EPERM);
    expect(ask(m.openat, 3, 0, 0, 0o4755)).toBe(ALLOW);
    expect(ask(m.openat, 3, 0, 0o101, 0o644)).toBe(ALLOW);
    expect(ask(m.openat, 3, 0, 0o101, 0o4755)).toBe(EPERM);
    expect(ask(m.openat, 3, 0, 0o20200001, 0o4755)).toBe(EPERM);
    expect(judge(filter, 0x40000003, m.read)).toBe(ENOSYS);
  });

  it('[SBX-30] refuses the x32 numbers of x64', () => {
    const filter = seccompFilter('x64')!;
    expect(judge(filter, 0xc000003e, 0x40000000)).toBe(ENOSYS);
    expect(judge(filter, 0xc000003e, 0xffffffff)).toBe(ENOSYS);
    expect(judge(filter, 0xc000003e, 0x3fffffff)).toBe(ALLOW);
  });

  it('lets everything pass on processors it does not know, and a jump out of reach is a mistake', () => {
    expect(judge(seccompFilter('riscv64'), 0xc00000f3, 165)).toBe(ALLOW);
    expect(() => assemble([{ op: 'if', test: '==', value: 1, go: 'nowhere' }])).toThrow(RangeError);
  });
});
