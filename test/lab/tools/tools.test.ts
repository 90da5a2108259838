import { describe, expect, it } from 'vitest';
import type { Origin } from '../../../src/lab/network/types.ts';
import { type ToolContext, toolContext } from '../../../src/lab/tools/context.ts';
import { runTool, type ToolName } from '../../../src/lab/tools/index.ts';
import { tracepath } from '../../../src/lab/tools/traceroute.ts';
import type { World } from '../../../src/lab/world/types.ts';
import { pair } from '../small.ts';

const NOW = Date.parse('2026-01-15T14:31:00Z');
const context = (world: World, origin: Origin = { kind: 'vm', name: 'client' }): ToolContext =>
  toolContext(world, origin, NOW, 'seed');
const run = (world: World, line: string, origin?: Origin) => {
  const [tool, ...argv] = line.split(' ');
  return runTool(tool as ToolName, argv, context(world, origin));
};
const LAPTOP: Origin = { kind: 'local' };
const zone =
  'private_dns: [{ zone: corp.internal, group: rg, links: [net], records: [{ name: db, type: A, value: 10.0.2.4 }, { name: www, type: CNAME, value: db.corp.internal }] }]';

describe('ping', () => {
  it('prints what iputils prints', () => {
    const { stdout, code } = run(pair(), 'ping -c 3 10.0.2.4');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^PING 10\.0\.2\.4 \(10\.0\.2\.4\) 56\(84\) bytes of data\.\n64 bytes from 10\.0\.2\.4: icmp_seq=1 ttl=64 time=0\.\d{3} ms\n/,
    );
    expect(stdout).toMatch(
      /\n--- 10\.0\.2\.4 ping statistics ---\n3 packets transmitted, 3 received, 0% packet loss, time \d+ms\nrtt min\/avg\/max\/mdev = [\d./]+ ms\n$/,
    );
  });

  it('silence is 100% loss and exit 1, an unknown name exit 2', () => {
    expect(run(pair('', { server: 'power: stopped' }), 'ping -c 2 10.0.2.4')).toMatchObject({ code: 1 });
    expect(run(pair(), 'ping -c 1 nobody.internal')).toEqual({
      stdout: '',
      stderr: 'ping: nobody.internal: Name or service not known\n',
      code: 2,
    });
  });

  it('[LAB-15] loss, delay and a small MTU show', () => {
    const lossy = run(pair('', { server: 'link: { loss_pct: 40 }' }), 'ping -c 50 10.0.2.4').stdout;
    const received = Number(/(\d+) received/.exec(lossy)![1]);
    expect(received).toBeGreaterThan(5);
    expect(received).toBeLessThan(45);
    expect(run(pair('', { server: 'link: { delay_ms: 120 }' }), 'ping -c 1 10.0.2.4').stdout).toMatch(
      /time=24\d ms/,
    );
    const hole = pair('', { server: 'link: { mtu: 1400 }' });
    expect(run(hole, 'ping -c 2 -M do -s 1472 10.0.2.4').code).toBe(1);
    expect(run(hole, 'ping -c 2 -M do -s 1300 10.0.2.4').code).toBe(0);
    const told = pair('', { server: 'link: { mtu: 1400, icmp_frag_needed: true }' });
    expect(run(told, 'ping -c 1 -M do -s 1472 10.0.2.4').stdout).toContain(
      'Frag needed and DF set (mtu = 1400)',
    );
    expect(run(pair(), 'ping -c 1 -M do -s 1473 10.0.2.4').stdout).toContain('message too long, mtu=1500');
    expect(
      run(
        pair('', { server: 'os_firewall: [{ chain: INPUT, protocol: icmp, action: REJECT }]' }),
        'ping -c 1 10.0.2.4',
      ).stdout,
    ).toContain('From 10.0.2.4 icmp_seq=1 Destination Port Unreachable');
  });
});

describe('DNS tools', () => {
  const w = pair(zone);

  it('[LAB-20] the laptop gets NXDOMAIN where the VM gets an address', () => {
    expect(run(w, 'dig +short db.corp.internal').stdout).toBe('10.0.2.4\n');
    expect(run(w, 'dig +short db.corp.internal', LAPTOP).stdout).toBe('');
    expect(run(w, 'dig db.corp.internal', LAPTOP).stdout).toMatch(
      /status: NXDOMAIN[\s\S]*SERVER: 8\.8\.8\.8#53/,
    );
    expect(run(w, 'nslookup db.corp.internal', LAPTOP)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("** server can't find db.corp.internal: NXDOMAIN"),
    });
    expect(run(w, 'host db.corp.internal', LAPTOP)).toMatchObject({
      code: 1,
      stdout: 'Host db.corp.internal not found: 3(NXDOMAIN)\n',
    });
  });

  it('follow aliases, types, servers and the way back', () => {
    expect(run(w, 'dig www.corp.internal').stdout).toMatch(
      /ANSWER SECTION:\nwww\.corp\.internal\.\s+3600\s+IN\s+CNAME\s+db\.corp\.internal\ndb\.corp\.internal\.\s+3600\s+IN\s+A\s+10\.0\.2\.4/,
    );
    expect(run(w, 'dig +noall +answer db.corp.internal').stdout).toMatch(
      /^db\.corp\.internal\.\s+3600\s+IN\s+A\s+10\.0\.2\.4\n$/,
    );
    expect(run(w, 'dig @8.8.8.8 db.corp.internal').stdout).toContain('NXDOMAIN');
    expect(run(w, 'dig +short -x 10.0.2.4').stdout).toBe('server.internal.cloudapp.net.\n');
    expect(run(w, 'nslookup db.corp.internal').stdout).toContain(
      'Name:\tdb.corp.internal\nAddress: 10.0.2.4\n',
    );
    expect(run(w, 'host www.corp.internal').stdout).toBe(
      'www.corp.internal is an alias for db.corp.internal\ndb.corp.internal has address 10.0.2.4\n',
    );
  });
});

