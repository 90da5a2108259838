import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bubblewrapArgs } from '../../src/sandbox/bubblewrap.ts';
import { listeningSockets } from '../../src/sandbox/host.ts';
import { limitArgs, outputLimit } from '../../src/sandbox/limits.ts';
import {
  type BubblewrapProfile,
  effective,
  isWithin,
  type Look,
  planMounts,
} from '../../src/sandbox/mounts.ts';

/** A machine in a table: path → its real path (links) and whether it is a file. */
const disk: Record<string, { real?: string; file?: boolean }> = {
  '/tmp': {},
  '/run': {},
  '/var/run': { real: '/run' },
  '/etc/shadow': { file: true },
  '/w': {},
  '/w/.writ': {},
  '/w/.writ/flights/f1/artifacts': {},
  '/w/src': {},
  '/w/link': { real: '/etc' },
  '/tmp/job': {},
  '/tmp/job/tool': { file: true },
  '/usr/bin': {},
  '/usr/bin/env': { file: true },
  '/etc': {},
  '/': {},
  '/proc': {},
  '/sys/fs': {},
  '/dev': {},
  '/etc/resolv.conf': { real: '/run/resolved/stub.conf', file: true },
  '/run/resolved/stub.conf': { file: true },
};
const look: Look = (path) => {
  const found = disk[path.length > 1 ? path.replace(/\/$/, '') : path];
  return found && { real: found.real ?? path.replace(/(?<=.)\/$/, ''), file: found.file ?? false };
};
const HOST = ['/tmp', '/run', '/var/run', '/etc/shadow', '/not/there'];
const none: BubblewrapProfile = { kind: 'bubblewrap', network: 'none' };

function plan(profile: Partial<BubblewrapProfile>, cwd = '/w', program = '/usr/bin/env') {
  return planMounts({ profile: { ...none, ...profile }, cwd, program, hostMasks: HOST }, look);
}
function mountsOf(...args: Parameters<typeof plan>) {
  const planned = plan(...args);
  if (!planned.ok) throw new Error(planned.reason);
  return planned.mounts;
}
const brief = (mounts: ReturnType<typeof mountsOf>) => mounts.map((m) => `${m.access} ${m.path}`);

describe('bubblewrap arguments', () => {
  it('[SBX-17] golden: the flight-plan of an engine', () => {
    const mounts = mountsOf({
      readonly: ['/w/src'],
      masked: ['/w/.writ'],
      writable: ['/w/.writ/flights/f1/artifacts'],
    });
    const args = bubblewrapArgs({
      mounts,
      network: 'none',
      cwd: '/w',
      disableUserns: true,
      command: ['/usr/bin/env', '-0'],
    });
    expect(args.join(' ')).toBe(
      [
        '--ro-bind / / --dev /dev --proc /proc --size 67108864 --tmpfs /dev/shm',
        '--size 1048576 --tmpfs /run --size 268435456 --tmpfs /tmp',
        '--ro-bind /dev/null /etc/shadow',
        '--size 1048576 --tmpfs /w/.writ --ro-bind /w/src /w/src',
        '--bind /w/.writ/flights/f1/artifacts /w/.writ/flights/f1/artifacts',
        '--remount-ro /run --remount-ro /w/.writ --remount-ro /dev --remount-ro /proc',
        '--unshare-net --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try',
        '--die-with-parent --new-session --unshare-user --disable-userns',
        '--uid 65534 --gid 65534 --cap-drop ALL --chdir /w --json-status-fd 3 --seccomp 4',
        '-- /usr/bin/env -0',
      ].join(' '),
    );
  });

  it('[SBX-17] golden: a take-off with network and a writable workspace', () => {
    const mounts = mountsOf({ network: 'host', writable: ['/w'], masked: ['/w/.writ'] });
    const args = bubblewrapArgs({
      mounts,
      network: 'host',
      cwd: '/w',
      disableUserns: false,
      command: ['/usr/bin/env'],
    });
    expect(args.join(' ')).toBe(
      [
        '--ro-bind / / --dev /dev --proc /proc --size 67108864 --tmpfs /dev/shm',
        '--size 1048576 --tmpfs /run --size 268435456 --tmpfs /tmp --bind /w /w',
        '--ro-bind /dev/null /etc/shadow --size 1048576 --tmpfs /w/.writ',
        '--ro-bind /run/resolved/stub.conf /run/resolved/stub.conf',
        '--remount-ro /run --remount-ro /w/.writ --remount-ro /dev --remount-ro /proc',
        '--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try',
        '--die-with-parent --new-session --unshare-user',
        '--uid 65534 --gid 65534 --cap-drop ALL --chdir /w --json-status-fd 3 --seccomp 4',
        '-- /usr/bin/env',
      ].join(' '),
    );
  });

  it('[SBX-17] whatever the mounts, the hardening is there and the root stays read-only', () => {
    const mount = fc.record({
      path: fc.constantFrom('/w', '/w/.writ', '/tmp', '/tmp/job', '/etc/shadow', '/w/src'),
      access: fc.constantFrom('writable' as const, 'readonly' as const, 'masked' as const),
      file: fc.boolean(),
      from: fc.constantFrom('caller' as const, 'host' as const),
    });
    fc.assert(
      fc.property(fc.array(mount), fc.boolean(), (mounts, disableUserns) => {
        const args = bubblewrapArgs({
          mounts,
          network: 'none',
          cwd: '/',
          disableUserns,
          command: ['/bin/true'],
        });
        expect(args.slice(0, 3)).toEqual(['--ro-bind', '/', '/']);
        for (const flag of [
          '--unshare-net',
          '--unshare-user',
          '--unshare-pid',
          '--unshare-ipc',
          '--die-with-parent',
          '--new-session',
        ])
          expect(args).toContain(flag);
        expect(args.join(' ')).toContain('--cap-drop ALL');
        expect(args.slice(args.indexOf('--') + 1)).toEqual(['/bin/true']);
      }),
    );
  });
});

