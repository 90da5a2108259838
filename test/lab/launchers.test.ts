import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type PreparedLab, prepareLab } from '../../src/lab/index.ts';
import { SHOP, temporaryFolder } from './lab-dir.ts';

let lab: PreparedLab;

beforeAll(async () => {
  lab = await prepareLab(SHOP, join(temporaryFolder(), 'lab'), { speed: 60 });
});

/** As a person would: through PATH, in a process of its own, with nothing else in the environment. */
function run(command: string, ...argv: string[]) {
  const done = spawnSync(join(lab.bin, command), argv, {
    encoding: 'utf8',
    env: { PATH: lab.bin },
    cwd: lab.dir,
  });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

describe('a prepared lab', () => {
  it('[LAB-16] answers for az from anywhere', () => {
    expect(run('az', 'account', 'show', '--query', 'name', '-o', 'tsv')).toEqual({
      code: 0,
      stdout: 'Writ Lab\n',
      stderr: '',
    });
    expect(run('az', 'vm', 'show', '-g', 'shop-rg', '-n', 'nope').code).toBe(3);
    expect(run('az', 'group', 'list', '-o', 'yaml').stdout).toContain('name: shop-rg');
  });

  it('[LAB-20] answers for the tools of the engineer’s machine', () => {
    expect(run('ping', '-c', '1', '10.1.2.4').code).toBe(1);
    expect(run('dig', '+short', 'db.shop.internal').stdout).toBe('');
    expect(run('nslookup', 'db.shop.internal').code).toBe(1);
    expect(run('host', 'shop.example').stdout).toBe('shop.example has address 20.50.1.9\n');
    expect(run('traceroute', '-m', '3', '10.1.2.4').stdout).toContain('* * *');
    expect(run('mtr', '-r', '-c', '2', '10.1.2.4').stdout).toContain('100.0%');
    expect(run('curl', '-m', '2', 'https://20.50.1.9/').stdout).toContain('OK');
    expect(run('nc', '-zv', '-w', '2', '20.50.1.9', '22')).toMatchObject({ code: 1 });
  });

  it('[LAB-19] runs commands in guests, and keeps what they changed', () => {
    const invoke = (script: string) =>
      run(
        'az',
        'vm',
        'run-command',
        'invoke',
        '-g',
        'shop-rg',
        '-n',
        'db-01',
        '--command-id',
        'RunShellScript',
        '--scripts',
        script,
        '--query',
        'value[0].message',
        '-o',
        'tsv',
      ).stdout;
    expect(invoke('ss -ltn')).toContain('0.0.0.0:5432');
    invoke('iptables -P INPUT DROP');
    expect(invoke('iptables -S INPUT')).toContain('-P INPUT DROP');
    invoke('iptables -P INPUT ACCEPT');
  });

  it('[LAB-21] [LAB-22] a 60 s capture with polling takes about a second', () => {
    const began = Date.now();
    const capture = ['network', 'watcher', 'packet-capture'];
    const path = 'https://shopcaps.blob.core.windows.net/captures/x.pcap';
    expect(
      run(
        'az',
        ...capture,
        'create',
        '-g',
        'shop-rg',
        '-n',
        'x',
        '--vm',
        'web-01',
        '--storage-account',
        'shopcaps',
        '--storage-path',
        path,
        '--time-limit',
        '60',
      ).code,
    ).toBe(0);
    let status = '';
    for (let polls = 0; polls < 200 && status !== 'Stopped'; polls++)
      status = run(
        'az',
        ...capture,
        'show-status',
        '-l',
        'westeurope',
        '-n',
        'x',
        '--query',
        'packetCaptureStatus',
        '-o',
        'tsv',
      ).stdout.trim();
    expect(status).toBe('Stopped');
    const waited = Date.now() - began;
    expect(waited).toBeGreaterThan(900);
    expect(waited).toBeLessThan(15_000);
    run(
      'az',
      'storage',
      'blob',
      'download',
      '--account-name',
      'shopcaps',
      '-c',
      'captures',
      '-n',
      'x.pcap',
      '-f',
      'x.pcap',
      '--auth-mode',
      'login',
      '--no-progress',
    );
    const file = join(lab.dir, 'x.pcap');
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file).length).toBeGreaterThan(10_000);
  });

  it('WRIT_LAB_SPEED changes the pace without a jump', async () => {
    const slow = await prepareLab(SHOP, join(temporaryFolder(), 'lab'), {
      speed: 1,
    });
    const az = (...argv: string[]) =>
      execFileSync(join(slow.bin, 'az'), argv, { encoding: 'utf8', env: { WRIT_LAB_SPEED: '3600' } });
    az('vm', 'restart', '-g', 'shop-rg', '-n', 'web-01');
    await new Promise((resolve) => setTimeout(resolve, 300));
    az('vm', 'restart', '-g', 'shop-rg', '-n', 'web-01');
    const log = JSON.parse(
      az(
        'monitor',
        'activity-log',
        'list',
        '--offset',
        '30d',
        '--query',
        "[?contains(operationName.value,'restart')].eventTimestamp",
      ),
    ) as string[];
    const gap = Date.parse(log[0]!) - Date.parse(log[1]!);
    expect(gap).toBeGreaterThan(300 * 3600 * 0.9);
    expect(gap).toBeLessThan(60_000 * 3600);
  });

  it('says so in a line when the lab is gone', async () => {
    const gone = await prepareLab(SHOP, join(temporaryFolder(), 'lab'));
    rmSync(join(gone.dir, 'world.json'));
    const done = spawnSync(join(gone.bin, 'az'), ['vm', 'list'], { encoding: 'utf8' });
    expect(done.status).toBe(1);
    expect(done.stderr).toMatch(/^writ lab: ENOENT.*world\.json'\n$/);
  });

  it('is not made over something that is not a lab', async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'thesis.txt'), 'precious');
    await expect(prepareLab(SHOP, dir)).rejects.toThrow(/not empty and is not a lab/);
    expect(readFileSync(join(dir, 'thesis.txt'), 'utf8')).toBe('precious');
    await prepareLab(SHOP, lab.dir.replace(/lab$/, 'again'));
    await expect(prepareLab(SHOP, lab.dir.replace(/lab$/, 'again'))).resolves.toBeDefined();
    await expect(prepareLab(SHOP, lab.dir.replace(/lab$/, 'third'), { speed: -1 })).rejects.toThrow(
      /out of range/,
    );
  });

  it('[LAB-23] a call takes little more than Node itself', () => {
    // Processor time, not the wall clock's: the promise is about the work, and other tests are running too.
    const milliseconds = (command: string) => {
      const { stderr } = spawnSync('bash', ['-c', `TIMEFORMAT='%3U %3S'; time ${command} >/dev/null`], {
        encoding: 'utf8',
      });
      return stderr
        .trim()
        .split(' ')
        .reduce((sum, seconds) => sum + Number(seconds) * 1000, 0);
    };
    const times: { node: number[]; az: number[] } = { node: [], az: [] };
    for (let i = 0; i < 15; i++) {
      times.node.push(milliseconds(`'${process.execPath}' -e 0`));
      times.az.push(milliseconds(`'${join(lab.bin, 'az')}' vm list`));
    }
    const middle = (list: number[]) => list.sort((a, b) => a - b)[7]!;
    expect(middle(times.az) / middle(times.node)).toBeLessThan(1.6);
  });
});
