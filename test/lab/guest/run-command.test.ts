import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guestCommand } from '../../../src/lab/guest/commands.ts';
import { Machine } from '../../../src/lab/guest/machine.ts';
import { runScript } from '../../../src/lab/guest/shell.ts';
import { findVm } from '../../../src/lab/network/places.ts';
import type { World } from '../../../src/lab/world/types.ts';
import { testLab } from '../lab-dir.ts';
import { pair } from '../small.ts';

const NOW = Date.parse('2026-01-15T14:31:00Z');

function on(world: World, vm: string, script: string) {
  return runScript(script, new Machine(world, findVm(world, vm)!, NOW, script), guestCommand);
}
const says = (world: World, vm: string, script: string) => on(world, vm, script).stdout;

describe('az vm run-command', () => {
  const invoke = (lab: ReturnType<typeof testLab>, vm: string, ...scripts: string[]) =>
    lab.json<{ value: { code: string; message: string }[] }>(
      'vm',
      'run-command',
      'invoke',
      '-g',
      'shop-rg',
      '-n',
      vm,
      '--command-id',
      'RunShellScript',
      '--scripts',
      ...scripts,
    );

  it('[LAB-19] answers in the shape of the real agent', async () => {
    const { value } = await invoke(testLab(), 'web-01', 'echo hello', 'echo oops >&2');
    expect(value).toHaveLength(1);
    expect(value[0]).toMatchObject({
      code: 'ProvisioningState/succeeded',
      message: 'Enable succeeded: \n[stdout]\nhello\n\n[stderr]\noops\n',
    });
    const failed = await invoke(testLab(), 'web-01', 'nonsense --now');
    expect(failed.value[0]!.message).toBe(
      'Enable failed: failed to execute command: command terminated with exit status=127\n[stdout]\n\n[stderr]\nsh: nonsense: not found\n',
    );
  });

  it('[LAB-19] keeps the last 4096 characters of each stream', async () => {
    const { value } = await invoke(testLab(), 'web-01', 'for i in {1..400}; do echo line-number-$i; done');
    expect(value[0]!.message).toContain('line-number-400');
    expect(value[0]!.message).not.toContain('line-number-1\n');
    expect(value[0]!.message.length).toBeLessThan(4200);
  });

  it('[LAB-18] [LAB-19] what a script changes stays changed', async () => {
    const lab = testLab();
    await invoke(lab, 'db-01', 'iptables -I INPUT -p tcp --dport 5432 -j DROP');
    expect((await invoke(lab, 'web-01', 'nc -zv -w2 10.1.2.4 5432')).value[0]!.message).toContain(
      'timed out',
    );
    expect((await invoke(lab, 'db-01', 'iptables -S INPUT')).value[0]!.message).toContain(
      '-A INPUT -p tcp -m tcp --dport 5432 -j DROP',
    );
    await invoke(lab, 'db-01', 'sudo iptables -D INPUT -p tcp --dport 5432 -j DROP');
    expect((await invoke(lab, 'web-01', 'nc -zv -w2 10.1.2.4 5432')).value[0]!.message).toContain(
      'succeeded',
    );
    const [latest] = await lab.json<{ operationName: { value: string } }[]>(
      'monitor',
      'activity-log',
      'list',
    );
    expect(latest!.operationName.value).toBe('Microsoft.Compute/virtualMachines/runCommand/action');
  });
});