describe('which paths a child sees', () => {
  it('[SBX-18] the deepest wish wins; on one path the strictest', () => {
    expect(
      brief(mountsOf({ writable: ['/w', '/w/src'], readonly: ['/w/src'], masked: ['/w/.writ', '/w/src'] })),
    ).toEqual([
      'masked /run',
      'masked /tmp',
      'writable /w',
      'masked /etc/shadow',
      'masked /w/.writ',
      'masked /w/src',
    ]);
  });

  it('[SBX-18] the caller may open what the host hides, by naming it', () => {
    expect(brief(mountsOf({ writable: ['/tmp'], readonly: ['/etc/shadow'] }))).toEqual([
      'masked /run',
      'writable /tmp',
      'readonly /etc/shadow',
    ]);
  });

  it('[SBX-18] a folder and a program under /tmp come back read-only, unless the caller masked them', () => {
    expect(brief(mountsOf({}, '/tmp/job', '/tmp/job/tool'))).toContain('readonly /tmp/job');
    expect(plan({ masked: ['/tmp/job'] }, '/tmp/job')).toEqual({ ok: false, reason: '/tmp/job is masked' });
    expect(plan({ masked: ['/tmp/job'] }, '/w', '/tmp/job/tool')).toMatchObject({ ok: false });
  });

  it('[SBX-19] a writable path through a symlink, the root and the kernel are refused', () => {
    for (const path of [
      '/w/link',
      '/',
      '/proc',
      '/sys/fs',
      '/dev',
      'relative',
      '/no/such',
      '/var/run',
      '/w\0',
    ])
      expect(plan({ writable: [path] })).toMatchObject({ ok: false });
    expect(plan({ readonly: ['/w/link'] })).toMatchObject({ ok: false });
    expect(plan({ masked: ['/'] })).toMatchObject({ ok: false });
    expect(plan({ writable: ['/w/link'] })).toMatchObject({ reason: expect.stringContaining('symlink') });
  });

  it('a mask follows its link, and holds a place in a writable folder even when nothing is there', () => {
    expect(brief(mountsOf({ masked: ['/w/link'] }))).toContain('masked /etc');
    expect(brief(mountsOf({ writable: ['/w'], masked: ['/w/keys'] }))).toContain('masked /w/keys');
    expect(brief(mountsOf({ masked: ['/w/keys'] }))).not.toContain('masked /w/keys');
  });

  it('[SBX-26] folders on the way to something protected are mounts too, so that they cannot be renamed', () => {
    disk['/w/a'] = {};
    disk['/w/a/b'] = {};
    disk['/w/a/b/keys'] = {};
    expect(brief(mountsOf({ writable: ['/w'], masked: ['/w/a/b/keys'] }))).toEqual([
      'masked /run',
      'masked /tmp',
      'writable /w',
      'masked /etc/shadow',
      'writable /w/a',
      'writable /w/a/b',
      'masked /w/a/b/keys',
    ]);
    expect(brief(mountsOf({ writable: ['/w'], readonly: ['/w/a/b'] }))).toContain('writable /w/a');
    expect(brief(mountsOf({ masked: ['/w/a/b/keys'] }))).not.toContain('writable /w/a');
    expect(brief(mountsOf({ writable: ['/w'], masked: ['/w/no/such/keys'] }))).toContain('masked /w/no');
  });

  it('what the host hides in a hidden folder needs no mount, unless the caller opened that folder', () => {
    disk['/run/user'] = {};
    disk['/run/user/bus'] = { file: true };
    const sockets = [...HOST, '/run/user/bus'];
    const planned = (profile: Partial<BubblewrapProfile>) =>
      planMounts(
        { profile: { ...none, ...profile }, cwd: '/w', program: '/usr/bin/env', hostMasks: sockets },
        look,
      );
    expect(planned({})).toMatchObject({
      mounts: expect.not.arrayContaining([expect.objectContaining({ path: '/run/user/bus' })]),
    });
    expect(planned({ writable: ['/run/user'] })).toMatchObject({
      mounts: expect.arrayContaining([expect.objectContaining({ path: '/run/user/bus', access: 'masked' })]),
    });
  });

  it('a missing folder is told', () => {
    expect(plan({}, '/gone')).toEqual({ ok: false, reason: '/gone: no such folder' });
    expect(plan({}, '/etc/shadow')).toMatchObject({ ok: false });
  });

  it('[SBX-18] parents come before what lies in them, and a masked path stays masked below', () => {
    const paths = fc.subarray(['/w', '/w/.writ', '/w/src', '/tmp/job', '/w/.writ/flights/f1/artifacts']);
    fc.assert(
      fc.property(paths, paths, paths, (writable, readonly, masked) => {
        const planned = plan({ writable, readonly, masked }, '/etc');
        if (!planned.ok) return;
        const seen = planned.mounts.map((m) => m.path);
        for (const [i, path] of seen.entries())
          for (const later of seen.slice(i + 1)) expect(isWithin(path, later) && path !== later).toBe(false);
        for (const path of masked) expect(effective(planned.mounts, path)?.access).toBe('masked');
        for (const path of writable)
          if (![...readonly, ...masked].includes(path))
            expect(effective(planned.mounts, path)?.access).toBe('writable');
      }),
    );
  });
});

