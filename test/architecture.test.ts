import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The room table: what each room may import besides `core`, and which Node modules it may touch. */
interface Room {
  readonly imports: readonly string[];
  /** Extra doors beside index.ts that other rooms may use. */
  readonly doors?: readonly string[];
  readonly io: readonly string[];
}

const PURE = ['node:crypto', 'node:util', 'node:path', 'node:buffer', 'node:url'];
const FILES = [
  'node:fs',
  'node:fs/promises',
  'node:os',
  'node:stream',
  'node:stream/promises',
  'node:events',
  'node:zlib',
  'node:readline',
  'node:timers/promises',
];

const ROOMS: Record<string, Room> = {
  core: { imports: [], doors: ['document.ts', 'testing.ts'], io: [] },
  redact: { imports: [], io: [] },
  policy: { imports: [], io: FILES },
  ledger: { imports: [], doors: ['read.ts'], io: [...FILES, 'node:sqlite'] },
  authority: { imports: ['policy', 'ledger', 'redact'], io: ['node:sqlite', 'node:os'] },
  sandbox: { imports: [], io: [...FILES, 'node:child_process', 'node:net'] },
  shell: {
    imports: ['authority', 'sandbox', 'policy', 'ledger', 'redact'],
    doors: ['read.ts', 'classify/index.ts'],
    io: FILES,
  },
  tools: {
    imports: ['authority', 'policy', 'sandbox', 'redact'],
    io: [...FILES, 'node:dns', 'node:dns/promises', 'node:net', 'node:tls'],
  },
  runner: { imports: ['tools', 'policy', 'authority', 'ledger', 'redact'], io: [...FILES, 'node:sqlite'] },
  flight: {
    imports: ['authority', 'policy', 'ledger', 'sandbox', 'redact'],
    io: [...FILES, 'node:dns/promises', 'node:http', 'node:net'],
  },
  gateways: {
    imports: ['authority', 'policy', 'ledger', 'sandbox', 'redact'],
    doors: ['llm/index.ts', 'mcp/index.ts', 'line-log.ts'],
    io: [...FILES, 'node:http', 'node:https', 'node:net', 'node:tls'],
  },
  cloud: { imports: ['shell', 'ledger', 'redact'], io: FILES },
  pcap: { imports: [], io: [...FILES, 'node:worker_threads'] },
  ghost: { imports: ['shell', 'cloud', 'gateways', 'ledger', 'redact'], io: FILES },
  lab: { imports: [], io: FILES },
  console: { imports: ['authority', 'runner', 'flight', 'ledger', 'redact'], io: [...FILES, 'node:http'] },
  cli: {
    imports: [
      'redact',
      'policy',
      'ledger',
      'authority',
      'sandbox',
      'shell',
      'tools',
      'runner',
      'flight',
      'gateways',
      'cloud',
      'pcap',
      'ghost',
      'lab',
      'console',
    ],
    io: [...FILES, 'node:http', 'node:sqlite', 'node:tty', 'node:module'],
  },
};

/** Rooms that see only the read-only side of another. */
const READ_ONLY: Record<string, Record<string, string>> = {
  ghost: { ledger: 'read.ts' },
  console: { ledger: 'read.ts' },
};

/** What only one file in the house may do. */
const PRIVILEGES: readonly { readonly name: RegExp; readonly only: RegExp }[] = [
  { name: /\bclaimMint\b/, only: /^(core\/writ|authority\/mint)\.ts$/ },
  { name: /\bclaimRedactedStamp\b/, only: /^(core\/redacted|redact\/[\w-]+)\.ts$/ },
];

interface Import {
  readonly from: string;
  readonly specifier: string;
}

const files = globSync('src/**/*.ts').map((file) => file.replace(/^src\//, ''));

function importsOf(file: string): Import[] {
  const text = readFileSync(join('src', file), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s[^;'"`]*?from\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g,
  );
  return [...found].map((m) => ({ from: file, specifier: (m[1] ?? m[2] ?? m[3])! }));
}

const imports = files.flatMap(importsOf);
const roomOf = (file: string) => file.split('/')[0]!;

function crossings() {
  return imports
    .filter((i) => i.specifier.startsWith('.'))
    .map((i) => ({ ...i, target: normalize(join(dirname(i.from), i.specifier)) }))
    .filter((i) => !i.target.startsWith('..') && roomOf(i.target) !== roomOf(i.from));
}

describe('architecture', () => {
  it('sees the house: modules, rooms and imports', () => {
    expect(files.length).toBeGreaterThan(30);
    expect(imports.length).toBeGreaterThan(60);
    expect(crossings().length).toBeGreaterThan(20);
  });

  it('every room is in the table and has a door', () => {
    const rooms = new Set(files.map(roomOf));
    expect([...rooms].filter((room) => !(room in ROOMS))).toEqual([]);
    const doorless = [...rooms].filter((room) => room !== 'cli' && !files.includes(`${room}/index.ts`));
    expect(doorless).toEqual([]);
  });

  it('imports go one way', () => {
    const forbidden = crossings().filter(({ from, target }) => {
      const room = roomOf(target);
      return room !== 'core' && !ROOMS[roomOf(from)]?.imports.includes(room);
    });
    expect(forbidden.map((i) => `${i.from} → ${i.target}`)).toEqual([]);
  });

  it('nobody goes round a door', () => {
    const around = crossings().filter(({ from, target }) => {
      const room = roomOf(target);
      const inner = target.slice(room.length + 1);
      const narrow = READ_ONLY[roomOf(from)]?.[room];
      if (narrow !== undefined) return inner !== narrow;
      if (room === 'core' && inner === 'writ.ts') return roomOf(from) !== 'authority';
      if (room === 'core' && inner === 'redacted.ts') return roomOf(from) !== 'redact';
      return inner !== 'index.ts' && !(ROOMS[room]?.doors ?? []).includes(inner);
    });
    expect(around.map((i) => `${i.from} → ${i.target}`)).toEqual([]);
  });

  it('Node I/O stays in the rooms that have it; child_process in sandbox alone', () => {
    const outside = imports.filter(({ from, specifier }) => {
      if (!specifier.startsWith('node:')) return false;
      const allowed = [...PURE, ...(ROOMS[roomOf(from)]?.io ?? [])];
      return !allowed.includes(specifier);
    });
    expect(outside.map((i) => `${i.from} → ${i.specifier}`)).toEqual([]);
  });

  it('built-in modules are named with node:, so that no fence is missed', () => {
    const bare =
      /^(fs|child_process|net|http|https|dns|tls|os|path|crypto|worker_threads|cluster|vm|process)(\/|$)/;
    expect(imports.filter((i) => bare.test(i.specifier)).map((i) => `${i.from} → ${i.specifier}`)).toEqual(
      [],
    );
    const sneaky = files.filter((f) =>
      /\b(createRequire|process\.binding|getBuiltinModule)\b/.test(readFileSync(join('src', f), 'utf8')),
    );
    expect(sneaky.filter((f) => !f.startsWith('sandbox/'))).toEqual([]);
  });

  it('the mint and the stamp have one holder each', () => {
    for (const { name, only } of PRIVILEGES) {
      const holders = files.filter((f) => name.test(readFileSync(join('src', f), 'utf8')));
      expect(holders.filter((f) => !only.test(f))).toEqual([]);
    }
  });
});