describe('inside the guest', () => {
  const world = pair();

  it('[LAB-19] ss and netstat show who listens', () => {
    expect(says(world, 'server', 'ss -ltnp')).toMatch(
      /LISTEN\s+0\s+511\s+0\.0\.0\.0:8080\s+0\.0\.0\.0:\*\s+users:\(\("java",pid=\d+,fd=3\)\)/,
    );
    expect(says(world, 'server', 'netstat -tlnp')).toMatch(
      /tcp\s+0\s+0 0\.0\.0\.0:8080\s+0\.0\.0\.0:\*\s+LISTEN\s+\d+\/java/,
    );
    expect(says(world, 'client', 'ss -ltn').trim().split('\n')).toHaveLength(1);
    expect(says(world, 'server', 'lsof -i :8080')).toContain('*:8080 (LISTEN)');
  });

  it('[LAB-19] a slow reader has a full receive queue, its client a full send queue', () => {
    const slow = pair('', { server: 'app: { reads_slowly: true }' });
    expect(says(slow, 'server', 'ss -tn')).toMatch(/ESTAB\s+212992\s+0\s+10\.0\.2\.4:8080/);
    expect(says(slow, 'client', 'ss -tnm')).toMatch(/ESTAB\s+0\s+98304 .*10\.0\.2\.4:8080[\s\S]*skmem/);
    expect(says(slow, 'server', 'ss -tin')).toContain('rwnd_limited');
    expect(says(world, 'server', 'ss -tn')).toMatch(/ESTAB\s+0\s+0/);
  });

  it('[LAB-19] a dropped conversation is SYN-SENT, a reset one is nowhere', () => {
    const dropped = pair('', { server: 'os_firewall: [{ chain: INPUT, action: DROP }]' });
    expect(says(dropped, 'client', 'ss -tan')).toMatch(
      /SYN-SENT\s+0\s+1\s+10\.0\.1\.4:\d+\s+10\.0\.2\.4:8080/,
    );
    expect(says(pair('', { server: 'power: stopped' }), 'client', 'netstat -ant')).toContain('SYN_SENT');
  });

  it('[LAB-19] iptables, nft and ufw', () => {
    expect(says(world, 'server', 'iptables -S')).toBe(
      '-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n',
    );
    const shut = pair('', {
      server:
        'os_policy: { INPUT: DROP }, os_firewall: [{ chain: INPUT, protocol: tcp, port: [22, 80], source: 10.0.0.0/8, action: ACCEPT }, { chain: INPUT, protocol: icmp, action: REJECT }]',
    });
    expect(says(shut, 'server', 'iptables -S INPUT')).toBe(
      '-P INPUT DROP\n-A INPUT -i lo -j ACCEPT\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -s 10.0.0.0/8 -p tcp -m multiport --dports 22,80 -j ACCEPT\n-A INPUT -p icmp -j REJECT --reject-with icmp-port-unreachable\n',
    );
    expect(says(shut, 'server', 'iptables -nvL INPUT --line-numbers')).toMatch(
      /policy DROP \d+ packets[\s\S]*\n4 {4}.*REJECT\s+icmp/,
    );
    expect(says(shut, 'server', 'nft list ruleset')).toContain('policy drop;');
    expect(says(shut, 'server', 'nft list ruleset')).toContain(
      'ip saddr 10.0.0.0/8 tcp dport { 22, 80 } counter accept',
    );
    expect(says(shut, 'server', 'ufw status')).toBe('Status: inactive\n');
    expect(says(shut, 'server', 'iptables -t nat -S')).toContain('-P PREROUTING ACCEPT');
  });

  it('[LAB-19] counters of a rule that meets traffic are not zero', () => {
    const dropped = pair('', {
      server:
        'os_firewall: [{ chain: INPUT, protocol: tcp, port: 8080, action: DROP }, { chain: INPUT, protocol: tcp, port: 99, action: DROP }]',
    });
    const lines = says(dropped, 'server', 'iptables -nvL INPUT').split('\n');
    expect(Number(/^\s*(\d+)/.exec(lines.find((l) => l.includes('dpt:8080'))!)![1])).toBeGreaterThan(1000);
    expect(Number(/^\s*(\d+)/.exec(lines.find((l) => l.includes('dpt:99'))!)![1])).toBe(0);
  });

  it('[LAB-19] changes by number, by rule, by policy and by flush', () => {
    const rules = pair('', {
      server: 'os_firewall: [{ chain: INPUT, protocol: tcp, port: 8080, action: DROP }]',
    });
    const left = (script: string) => says(rules, 'server', `${script}; iptables -S INPUT`);
    expect(left('iptables -D INPUT 3')).toBe('-P INPUT ACCEPT\n');
    expect(left('iptables -D INPUT -p tcp --dport 8080 -j DROP')).toBe('-P INPUT ACCEPT\n');
    expect(left('iptables -F')).toBe('-P INPUT ACCEPT\n');
    expect(left('iptables -P INPUT DROP')).toContain('-P INPUT DROP');
    expect(left('iptables -I INPUT 1 -s 10.0.1.4 -j ACCEPT')).toMatch(/-s 10\.0\.1\.4\/32 -j ACCEPT\n.*DROP/);
    expect(on(rules, 'server', 'iptables -D INPUT -p udp --dport 1 -j DROP')).toMatchObject({ code: 1 });
    expect(on(rules, 'server', 'iptables -A INPUT --teleport')).toMatchObject({ code: 2 });
  });

  it('[LAB-19] services: inactive when nobody listens where traffic goes, and they can be started', () => {
    const missing = pair('', {});
    const without: World = { ...missing, vms: missing.vms.map((v) => ({ ...v, listens: [] })) };
    expect(on(without, 'server', 'systemctl status java')).toMatchObject({ code: 3 });
    expect(says(without, 'server', 'systemctl status java')).toContain('inactive (dead)');
    expect(says(without, 'server', 'systemctl start java; ss -ltn')).toContain('0.0.0.0:8080');
    expect(says(missing, 'server', 'systemctl is-active java')).toBe('active\n');
    expect(says(missing, 'server', 'systemctl stop java; ss -ltn')).not.toContain(':8080');
    expect(on(missing, 'server', 'systemctl status nothing').stderr).toContain('could not be found');
    expect(says(missing, 'server', 'ps aux | grep -c java')).toBe('1\n');
  });

  it('[LAB-19] addresses, routes, resolver, forwarding', () => {
    expect(says(world, 'server', 'ip -4 addr show eth0')).toContain('inet 10.0.2.4/24');
    expect(says(world, 'server', 'ip route')).toContain('default via 10.0.2.1 dev eth0');
    expect(says(world, 'server', 'ip route get 10.0.2.9')).toContain('10.0.2.9 dev eth0 src 10.0.2.4');
    expect(says(world, 'server', 'cat /etc/resolv.conf')).toContain('nameserver 168.63.129.16');
    expect(says(world, 'server', 'cat /proc/sys/net/ipv4/ip_forward; sysctl -n net.ipv4.ip_forward')).toBe(
      '0\n0\n',
    );
    expect(says(world, 'server', 'sysctl -w net.ipv4.ip_forward=1; sysctl net.ipv4.ip_forward')).toBe(
      'net.ipv4.ip_forward = 1\nnet.ipv4.ip_forward = 1\n',
    );
    expect(says(world, 'server', 'hostname; getent hosts client')).toBe('server\n10.0.1.4        client\n');
    expect(on(world, 'server', 'cat /etc/shadow')).toMatchObject({ code: 1, stdout: '' });
  });

  it('[LAB-19] counters show what a wire does', () => {
    const bad = pair('', { server: 'link: { loss_pct: 5, corrupt_pct: 2, rate_mbit: 4, reorder_pct: 10 }' });
    expect(says(world, 'server', 'ip -s link show eth0')).toMatch(/errors dropped[\s\S]*\d+ \d+ 0 0 0 0\n/);
    expect(says(bad, 'server', 'cat /sys/class/net/eth0/statistics/rx_errors')).not.toBe('0\n');
    expect(says(bad, 'server', 'ethtool -S eth0')).toMatch(/rx_crc_errors: [1-9]/);
    expect(says(bad, 'server', 'tc -s qdisc show dev eth0')).toMatch(/dropped [1-9]\d*, overlimits [1-9]/);
    expect(says(bad, 'server', 'netstat -s')).toMatch(/InCsumErrors: [1-9]/);
    expect(says(bad, 'client', 'netstat -s')).toContain('Detected reordering');
    expect(says(pair('', { server: 'link: { mtu: 1300 }' }), 'client', 'ss -ti')).toMatch(
      /backoff:4.*retrans:1\/9/,
    );
  });

  it('[LAB-19] pipes, conditions, loops, substitution, redirection', () => {
    expect(says(world, 'server', 'ss -ltn | grep 8080 | wc -l')).toBe('1\n');
    expect(says(world, 'server', 'true && echo yes || echo no; false && echo a || echo b')).toBe('yes\nb\n');
    expect(says(world, 'server', 'for p in 22 8080; do echo "port $p"; done')).toBe('port 22\nport 8080\n');
    expect(says(world, 'server', 'H=$(hostname); echo "on $H"; echo $MISSING')).toBe('on server\n\n');
    expect(says(world, 'server', 'if ss -ltn | grep -q :9; then echo nine; else echo none; fi')).toBe(
      'none\n',
    );
    expect(on(world, 'server', 'ls /x 2>/dev/null; echo a > /tmp/f; cat /nope 2>&1')).toMatchObject({
      stderr: '',
      stdout: 'cat: /nope: No such file or directory\n',
    });
    expect(says(world, 'server', "bash -c 'echo inner; exit 3'")).toBe('inner\n');
    expect(says(world, 'server', "netstat -tln | awk '{print $4}' | tail -n +3")).toBe('0.0.0.0:8080\n');
    expect(on(world, 'server', 'echo )').code).toBe(2);
  });

  it('[LAB-19] /dev/tcp, timeout and telnet tell open from closed from silent', () => {
    expect(on(world, 'client', 'timeout 3 bash -c "</dev/tcp/10.0.2.4/8080" && echo open')).toMatchObject({
      stdout: 'open\n',
    });
    expect(on(world, 'client', 'timeout 3 bash -c "</dev/tcp/10.0.2.4/9"')).toMatchObject({ code: 1 });
    const silent = pair('', { server: 'power: stopped' });
    expect(on(silent, 'client', 'timeout 3 bash -c "</dev/tcp/10.0.2.4/8080"')).toMatchObject({ code: 124 });
    expect(on(silent, 'client', 'timeout 3 nc -z 10.0.2.4 8080')).toMatchObject({ code: 124 });
    expect(says(world, 'client', 'telnet 10.0.2.4 8080')).toContain('Connected to');
  });

  it('a script of any kind ends, in bounds, without touching the host', () => {
    const endless = on(world, 'server', 'while true; do echo x; done');
    expect(endless.stdout.length).toBeLessThan(10_000);
    const many = on(world, 'server', 'for a in {1..500}; do for b in {1..500}; do echo $a$b; done; done');
    expect(many.stdout.length + many.stderr.length).toBeLessThan(1_100_000);
    expect(on(world, 'server', 'echo {1..999}{1..999}{1..999}{1..999}').stdout.length).toBeLessThan(10_000);
    const token = fc.constantFrom(
      'echo',
      'grep',
      '-x',
      '|',
      ';',
      '&&',
      '||',
      '$(',
      ')',
      '`',
      '"',
      "'",
      '{',
      '}',
      'for',
      'in',
      'do',
      'done',
      'if',
      'then',
      'fi',
      '>',
      '<',
      '2>&1',
      '$x',
      'ss',
      'iptables',
      '-A',
      'INPUT',
      '((',
      '[[',
      '\n',
      'while',
      'x=1',
      '<<EOF',
      'case',
      'esac',
      '*',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 25 }), (words) => {
        const result = on(world, 'server', words.join(' '));
        expect(typeof result.code).toBe('number');
      }),
      { numRuns: 300 },
    );
  });

  it('[LAB-19] Windows guests answer the first cmdlets of a diagnosis', async () => {
    const windows = pair('', { server: 'os: windows' });
    const lab = testLab(windows);
    const call = (id: string, script: string) =>
      lab.az(
        'vm',
        'run-command',
        'invoke',
        '-g',
        'rg',
        '-n',
        'server',
        '--command-id',
        id,
        '--scripts',
        script,
      );
    expect((await call('RunShellScript', 'ls')).stderr).toContain('not supported');
    const answer = JSON.parse(
      (
        await call(
          'RunPowerShellScript',
          'Get-NetTCPConnection -State Listen\nTest-NetConnection -ComputerName client -Port 22',
        )
      ).stdout,
    );
    expect(answer.value[0].message).toMatch(/8080[\s\S]*TcpTestSucceeded : False/);
  });
});
