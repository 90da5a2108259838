import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { processCli } from '../src/cli/cli.ts';
import { COMMANDS } from '../src/cli/table.ts';

/** What the pages say is held against the product: links lead somewhere, and every command shown exists. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const program = new Command('writ');

beforeAll(async () => {
  const cli = processCli();
  for (const entry of COMMANDS) (await entry.load()).define(program.command(entry.name), cli);
});

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  it('links to pages, pictures and headings that are there', () => {
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        return !existsSync(file) || (anchor !== undefined && !headings(file).includes(anchor));
      });
    expect(broken).toEqual([]);
  });

  it('shows only commands and options the program has', () => {
    expect(shownCommands(text).flatMap((line) => complaintAbout(line))).toEqual([]);
  });
});

function headings(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+\s+(.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
}

/** Lines of code blocks and pieces in backticks that call `writ`, each cut at what a shell would end it with. */
function shownCommands(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```(?:sh|bash|console)?\n([\s\S]*?)^```/gm)].flatMap((block) =>
    block[1]!.split('\n'),
  );
  const inline = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map((m) => m[1]!);
  return [...blocks, ...inline].flatMap((piece) =>
    [...piece.matchAll(/(?:^|[|;&(] *|\$ |npx )writ ((?:'[^']*'|"[^"]*"|[^|;&#`)])+)/g)].map((m) =>
      m[1]!.trim(),
    ),
  );
}

/** Walks the words through the program's own commands; what follows `--` belongs to somebody else. */
function complaintAbout(line: string): readonly string[] {
  const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  let command = program;
  for (const word of words) {
    if (word === '--') break;
    if (/^--[a-z]/.test(word.replace(/^\[/, ''))) {
      const flag = word.replace(/^\[/, '').replace(/[=\]|,].*$/, '');
      const known = ['--help', '--version', ...command.options.map((option) => option.long)];
      if (!known.includes(flag)) return [`writ ${line}: ${command.name()} has no ${flag}`];
      continue;
    }
    const next = command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word));
    if (next) command = next;
    else if (command.commands.length > 0 && /^[a-z][a-z-]*$/.test(word))
      return [`writ ${line}: ${command.name()} has no command ${word}`];
  }
  return [];
}
