import { describe, expect, it } from 'vitest';
import { commandTree, parseGroup } from '../../../src/shell/classify/azure/tree.ts';
import { verbKind } from '../../../src/shell/classify/azure/verbs.ts';
import { allRules, checkTables } from '../../../src/shell/classify/check-tables.ts';
import { classify } from '../../../src/shell/classify/index.ts';
import { optionTable } from '../../../src/shell/classify/options.ts';
import { PROGRAMS, trustedNames } from '../../../src/shell/classify/programs/index.ts';

/** Reached by faults only; tested elsewhere. */
const WITHOUT_EXAMPLE = ['classifier.fault'];

describe('tables', () => {
  it('[SHC-11] every rule holds its own examples', () => {
    expect(checkTables()).toEqual([]);
  });

  it('[SHC-11] every rule has an id of its own, a sentence, and an example', () => {
    const rules = allRules();
    expect(rules.length).toBeGreaterThan(70);
    expect(
      rules
        .filter((rule) => rule.match.length === 0)
        .map((rule) => rule.id)
        .sort(),
    ).toEqual([...WITHOUT_EXAMPLE].sort());
    expect(rules.filter((rule) => !/^[A-Za-z].{10,}\.$/.test(rule.sentence)).map((rule) => rule.id)).toEqual(
      [],
    );
    for (const rule of rules)
      expect({ id: rule.id, tier0: rule.tier === 0 }).toEqual({
        id: rule.id,
        tier0: rule.class === 'FORBIDDEN',
      });
  });

  it('[SHC-11] a malformed or doubled declaration does not load', () => {
    expect(() => optionTable({ flags: '-a -a' })).toThrow('declared twice');
    expect(() => optionTable({ flags: '--same', values: [['--same', null]] })).toThrow('declared twice');
    expect(() => optionTable({ flags: 'x' })).toThrow('malformed');
    expect(() => optionTable({ flags: '--' })).toThrow('malformed');
    expect(() => trustedNames([PROGRAMS[0]!, PROGRAMS[0]!])).toThrow('listed twice');
    expect(() => parseGroup(['a: b', '   c: d'])).toThrow('misplaced');
    expect(() => parseGroup(['a: b', ' C: d'])).toThrow('malformed');
    expect(() => parseGroup([])).toThrow('empty');
  });

  it('[SHC-06] holds the allow list of the design, and nothing that is not on it', () => {
    const names = PROGRAMS.flatMap((program) => program.names);
    for (const name of 'ping traceroute dig nslookup host whois mtr netstat ss ifconfig ip arp route lsof scutil networksetup tshark tcpdump curl pcap-forensics az'.split(
      ' ',
    )) {
      expect(names).toContain(name);
    }
    expect(names.length).toBeLessThan(32);
    expect(names).not.toContain('cat');
  });
});

describe('Azure command tree', () => {
  const tree = commandTree();
  const leaves: string[][] = [];
  const visit = (path: string[]): void => {
    let group = tree.group(path[0]!)!;
    for (const word of path.slice(1)) group = group.groups.get(word)!;
    for (const command of group.commands.keys()) leaves.push([...path, command]);
    for (const name of group.groups.keys()) visit([...path, name]);
  };
  for (const name of tree.names()) visit([name]);

  it('[SHC-08] is SAFE exactly for commands that read and hand out no secret', () => {
    expect(leaves.length).toBeGreaterThan(5000);
    const wrong: string[] = [];
    for (const words of leaves) {
      const path = words.join(' ');
      const got = classify(`az ${path} -l westeurope -o json`).classification;
      if ((got === 'SAFE') !== (verbKind(words, path) === 'read')) wrong.push(`${path}: ${got}`);
    }
    expect(wrong).toEqual([]);
  });

  it('[SHC-08] no command whose verb acts is SAFE', () => {
    const acts =
      /^(create|delete|update|set|add|remove|start|stop|restart|import|export|download|upload|renew|regenerate|reset|run|invoke|exec|login|assign|purge|restore|generate|grant|revoke|approve|reject|enable|disable)(-|$)/;
    expect(
      leaves.filter(
        (words) => acts.test(words.at(-1)!) && classify(`az ${words.join(' ')}`).classification === 'SAFE',
      ),
    ).toEqual([]);
  });

  it('[SHC-08] a word after the verb makes a command unknown, reading words included', () => {
    for (const words of leaves.filter((_, index) => index % 37 === 0)) {
      expect(classify(`az ${words.join(' ')} list`).classification, words.join(' ')).toBe('RISKY');
    }
  });
});