describe('traceroute and mtr', () => {
  it('[LAB-20] from the laptop without VPN the trail ends at the provider', () => {
    const { stdout } = run(pair(), 'traceroute -n -m 4 10.0.2.4', LAPTOP);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((l) => l.trim().split(/\s+/)[1]),
    ).toEqual(['to', '192.168.1.1', '203.0.113.1', '*', '*']);
    expect(run(pair(), 'mtr -r -c 5 10.0.2.4', LAPTOP).stdout).toMatch(/3\.\|-- \?\?\?\s+100\.0%/);
  });

  it('inside a VNet there is one hop', () => {
    expect(run(pair(), 'traceroute -n 10.0.2.4').stdout.trim().split('\n')).toHaveLength(2);
    expect(run(pair(), 'mtr --report --report-cycles 5 10.0.2.4').stdout).toMatch(
      /1\.\|-- 10\.0\.2\.4\s+0\.0%\s+5/,
    );
  });

  it('tracepath tells a path MTU it was told, and goes silent at a black hole', () => {
    const path = (link: string) =>
      tracepath(['10.0.2.4'], context(pair('', { server: `link: { ${link} }` }))).stdout;
    expect(path('mtu: 1400, icmp_frag_needed: true')).toContain('Resume: pmtu 1400');
    expect(path('mtu: 1400')).toContain('no reply');
    expect(path('mtu: 1500')).toContain('Resume: pmtu 1500 hops 1');
  });
});

describe('curl and nc', () => {
  it('say how a connection ends', () => {
    expect(run(pair(), 'curl -s http://10.0.2.4:8080/')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('OK\n'),
    });
    expect(run(pair(), 'curl http://10.0.2.4:81/').stderr).toMatch(
      /^curl: \(7\) Failed to connect to 10\.0\.2\.4 port 81 after \d+ ms: Connection refused\n$/,
    );
    expect(run(pair('', { server: 'power: stopped' }), 'curl -m 5 http://10.0.2.4:8080/')).toMatchObject({
      code: 28,
      stderr: 'curl: (28) Connection timed out after 5001 milliseconds\n',
    });
    expect(run(pair(), 'curl http://nobody.internal/')).toMatchObject({
      code: 6,
      stderr: 'curl: (6) Could not resolve host: nobody.internal\n',
    });
    expect(run(pair(), 'nc -zv -w 3 10.0.2.4 8080').stderr).toBe(
      'Connection to 10.0.2.4 8080 port [tcp/http-alt] succeeded!\n',
    );
    expect(run(pair(), 'nc -zv -w 3 10.0.2.4 9')).toMatchObject({
      code: 1,
      stderr: 'nc: connect to 10.0.2.4 port 9 (tcp) failed: Connection refused\n',
    });
    expect(run(pair(), 'nc -zv -w 3 10.0.2.4 8080', LAPTOP)).toMatchObject({
      code: 1,
      stderr: 'nc: connect to 10.0.2.4 port 8080 (tcp) timed out: Operation now in progress\n',
    });
    expect(run(pair(), 'nc -zvu 10.0.2.4 53').stderr).toContain('Connection refused');
  });

  it('[LAB-15] a black hole lets the connection stand and the answer hang; resets and slow readers show', () => {
    const hole = pair('', { server: 'link: { mtu: 1300 }' });
    expect(run(hole, 'nc -zv -w 3 10.0.2.4 8080').code).toBe(0);
    expect(run(hole, 'curl -m 5 http://10.0.2.4:8080/')).toMatchObject({
      code: 28,
      stderr: expect.stringContaining('with 0 bytes received'),
    });
    expect(run(pair('', { server: 'app: { resets_pct: 100 }' }), 'curl http://10.0.2.4:8080/')).toMatchObject(
      { code: 56 },
    );
    expect(
      run(pair('', { server: 'app: { reads_slowly: true }' }), 'curl -m 5 http://10.0.2.4:8080/'),
    ).toMatchObject({ code: 28 });
  });

  it('[LAB-14] a storage firewall answers 403', () => {
    const w = pair('storage: [{ name: acct, group: rg, default_action: Deny }]');
    expect(run(w, 'curl -s -o /dev/null -w %{http_code} https://acct.blob.core.windows.net/').stdout).toBe(
      '403',
    );
    expect(run(w, 'curl -s https://acct.blob.core.windows.net/').stdout).toContain('AuthorizationFailure');
    expect(run(w, 'curl -sI https://acct.blob.core.windows.net/').stdout).toMatch(/^HTTP\/1\.1 403/);
  });

  it('-w and -v say what was measured', () => {
    const { stdout } = run(
      pair('', { server: 'link: { delay_ms: 100 }' }),
      'curl -s -o /dev/null -w %{http_code}:%{time_connect}:%{remote_ip} http://10.0.2.4:8080/',
    );
    expect(stdout).toMatch(/^200:0\.2\d+:10\.0\.2\.4$/);
    expect(run(pair(), 'curl -v http://10.0.2.4:8080/').stderr).toContain(
      '* Connected to 10.0.2.4 (10.0.2.4) port 8080',
    );
  });
});