describe('the small parts', () => {
  it('reads the table of unix sockets', () => {
    const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000: 00000002 00000000 00010000 0001 01 12 /srv/app/my socket
0000: 00000002 00000000 00010000 0001 01 13 @/tmp/abstract
0000: 00000003 00000000 00000000 0001 03 14
0000: 00000002 00000000 00010000 0001 01 15 relative.sock
0000: 00000002 00000000 00010000 0001 01 16 /srv/app/my socket`;
    expect(listeningSockets(table)).toEqual(['/srv/app/my socket']);
  });

  it('turns limits into prlimit arguments, and nothing into none', () => {
    expect(limitArgs({}, true)).toEqual([]);
    expect(limitArgs({ maxOutputBytes: 5 }, true)).toEqual([]);
    expect(limitArgs({ memoryBytes: 1.5, fileBytes: 2, cpuSeconds: 3, processes: 4 }, true)).toEqual([
      '--core=0',
      '--data=2',
      '--fsize=2',
      '--cpu=3',
      '--nproc=96',
    ]);
    expect(limitArgs({ processes: 4 }, false)).toEqual([]);
  });

  it('output is always bounded', () => {
    expect(outputLimit(undefined)).toBe(10 * 1024 * 1024);
    expect(outputLimit({ maxOutputBytes: Number.NaN })).toBe(10 * 1024 * 1024);
    expect(outputLimit({ maxOutputBytes: Number.POSITIVE_INFINITY })).toBe(1024 ** 3);
    expect(outputLimit({ maxOutputBytes: 0 })).toBe(0);
  });
});
