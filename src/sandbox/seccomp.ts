import { ALLOW, assemble, ERRNO, type Word } from './bpf.ts';

/**
 * System calls that a shut-in child has no business with, as a seccomp filter.
 *
 * X1 Only local, internet and netlink sockets: others (vsock to the hypervisor, kernel crypto, bluetooth …) know
 *    no network namespace. io_uring goes too, it opens sockets past this filter.
 * X2 No file gets a set-user-id bit: where we run as root, such a file in the workspace would be root's to
 *    whoever starts it on the host.
 * X3 Nothing that mounts, changes namespaces, loads code into the kernel, or reads keys and kernel messages.
 * X4 Calls of another architecture's numbering would slip past the numbers here: refused as not existing.
 */
interface Numbers {
  /** AUDIT_ARCH_* of the kernel. */
  readonly arch: number;
  readonly socket: number;
  readonly forbidden: readonly number[];
  /** Calls that take a file mode, the argument it is in, and for open the argument with the flags. */
  readonly modes: readonly { readonly nr: number; readonly arg: number; readonly flags?: number }[];
  readonly openat2: number;
  /** Numbers from here on belong to another calling convention (x32). */
  readonly foreignFrom?: number;
}

/** The newer calls have the same number everywhere: io_uring, mount API, fchmodat2 … */
const COMMON = {
  ioUring: [425, 426, 427],
  mountApi: [428, 429, 430, 431, 432, 433, 442],
  fchmodat2: 452,
  openat2: 437,
};

const X64: Numbers = {
  arch: 0xc000003e,
  socket: 41,
  // syslog, personality-changing and clock calls need capabilities; these need none or are not worth the risk:
  // keyctl request_key add_key · bpf perf_event_open userfaultfd · mount umount2 pivot_root chroot unshare setns
  // · init_module finit_module delete_module kexec_load kexec_file_load · syslog · swapon swapoff reboot acct
  forbidden: [
    250,
    249,
    248,
    321,
    298,
    323,
    165,
    166,
    155,
    161,
    272,
    308,
    175,
    313,
    176,
    246,
    320,
    103,
    167,
    168,
    169,
    163,
    ...COMMON.ioUring,
    ...COMMON.mountApi,
  ],
  modes: [
    { nr: 2, arg: 2, flags: 1 },
    { nr: 257, arg: 3, flags: 2 },
    { nr: 85, arg: 1 },
    { nr: 90, arg: 1 },
    { nr: 91, arg: 1 },
    { nr: 268, arg: 2 },
    { nr: COMMON.fchmodat2, arg: 2 },
    { nr: 133, arg: 1 },
    { nr: 259, arg: 2 },
  ],
  openat2: COMMON.openat2,
  foreignFrom: 0x40000000,
};

const ARM64: Numbers = {
  arch: 0xc00000b7,
  socket: 198,
  forbidden: [
    219,
    218,
    217,
    280,
    241,
    282,
    40,
    39,
    41,
    51,
    97,
    268,
    105,
    273,
    106,
    104,
    294,
    116,
    224,
    225,
    142,
    89,
    ...COMMON.ioUring,
    ...COMMON.mountApi,
  ],
  modes: [
    { nr: 56, arg: 3, flags: 2 },
    { nr: 52, arg: 1 },
    { nr: 53, arg: 2 },
    { nr: COMMON.fchmodat2, arg: 2 },
    { nr: 33, arg: 2 },
  ],
  openat2: COMMON.openat2,
};

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const FAMILIES = [1, 2, 10, 16];
const SET_ID_BITS = 0o6000;
/** O_CREAT, and the bit of O_TMPFILE that is its own: without them the mode is not read and may be anything. */
const CREATES = 0o100 | 0o20000000;

/** The filter for this processor. Where we do not know its numbers everything passes: the gate is still one. */
export function seccompFilter(architecture: string = process.arch): Uint8Array {
  const numbers = architecture === 'x64' ? X64 : architecture === 'arm64' ? ARM64 : undefined;
  return assemble(numbers === undefined ? [{ op: 'return', value: ALLOW }] : program(numbers));
}

function program(numbers: Numbers): readonly Word[] {
  const { arch, socket, forbidden, modes, openat2, foreignFrom } = numbers;
  return [
    { op: 'load', from: 'arch' },
    { op: 'if', test: '==', value: arch, go: 'ours' },
    { op: 'return', value: ERRNO | ENOSYS },
    { op: 'place', name: 'ours' },
    { op: 'load', from: 'nr' },
    ...(foreignFrom === undefined ? [] : [jump('>=', foreignFrom, 'absent')]),
    jump('==', openat2, 'absent'),
    jump('==', socket, 'socket'),
    ...modes.map(({ nr }, i) => jump('==', nr, `mode ${i}`)),
    ...forbidden.map((nr) => jump('==', nr, 'forbidden')),
    { op: 'return', value: ALLOW },
    { op: 'place', name: 'socket' },
    { op: 'load', from: { arg: 0 } },
    ...FAMILIES.map((family) => jump('==', family, 'fine')),
    { op: 'return', value: ERRNO | EAFNOSUPPORT },
    ...modes.flatMap(({ arg, flags }, i): readonly Word[] => [
      { op: 'place', name: `mode ${i}` },
      ...creates(flags, `creates ${i}`),
      { op: 'load', from: { arg } },
      jump('&', SET_ID_BITS, 'forbidden'),
      { op: 'return', value: ALLOW },
    ]),
    { op: 'place', name: 'fine' },
    { op: 'return', value: ALLOW },
    { op: 'place', name: 'forbidden' },
    { op: 'return', value: ERRNO | EPERM },
    { op: 'place', name: 'absent' },
    { op: 'return', value: ERRNO | ENOSYS },
  ];
}

function creates(flags: number | undefined, name: string): readonly Word[] {
  if (flags === undefined) return [];
  return [
    { op: 'load', from: { arg: flags } },
    jump('&', CREATES, name),
    { op: 'return', value: ALLOW },
    { op: 'place', name },
  ];
}

function jump(test: '==' | '>=' | '&', value: number, go: string): Word {
  return { op: 'if', test, value, go };
}
