import { redact } from '../src/redact/index.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

const LOG = [
  '2026-01-15T14:30:00.123Z INFO  [http-nio-8080-exec-3] c.e.api.OrderController - GET /api/v1/orders/4711?limit=50 status=200 duration=12ms user=alice requestId=3f8dc466-afde-406d-ad6a-99e5176693ff',
  'Jan 15 14:30:01 web-vm-01 sshd[2211]: Failed password for root from 10.0.1.4 port 51234 ssh2',
  'Jan 15 14:30:01 web-vm-01 kernel: [12345.678901] eth0: link up, 1000 Mbps, full duplex',
  '10.0.0.5 - - [15/Jan/2026:14:30:00 +0000] "GET /static/app.3f2a1c.js HTTP/1.1" 200 51234 "https://portal.example.com/" "Mozilla/5.0 (X11; Linux x86_64)"',
  '{"level":"info","ts":1736951400.123,"caller":"server/handler.go:88","msg":"request","method":"POST","path":"/v1/things","code":201,"latency":0.0123,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}',
  'E0115 14:30:02.000000       1 controller.go:114] Reconciler error: key "default/web" requeue after 5s; token bucket empty',
].join('\n');

const HOSTILE = ['password: ', 'pwd: a ', 'cookie:a=b;', 'eyJ.', '://a:', '"keys":{', '='];

export const bench: Bench = {
  name: 'redact',
  run: async ({ quick }) => {
    const clean = flat(LOG, 4_000_000);
    const secrets = flat(`${LOG}\npassword=Winter!Sun99 DB_PASS=Blue#Horse9x\n`, 4_000_000);
    const rounds = quick ? 7 : 25;
    const worst = Math.max(...HOSTILE.map((unit) => seconds(flat(unit, quick ? 1_000_000 : 10_000_000))));
    return [
      row('log text without secrets', clean, rounds, '>= 50'),
      row('log text, a line in seven with two secrets', secrets, rounds, ''),
      {
        what: 'slowest of the hostile texts',
        value: Math.round(((quick ? 1 : 10) / worst) * 10) / 10,
        unit: 'MB/s',
        target: '',
        inside: `one redact() each of ${quick ? 1 : 10} MB made of one unit: ${HOSTILE.map((u) => JSON.stringify(u)).join(' ')}`,
      },
    ];
  },
};

function row(what: string, text: string, rounds: number, target: string): BenchRow {
  for (let i = 0; i < 3; i++) redact(text);
  const times = Array.from({ length: rounds }, () => seconds(text));
  const rate = (s: number) => Math.round(text.length / 1e6 / s);
  return {
    what,
    value: rate(median(times)),
    unit: 'MB/s',
    target,
    inside: 'processor time of one redact() of 4 MB, all passes and the new text',
    spread: `${rate(Math.max(...times))} to ${rate(Math.min(...times))}`,
  };
}

/** Processor time: what one core does, whatever else the machine is busy with. */
function seconds(text: string): number {
  const before = process.cpuUsage();
  redact(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Through bytes, so that the text is one flat string as output of a program is. */
function flat(unit: string, size: number): string {
  return Buffer.from(unit.repeat(Math.ceil(size / unit.length))).toString('latin1');
}
