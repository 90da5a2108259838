import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The oracle. Tests that need it are skipped, and say so, where it is not installed. */
export const hasTshark = spawnSync('tshark', ['--version']).status === 0;

const CHECKS = ['tcp.check_checksum:TRUE', 'ip.check_checksum:TRUE', 'udp.check_checksum:TRUE'];

function withFile<T>(pcap: Uint8Array, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'writ-tshark-'));
  try {
    const file = join(folder, 'capture.pcap');
    writeFileSync(file, pcap);
    return use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(file: string, args: readonly string[]): string {
  const options = CHECKS.flatMap((check) => ['-o', check]);
  return execFileSync('tshark', ['-r', file, '-n', ...options, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** One row a packet that passes the display filter, one column a field. */
export function rows(pcap: Uint8Array, filter: string, ...fields: string[]): string[][] {
  const text = withFile(pcap, (file) =>
    run(file, ['-Y', filter, '-T', 'fields', ...fields.flatMap((field) => ['-e', field])]),
  );
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
}

export function count(pcap: Uint8Array, filter: string): number {
  return rows(pcap, filter, 'frame.number').length;
}

/** Many filters in one pass over the file. */
export function counts<K extends string>(pcap: Uint8Array, filters: Record<K, string>): Record<K, number> {
  const names = Object.keys(filters) as K[];
  return withFile(pcap, (file) => {
    const result = {} as Record<K, number>;
    const stat = names.map((name) => `COUNT(frame)frame&&(${filters[name]})`).join(',');
    const text = run(file, ['-q', '-z', `io,stat,0,${stat}`]);
    const values = text
      .split('\n')
      .find((line) => line.includes('<>'))!
      .split('|')
      .slice(2)
      .map((cell) => Number(cell.trim()));
    names.forEach((name, index) => {
      result[name] = values[index] ?? Number.NaN;
    });
    return result;
  });
}

/** Everything tshark calls malformed, an error or a warning, each once, with how often. */
export function complaints(pcap: Uint8Array): Map<string, number> {
  const found = new Map<string, number>();
  const warning = 6_291_456;
  for (const [message = ''] of rows(
    pcap,
    `_ws.malformed || _ws.expert.severity >= ${warning}`,
    '_ws.expert.message',
  )) {
    found.set(message, (found.get(message) ?? 0) + 1);
  }
  return found;
}
